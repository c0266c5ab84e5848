"""Intervals on the command line: newron fit calibrates, predict, inspect and report show them."""

import csv
from pathlib import Path

import numpy as np
import pytest

import newron
from builders.models import make_regression
from builders.tables import write_csv


@pytest.fixture
def numbers(tmp_path):
    """Write a table of a number, and the model that newron fit makes of it."""
    rng = np.random.default_rng(0)
    x = rng.uniform(size=150).round(3)
    rows = [[x, round(3.0 * x + rng.normal(), 3)] for x in x.tolist()]
    write_csv(tmp_path / "t.csv", [["x", "y"], *(map(str, row) for row in rows)])
    return rows


def test_fit_calibrates_and_predict_writes_both_ends(run, numbers):
    done = run("fit", "t.csv", "-t", "y", "-o", "m.json", "--processing", "linear", "--hidden", "0")
    assert done.exit_code == 0, done.output
    model = newron.load("m.json")
    assert model.conformal.protocol == "cross-validation"
    assert model.conformal.n_rows == 150
    done = run("predict", "m.json", "t.csv", "--interval", "0.8")
    rows = list(csv.DictReader(done.stdout.splitlines()))
    assert list(rows[0]) == ["prediction", "low", "high"]
    inside = [
        float(r["low"]) <= y <= float(r["high"]) for r, (_, y) in zip(rows, numbers, strict=True)
    ]
    assert np.mean(inside) == pytest.approx(0.8, abs=0.05)
    assert "90 % of new rows lie from" in run("inspect", "m.json").stdout
    run("report", "m.json", "t.csv", "-t", "y", "-o", "r.html")
    page = Path("r.html").read_text(encoding="utf-8")
    assert model.conformal.describe() in page
    assert "Calibrated by cross-validation on 150 rows" in page


def test_classes_have_sets(run, tmp_path):
    rng = np.random.default_rng(1)
    x = rng.normal(size=120).round(3)
    labels = np.where(x + rng.normal(size=120) > 0, "yes", "no")
    rows = zip(map(str, x.tolist()), labels.tolist(), strict=True)
    write_csv(tmp_path / "t.csv", [["x", "ill"], *rows])
    assert run("fit", "t.csv", "-t", "ill", "-o", "m.json", "--hidden", "0").exit_code == 0
    done = run("predict", "m.json", "t.csv", "--interval", "0.9")
    rows = list(csv.DictReader(done.stdout.splitlines()))
    assert {row["set"] for row in rows} <= {"no", "yes", "no|yes"}
    assert all(row["prediction"] in row["set"].split("|") for row in rows)
    held = [label in row["set"].split("|") for row, label in zip(rows, labels, strict=True)]
    assert np.mean(held) >= 0.88


def test_a_model_without_them_says_how_to_get_them(fails, tmp_path):
    make_regression().save(tmp_path / "m.json")
    write_csv(tmp_path / "t.csv", [["x", "y"], ["1", "2"]])
    message = fails("predict", "m.json", "t.csv", "--interval", "0.9")
    assert message.startswith("--interval: expected a model that is calibrated")
