"""Processing functions of one's own: definition, training, prediction, file, exports."""

import subprocess
import sys

import numpy as np
import pytest

from newron import NewronClassifier, NewronRegressor, _core, load
from newron.errors import DefinitionError, InputError, ModelFileError
from newron.exports.export import export
from newron.model import Column, Layer, Model, Schema, Targets
from newron.model.document_reader import from_dict
from newron.model.processing import get_processing
from newron.neurons import exp, log, maximum, processing, sin, sqrt, tanh, where
from newron.neurons.builtin import PROCESSING
from newron.neurons.processing import Processing


@processing
def bell(z):
    """A bell around b."""
    return exp(-z * z)


@processing
def leaky(z, a=0.1):
    return maximum(z, a * z)


@processing
def pair(z1, z2):
    return tanh(z1) * sin(z2)


@processing
def chain(*z):
    total = exp(-z[0] * z[0])
    for each in z[1:]:
        total = total + log(1.0 + each * each)
    return sqrt(total)


@processing(surrogate="sigmoid")
def window(z):
    return where((z > -1.0) & (z < 1.0), 1.0, 0.0)


OWN = (bell, leaky, pair, chain, window)
EXPORTED = (*OWN, *(PROCESSING[name] for name in ("gaussian", "cosine", "hinge", "softplus")))


def make_circle(n=600, seed=1000):
    X = np.random.default_rng(seed).uniform(-1.0, 1.0, (n, 2))
    return X, (X**2).sum(axis=1) < 0.5


def make_model(function, seed=0):
    rng = np.random.default_rng(seed)
    m = len(function.factors)
    further = rng.uniform(-1.0, 1.0, (4, len(function.parameters)))
    w, b = rng.normal(0.0, 2.0, (2, 4, m))
    first = Layer(function, "sum", "identity", 2, [0, 0, 1, 1], [0, 1, 0, 1], w, b,
                  missing=[0.0, 1.0, 0.0, 1.0],
                  parameters=further)  # fmt: skip
    last = Layer(function, "sum", "identity", 1, [0, 0], [2, 3], w[:2], b[:2],
                 alpha=[1.5, -2.0], centre=[0.1], parameters=further[:2])  # fmt: skip
    schema = Schema((Column("a", -2.0, 2.0), Column("b", -2.0, 2.0)))
    return Model(schema, [first, last], Targets(("y",)))


def make_rows(n=200, seed=1):
    rng = np.random.default_rng(seed)
    X = rng.normal(0.0, 1.0, (n, 2)) * 10.0 ** rng.integers(-3, 4, (n, 1))
    X[::17, 0] = np.nan
    return X


class TestDefinition:
    def test_a_python_if_is_an_error_that_names_where(self):
        with pytest.raises(DefinitionError, match="where"):

            @processing
            def step(z):
                return 1.0 if z > 0.0 else 0.0

    @pytest.mark.parametrize(
        ("function", "match"),
        [
            (lambda z: 1.0 / z, "never 0"),
            (lambda z: log(z), "from 0 on"),
            (lambda z: z ** (1 / 3), "power"),
            (lambda z: np.arctan(z), "arctan"),
            (lambda z: __import__("math").exp(z), "newron.neurons"),
            (lambda z: None, "return"),
            (lambda z: where(z > 0.0, 1.0, 0.0), "surrogate"),
            (lambda z: z**16 * z**16, "within"),
            (lambda z, a=1e9: z * a, "start of a"),
            (lambda: 1.0, "an argument"),
        ],
    )
    def test_what_is_no_formula_is_one_clear_error(self, function, match):
        function.__name__ = "wrong"
        with pytest.raises(DefinitionError, match=match) as caught:
            processing(function)
        assert "\n" not in str(caught.value)

    def test_a_formula_that_doubles_again_and_again_is_refused_at_once(self):
        with pytest.raises(DefinitionError, match="at most"):

            @processing
            def large(z):
                for _ in range(60):
                    z = z + z
                return z

    def test_the_names_of_newron_are_taken(self):
        def sigmoid(z):
            return z

        with pytest.raises(DefinitionError, match="rename"):
            processing(sigmoid)

    def test_properties_follow_from_the_formula(self):
        assert bell.bounded
        assert not bell.monotone
        assert not leaky.bounded
        for name in ("sigmoid", "heaviside", "linear", "relu", "hinge", "softplus"):
            assert get_processing(name).monotone
        for name in ("gaussian", "cosine", "tanh_prod"):
            assert get_processing(name).bounded
            assert not get_processing(name).monotone


class TestMeaning:
    @pytest.mark.parametrize("function", [*OWN, *PROCESSING.values()], ids=str)
    def test_numpy_and_the_core_agree_to_the_last_bit(self, function):
        model = make_model(function)
        rows = make_rows()
        np.testing.assert_array_equal(model.scores(rows), model.scores(rows, compiled=False))

    @pytest.mark.parametrize("name", ["sigmoid", "tanh_prod", "linear", "relu", "selu"])
    def test_a_kernel_computes_what_its_formula_says(self, name):
        built_in = PROCESSING[name]
        own = Processing(f"own_{name}", built_in.expression, built_in.factors, reach=1e100)
        layers = [make_model(each).scores(make_rows()) for each in (own, built_in)]
        np.testing.assert_array_equal(*layers)

    @pytest.mark.parametrize("function", OWN, ids=str)
    def test_limits_hold(self, function):
        m = len(function.factors)
        w, b = np.random.default_rng(5).normal(0.0, 3.0, (2, 6, m))
        low, high = np.full(6, -2.0), np.full(6, 3.0)
        least, most = function.limits(w, b, low, high)
        h = function.value(np.linspace(-2.0, 3.0, 501)[:, None] * np.ones(6), w, b)
        assert np.all(h >= least)
        assert np.all(h <= most)


def differentiate(function, kernel=None):
    """Return loss and gradient of a small network, by code or by a kernel."""
    rng = np.random.default_rng(3)
    m, k = len(function.factors), len(function.parameters)
    network = _core.Network(2)
    names = _core.function_names()
    for first, neurons, weighted in ((0, 3, False), (2, 1, True)):
        n = 2 if first == 0 else 3
        source = np.tile(np.arange(first, first + n, dtype=np.int32), neurons)
        begin = np.arange(neurons + 1, dtype=np.int32) * np.int32(n)
        network.add_layer(names.index(kernel or "formula"), 0, 0, weighted, True, m, neurons,
                          source, begin)  # fmt: skip
        if kernel is None:
            tape = function.training_tape
            code, constants, n_registers = tape.code
            network.set_code(code, constants, m + k, 1 + m + k, n_registers, 1e30)
    params = rng.uniform(0.2, 1.2, network.n_params).astype(np.float32)
    x = rng.normal(0.0, 1.0, (64, 2)).astype(np.float32)
    targets = rng.normal(0.0, 1.0, (64, 1)).astype(np.float32)
    table = _core.Table(x, targets, np.ones(64, np.float32))

    def measure(values):
        return _core.differentiate(network, table, values, _core.Loss.squared)

    return params, measure


class TestTraining:
    @pytest.mark.parametrize("function", [bell, leaky, pair, chain], ids=str)
    def test_gradients_are_those_of_finite_differences(self, function):
        params, measure = differentiate(function)
        _, gradient = measure(params)
        step = 3e-3
        found = []
        for i in range(len(params)):
            low, high = params.copy(), params.copy()
            low[i] -= step
            high[i] += step
            found.append((measure(high)[0] - measure(low)[0]) / (high[i] - low[i]))
        np.testing.assert_allclose(gradient, found, atol=0.02 * np.abs(gradient).max())

    @pytest.mark.parametrize("name", ["sigmoid", "tanh_prod", "linear", "relu", "selu"])
    def test_code_trains_as_its_kernel_does(self, name):
        results = [differentiate(PROCESSING[name], kernel) for kernel in (None, name)]
        (loss, gradient), (same_loss, same) = [measure(params) for params, measure in results]
        np.testing.assert_allclose(loss, same_loss, rtol=1e-5)
        np.testing.assert_allclose(gradient, same, atol=1e-4 * np.abs(same).max())

    def test_a_bell_learns_a_circle(self):
        X, y = make_circle(1500)
        model = NewronClassifier(processing=bell, random_state=0).fit(X, y)
        assert model.score(*make_circle(1500, seed=1001)) >= 0.98
        assert "bell, highest" in str(model.shapes())

    def test_further_parameters_are_trained(self):
        x = np.linspace(-2.0, 2.0, 400)[:, None]
        y = np.where(x[:, 0] > 0.0, x[:, 0], 0.4 * x[:, 0])
        model = NewronRegressor(
            processing=leaky, hidden_layer_sizes=(), recipe="gradient", random_state=0
        ).fit(x, y)
        assert model.score(x, y) > 0.999
        assert model.model_.layers[-1].parameters[0, 0] != 0.1

    def test_functions_with_several_factors_and_surrogates_train(self):
        X, y = make_circle()
        for function in (chain, window):
            model = NewronClassifier(processing=function, max_iter=30, random_state=0).fit(X, y)
            assert model.score(X, y) > 0.6

    def test_a_direction_needs_a_function_that_never_falls(self):
        X, y = make_circle(100)
        with pytest.raises(InputError, match="never fall"):
            NewronClassifier(processing=bell, monotonic_cst=[1, 0]).fit(X, y)


class TestFile:
    @pytest.mark.parametrize("function", OWN, ids=str)
    def test_a_process_that_never_saw_the_function_predicts_the_same(self, function, tmp_path):
        model = make_model(function)
        model.save(tmp_path / "model.json")
        again = load(tmp_path / "model.json")
        assert again == model
        np.testing.assert_array_equal(again.scores(make_rows()), model.scores(make_rows()))

    def test_loading_needs_nothing_of_the_definition(self, tmp_path):
        make_model(bell).save(tmp_path / "model.json")
        script = "import sys, newron; print(newron.load(sys.argv[1]).scores([[0.5, 0.25]])[0, 0])"
        done = subprocess.run(
            [sys.executable, "-c", script, str(tmp_path / "model.json")],
            capture_output=True, text=True, check=True,
        )  # fmt: skip
        assert float(done.stdout) == make_model(bell).scores([[0.5, 0.25]])[0, 0]

    @pytest.mark.parametrize(
        "formula",
        [
            ["import", "z"], ["exp"], ["exp", "y"], ["/", 1, "z"], [], None, {"a": 1}, True,
            ["where", "z", 1, 0], ["exp", 1e309], "__class__", 3.0,
        ],
    )  # fmt: skip
    def test_a_damaged_formula_is_one_clear_error(self, formula):
        data = make_model(bell).to_dict()
        data["definitions"]["bell"]["formula"] = formula
        with pytest.raises(ModelFileError, match="processing bell") as caught:
            from_dict(data)
        assert "\n" not in str(caught.value)

    def test_a_deep_formula_is_refused(self):
        formula = "z"
        for _ in range(100):
            formula = ["negate", formula]
        data = make_model(bell).to_dict()
        data["definitions"]["bell"]["formula"] = formula
        with pytest.raises(ModelFileError, match="at most"):
            from_dict(data)


class TestExports:
    @pytest.mark.parametrize("function", EXPORTED, ids=str)
    def test_python_gives_the_same_bits(self, function):
        model = make_model(function)
        space: dict = {"__name__": "exported"}
        exec(export(model, "python").text, space)
        rows = [[0.3, -1.5], [2.0, 0.01], [-0.7, 40.0]]
        found = [space["predict"]({"a": a, "b": b}) for a, b in rows]
        np.testing.assert_array_equal(found, model.scores(rows)[:, 0])

    @pytest.mark.parametrize("function", EXPORTED, ids=str)
    def test_onnx_gives_the_same_bits(self, function):
        pytest.importorskip("onnx")
        runtime = pytest.importorskip("onnxruntime")
        model = make_model(function)
        session = runtime.InferenceSession(export(model, "onnx").content)
        rows = np.array([[0.3, -1.5], [2.0, 0.01], [-0.7, 40.0]])
        found = session.run(None, {"a": rows[:, :1], "b": rows[:, 1:]})[0]
        np.testing.assert_array_equal(np.asarray(found), model.scores(rows))

    @pytest.mark.parametrize("function", EXPORTED, ids=str)
    def test_sql_gives_the_same_bits(self, function):
        duckdb = pytest.importorskip("duckdb")
        pytest.importorskip("sqlglot")
        model = make_model(function)
        rows = [[0.3, -1.5], [2.0, 0.01], [-0.7, 40.0]]
        with duckdb.connect() as database:
            database.execute("CREATE TABLE data (a DOUBLE, b DOUBLE)")
            database.executemany("INSERT INTO data VALUES (?, ?)", rows)
            found = database.execute(export(model, "sql", dialect="duckdb").text).fetchall()
        np.testing.assert_array_equal(sorted(found), sorted(model.scores(rows).tolist()))
