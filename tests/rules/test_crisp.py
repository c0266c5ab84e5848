"""The nearest crisp network, against every function cut at one half on its own path."""

import json
import math
from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from model.networks import END, make_model, with_ranks
from model.test_points import with_points
from newron.errors import InputError, ModelError
from newron.model import Classes, Column, Layer, Model, RankScale, Schema, Targets
from newron.model.aggregation import activate, combine
from newron.model.condition import Condition
from newron.model.processing import get_processing
from newron.rules import measure_fidelity
from newron.rules.crisp import make_crisp
from newron.shapes.curve import trace_function

SEEDS = st.integers(0, 10**6)
SLOPES = [0.0, -1.0, 1.0, 0.37, -5.2, 1e-12, 300.0]


def find_intervals(w, b):
    layer = Layer("tanh_prod", "sum", "identity", 1, [0], [0], np.array([w]), np.array([b]))
    return list(Condition.from_edge(layer, 0).intervals)


# ---- what a crisp network should say ----


def make_soft_model(seed):
    """Draw a network of sigmoid, tanh_prod and heaviside layers, of any depth and aggregation."""
    rng = np.random.default_rng(seed)
    model = make_model(seed)
    layers = []
    for layer in model.layers:
        processing = str(rng.choice(["sigmoid", "tanh_prod", "tanh_prod", "heaviside"]))
        n = len(layer.source), int(rng.integers(1, 5)) if processing == "tanh_prod" else 1
        w, b = rng.choice(SLOPES, n), rng.normal(size=n).round(1)
        layers.append(layer.replace(processing=processing, w=w, b=b))
    model = with_points(with_ranks(Model(model.schema, layers, model.output), seed), seed)
    layers = [
        layer.replace(rank=None) if layer.processing == "heaviside" else layer
        for layer in model.layers
    ]
    return Model(model.schema, layers, model.output)


def make_rows(model, seed, n=80):
    """Draw rows: thresholds, their neighbours, gaps, categories and what is none."""
    rng = np.random.default_rng(seed)
    rows = rng.normal(size=(n, len(model.schema))).round(1)
    for i, column in enumerate(model.schema.columns):
        places = np.concatenate([layer.b[layer.source == i].ravel() for layer in model.layers])
        if len(places):
            near = rng.choice(places, n // 2)
            aside = rng.choice([-np.inf, np.inf], n // 2)
            rows[: n // 2, i] = np.where(rng.random(n // 2) < 0.5, near, np.nextafter(near, aside))
        if column.categories is not None:
            rows[:, i] = rng.integers(-1, column.n_categories + 1, n)
    rows[-1], rows[-2] = END, -END
    rows[rng.random(rows.shape) < 0.15] = np.nan
    return rows


def is_on(layer, e, x, is_input):
    """Tell whether a function is at least one half, by signs alone."""
    levels = layer.levels[e]
    if len(levels):
        known = 0 <= x < len(levels)
        return (levels[int(x)] if known else layer.missing[e]) >= 0.5
    if is_input and math.isnan(x):
        return layer.missing[e] >= 0.5
    signs = [np.sign(w) * np.sign(x - b) for w, b in zip(layer.w[e], layer.b[e], strict=True)]
    return math.prod(signs) >= 0.0


def score_crisply(model, row):
    """Evaluate a network with every function cut at one half."""
    signals = row.tolist()
    for layer in model.layers:
        out = [1.0 if layer.aggregation == "product" else 0.0] * layer.n_neurons
        seen = [0] * layer.n_neurons
        for e, (j, s) in enumerate(zip(layer.target, layer.source, strict=True)):
            part = float(is_on(layer, e, signals[s], s < len(model.schema)))
            part = part if layer.alpha is None else part * layer.alpha[e]
            out[j] = combine(layer.aggregation, out[j], part) if seen[j] else part
            seen[j] += 1
        if layer.aggregation == "mean":
            out = [value / max(count, 1) for value, count in zip(out, seen, strict=True)]
        z = np.array(out) - (0.0 if layer.centre is None else layer.centre)
        signals += activate(layer.activation, z).tolist()
    return signals[-model.layers[-1].n_neurons :]


class TestCrispNetwork:
    @given(SEEDS)
    @settings(max_examples=150, deadline=None)
    def test_it_is_every_function_cut_at_one_half(self, seed):
        model = make_soft_model(seed)
        crisp = make_crisp(model)
        # Beyond the observed range windows may stay open.
        lows = [column.low for column in model.schema.columns]
        highs = [column.high for column in model.schema.columns]
        rows = np.clip(make_rows(model, seed), lows, highs)
        want = np.array([score_crisply(model, row) for row in rows])
        for compiled in (True, False):
            got = crisp.score_rows(rows, compiled=compiled)
            np.testing.assert_allclose(got, want, rtol=1e-12, atol=1e-12)

    @given(SEEDS)
    @settings(max_examples=60, deadline=None)
    def test_it_is_crisp_and_on_the_columns_own_scale(self, seed):
        model = make_soft_model(seed)
        crisp = make_crisp(model)
        assert all(layer.processing == "heaviside" for layer in crisp.layers)
        assert not any(layer.rank.any() for layer in crisp.layers)
        assert crisp.schema is model.schema
        assert crisp.output is model.output
        np.testing.assert_array_equal(crisp.layers[-1].alpha, model.layers[-1].alpha)
        np.testing.assert_array_equal(crisp.layers[-1].centre, model.layers[-1].centre)
        assert make_crisp(crisp) is crisp

    @given(
        st.lists(
            st.tuples(
                st.sampled_from([-3.0, -0.5, 0.2, 1.0, 40.0]),
                st.one_of(st.sampled_from([-1.0, 0.0, 1.0]), st.floats(-2, 2)),
            ),
            min_size=1,
            max_size=5,
        )
    )
    @settings(max_examples=200, deadline=None)
    def test_the_intervals_of_tanh_prod_are_where_it_is_at_least_one_half(self, pairs):
        w, b = np.array(pairs).T
        intervals = find_intervals(w, b)
        x = np.concatenate([np.linspace(-3, 3, 2001), b, np.nextafter(b, 9), np.nextafter(b, -9)])
        h = get_processing("tanh_prod").value(x[:, None], w[None], b[None])[:, 0]
        inside = np.any([(x >= low) & (x <= high) for low, high in intervals], axis=0)
        clear = np.abs(h - 0.5) > 1e-12
        np.testing.assert_array_equal(inside[clear], h[clear] > 0.5)
        assert inside[np.isin(x, b)].all()  # at a threshold h is one half, and holds
        assert all(a[1] < c[0] for a, c in pairwise(intervals))

    def test_at_a_threshold_both_directions_hold(self):
        for w in (2.0, -2.0):
            model = make_single("sigmoid", [w], [1.0])
            beside = [1.0, np.nextafter(1.0, 2.0), np.nextafter(1.0, 0.0)]
            scores = make_crisp(model).score_rows(np.array(beside)[:, None])[:, 0]
            assert scores.tolist() == ([1.0, 1.0, 0.0] if w > 0 else [1.0, 0.0, 1.0])

    @pytest.mark.parametrize(
        ("w", "b", "intervals"),
        [
            ([1.0, -1.0], [1.0, 3.0], [(1.0, 3.0)]),
            ([1.0, 1.0], [1.0, 3.0], [(-math.inf, 1.0), (3.0, math.inf)]),
            ([1.0, 1.0, -1.0], [1.0, 2.0, 3.0], [(-math.inf, 1.0), (2.0, 3.0)]),
            ([1.0, 1.0], [2.0, 2.0], [(-math.inf, math.inf)]),
            ([1.0, -1.0], [2.0, 2.0], [(2.0, 2.0)]),
            ([1.0, 1.0, 1.0], [2.0, 2.0, 2.0], [(2.0, math.inf)]),
            ([1.0, 0.0], [1.0, 2.0], [(-math.inf, math.inf)]),
        ],
    )
    def test_intervals_join_where_thresholds_meet(self, w, b, intervals):
        assert find_intervals(w, b) == intervals

    def test_a_window_is_a_neuron_and_weights_stay(self):
        model = make_single("tanh_prod", [2.0, -2.0], [1.0, 3.0], alpha=0.7, centre=0.1)
        assert str(make_crisp(model)).splitlines()[1:] == [
            "neuron 1.1 counts how many hold of:",
            "    [x ≥ 1] + [x ≤ 3]",
            "output y adds:",
            "    0.7 × [neuron 1.1 ≥ 1.5]",
            "    less 0.1",
        ]

    @pytest.mark.parametrize(("missing", "held"), [(0.6, 1.0), (0.5, 1.0), (0.4, 0.0)])
    @pytest.mark.parametrize("b", [[1.0], [1.0, 3.0], [1.0, 2.0, 3.0]])
    @pytest.mark.parametrize("first", [1.0, -1.0])
    def test_gaps_hold_from_one_half_on(self, missing, held, b, first):
        w = [first] + [1.0] * (len(b) - 1)
        model = make_single("tanh_prod", w, b, missing=missing)
        assert make_crisp(model).score_rows(np.array([[np.nan]]))[0, 0] == held

    def test_categories_hold_from_one_half_on(self):
        column = Column("c", 0.0, 2.0, categories=("a", "b", "c"))
        layer = Layer(
            "tanh_prod", "sum", "identity", 1, [0], [0], [[1.0, 2.0]], [[0.0, 1.0]],
            missing=[0.9], levels=[[0.49, 0.5, 0.51]],
        )  # fmt: skip
        crisp = make_crisp(Model(Schema((column,)), [layer], Targets(("y",))))
        assert crisp.scores([["a"], ["b"], ["c"], [None]])[:, 0].tolist() == [0.0, 1.0, 1.0, 1.0]

    def test_thresholds_on_ranks_are_those_on_the_column(self):
        scale = RankScale((0.0, 1.0, 10.0), (0.0, 0.9, 1.0))
        model = make_single("sigmoid", [5.0], [4.0], scale=scale)
        rows = np.array([[np.nextafter(4.0, 0.0)], [4.0], [5.0]])
        assert make_crisp(model).score_rows(rows)[:, 0].tolist() == [0.0, 1.0, 1.0]

    @pytest.mark.parametrize("processing", ["linear", "relu", "selu"])
    def test_what_does_not_lie_between_0_and_1_is_refused(self, processing):
        model = make_single(processing, [1.0], [0.0])
        with pytest.raises(ModelError, match=f"heaviside, sigmoid or tanh_prod.*{processing}"):
            make_crisp(model)


def make_single(processing, w, b, *, alpha=1.0, centre=0.0, missing=0.0, scale=None, output=None):
    layer = Layer(
        processing, "sum", "identity", 1, [0], [0], [w], [b],
        rank=[scale is not None], alpha=[alpha], centre=[centre], missing=[missing],
    )  # fmt: skip
    schema = Schema((Column("x", 0.0, 4.0, rank_scale=scale, gaps=True),))
    return Model(schema, [layer], output or Targets(("y",)))


class TestWeighingAnew:
    @given(SEEDS)
    @settings(max_examples=40, deadline=None)
    def test_the_mean_of_the_scores_is_kept_on_the_rows(self, seed):
        model = make_soft_model(seed)
        last = model.layers[-1].replace(aggregation="sum")
        if last.alpha is None:
            last = last.replace(alpha=np.ones(len(last.source)))
        model = Model(model.schema, [*model.layers[:-1], last], model.output)
        rows = make_rows(model, seed)[:-2]
        plain = make_crisp(model)
        crisp = make_crisp(model, make_table(model, rows))
        if crisp is model:  # it was crisp before
            return
        for before, after in zip(plain.layers[:-1], crisp.layers[:-1], strict=True):
            np.testing.assert_array_equal(before.b, after.b)
        means = [part.score_rows(rows).mean(axis=0) for part in (model, crisp)]
        np.testing.assert_allclose(*means, atol=0.01)

    def test_a_function_adds_the_difference_of_its_means(self):
        model = make_single("sigmoid", [1.0], [2.0], alpha=4.0, centre=1.0)
        rows = np.array([[0.0], [1.0], [2.5], [4.0]])
        h = 1 / (1 + np.exp(2.0 - rows[:, 0]))
        last = make_crisp(model, rows).layers[-1]
        assert last.alpha[0] == pytest.approx(4 * (h[2:].mean() - h[:2].mean()), abs=5e-4)
        assert last.centre[0] == pytest.approx(1 - 4 * h[:2].mean(), abs=5e-4)
        assert last.alpha[0] == round(last.alpha[0], 3)  # short decimals, as trained ones

    def test_a_side_without_rows_is_what_the_plain_cut_says(self):
        model = make_single("sigmoid", [1.0], [2.0], alpha=4.0, centre=1.0)
        crisp = make_crisp(model, [[3.0], [4.0]])
        assert crisp.score_rows(np.array([[0.0]]))[0, 0] == -1.0

    def test_amounts_come_nearer(self):
        model = make_single("sigmoid", [0.5], [2.0], alpha=4.0, centre=1.0)
        rows = np.linspace(0, 4, 41)[:, None]
        near = measure_fidelity(model, make_crisp(model, rows), rows).r2
        assert near > 0.7
        assert near > measure_fidelity(model, make_crisp(model), rows).r2 + 1.0

    def test_it_needs_rows_and_a_weighted_sum(self):
        model = make_single("sigmoid", [1.0], [2.0])
        with pytest.raises(InputError, match="at least one row"):
            make_crisp(model, np.empty((0, 1)))
        for change in ({"alpha": None}, {"aggregation": "max"}):
            layers = [model.layers[0].replace(**change)]
            with pytest.raises(ModelError, match="adds weighted functions"):
                make_crisp(Model(model.schema, layers, model.output), [[1.0]])


def make_table(model, rows):
    """Write categories by their labels, as a table has them."""
    table = rows.astype(object)
    for i, column in enumerate(model.schema.columns):
        for row in table:
            if column.categories is not None:
                known = row[i] in range(column.n_categories)
                row[i] = column.categories[int(row[i])] if known else None
    return table.tolist()


class TestFidelity:
    def make_pair(self, output=None):
        output = output or Classes(("well", "ill"))
        model = make_single("sigmoid", [1.0], [2.0], alpha=4.0, centre=1.0, output=output)
        return model, make_crisp(model)

    def test_it_counts_the_rows_with_the_same_class(self):
        model, crisp = self.make_pair()
        rows = np.linspace(0, 4, 41)[:, None]
        found = measure_fidelity(model, crisp, rows)
        equal = model.predict(rows) == crisp.predict(rows)
        assert (found.n_rows, found.n_equal) == (41, int(equal.sum()))
        assert found.fraction == equal.mean()
        assert found.r2 is None
        percent = f"{100 * equal.mean():.3g} % faithful: the crisp network gives the class of the "
        assert str(found).startswith(f"{percent}network on {equal.sum()} of 41 rows; furthest")
        assert "prove" not in str(found)

    def test_the_worst_rows_come_first(self):
        model, crisp = self.make_pair()
        rows = np.random.default_rng(0).uniform(0, 4, (50, 1))
        found = measure_fidelity(model, crisp, rows, n_worst=7)
        soft, hard = model.predict_proba(rows)[:, 1], crisp.predict_proba(rows)[:, 1]
        order = np.argsort(-np.abs(soft - hard), kind="stable")[:7]
        assert [d.row for d in found.worst] == order.tolist()
        np.testing.assert_allclose([d.soft for d in found.worst], soft[order])
        np.testing.assert_allclose([d.crisp for d in found.worst], hard[order])
        assert {d.label for d in found.worst} == {"ill"}
        assert found.largest == found.worst[0].difference
        same = model.predict(rows) == crisp.predict(rows)
        assert [d.same_class for d in found.worst] == same[order].tolist()

    def test_of_several_classes_the_one_that_differs_most_is_told(self):
        layer = Layer(
            "sigmoid", "sum", "identity", 3, [0, 1, 2], [0, 0, 0],
            [[1.0], [-1.0], [0.1]], [[1.0], [2.0], [3.0]], alpha=[2.0, 2.0, 1.0],
        )  # fmt: skip
        model = Model(Schema((Column("x", 0.0, 4.0),)), [layer], Classes(("a", "b", "c")))
        rows = np.linspace(0, 4, 9)[:, None]
        found = measure_fidelity(model, make_crisp(model), rows)
        apart = np.abs(model.predict_proba(rows) - make_crisp(model).predict_proba(rows))
        for d in found.worst:
            assert d.difference == pytest.approx(apart[d.row].max())
            assert model.output.labels[int(apart[d.row].argmax())] == d.label

    def test_amounts_are_compared_by_r2_and_the_largest_difference(self):
        from sklearn.metrics import r2_score

        model, crisp = self.make_pair(Targets(("dose",)))
        rows = np.linspace(0, 4, 33)[:, None]
        found = measure_fidelity(model, crisp, rows)
        assert found.r2 == pytest.approx(r2_score(model.predict(rows), crisp.predict(rows)))
        assert found.n_equal is None
        assert found.fraction == found.r2
        assert found.largest == np.abs(model.predict(rows) - crisp.predict(rows)).max()
        assert str(found).startswith(f"R² {found.r2:.3f}: ".replace("-", "−"))
        assert "on 33 rows; furthest apart: row " in str(found)

    def test_a_network_agrees_with_itself(self):
        for output in (Classes((0, 1)), Targets(("y",))):
            model = self.make_pair(output)[1]
            found = measure_fidelity(model, model, [[1.0], [3.0]])
            assert (found.fraction, found.largest, found.worst) == (1.0, 0.0, ())
            assert str(found).endswith("2 rows; no row differs")
        assert measure_fidelity(model, model, [[1.0]]).r2 == 1.0

    def test_nearly_all_rows_are_not_told_as_all(self):
        model, crisp = self.make_pair()
        rows = np.full((20_000, 1), 3.5)
        rows[0] = 1.5
        assert model.predict(rows[:1]) != crisp.predict(rows[:1])
        text = str(measure_fidelity(model, crisp, rows))
        assert text.startswith("99.9 % faithful")
        assert "on 19999 of 20000 rows" in text

    def test_its_numbers_are_plain_data(self):
        model, crisp = self.make_pair()
        found = measure_fidelity(model, crisp, [[1.0], [3.0]])
        data = json.loads(json.dumps(found.to_dict()))
        assert data["n_rows"] == 2
        assert data["worst"][0]["row"] == found.worst[0].row
        few = measure_fidelity(model, crisp, [[1.0]], n_worst=0)
        assert str(few).endswith(f"largest difference {few.largest:.3g}")

    def test_models_that_cannot_be_compared_and_no_rows_are_refused(self):
        model, crisp = self.make_pair()
        other = self.make_pair(Classes(("a", "b")))[1]
        with pytest.raises(ModelError, match="same columns and outputs"):
            measure_fidelity(model, other, [[1.0]])
        with pytest.raises(InputError, match="at least one row, got none"):
            measure_fidelity(model, crisp, np.empty((0, 1)))


def test_a_trained_network_becomes_crisp_and_is_measured():
    from newron import NewronClassifier, datasets

    xor = datasets.load("xor")
    model = NewronClassifier(
        processing="tanh_prod", hidden_layer_sizes=(2,), recipe="gradient", random_state=0
    )
    model = model.fit(xor.X, xor.y).model_
    assert measure_fidelity(model, make_crisp(model), xor.X).fraction > 0.95


def test_a_function_is_traced_in_the_columns_units():
    scale = RankScale((0.0, 1.0, 4.0), (0.0, 0.9, 1.0))
    model = make_single("sigmoid", [5.0], [3.0], scale=scale)
    x = np.linspace(-1, 5, 13)
    traced = trace_function(model.schema, model.layers[0], 0, x)
    np.testing.assert_allclose(traced, model.score_rows(x[:, None])[:, 0], rtol=1e-15)
