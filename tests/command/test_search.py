"""``newron search``."""

import json

import pytest

import newron
from builders.tables import make_table, write_csv

QUICK = ("--folds", "2", "--max-structures", "2", "--jobs", "1")


@pytest.fixture
def table(tmp_path):
    write_csv(tmp_path / "t.csv", make_table())
    return "t.csv"


def test_it_prints_the_tree_and_writes_the_best(run, table, tmp_path):
    done = run("search", table, "-t", "sick", *QUICK)
    assert done.exit_code == 0, done.output
    assert "└─ (1,)" in done.stdout
    assert "in 2 folds, of 2 structures." in done.stdout
    model = newron.load(tmp_path / "t-newron.json")
    assert model.schema.names == ("age", "colour")
    assert model.output.labels == ("no", "yes")
    assert "structures, best" in done.stderr


def test_a_journal_is_resumed(run, table, tmp_path):
    words = ("search", table, "-t", "sick", *QUICK, "--journal", "j.jsonl", "--json")
    first = json.loads(run(*words, "-o", "a.json").stdout)
    before = (tmp_path / "j.jsonl").read_bytes()
    second = json.loads(run(*words, "-o", "b.json").stdout)
    assert (tmp_path / "j.jsonl").read_bytes() == before
    assert first["structures"] == second["structures"]
    assert newron.load(tmp_path / "a.json") == newron.load(tmp_path / "b.json")


def test_what_cannot_be(fails, table, tmp_path):
    (tmp_path / "t-newron.json").write_text("mine")
    assert "--force" in fails("search", table, "-t", "sick")
    assert "--processing" in fails("search", table, "-t", "sick", "--processing", "x", "-o", "m")
    words = ("search", table, "-t", "sick", "--processing", "smooth", "-o", "m")
    assert 'list "sigmoid" and "tanh_prod"' in fails(*words)
    (tmp_path / "j.jsonl").write_text("not a journal\n")
    words = ("search", table, "-t", "sick", *QUICK, "-o", "m.json", "--journal", "j.jsonl", "-q")
    assert "j.jsonl" in fails(*words)
