"""Importance: against naive loops, exact for given rows."""

import builtins
import json
import sys

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from model.networks import make_model, with_ranks
from model.test_points import make_point_rows, with_points
from newron.errors import InputError
from newron.explanations.importance import hold_functions, measure_importance
from newron.explanations.row import open_layers
from newron.model import Classes, Column, Layer, Model, Schema, Targets
from newron.model.network import evaluate

SEEDS = st.integers(0, 10**6)


def make_any_model(seed):
    return with_points(with_ranks(make_model(seed), seed), seed)


def make_card(output=None, alpha=(2.0, 0.5)):
    layer = Layer(
        "heaviside", "sum", "identity", 1, [0, 0], [0, 1], [[1.0], [1.0]], [[38.0], [3.0]],
        alpha=alpha, centre=[1.0],
    )  # fmt: skip
    columns = Column("temperature", 35.0, 42.0), Column("days", 0.0, 9.0), Column("id", 0.0, 9.0)
    return Model(Schema(columns), [layer], output or Classes(("well", "ill")))


ROWS = [[37.0, 1.0, 0.0], [37.5, 5.0, 1.0], [39.0, 1.0, 2.0], [36.5, 0.0, 3.0]]


class TestHolding:
    @given(SEEDS)
    @settings(max_examples=80, deadline=None)
    def test_a_function_held_at_its_own_value_changes_nothing(self, seed):
        model = make_any_model(seed)
        row = make_point_rows(model, seed, 6)[3:4]
        h = open_layers(model)(row)
        held = {
            (k, e): float(h[k][0, e])
            for k, layer in enumerate(model.layers)
            for e in range(len(layer.source))
        }
        wider = np.append(row, [[0.0]], axis=1)
        same = hold_functions(model, held).score_rows(wider)
        np.testing.assert_array_equal(same, model.score_rows(row))

    @given(SEEDS)
    @settings(max_examples=60, deadline=None)
    def test_others_go_on_as_before(self, seed):
        """In a sum of weighted functions, holding one moves the score by its difference."""
        model = make_any_model(seed)
        last = model.layers[-1]
        if last.aggregation != "sum" or not len(last.source):
            return
        rows = make_point_rows(model, seed, 12)
        h = open_layers(model)(rows)[-1]
        e = seed % len(last.source)
        constant = 1.0 if last.processing == "heaviside" else 0.25
        held = hold_functions(model, {(len(model.layers) - 1, e): constant})
        moved = held.score_rows(np.append(rows, np.zeros((12, 1)), axis=1))
        moved = moved - model.score_rows(rows)
        weight = 1.0 if last.alpha is None else last.alpha[e]
        expected = np.zeros_like(moved)
        expected[:, last.target[e]] = weight * (constant - h[:, e])
        size = 1.0 + np.abs(h * (1.0 if last.alpha is None else last.alpha)).sum()
        np.testing.assert_allclose(moved, expected, atol=1e-9 * size)

    def test_a_column_may_be_called_constant(self):
        layer = Layer("heaviside", "sum", "identity", 1, [0], [0], [[1.0]], [[0.5]])
        model = Model(Schema((Column("constant", 0.0, 1.0),)), [layer], Targets(("y",)))
        held = hold_functions(model, {(0, 0): 1.0})
        assert held.schema.names == ("constant", "constant_")


class TestDrop:
    @given(SEEDS)
    @settings(max_examples=50, deadline=None)
    def test_it_is_what_a_naive_loop_finds(self, seed):
        model = make_any_model(seed)
        rows = make_point_rows(model, seed, 15)
        rows = np.where(np.abs(rows) > 1e3, 0.0, rows)
        labelled = [
            [c.categories[int(x)] if c.categories and 0 <= x < len(c.categories) else
             None if c.categories or np.isnan(x) else x
             for c, x in zip(model.schema.columns, row, strict=True)]
            for row in rows.tolist()
        ]  # fmt: skip
        table = np.empty(rows.shape, object)
        table[:] = labelled
        found = measure_importance(model, table, kind="drop")
        read = model.read(table)
        before, h = model.score_rows(read), open_layers(model)(read)
        for one in found.functions:
            values = h[one.layer - 1][:, one.function]
            layer = model.layers[one.layer - 1]
            constant = values.mean()
            if layer.processing == "heaviside":
                constant = 1.0 if (values == 1.0).sum() * 2 >= len(values) else 0.0
            after = score_naively(model, read, one.layer - 1, one.function, constant)
            assert one.value == pytest.approx(compare(model, before, after), abs=1e-9, rel=1e-6)
        assert len(found.functions) == model.n_functions
        assert len(found) == len(model.schema)

    def test_an_input_is_held_with_all_its_functions(self):
        layer = Layer(
            "heaviside", "sum", "identity", 1, [0, 0], [0, 0], [[1.0], [-1.0]], [[2.0], [4.0]],
            alpha=[1.0, 1.0], centre=[1.5],
        )  # fmt: skip
        model = Model(Schema((Column("a", 0.0, 9.0),)), [layer], Classes((0, 1)))
        rows = [[1.0], [3.0], [3.0], [3.0], [5.0]]  # inside the window three times
        found = measure_importance(model, rows, kind="drop")
        assert [one.value for one in found.functions] == [0.2, 0.2]
        assert found.of("a").value == 0.4
        assert [one.name for one in found.functions] == ["a ≥ 2", "a ≤ 4"]

    def test_amounts_change_by_their_mean_difference(self):
        found = measure_importance(make_card(Targets(("dose",))), ROWS, kind="drop")
        assert found.of("temperature").value == 0.5  # one of four rows, by 2
        assert found.of("days").value == 0.125
        assert found.of("id").value == 0.0
        assert str(found).startswith("Mean change of dose on 4 rows when an input is held constant")


def score_naively(model, rows, number, function, constant):
    """Evaluate all layers by their definition, with one function's h replaced."""
    signals = rows
    for k, layer in enumerate(model.layers):
        h = open_layers(model)(rows)[k] if k <= number else evaluate_from(model, k, signals)
        if k == number:
            h = h.copy()
            h[:, function] = constant
        signals = np.append(signals, aggregate(layer, h), axis=1)
    return signals[:, -model.layers[-1].n_neurons :]


def evaluate_from(model, k, signals):
    """Give h of layer k, reading signals that are given as columns."""
    n = signals.shape[1]
    columns = list(model.schema.columns)
    columns += [Column(f"signal {i}", -1e300, 1e300) for i in range(n - len(columns))]
    layer = model.layers[k]
    size = len(layer.source)
    probe = layer.replace(
        aggregation="sum", activation="identity", n_neurons=max(size, 1), target=np.arange(size),
        alpha=None, centre=None,
    )  # fmt: skip
    return evaluate(Schema(tuple(columns)), (probe,), signals)[:, :size]


def aggregate(layer, h):
    from newron.model.aggregation import activate

    parts = h if layer.alpha is None else h * layer.alpha
    out = np.empty((len(h), layer.n_neurons))
    for j in range(layer.n_neurons):
        mine = parts[:, layer.begin[j] : layer.begin[j + 1]]
        if layer.aggregation == "product":
            out[:, j] = np.clip(mine.prod(axis=1), -1e100, 1e100)
        elif not mine.shape[1]:
            out[:, j] = 0.0
        else:
            out[:, j] = getattr(mine, layer.aggregation)(axis=1)
    return activate(layer.activation, out if layer.centre is None else out - layer.centre)


def compare(model, before, after):
    if isinstance(model.output, Classes):
        return np.mean(model.output.choose(before) != model.output.choose(after))
    return np.abs(before - after).mean()


class TestPermutation:
    def test_it_is_what_a_naive_loop_finds(self):
        rng = np.random.default_rng(3)
        X = np.column_stack([rng.uniform(35, 42, 80), rng.uniform(0, 9, 80), rng.random(80)])
        model = make_card(alpha=(0.9, 0.5))
        y = np.where(rng.random(80) < 0.2, "ill", model.predict(X))
        found = measure_importance(model, X, y, n_repeats=4, random_state=7)
        right = np.mean(model.predict(X) == y)
        assert found.baseline == right
        orders = [np.random.default_rng(7).permutation(80)]
        again = np.random.default_rng(7)
        orders = [again.permutation(80) for _ in range(4)]
        for i, name in enumerate(model.schema.names):
            lost = []
            for order in orders:
                shuffled = X.copy()
                shuffled[:, i] = X[order, i]
                lost.append(right - np.mean(model.predict(shuffled) == y))
            assert found.of(name).value == pytest.approx(np.mean(lost))
            assert found.of(name).std == pytest.approx(np.std(lost))
        assert found.of("id").value == found.of("id").std == 0.0
        values = [one.value for one in found]
        assert values == sorted(values, reverse=True)

    def test_it_depends_on_the_seed_alone(self):
        model = make_card()
        first, again = (measure_importance(model, ROWS * 5, random_state=1) for _ in range(2))
        assert first.to_dict() == again.to_dict()

    def test_without_y_it_tells_how_many_decisions_change(self):
        found = measure_importance(make_card(), ROWS)
        assert found.baseline == 1.0
        assert "whose class changes when an input is shuffled, 5 times" in str(found)

    def test_amounts_lose_r2(self):
        model = make_card(Targets(("dose",)))
        y = model.predict(ROWS)
        found = measure_importance(model, ROWS, y, n_repeats=2)
        assert found.baseline == 1.0
        assert found[0].name == "temperature"
        assert str(found).startswith("R² of 1 on 4 rows: what is lost")
        assert measure_importance(model, ROWS).baseline == 1.0

    @given(SEEDS)
    @settings(max_examples=30, deadline=None)
    def test_any_model_can_be_asked(self, seed):
        model = make_any_model(seed)
        rows = make_point_rows(model, seed, 10)
        known = [c.categories is None for c in model.schema.columns]
        rows = np.where(known, np.clip(rows, -9.0, 9.0), np.nan)
        for kind in ("permutation", "drop"):
            found = measure_importance(model, rows, kind=kind)
            json.dumps(found.to_dict(), allow_nan=False)
            assert found.to_text(unicode=False).isascii()


class TestTables:
    def test_text_has_bars(self):
        assert str(measure_importance(make_card(), ROWS, kind="drop")) == (
            "Share of 4 rows whose class changes when an input is held constant\n"
            "    temperature  25.0 %  ━━━━━━━━━━━━━━━━━━━━━━━━\n"
            "    days          0.0 %\n"
            "    id            0.0 %"
        )

    def test_functions_have_their_own_table(self):
        found = measure_importance(make_card(), ROWS, kind="drop")
        assert found.to_text(functions=True, unicode=False) == (
            "Share of 4 rows whose class changes when a function is held constant\n"
            "    1.1  temperature >= 38  25.0 %  ========================\n"
            "    1.1  days >= 3           0.0 %"
        )

    def test_frames_have_a_row_for_each_input_or_function(self):
        found = measure_importance(make_card(), ROWS, kind="drop")
        frame = found.to_frame()
        assert list(frame.columns) == ["name", "value"]
        assert frame["name"].tolist() == ["temperature", "days", "id"]
        functions = found.to_frame(functions=True)
        assert functions["value"].tolist() == [0.25, 0.0]
        assert list(functions.columns) == ["layer", "neuron", "function", "name", "value"]
        assert list(measure_importance(make_card(), ROWS).to_frame().columns) == [
            "name", "value", "std",
        ]  # fmt: skip

    def test_without_pandas_the_error_says_what_to_install(self, monkeypatch):
        monkeypatch.delitem(sys.modules, "pandas", raising=False)
        plain = builtins.__import__

        def refuse(name, *args, **kwargs):
            if name == "pandas":
                raise ImportError(name)
            return plain(name, *args, **kwargs)

        monkeypatch.setattr(builtins, "__import__", refuse)
        with pytest.raises(InputError, match=r"newron-ian\[pandas\]"):
            measure_importance(make_card(), ROWS).to_frame()


class TestErrors:
    @pytest.mark.parametrize(
        ("y", "settings", "message"),
        [
            (None, {"kind": "shapley"}, "kind: expected 'permutation' or 'drop', got 'shapley'"),
            (None, {"n_repeats": 0}, "n_repeats: expected at least 1, got 0"),
            (["well"], {}, "y: expected one class for each of 4 rows"),
            (["well", "ill", "ill", "dead"], {}, "y: expected classes among .*, got 'dead'"),
        ],
    )
    def test_settings_that_make_no_sense(self, y, settings, message):
        with pytest.raises(InputError, match=message):
            measure_importance(make_card(), ROWS, y, **settings)

    def test_tables_without_rows(self):
        with pytest.raises(InputError, match="expected rows"):
            measure_importance(make_card(), np.zeros((0, 3)))

    def test_amounts_of_another_shape(self):
        with pytest.raises(InputError, match="y: expected values of shape"):
            measure_importance(make_card(Targets(("dose",))), ROWS, [1.0, 2.0])

    def test_names_that_are_none(self):
        with pytest.raises(InputError, match="expected the name of an input, got 'x'"):
            measure_importance(make_card(), ROWS).of("x")
