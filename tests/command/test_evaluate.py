"""``newron evaluate``: every task measured, and where the line between two classes is drawn."""

import json

import numpy as np
import pandas as pd
import pytest
from sklearn.metrics import d2_tweedie_score

import newron
from builders.tables import make_table, write_csv
from newron import NewronSurvival
from newron.evaluation import estimate_concordance, measure_survival

QUICK = ("--recipe", "gradient", "--hidden", "0", "--folds", "0", "--jobs", "1")


@pytest.fixture
def files(run, tmp_path):
    write_csv(tmp_path / "old.csv", make_table(60))
    write_csv(tmp_path / "new.csv", make_table(80, seed=1))
    done = run("fit", "old.csv", "-t", "sick", "-o", "m.json", *QUICK)
    assert done.exit_code == 0, done.output
    return "m.json", "new.csv", "-t", "sick"


def test_a_sensitivity_is_reached_and_predict_takes_its_threshold(run, files):
    line = json.loads(run("evaluate", *files, "--sensitivity", "1", "--json").stdout)["threshold"]
    assert line["sensitivity"]["value"] == 1.0
    at = str(line["threshold"])
    predicted = run("predict", "m.json", "new.csv", "--threshold", at).stdout.splitlines()[1:]
    assert predicted.count("yes") == line["found"] + line["alarms"]


def test_costs_and_thresholds_are_printed_in_words(run, files):
    out = run("evaluate", *files, "--cost", "10:1").stdout
    assert ", chosen on these very rows" in out
    assert "sensitivity: of “yes”, found" in out
    out = run("evaluate", *files, "--threshold", "0.3").stdout
    assert "“yes” from a probability of 0.3 on" in out


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (("--cost", "10"), "expected two numbers such as 10:1"),
        (("--threshold", "0.3", "--cost", "1:1"), "expected one of --threshold"),
    ],
)
def test_what_makes_no_sense_is_one_line(fails, files, words, message):
    assert message in fails("evaluate", *files, *words)


@pytest.fixture
def survival(run, tmp_path):
    """Fit a model of survival; return rows of its table."""
    rng = np.random.default_rng(3)
    ages, sexes = rng.integers(30, 80, 240), rng.choice(["f", "m"], 240)
    death = rng.exponential(20.0 * np.exp(-0.05 * (ages - 50.0)))
    lost = rng.uniform(5.0, 40.0, 240)
    times, died = np.minimum(death, lost).round(1), np.where(death <= lost, "yes", "no")
    rows = [list(map(str, row)) for row in zip(ages, sexes, times, died, strict=True)]
    rows[200][2] = ""  # no time
    write_csv(tmp_path / "old.csv", [["age", "sex", "months", "died"], *rows[:150]])
    write_csv(tmp_path / "new.csv", [["age", "sex", "months", "died"], *rows[150:]])
    words = ("--event", "died", "--time", "months", "--terms", "4", "--folds", "2", "--jobs", "1")
    done = run("fit", "old.csv", *words, "-o", "m.json")
    assert done.exit_code == 0, done.output
    return [row for row in rows[150:] if row[2]]


def test_survival_is_measured_as_by_hand(run, survival):
    done = run("evaluate", "m.json", "new.csv", "--groups", "sex", "--json")
    assert done.exit_code == 0, done.output
    found = json.loads(done.stdout)
    model = NewronSurvival.from_model(newron.load("m.json"))
    X = pd.DataFrame({"age": [float(r[0]) for r in survival], "sex": [r[1] for r in survival]})
    event = np.array([r[3] == "yes" for r in survival])
    time = np.array([float(r[2]) for r in survival])
    want = measure_survival(
        (event, time), (event, time), model.predict(X), model.predict_survival_function(X)
    )
    scores = found["scores"]["model"]
    assert scores["concordance"] == want.concordance.to_dict()
    assert scores["integrated brier score"] == want.brier.to_dict()
    assert found["scores"]["constant"]["concordance"]["value"] == 0.5
    group = found["groups"]["groups"][1]
    own = X["sex"].to_numpy() == group["name"]
    alone = estimate_concordance(event[own], time[own], model.predict(X)[own])
    assert group["measures"]["concordance"] == alone.to_dict()
    out = run("evaluate", "m.json", "new.csv", "--attach").stdout
    assert out.startswith("  Concordance on new rows 0.")
    assert [one.protocol for one in newron.load("m.json").measured] == [
        "cross-validation", "new rows",
    ]  # fmt: skip
    assert "Concordance on new rows" in run("inspect", "m.json").stdout


def test_the_table_of_a_survival_fit_is_refused(fails, survival):
    assert "got the table of its training" in fails("evaluate", "m.json", "old.csv")


@pytest.fixture
def labels(run, tmp_path):
    """Fit a model of labels; return rows of another table."""
    rng = np.random.default_rng(0)
    table = [
        [f"{a}", f"{c}", "yes" if a > 0.5 else "no", str(int(a < 0.4 and c > 0.3))]
        for a, c in rng.uniform(size=(200, 2)).round(2)
    ]
    write_csv(tmp_path / "old.csv", [["a", "c", "funny", "sad"], *table[:120]])
    write_csv(tmp_path / "new.csv", [["a", "c", "funny", "sad"], *table[120:]])
    words = ("--labels", "funny,sad", "--terms", "4", "--folds", "2", "--jobs", "1")
    done = run("fit", "old.csv", *words, "-o", "m.json")
    assert done.exit_code == 0, done.output
    return table[120:]


def test_labels_are_measured_together_and_one_by_one(run, labels):
    found = json.loads(run("evaluate", "m.json", "new.csv", "--json").stdout)["scores"]
    model = newron.load("m.json")
    X = [[float(a), float(c)] for a, c, *_ in labels]
    truth = np.array([[r[2] == "yes", r[3] == "1"] for r in labels])
    right = model.predict(X) == truth
    assert found["model"]["subset accuracy"]["value"] == right.all(axis=1).mean()
    assert found["model"]["label accuracy"]["value"] == pytest.approx(right.mean())
    one = json.loads(
        run("evaluate", "m.json", "new.csv", "-t", "sad", "--threshold", "0.5", "--json").stdout
    )
    assert one["scores"]["model"]["accuracy"]["value"] == right[:, 1].mean()
    assert one["threshold"]["found"] == int((right[:, 1] & truth[:, 1]).sum())
    out = run("evaluate", "m.json", "new.csv").stdout
    assert out.startswith("  Subset accuracy on new rows")
    assert "Accuracy of each label" in out


def test_rates_are_measured_with_their_exposure(run, tmp_path):
    rng = np.random.default_rng(5)
    ages, years = rng.integers(18, 80, 300), rng.uniform(0.1, 9.0, 300).round(2)
    claims = rng.poisson(years * np.exp(-1.0 + 0.8 * (ages < 40)))
    rows = [list(map(str, row)) for row in zip(ages, years, claims, strict=True)]
    write_csv(tmp_path / "old.csv", [["age", "years", "claims"], *rows[:150]])
    write_csv(tmp_path / "new.csv", [["age", "years", "claims"], *rows[150:]])
    words = ("-t", "claims", "--exposure", "years")
    done = run(
        "fit", "old.csv", *words, "--objective", "poisson", "--folds", "2", "-o", "m.json",
        "--jobs", "1",
    )  # fmt: skip
    assert done.exit_code == 0, done.output
    found = json.loads(run("evaluate", "m.json", "new.csv", *words, "--json").stdout)["scores"]
    model = newron.load("m.json")
    predicted = years[150:] * model.predict([[float(age)] for age in ages[150:]])
    want = np.abs(predicted - claims[150:]).mean()
    assert found["model"]["mean absolute error"]["value"] == pytest.approx(want)
    deviance = d2_tweedie_score(claims[150:] / years[150:], predicted / years[150:], power=1,
                                sample_weight=years[150:])  # fmt: skip
    assert found["model"]["d2"]["value"] == pytest.approx(deviance)
    without = json.loads(run("evaluate", "m.json", "new.csv", "-t", "claims", "--json").stdout)
    assert without["scores"]["model"]["d2"]["value"] < found["model"]["d2"]["value"]


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (("-t", "happy"), "--target: expected one of the labels funny, sad, got 'happy'"),
        (("--exposure", "a"), "--exposure: expected a model of numbers, got another one"),
        (("-t", "sad", "--attach"), "--attach: expected all labels to be measured"),
        (("--groups", "c"), "expected a model of one target or label, got 2"),
    ],
)
def test_what_does_not_apply_to_labels_is_one_line(fails, labels, words, message):
    assert message in fails("evaluate", "m.json", "new.csv", *words)
