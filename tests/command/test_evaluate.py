"""``newron evaluate``: where the line between two classes is drawn."""

import json

import pytest

from builders.tables import make_table, write_csv

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
