"""Fairness and drift on the command line and in the report."""

import json
from pathlib import Path

import numpy as np
import pytest

from builders.models import make_card
from builders.tables import write_csv
from newron.evaluation import compare_groups


@pytest.fixture
def table(tmp_path):
    """Write a card and rows with a column that it does not read; return the rows."""
    rng = np.random.default_rng(0)
    ages, sexes = rng.integers(20, 90, 200), rng.choice(["f", "m"], 200)
    colours = rng.choice(["red", "green", "blue"], 200)
    ill = np.where((ages > 50) & (sexes == "m") | (rng.random(200) < 0.1), "yes", "no")
    rows = [list(map(str, row)) for row in zip(ages, colours, sexes, ill, strict=True)]
    rows[3][3] = ""  # no truth
    write_csv(tmp_path / "t.csv", [["age", "colour", "sex", "ill"], *rows])
    make_card().save(tmp_path / "m.json")
    return [row for row in rows if row[3]]


def test_evaluate_compares_groups_of_a_column_that_the_model_does_not_read(run, table):
    done = run("evaluate", "m.json", "t.csv", "-t", "ill", "--groups", "sex", "--json")
    assert done.exit_code == 0, done.output
    model = make_card()
    chosen = model.predict([[float(row[0]), row[1]] for row in table]) == "yes"
    truth = np.array([row[3] == "yes" for row in table])
    want = compare_groups([row[2] for row in table], truth, chosen, column="sex")
    found = json.loads(done.stdout)["groups"]
    assert found["column"] == "sex"
    for got, group in zip(found["groups"], want.groups, strict=True):
        assert got["name"] == group.name
        assert got["measures"]["sensitivity"] == group.measures["sensitivity"].to_dict()
    text = run("evaluate", "m.json", "t.csv", "-t", "ill", "--groups", "sex").stdout
    assert "By sex, compared with" in text
    assert "selection rate" in text


def test_the_report_has_a_section(run, table):
    done = run("report", "m.json", "t.csv", "-t", "ill", "--groups", "sex", "-o", "r.html")
    assert done.exit_code == 0, done.output
    page = Path("r.html").read_text(encoding="utf-8")
    assert 'id="groups"' in page
    assert "sensitivity" in page
    assert 'id="groups"' not in page.split('id="groups"')[0]
    run("report", "m.json", "t.csv", "-t", "ill", "-o", "plain.html")
    assert 'id="groups"' not in Path("plain.html").read_text(encoding="utf-8")


def test_a_model_s_own_report_takes_a_column_or_values(table, tmp_path):
    rows = [[float(row[0]), row[1]] for row in table]
    y, sex = [row[3] for row in table], [row[2] for row in table]
    make_card().report(tmp_path / "a.html", rows, y, groups="colour")
    assert "By <bdi>colour" in (tmp_path / "a.html").read_text(encoding="utf-8")
    make_card().report(tmp_path / "b.html", rows, y, groups=("sex", sex))
    assert "By <bdi>sex" in (tmp_path / "b.html").read_text(encoding="utf-8")


def test_groups_need_a_column_and_the_truth(fails, table):
    message = fails("evaluate", "m.json", "t.csv", "-t", "ill", "--groups", "height")
    assert "height" in message
    assert "--target" in fails("report", "m.json", "t.csv", "--groups", "sex")


class TestTables:
    @pytest.fixture(autouse=True)
    def other(self, table, tmp_path):
        rows = [[str(min(int(row[0]) + 20, 99)), *row[1:]] for row in table]
        write_csv(tmp_path / "new.csv", [["age", "colour", "sex", "ill"], *rows])

    def test_two_tables_are_compared_by_column(self, run):
        done = run("compare", "t.csv", "new.csv")
        assert done.exit_code == 0, done.output
        assert "1 of 4 have changed" in done.stdout
        line = next(line for line in done.stdout.splitlines() if " age " in line)
        assert "much" in line or "some" in line
        assert "sex" in done.stdout

    def test_with_a_model_its_score_comes_first(self, run):
        done = run("compare", "t.csv", "new.csv", "--model", "m.json", "--json")
        found = json.loads(done.stdout)
        assert [one["name"] for one in found["drift"]] == ["score", "age", "colour"]
        assert found["drift"][1]["verdict"] in ("some", "much")
        assert found["drift"][2]["verdict"] == "stable"

    def test_the_same_table_has_not_changed(self, run):
        assert "Nothing has changed" in run("compare", "t.csv", "t.csv").stdout

    def test_two_models_need_a_table(self, fails):
        assert "expected a table besides two models" in fails("compare", "m.json", "m.json")

    def test_tables_need_columns_in_common(self, fails, tmp_path):
        write_csv(tmp_path / "other.csv", [["height"], ["1.8"]])
        assert "columns of the same names" in fails("compare", "t.csv", "other.csv")
