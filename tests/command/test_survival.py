"""Survival on the command line: fit announces and measures it, predict writes curves."""

import csv
import json
from pathlib import Path

import numpy as np
import pytest

import newron
from builders.tables import write_csv
from newron import NewronSurvival


@pytest.fixture(scope="module")
def rows():
    rng = np.random.default_rng(0)
    ages, sexes = rng.integers(30, 80, 150), rng.choice(["f", "m"], 150)
    death = rng.exponential(20.0 * np.exp(-0.05 * (ages - 50.0)))
    lost = rng.uniform(5.0, 40.0, 150)
    times = np.minimum(death, lost).round(1)
    died = np.where(death <= lost, "yes", "no")
    return [list(map(str, row)) for row in zip(ages, sexes, times, died, strict=True)]


@pytest.fixture
def table(rows, tmp_path):
    write_csv(tmp_path / "t.csv", [["age", "sex", "months", "died"], *rows])
    return rows


QUICK = ("--terms", "4", "--folds", "2", "--jobs", "1")


def test_it_is_announced_measured_printed_and_saved(run, table):
    done = run("fit", "t.csv", "--event", "died", "--time", "months", "-o", "m.json", *QUICK)
    assert done.exit_code == 0, done.output
    assert "Survival: died until months" in done.stdout
    assert "Concordance on new rows" in done.stdout
    assert "Integrated Brier score" in done.stdout
    assert "no died until months" in done.stdout
    model = newron.load("m.json")
    assert model.output.time == "months"
    assert str(NewronSurvival.from_model(model).riskcard()).splitlines()[0] in done.stdout


def test_predict_writes_risks_and_curves_of_rows_without_a_time(run, table, tmp_path):
    run("fit", "t.csv", "--event", "died", "--time", "months", "-o", "m.json", *QUICK)
    write_csv(tmp_path / "new.csv", [["age", "sex"], *(row[:2] for row in table[:20])])
    done = run("predict", "m.json", "new.csv", "--keep", "age")
    assert done.exit_code == 0, done.output
    got = list(csv.DictReader(done.stdout.splitlines()))
    names = list(got[0])
    assert names[:2] == ["age", "risk"]
    assert all(name.startswith("survival_") for name in names[2:])
    model = NewronSurvival.from_model(newron.load("m.json"))
    X = [[float(row[0]), row[1]] for row in table[:20]]
    np.testing.assert_allclose([float(row["risk"]) for row in got], model.predict(X))
    curves = model.predict_survival_function(X)
    for name in names[2:]:
        when = float(name.removeprefix("survival_"))
        want = [float(curve(when)) for curve in curves]
        np.testing.assert_allclose([float(row[name]) for row in got], want, rtol=1e-6)


def test_a_folder_has_the_card_and_json_has_the_measures(run, table):
    words = ("fit", "t.csv", "--event", "died", "--time", "months", "-o", "out", *QUICK)
    words = (*words, "--objective", "survival:6")
    found = json.loads(run(*words, "--json").stdout)
    assert 0.4 < found["measured"]["concordance"]["value"] < 1.0
    assert Path("out/card.txt").read_text(encoding="utf-8").splitlines() == found["card"]
    assert len(newron.load("out/model.json").output.ends) == 6


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (("--event", "died"), "expected --event and --time"),
        (("--objective", "survival"), "expected --event and --time"),
        (("--event", "died", "--time", "months", "--objective", "poisson"), "expected survival"),
        (("--event", "died", "--time", "when"), "expected a column"),
        (("--event", "died", "--time", "sex"), "expected numbers in 'sex'"),
        (("--event", "age", "--time", "months"), "whether it happened"),
        ((), "expected --target"),
    ],
)
def test_what_is_missing_is_one_line(fails, table, words, message):
    assert message in fails("fit", "t.csv", *words)


def test_probabilities_and_intervals_do_not_apply(run, fails, table):
    run("fit", "t.csv", "--event", "died", "--time", "months", "-o", "m.json", *QUICK)
    for option in (("--proba",), ("--threshold", "0.5"), ("--interval", "0.9")):
        assert "got survival" in fails("predict", "m.json", "t.csv", *option)


def test_the_report_has_curves_with_and_without_events(run, table, tmp_path):
    run("fit", "t.csv", "--event", "died", "--time", "months", "-o", "m.json", *QUICK)
    done = run("report", "m.json", "t.csv", "-t", "died", "--groups", "sex", "-o", "r.html")
    assert done.exit_code == 0, done.output
    page = (tmp_path / "r.html").read_text(encoding="utf-8")
    assert "Died until months: concordance" in page
    assert "Calibration: " in page
    assert "By <bdi>sex</bdi>" in page
    write_csv(tmp_path / "new.csv", [["age", "sex"], *(row[:2] for row in table[:20])])
    done = run("report", "m.json", "new.csv", "-o", "n.html")
    assert done.exit_code == 0, done.output
    assert "Survival curves" in (tmp_path / "n.html").read_text(encoding="utf-8")


def test_two_models_of_survival_are_not_compared_by_classes(run, fails, table):
    run("fit", "t.csv", "--event", "died", "--time", "months", "-o", "m.json", *QUICK)
    assert "expected classes or numbers" in fails("compare", "m.json", "m.json", "t.csv")


def test_fit_writes_a_report_beside_the_card(run, table, tmp_path):
    words = ("fit", "t.csv", "--event", "died", "--time", "months", *QUICK)
    done = run(*words, "-o", "out")
    assert done.exit_code == 0, done.output
    assert sorted(p.name for p in (tmp_path / "out").iterdir()) == [
        "card.txt", "model.json", "report.html",
    ]  # fmt: skip
    page = (tmp_path / "out" / "report.html").read_text(encoding="utf-8")
    assert "These are the rows that the model was trained on" in page
    assert "by 2-fold cross-validation of 150 rows, t.csv" in page
    done = run(*words, "-o", "m.json", "--report", "r.html")
    assert done.exit_code == 0, done.output
    assert (tmp_path / "r.html").exists()
