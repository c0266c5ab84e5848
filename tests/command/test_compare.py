"""``newron compare``."""

import json

import pytest

from builders.models import make_card, make_regression
from builders.tables import make_table, write_csv
from newron.model import Model


@pytest.fixture
def files(tmp_path):
    model = make_card()
    model.save(tmp_path / "a.json")
    last = model.layers[-1]
    worse = Model(
        model.schema, [*model.layers[:-1], last.replace(centre=last.centre + 50.0)], model.output
    )
    worse.save(tmp_path / "b.json")
    write_csv(tmp_path / "t.csv", make_table())
    return model, worse


def test_the_better_one_is_named_whatever_the_order(run, files):
    out = run("compare", "a.json", "b.json", "t.csv", "-t", "sick").stdout
    other = run("compare", "b.json", "a.json", "t.csv", "-t", "sick").stdout
    assert "a.json is better than b.json by" in " ".join(out.split())
    assert out.splitlines()[0] == other.splitlines()[0]


def test_where_they_differ_is_counted_and_described(run, files):
    found = json.loads(run("compare", "a.json", "b.json", "t.csv", "--json").stdout)
    table = [[float(age) if age else None, colour] for age, colour, _ in make_table()[1:]]
    first, second = (model.predict(table) for model in files)
    assert found["n_differ"] == int((first != second).sum()) > 0
    assert found["n_rows"] == 60
    assert found["comparison"] is None
    assert found["n_differ_region"] / found["n_region"] > found["n_differ"] / 60


def test_a_model_is_equal_to_itself(run, files):
    out = run("compare", "a.json", "a.json", "t.csv", "-t", "sick").stdout
    assert "a.json and a.json are equally good." in out
    assert "They predict the same for all 60 rows." in out


def test_models_of_other_kinds_cannot_be_compared(fails, files, tmp_path):
    make_regression().save(tmp_path / "r.json")
    assert "expected two models of the same classes" in fails(
        "compare", "a.json", "r.json", "t.csv"
    )
