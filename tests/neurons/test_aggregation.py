"""Aggregations and activations of one's own, from a Python function to every reader."""

import json

import numpy as np
import pytest

from model.networks import END
from newron import NewronClassifier, NewronRegressor, load
from newron import _core as core
from newron.errors import DefinitionError, InputError, ModelError, ModelFileError
from newron.exports.export import export
from newron.model import Classes, Column, Layer, Model, Schema, Targets
from newron.model.document_reader import from_dict
from newron.neurons import (
    activation,
    aggregation,
    exp,
    log,
    maximum,
    sin,
    sqrt,
    tanh,
)
from newron.neurons.builtin import ACTIVATIONS, AGGREGATIONS


@aggregation
def soft_max(parts):
    """A smooth greatest."""
    return log(exp(parts).sum())


@aggregation
def length(parts):
    return sqrt((parts * parts).sum() + 1e-6)


@aggregation
def noisy_or(parts):
    return 1.0 - (1.0 - parts).product()


@aggregation
def geometric(parts):
    return exp(log(abs(parts) + 0.01).mean())


@aggregation
def soft_least(parts):
    return 2.0 * tanh(parts).min()


@activation
def smooth_relu(x):
    return maximum(x, 0.0) + log(1.0 + exp(-abs(x)))


@activation
def wave(x):
    return sin(x)


OWN = [soft_max, length, noisy_or, geometric, soft_least]


def make_model(own, f="identity", reduce_last="sum"):
    rng = np.random.default_rng(7)
    columns = tuple(Column(name, -3.0, 3.0, gaps=True) for name in "ab")
    hidden = Layer(
        "sigmoid", own, f, 3, [0, 0, 1, 1], [0, 1, 0, 1], *rng.normal(0.0, 2.0, (2, 4, 1)),
        centre=[0.25, -0.5, 0.5], missing=[0.5, 0.25, 0.0, 1.0],
    )  # fmt: skip
    last = Layer(
        "sigmoid", reduce_last, "identity", 1, [0, 0, 0], [2, 3, 4],
        *rng.normal(0.0, 2.0, (2, 3, 1)), alpha=rng.normal(0.0, 2.0, 3), centre=[0.1],
    )  # fmt: skip
    return Model(Schema(columns), [hidden, last], Targets(("y",)))


def make_rows():
    rows = np.random.default_rng(8).normal(0.0, 3.0, (200, 2))
    rows[:3] = [[END, -END], [0.0, 0.0], [np.nan, np.nan]]
    return rows


def make_circle(n=600, seed=1000):
    X = np.random.default_rng(seed).uniform(-1.0, 1.0, (n, 2))
    return X, np.where((X**2).sum(axis=1) < 0.5, "inside", "outside")


class TestDefinition:
    def test_it_is_a_transform_a_reduction_and_a_finish(self):
        assert repr(noisy_or) == "<aggregation noisy_or: 1 - total, total the product of 1 - part>"
        assert (noisy_or.reduce, soft_max.about) == ("product", "A smooth greatest.")
        assert repr(wave) == "<activation wave: sin(x)>"

    def test_the_same_reduction_may_stand_twice(self):
        @aggregation
        def swish(parts):
            return parts.sum() * (1.0 / (1.0 + exp(-parts.sum())))

        assert swish.reduce == "sum"

    @pytest.mark.parametrize(
        ("function", "expected"),
        [
            (lambda parts: parts, "one reduction"),
            (lambda parts: parts.sum() / (1.0 + parts.max() * parts.max()), "one reduction"),
            (lambda parts: parts.sum() + parts, "inside the reduction"),
            (lambda parts: (parts - parts.mean()).sum(), "single numbers"),
            (lambda parts: log(parts.sum()), "log of numbers from 0 on"),
            (lambda parts: 1.0 / parts.sum(), "never 0"),
            (lambda parts: 0.0 * parts.sum(), "flat"),
            (lambda parts, p: parts.sum(), "one argument"),
            (lambda parts: sum(parts), "loop"),
            (lambda parts: parts.std(), "'std'"),
        ],
    )
    def test_what_is_none_says_why(self, function, expected):
        function.__name__ = "own"
        with pytest.raises(DefinitionError, match=expected) as caught:
            aggregation(function)
        assert "\n" not in str(caught.value)

    @pytest.mark.parametrize(
        ("function", "expected"),
        [
            (lambda x: 1.0 / x, "never 0"),
            (lambda x: 3.0, "flat"),
            (lambda x, a=1.0: a * x, "one argument"),
            (lambda x: x.sum(), "parts of an aggregation"),
            (lambda x: x // 2, "//"),
        ],
    )
    def test_an_activation_that_is_none_says_why(self, function, expected):
        function.__name__ = "own"
        with pytest.raises(DefinitionError, match=expected):
            activation(function)

    def test_names_of_newron_are_taken(self):
        def mean(parts):
            return parts.sum()

        def relu(x):
            return abs(x)

        for decorate, function in ((aggregation, mean), (activation, relu)):
            with pytest.raises(DefinitionError, match="a name of its own"):
                decorate(function)

    def test_a_shared_formula_of_great_size_is_refused_at_once(self):
        def huge(parts):
            for _ in range(200):
                parts = parts * parts
            return parts.sum()

        with pytest.raises(DefinitionError, match="at most"):
            aggregation(huge)


class TestMeaning:
    @pytest.mark.parametrize("f", ["identity", smooth_relu, wave], ids=str)
    @pytest.mark.parametrize("own", [*OWN, "sum"], ids=str)
    def test_numpy_and_the_core_agree_to_the_last_bit(self, own, f):
        model = make_model(own, f)
        rows = make_rows()
        np.testing.assert_array_equal(model.scores(rows), model.scores(rows, compiled=False))

    def test_the_last_layer_may_have_one_too(self):
        model = make_model("sum", reduce_last=soft_max)
        rows = make_rows()
        np.testing.assert_array_equal(model.scores(rows), model.scores(rows, compiled=False))

    def test_the_value_is_that_of_the_formula(self):
        parts = np.array([0.5, -1.0, 2.0])
        expected = np.log(np.exp(parts).sum())
        total = soft_max.transformation.value(parts).sum()
        assert soft_max.finishing.value(np.array(total)) == pytest.approx(expected, rel=1e-14)

    @pytest.mark.parametrize("name", AGGREGATIONS)
    def test_kernels_of_aggregations_compute_what_their_formulas_say(self, name):
        same = AGGREGATIONS[name]
        own = type(same)(f"own_{name}", same.transform, same.reduce, same.finish)
        rows = make_rows()
        np.testing.assert_array_equal(make_model(own).scores(rows), make_model(name).scores(rows))

    @pytest.mark.parametrize("name", ACTIVATIONS)
    def test_kernels_of_activations_compute_what_their_formulas_say(self, name):
        same = ACTIVATIONS[name]
        own = type(same)(f"own_{name}", same.expression, reach=same.reach)
        rows = make_rows()
        found = [make_model("sum", f).scores(rows) for f in (own, name)]
        np.testing.assert_array_equal(*found)

    def test_properties_are_derived(self):
        assert [g.monotone for g in (soft_max, noisy_or, length)] == [True, False, False]
        assert (smooth_relu.monotone, wave.monotone) == (True, False)

    @pytest.mark.parametrize("f", [smooth_relu, wave], ids=str)
    def test_limits_hold(self, f):
        low, high = f.limits(np.array([-2.0]), np.array([3.0]))
        values = f.value(np.linspace(-2.0, 3.0, 501))
        assert low[0] <= values.min()
        assert values.max() <= high[0]


def differentiate(own, f):
    """Return the parameters of a small network, and what measures its loss and gradient."""
    network = core.Network(2)
    sigmoid = core.function_names().index("sigmoid")
    reduce = list(AGGREGATIONS).index(own.reduce)
    source, begin = np.array([0, 1, 0, 1], np.int32), np.array([0, 2, 4], np.int32)
    network.add_layer(sigmoid, reduce, 0, False, True, 1, 2, source, begin)
    curves = {"transform": own.transformation, "finish": own.finishing, "activate": f}
    for role, curve in curves.items():
        network.set_curve(role, *curve.training_tape.code, curve.reach)
    last = np.array([2, 3], np.int32), np.array([0, 2], np.int32)
    network.add_layer(sigmoid, 0, 0, True, True, 1, 1, *last)
    rng = np.random.default_rng(3)
    params = rng.uniform(0.2, 1.2, network.n_params).astype(np.float32)
    x = rng.normal(0.0, 1.0, (64, 2)).astype(np.float32)
    targets = rng.normal(0.0, 1.0, (64, 1)).astype(np.float32)
    table = core.Table(x, targets, np.ones(64, np.float32))
    return params, lambda values: core.differentiate(network, table, values, core.Loss.squared)


class TestTraining:
    @pytest.mark.parametrize("f", [smooth_relu, wave], ids=str)
    @pytest.mark.parametrize("own", OWN, ids=str)
    def test_gradients_are_those_of_finite_differences(self, own, f):
        params, measure = differentiate(own, f)
        _, gradient = measure(params)
        found = []
        for i in range(len(params)):
            low, high = params.copy(), params.copy()
            low[i] -= 3e-3
            high[i] += 3e-3
            found.append((measure(high)[0] - measure(low)[0]) / (high[i] - low[i]))
        np.testing.assert_allclose(gradient, found, atol=0.02 * np.abs(gradient).max())

    @pytest.mark.parametrize("own", [soft_max, noisy_or], ids=str)
    def test_a_circle_is_learned(self, own):
        X, y = make_circle()
        model = NewronClassifier(
            "sigmoid", aggregation=own, activation=smooth_relu, functions_per_input=2,
            random_state=0,
        ).fit(X, y)  # fmt: skip
        assert model.score(X, y) >= 0.97
        assert f"takes {own} of" in str(model.model_)
        assert "then smooth_relu" in str(model.shapes())

    def test_pruning_leaves_a_network_that_is_as_good(self):
        X, y = make_circle()
        model = NewronClassifier(
            "sigmoid", aggregation=soft_max, functions_per_input=2, random_state=0, pruning=True
        ).fit(X, y)
        assert model.score(X, y) >= 0.95

    def test_regression_is_in_the_units_of_the_target(self):
        X, _ = make_circle()
        y = 1e4 * np.hypot(X[:, 0], X[:, 1])
        model = NewronRegressor("sigmoid", aggregation=length, random_state=0).fit(X, y)
        assert model.score(X, y) > 0.9

    def test_directions_need_what_never_falls(self):
        X, y = make_circle(200)
        with pytest.raises(InputError, match="noisy_or, of which that is not proved"):
            NewronClassifier("sigmoid", aggregation=noisy_or, monotonic_cst=[1, 0]).fit(X, y)
        rising = NewronClassifier(
            "sigmoid", aggregation=soft_max, activation=smooth_relu, monotonic_cst=[1, 0],
            max_iter=20, random_state=0,
        ).fit(X, y)  # fmt: skip
        line = np.column_stack([np.linspace(-1.0, 1.0, 101), np.zeros(101)])
        assert np.all(np.diff(rising.decision_function(line)) >= -1e-12)

    def test_the_output_layer_keeps_its_own(self):
        X, y = make_circle(100)
        with pytest.raises(InputError, match="the output layer gives scores"):
            NewronClassifier("sigmoid", aggregation=("sum", soft_max)).fit(X, y)


class TestFile:
    @pytest.mark.parametrize("own", OWN, ids=str)
    def test_a_file_has_all_that_is_needed(self, own, tmp_path):
        model = make_model(own, wave)
        model.save(tmp_path / "model.json")
        again = load(tmp_path / "model.json")
        assert again == model
        np.testing.assert_array_equal(again.scores(make_rows()), model.scores(make_rows()))

    @pytest.mark.parametrize(
        ("kind", "name", "change"),
        [
            ("aggregations", "soft_max", {"reduce": "sort"}),
            ("aggregations", "soft_max", {"transform": ["import", "part"]}),
            ("aggregations", "soft_max", {"finish": ["log", "part"]}),
            ("aggregations", "soft_max", {"finish": ["/", 1, "total"]}),
            ("aggregations", "soft_max", {"more": 1}),
            ("activations", "wave", {"formula": ["sin", "y"]}),
            ("activations", "wave", {"formula": 3.0}),
            ("activations", "wave", {"about": 7}),
        ],
    )
    def test_a_damaged_definition_is_one_clear_error(self, kind, name, change):
        data = json.loads(json.dumps(make_model(soft_max, wave).to_dict()))
        data[kind][name] |= change
        with pytest.raises(ModelFileError, match=name) as caught:
            from_dict(data)
        assert "\n" not in str(caught.value)

    def test_a_name_that_newron_has_is_refused(self):
        data = json.loads(json.dumps(make_model(soft_max, wave).to_dict()))
        data["activations"]["relu"] = data["activations"]["wave"]
        with pytest.raises(ModelFileError, match="a name of its own"):
            from_dict(data)


def test_two_definitions_of_one_name_are_refused():
    def other_wave(x):
        return sin(2.0 * x)

    other_wave.__name__ = "wave"
    first, last = make_model(soft_max, wave).layers
    second = first.replace(source=[2, 3, 2, 3], activation=activation(other_wave))
    columns = tuple(Column(name, -3.0, 3.0) for name in "ab")
    with pytest.raises(ModelError, match="got two called wave"):
        Model(Schema(columns), [first, second, last], Targets(("y",)))


class TestReaders:
    def test_rules_say_what_they_do_not_read(self):
        steps = Layer("heaviside", soft_max, "identity", 1, [0, 0], [0, 0], [[1.0], [1.0]],
                      [[0.0], [1.0]])  # fmt: skip
        last = Layer("heaviside", "sum", "identity", 1, [0], [1], [[1.0]], [[1.0]], alpha=[1.0],
                     centre=[0.5])  # fmt: skip
        model = Model(Schema((Column("a", 0.0, 2.0),)), [steps, last], Classes(("no", "yes")))
        with pytest.raises(ModelError, match="got soft_max in layer 1"):
            model.rules()

    def test_figures_explanations_and_pages_are_made(self, tmp_path):
        X, y = make_circle(200)
        model = NewronClassifier(
            "sigmoid", aggregation=soft_max, activation=wave, max_iter=20, random_state=0
        ).fit(X, y)
        assert "soft_max" in model.plot().svg
        stage = model.explain(X[:1]).stages[0]
        parts = [part.contribution for part in stage.parts]
        assert stage.total == pytest.approx(np.log(np.exp(parts).sum()))
        model.report(tmp_path / "page.html", X, y)
        assert ">soft_max<" in (tmp_path / "page.html").read_text()


ROWS = [[0.3, -1.5], [2.0, 0.01], [-0.7, 40.0]]


@pytest.mark.parametrize("f", ["identity", wave], ids=str)
@pytest.mark.parametrize("own", OWN, ids=str)
class TestExports:
    def test_python_gives_the_same_bits(self, own, f):
        model = make_model(own, f)
        space: dict = {"__name__": "exported"}
        exec(export(model, "python").text, space)
        found = [space["predict"]({"a": a, "b": b}) for a, b in ROWS]
        np.testing.assert_array_equal(found, model.scores(ROWS)[:, 0])

    def test_onnx_gives_the_same_bits(self, own, f):
        pytest.importorskip("onnx")
        runtime = pytest.importorskip("onnxruntime")
        model = make_model(own, f)
        session = runtime.InferenceSession(export(model, "onnx").content)
        rows = np.array(ROWS)
        found = session.run(None, {"a": rows[:, :1], "b": rows[:, 1:]})[0]
        np.testing.assert_array_equal(np.asarray(found), model.scores(rows))

    def test_sql_gives_the_same_bits(self, own, f):
        duckdb = pytest.importorskip("duckdb")
        pytest.importorskip("sqlglot")
        model = make_model(own, f)
        with duckdb.connect() as database:
            database.execute("CREATE TABLE data (a DOUBLE, b DOUBLE)")
            database.executemany("INSERT INTO data VALUES (?, ?)", ROWS)
            found = database.execute(export(model, "sql", dialect="duckdb").text).fetchall()
        np.testing.assert_array_equal(sorted(found), sorted(model.scores(ROWS).tolist()))
