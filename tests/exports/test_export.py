"""The one call for all targets: what it returns, its errors and its imports."""

import ast
import os
import subprocess
import sys

import numpy as np
import pytest

import newron
from exports.cases import NAMES, make_cases, make_hostile
from exports.databases import open_duckdb
from newron import NewronClassifier, NewronRegressor
from newron.errors import InputError, ModelError
from newron.exports import Export
from newron.exports.export import TARGETS, export
from newron.exports.functions import make_function
from newron.exports.program import make_program
from newron.expressions.definitions import DEFINITIONS
from newron.expressions.tree import Call, Input, walk
from newron.model import Column, Layer, Model, Schema, Targets
from newron.model.processing import processing_names
from rules.networks import make_monk2

SUFFIXES = {"javascript": ".js", "python": ".py", "c": ".h", "sql": ".sql", "onnx": ".onnx"}


class TestExport:
    @pytest.mark.parametrize("target", TARGETS)
    def test_it_is_text_or_bytes_with_a_suffix(self, target):
        model = make_monk2()
        made = export(model, target, name="monk")
        assert made.suffix == SUFFIXES[target]
        assert model.fingerprint.encode() in made.content
        assert newron.__version__.encode() in made.content
        assert b"monk" in made.content
        assert repr(made) == f"<Export: {target}, {len(made.content)} bytes>"
        assert (str(made) == repr(made)) == (target == "onnx")

    @pytest.mark.parametrize("target", TARGETS)
    def test_the_same_model_gives_the_same_bytes(self, target):
        once, again = (export(make_monk2(), target, rules=True) for _ in range(2))
        assert once == again

    def test_a_file_appears_whole_or_not_at_all(self, tmp_path, monkeypatch):
        made = make_monk2().export("python")
        path = tmp_path / "model.py"
        made.save(path)
        assert path.read_bytes() == made.content
        monkeypatch.setattr(os, "replace", _fail)
        with pytest.raises(OSError, match="no space"):
            Export(b"x", "python").save(path)
        assert path.read_bytes() == made.content
        assert list(tmp_path.iterdir()) == [path]

    def test_estimators_and_models_have_it(self):
        X = np.arange(40.0).reshape(20, 2)
        settings = {"hidden_layer_sizes": (), "random_state": 0, "recipe": "gradient", "n_init": 1}
        classifier = NewronClassifier("heaviside", **settings).fit(X, np.arange(20) >= 10)
        assert classifier.export("sql") == export(classifier.model_, "sql")
        regressor = NewronRegressor("sigmoid", **settings).fit(X, np.arange(20.0))
        assert regressor.export("c", name="amount") == regressor.model_.export("c", name="amount")


def _fail(*_):
    raise OSError("no space")


class TestErrors:
    def test_an_unknown_target_is_an_error(self):
        with pytest.raises(InputError, match=r"expected a target among javascript, .*, got 'java'"):
            export(make_monk2(), "java")

    @pytest.mark.parametrize(
        "settings", [{"dialect": "duckdb"}, {"table": "t"}, {"keep": ["id"]}, {"exact": False}]
    )
    def test_what_is_for_sql_is_an_error_elsewhere(self, settings):
        with pytest.raises(InputError, match="are for SQL, got them for python"):
            export(make_monk2(), "python", **settings)

    def test_smooth_networks_have_no_rules(self):
        layer = Layer("sigmoid", "sum", "identity", 1, [0], [0], [[1.0]], [[0.0]])
        model = Model(Schema((Column("x", 0.0, 1.0),)), [layer], Targets(("y",)))
        with pytest.raises(ModelError, match="rules are exact for crisp networks"):
            export(model, "javascript", rules=True)

    def test_rules_that_are_not_those_of_the_model_are_an_error(self):
        rules = make_monk2().rules()
        wrong = type(rules).parse("If a1 = 1, then class 1\nOtherwise class 0", make_monk2())
        with pytest.raises(ModelError, match="expected rules that equal the network"):
            export(make_monk2(), "javascript", rules=wrong)

    def test_rules_of_another_model_are_an_error(self):
        other = Model(make_monk2().schema, make_monk2().layers[:1], Targets(("y",)))
        with pytest.raises(InputError, match="line 1"):
            export(other, "javascript", rules=make_monk2().rules())


class TestHostileNames:
    """What a model is called, too, does nothing; columns and labels are in every test."""

    @pytest.mark.parametrize("name", NAMES)
    def test_python_defines_what_it_always_does(self, name):
        model = make_hostile().model
        plain, odd = (ast.parse(export(model, "python", name=n).text) for n in ("model", name))
        assert [type(node) for node in odd.body] == [type(node) for node in plain.body]
        assert len(list(ast.walk(odd))) == len(list(ast.walk(plain)))

    def test_sql_does_nothing_else(self):
        case = make_hostile()
        with open_duckdb() as database:
            database.fill("data", case)
            for name in (*NAMES, "\n; DROP TABLE t; --", "*/; DROP TABLE t; /*"):
                database.ask(export(case.model, "sql", name=name, keep=["row id"]).text)
                database.check_guard()


class TestDefinitions:
    def test_every_processing_function_is_known(self):
        for name in processing_names():
            layer = Layer(name, "sum", "identity", 1, [0], [0], [[1.0]], [[0.0]])
            assert make_function(layer, 0, Input(0), [0.0])

    def test_every_definition_is_used_by_some_model(self):
        used = {
            part.name
            for case in make_cases(24)
            for expression in make_program(case.model).expressions
            for part in walk(expression)
            if isinstance(part, Call)
        }
        # The others belong to formulas: tests/neurons exports each of them.
        assert used >= set(DEFINITIONS) - {"log", "sin", "cos"}


def test_exports_bring_in_their_libraries_when_used():
    code = (
        "import sys, newron.exports\n"
        "assert not {'sqlglot', 'onnx', 'sklearn', 'pandas'} & set(sys.modules)"
    )
    subprocess.run([sys.executable, "-c", code], check=True)


@pytest.mark.parametrize(("target", "library"), [("sql", "sqlglot"), ("onnx", "onnx")])
def test_a_library_that_is_not_there_is_named(target, library, monkeypatch):
    monkeypatch.setitem(sys.modules, library, None)
    with pytest.raises(InputError, match=rf"pip install 'newron-ian\[{target}\]'"):
        export(make_monk2(), target)
