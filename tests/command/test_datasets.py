"""``newron datasets``, and data sets as text."""

import csv
import json

import pytest

from newron.datasets import load, names
from newron.datasets.text import read_text


def test_all_sets_are_listed(run):
    lines = run("datasets").stdout.splitlines()
    assert [line.split()[0] for line in lines] == list(names())
    assert [one["name"] for one in json.loads(run("datasets", "--json").stdout)] == list(names())


def test_one_is_described(run):
    out = run("datasets", "heart").stdout
    assert out.startswith("Statlog (Heart) · 270 rows, 13 inputs, target class\n")
    assert "CC BY 4.0" in out
    assert json.loads(run("datasets", "heart", "--json").stdout)["rows"] == 270


def test_one_is_written_and_not_overwritten(run, fails, tmp_path):
    done = run("datasets", "monks-2", "--part", "train", "-o", "m.csv")
    assert "169 rows, target 'class', written to m.csv" in done.stderr
    with (tmp_path / "m.csv").open(newline="") as file:
        assert next(csv.reader(file)) == ["a1", "a2", "a3", "a4", "a5", "a6", "class"]
    assert "--force" in fails("datasets", "monks-2", "-o", "m.csv")


def test_what_cannot_be(fails):
    assert "did you mean 'heart'?" in fails("datasets", "hart")
    assert "expected the name of a data set" in fails("datasets", "-o", "x.csv")
    assert "official parts" in fails("datasets", "heart", "--part", "train", "-o", "x.csv")
    assert "'train' or 'test'" in fails("datasets", "monks-1", "--part", "x", "-o", "x.csv")


@pytest.mark.parametrize("name", ["car", "diabetes", "crx", "heart", "circle", "monks-3"])
def test_text_and_frame_hold_the_same(name):
    pytest.importorskip("pandas")
    frame = load(name)
    header, *rows = read_text(name)
    assert header == [*frame.X.columns, frame.y.name]
    assert len(rows) == len(frame.X)
    for place, column in enumerate(frame.X):
        for cell, value in zip([row[place] for row in rows], frame.X[column], strict=True):
            if value != value:
                assert cell == ""
            else:
                assert cell == value if isinstance(value, str) else float(cell) == float(value)
