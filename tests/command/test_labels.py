"""Several labels on the command line: fit announces and measures them, predict writes each."""

import csv
import json

import numpy as np
import pytest

import newron
from builders.tables import write_csv

QUICK = ("--terms", "4", "--folds", "2", "--jobs", "1")


@pytest.fixture
def table(tmp_path):
    rng = np.random.default_rng(0)
    rows = []
    for a, c in rng.uniform(size=(120, 2)).round(2):
        rows.append([f"{a}", f"{c}", "yes" if a > 0.5 else "no", str(int(a < 0.4 and c > 0.3))])
    rows[3][3] = ""
    write_csv(tmp_path / "t.csv", [["a", "c", "funny", "sad"], *rows])
    return rows


def test_they_are_announced_measured_printed_and_saved(run, table):
    done = run("fit", "t.csv", "--labels", "funny,sad", "-o", "m.json", *QUICK)
    assert done.exit_code == 0, done.output
    assert "Labels: funny, sad" in done.stdout
    assert "119 rows, 2 inputs" in done.stdout
    assert "1 row without a label's value left out" in done.output
    assert "All labels right for" in done.stdout
    assert done.stdout.count("Proved equal to the network") == 2
    assert newron.load("m.json").output.names == ("funny", "sad")
    done = run("rules", "m.json", "--label", "sad")
    assert done.stdout.startswith("If ")
    assert "then sad" in done.stdout


def test_predict_writes_a_column_for_each(run, table):
    run("fit", "t.csv", "--labels", "funny,sad", "-o", "m.json", *QUICK)
    got = list(csv.DictReader(run("predict", "m.json", "t.csv", "--proba").stdout.splitlines()))
    assert list(got[0]) == ["funny", "sad", "probability_funny", "probability_sad"]
    X = [[float(a), float(c)] for a, c, *_ in table]
    model = newron.load("m.json")
    assert [[int(row["funny"]), int(row["sad"])] for row in got] == model.predict(X).tolist()
    shares = [[float(row["probability_funny"]), float(row["probability_sad"])] for row in got]
    np.testing.assert_array_equal(shares, model.predict_proba(X))


def test_a_folder_has_the_rules_and_json_has_the_measures(run, table, tmp_path):
    done = run("fit", "t.csv", "--labels", "funny,sad", "-o", "out", *QUICK, "--json")
    found = json.loads(done.stdout)
    assert 0.7 < found["measured"]["subset_accuracy"]["value"] <= 1.0
    text = (tmp_path / "out" / "rules.txt").read_text(encoding="utf-8")
    assert text.splitlines() == found["rules"]


def test_a_folder_that_is_overwritten_has_nothing_of_the_model_before(run, table, tmp_path):
    (tmp_path / "out").mkdir()
    (tmp_path / "out" / "report.html").write_text("of another model")
    done = run("fit", "t.csv", "--labels", "funny,sad", "-o", "out", *QUICK, "--force")
    assert done.exit_code == 0, done.output
    files = {file.name for file in (tmp_path / "out").iterdir()}
    assert files == {"model.json", "rules.txt"}


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (("--labels", "funny"), "expected different columns such as funny,sad"),
        (("--labels", "funny,sad", "-t", "a"), "expected no --target"),
        (("--labels", "funny,sad", "--objective", "poisson"), "expected no --target"),
        (("--labels", "funny,loud"), "expected a column of a, c, sad, got 'loud'"),
        (("--labels", "funny,a"), "expected 0 and 1, no and yes"),
        (
            ("--labels", "funny,sad", "--report", "r.html"),
            "--report: expected one answer for each row",
        ),
    ],
)
def test_what_is_no_label_is_one_line(fails, table, words, message):
    assert message in fails("fit", "t.csv", *words)


def test_what_reads_one_answer_says_so(run, fails, table):
    run("fit", "t.csv", "--labels", "funny,sad", "-o", "m.json", *QUICK)
    for words in (
        ("predict", "m.json", "t.csv", "--interval", "0.9"),
        ("predict", "m.json", "t.csv", "--threshold", "0.5"),
        ("report", "m.json", "t.csv", "-o", "r.html"),
    ):
        assert "expected" in fails(*words)


def test_one_of_them_has_a_report(run, table, tmp_path):
    run("fit", "t.csv", "--labels", "funny,sad", "-o", "m.json", *QUICK)
    done = run("report", "m.json", "t.csv", "-t", "sad", "--groups", "funny", "-o", "r.html")
    assert done.exit_code == 0, done.output
    page = (tmp_path / "r.html").read_text(encoding="utf-8")
    assert "not sad" in page
    assert "By <bdi>funny</bdi>" in page
