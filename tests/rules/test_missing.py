"""Of missing values and unknown categories rules, exports, proofs and network say the same."""

import shutil
import sqlite3
import subprocess
import warnings

import numpy as np
import pytest

from newron import NewronClassifier, datasets
from newron.construct import from_rules
from newron.errors import InputError, NewronWarning
from newron.model import Classes, Column, Model, Schema, load
from newron.rules import prove
from newron.rules.extraction import extract
from newron.rules.ruleset import RuleSet

from .networks import Wishes, make_layer, make_model, make_rows, make_step, make_table

END = ", then ill\nOtherwise well"


@pytest.fixture(scope="module")
def heart():
    table = datasets.load("heart")
    fitted = NewronClassifier("heaviside", random_state=0).fit(table.X, table.y)
    rng = np.random.default_rng(0)
    holes = table.X.astype(object).mask(rng.random(table.X.shape) < 0.1, None)
    return fitted.model_, holes


def test_rules_and_exports_say_of_holes_what_the_network_says(heart):
    model, holes = heart
    assert not any(column.gaps for column in model.schema.columns)
    rules = model.rules()
    assert rules.proof
    wanted = model.predict(holes)
    assert (rules.predict(holes) == wanted).all()
    assert (RuleSet.parse(rules.to_text(), model).predict(holes) == wanted).all()
    assert (rules.to_model().predict(holes) == wanted).all()
    for settings in ({}, {"rules": rules}):
        assert (ask_sqlite(model, holes, **settings) == wanted).all(), settings


def ask_sqlite(model, table, **settings):
    query = model.export("sql", dialect="sqlite", table="t", keep=["id"], **settings).text
    names = [f'"{name}"' for name in model.schema.names]
    with sqlite3.connect(":memory:") as database:
        database.execute(f"create table t(id, {', '.join(names)})")
        rows = [(k, *row) for k, row in enumerate(table.to_numpy().tolist())]
        marks = ", ".join("?" * (len(names) + 1))
        database.executemany(f"insert into t values({marks})", rows)
        found = sorted(database.execute(query).fetchall())
    database.close()
    return np.array([row[1] for row in found])


def test_rules_say_in_one_line_what_missing_values_count_as(heart):
    model, _ = heart
    lines = str(model.rules()).splitlines()
    (line,) = [line for line in lines if "issing value" in line]
    assert line.startswith("Missing values count as: ")
    assert line.count(" = ") > 1
    for text in (model.rules().to_markdown(), model.rules().to_html()):
        assert text.count("Missing values count as: ") == 1


def test_where_no_condition_holds_of_them_the_rules_are_as_short_as_before():
    rules = extract(make_step(Column("x", 0.0, 9.0), 3.0))
    assert rules.to_text() == "If x ≥ 3" + END
    assert str(rules).splitlines()[-1] == "A missing value fulfils no condition."
    held = extract(make_step(Column("x", 0.0, 9.0), 3.0, missing=[1.0]))
    assert held.to_text() == "If x ≥ 3" + END + "\nMissing values count as: x = 6"
    gaps = extract(make_step(Column("x", 0.0, 9.0, gaps=True), 3.0, missing=[1.0]))
    assert gaps.to_text() == "If x ≥ 3 or missing" + END
    assert str(gaps).splitlines()[-1] == "A missing value fulfils no other condition."


def test_the_line_is_part_of_the_rules():
    model = make_step(Column("x", 0.0, 9.0), 3.0, missing=[1.0])
    for line in ("x = 6", "x = 3", "x = 1e9"):
        assert prove(f"If x ≥ 3{END}\nMissing values count as: {line}", model)
    for line in ("", "\nMissing values count as: x = 2"):
        found = prove(f"If x ≥ 3{END}{line}", model)
        assert found.counterexample == {"x": None}
    assert prove(f"If x ≥ 3 or missing{END}", model)
    assert prove(f"If x ≥ 3 or missing{END}\nMissing values count as: x = 0", model)
    assert prove(f"If not (x < 3 and x not missing){END}\nMissing values count as: x = 0", model)


@pytest.mark.parametrize(
    ("line", "message"),
    [
        ("x = 1, x = 2", "each once"),
        ("x", "expected '='"),
        ("z = 1", "name of a column"),
        ("n = 7", "one of the column's values"),
        ("c = 7", "one of the categories"),
        ("r = 7", "may lack values"),
        ("x = 1e400", "number within"),
        ("x = 1; n = 1", "end of the line"),
    ],
)
def test_a_line_that_makes_no_sense_is_refused(line, message):
    columns = (
        Column("x", 0.0, 9.0),
        Column("n", 0.0, 1.0, (0.0, 1.0)),
        Column("c", 0.0, 1.0, categories=("a", "b")),
        Column("r", 0.0, 1.0, required=True),
    )
    model = from_rules(f"If x ≥ 3{END}", Schema(columns), Classes(("well", "ill")))
    with pytest.raises(InputError, match=message):
        prove(f"If x ≥ 3{END}\nMissing values count as: {line}", model)
    with pytest.raises(InputError, match="at the end"):
        prove(f"Missing values count as: x = 1\nIf x ≥ 3{END}", model)


def test_unknown_categories_are_missing_everywhere():
    column = Column("c", 0.0, 2.0, categories=("a", "b", "d"))
    last = make_layer(
        1, [0, 0], [0, 0], [0.0] * 2, [0.0] * 2, alpha=[2.0, 2.0], centre=[1.0],
        levels=[[1.0, 0.0, 0.0], [0.0, 1.0, 0.0]], missing=[0.0, 1.0],
    )  # fmt: skip
    model = Model(Schema((column,)), [last], Classes(("well", "ill")))
    rules = extract(model)
    assert rules.proof
    rows = np.array([["a"], ["b"], ["d"], ["new"], [None]], object)
    with pytest.warns(NewronWarning, match="not seen|unknown|new"):
        wanted = model.predict(rows)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", NewronWarning)
        assert (rules.predict(rows) == wanted).all()
    assert wanted.tolist() == ["ill", "ill", "well", "ill", "ill"]


@pytest.mark.parametrize("first", range(0, 120, 40))
def test_random_networks_and_their_rules_agree_on_holes(first):
    for seed in range(first, first + 40):
        model = make_model(seed, Wishes(outputs=("binary", "many", "amounts")))
        rows = make_rows(model, seed, most=300)
        holes = np.where(np.random.default_rng(seed).random(rows.shape) < 0.3, np.nan, rows)
        table = make_table(model, holes)
        rules = extract(model, seconds=1.0)
        again = RuleSet.parse(rules.to_text(), model)
        assert np.array_equal(rules.predict(table), model.predict(table)), seed
        assert np.array_equal(again.predict(table), model.predict(table)), seed
        assert again.to_text() == rules.to_text()


# ---- columns that must have a value ----


@pytest.fixture(scope="module")
def required():
    columns = (Column("x", 0.0, 9.0, required=True), Column("y", 0.0, 9.0))
    last = make_layer(1, [0, 0], [0, 1], [1.0] * 2, [3.0, 5.0], alpha=[1.0, 1.0], centre=[1.0])
    return Model(Schema(columns), [last], Classes(("well", "ill")))


def test_a_required_value_that_is_missing_is_an_error(required):
    rules = extract(required)
    for thing in (required, rules, rules.to_model()):
        with pytest.raises(InputError, match="column 'x', row 1: expected a value"):
            thing.predict([[4.0, 1.0], [np.nan, 1.0]])
        assert thing.predict([[1.0, np.nan]]).tolist() == ["well"]
    assert rules.proof
    assert "never missing" in str(rules)


def test_its_file_keeps_that(required, tmp_path):
    required.save(tmp_path / "model.json")
    assert load(tmp_path / "model.json") == required


@pytest.mark.parametrize("follow", [False, True])
def test_a_query_gives_null_for_it(required, follow):
    settings = {"rules": extract(required)} if follow else {}
    query = required.export("sql", dialect="sqlite", table="t", **settings).text
    with sqlite3.connect(":memory:") as database:
        database.execute("create table t(x, y)")
        database.executemany("insert into t values(?, ?)", [(None, 9.0), (1.0, None), (9.0, None)])
        found = [row[0] for row in database.execute(query)]
    database.close()
    assert found == [None, "well", "ill"]


def test_an_exported_module_refuses_it(required, tmp_path):
    made = {}
    exec(required.export("python").text, made)
    assert made["predict"]([9.0, None]) == "ill"
    with pytest.raises(ValueError, match="expected a value of 'x'"):
        made["predict"]([None, 9.0])


@pytest.mark.skipif(shutil.which("node") is None, reason="node is not installed")
def test_an_exported_script_refuses_it(required, tmp_path):
    (tmp_path / "model.mjs").write_text(required.export("javascript").text)
    code = 'import { predict } from "./model.mjs"; console.log(predict([9, null]));'
    (tmp_path / "try.mjs").write_text(f"{code} predict([null, 9]);")
    done = subprocess.run(
        ["node", "try.mjs"], cwd=tmp_path, capture_output=True, text=True, check=False
    )
    assert done.stdout == "ill\n"
    assert 'expected a value of "x", got a missing or unknown one' in done.stderr


def test_domains_declare_it():
    rng = np.random.default_rng(0)
    X = rng.random((60, 2))
    y = (X[:, 0] > 0.5).astype(int)
    never = {"x1": {"missing": "never"}}
    fitted = NewronClassifier("heaviside", random_state=0, domains=never).fit(X, y)
    assert [c.required for c in fitted.model_.schema.columns] == [True, False]
    with pytest.raises(InputError, match="declared never to have any"):
        fitted.predict([[np.nan, 0.5]])
    X[3, 0] = np.nan
    with pytest.raises(InputError, match="expected no missing values, got some in training"):
        NewronClassifier("heaviside", domains=never).fit(X, y)
    with pytest.raises(InputError, match='missing "allowed" or "never"'):
        NewronClassifier("heaviside", domains={"x1": {"missing": False}}).fit(X, y)
