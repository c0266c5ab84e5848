"""The smallest change that flips a row: against brute force, and in words."""

import json
import math
from collections import Counter
from itertools import combinations, product

import numpy as np
import pandas as pd
import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from builders.changes import find_changes
from model.networks import make_model, with_ranks
from newron.errors import InputError
from newron.explanations.row import read_row
from newron.model import Classes, Column, Layer, Model, Schema, Targets
from newron.rules.circuit import find_boundaries

SEEDS = st.integers(0, 10**6)
ROUNDING = 0.025  # of a range, for each number that changes


# ---- networks ----


def make_crisp_model(seed, *, amounts=False):
    """Draw a crisp network: categories, gaps, few integers, any depth and aggregation."""
    rng = np.random.default_rng(seed)
    model = make_model(seed)
    columns = tuple(_draw_column(column, rng) for column in model.schema.columns)
    layers = [_make_crisp(layer, columns, rng) for layer in model.layers]
    output = model.output
    if isinstance(output, Targets) != amounts or (output.n_scores > 1 and amounts):
        output = Targets(("y",)) if amounts else Classes(("no", "yes"))
        layers[-1] = _keep_first_neuron(layers[-1])
    return _balance(Model(Schema(columns), layers, output), seed)


def _balance(model, seed, share=0.5):
    """Move the scores so that this share of rows is below 0."""
    rows = np.stack([draw_row(model, seed + k) for k in range(20)])
    last = model.layers[-1]
    centre = 0.0 if last.centre is None else last.centre
    middle = np.quantile(model.score_rows(rows), share, axis=0).round(2)
    return Model(
        model.schema, [*model.layers[:-1], last.replace(centre=centre + middle)], model.output
    )


def _draw_column(column, rng):
    kind, gaps = rng.integers(3), bool(rng.random() < 0.4)
    if kind == 0:
        labels = ("red", "green", "blue", "grey")[: rng.integers(2, 5)]
        return Column(column.name, 0, len(labels) - 1, categories=labels, gaps=gaps)
    if kind == 1:
        values = tuple(float(v) for v in range(-2, int(rng.integers(0, 4))))
        return Column(column.name, values[0], values[-1], values, gaps=gaps)
    return Column(column.name, -3.0, 3.0, gaps=gaps, unit="mm")


def _make_crisp(layer, columns, rng):
    n = len(layer.source)
    sizes = [columns[s].n_categories if s < len(columns) else 0 for s in layer.source.tolist()]
    return layer.replace(
        processing="heaviside",
        w=layer.w[:, :1],
        b=layer.b[:, :1],
        rank=None,
        missing=rng.integers(0, 2, n),
        levels=[rng.integers(0, 2, size) for size in sizes],
    )


def _keep_first_neuron(layer):
    n = int(layer.begin[1])
    return layer.replace(
        n_neurons=1,
        target=layer.target[:n],
        source=layer.source[:n],
        w=layer.w[:n],
        b=layer.b[:n],
        rank=None,
        alpha=None if layer.alpha is None else layer.alpha[:n],
        centre=None if layer.centre is None else layer.centre[:1],
        missing=layer.missing[:n],
        levels=layer.levels[:n],
    )


def make_dense_model(seed, hidden):
    """Draw a network in which many conditions work together: few changes do not suffice."""
    rng = np.random.default_rng(seed)
    columns = tuple(_draw_column(Column(f"c{i}", 0.0, 1.0), rng) for i in range(7))
    n_classes = int(rng.integers(2, 4))
    widths = [*hidden, 1 if n_classes == 2 else n_classes]
    layers, n_signals = [], len(columns)
    for width in widths:
        last = len(layers) == len(hidden)
        source = np.tile(np.arange(n_signals), 2 * width)
        source = source[rng.random(len(source)) < 0.7]
        n = len(source)
        places = rng.integers(-2, 3, n) + rng.choice([0.0, 0.5], n)
        layer = Layer(
            "heaviside",
            "sum" if rng.random() < 0.8 else "mean",
            "identity" if last else str(rng.choice(["identity", "tanh"])),
            width,
            np.sort(rng.integers(0, width, n)),
            source,
            rng.choice([-1.0, 1.0], (n, 1)),
            places[:, None],
            alpha=rng.normal(size=n).round(1) if last else None,
            levels=[np.zeros(columns[s].n_categories if s < len(columns) else 0) for s in source],
        )
        layers.append(_make_crisp(layer, columns, rng))
        n_signals += width
    output = Classes(("no", "yes") if n_classes == 2 else tuple(range(n_classes)))
    return _balance(Model(Schema(columns), layers, output), seed, rng.choice([0.1, 0.3, 0.5]))


def draw_row(model, seed):
    rng = np.random.default_rng(seed)
    row = np.array([rng.choice(list_values(model, i)) for i in range(len(model.schema))])
    for i, column in enumerate(model.schema.columns):
        if column.categories is None and column.values is None:
            row[i] = round(rng.uniform(-4.0, 4.0), 2)
        if rng.random() < 0.15:
            row[i] = np.nan
    return row


# ---- brute force ----


def list_values(model, i):
    """Give values of a column with one of every cell, and those at its edges."""
    column = model.schema.columns[i]
    if column.categories is not None:
        return np.arange(len(column.categories), dtype=float)
    if column.values is not None:
        return np.array(column.values)
    places = np.array([*find_boundaries(model)[i], column.low, column.high])
    near = np.concatenate([places, np.nextafter(places, -np.inf)])
    return np.unique(near[(near >= column.low) & (near <= column.high)])


def measure(column, old, new):
    if column.categories is not None or math.isnan(old):
        return 1.0
    return abs(new - old) / (column.high - column.low)


def list_flips(model, row, is_reached, most):
    """Give the least size by set of columns and outcome, for the smallest sets that flip."""
    pools = [list_values(model, i) for i in range(len(row))]
    for k in range(1, most + 1):
        best = {}
        for chosen in combinations(range(len(row)), k):
            picks = np.array(list(product(*(pools[i] for i in chosen))))
            rows = np.repeat(row[None, :], len(picks), axis=0)
            rows[:, chosen] = picks
            scores = model.score_rows(rows)
            for r in np.flatnonzero(is_reached(scores)):
                if any(picks[r, p] == row[i] for p, i in enumerate(chosen)):
                    continue  # fewer columns
                said = model.output.predict(scores[r : r + 1])[0]
                key = chosen, said if isinstance(model.output, Classes) else None
                size = sum(
                    measure(model.schema.columns[i], row[i], picks[r, p])
                    for p, i in enumerate(chosen)
                )
                best[key] = min(size, best.get(key, np.inf))
        if best:
            return best
    return {}


def check_against_brute_force(model, row, is_reached, changes, most):
    flips = list_flips(model, row, is_reached, most)
    assert changes.exact
    assert changes.complete
    names = model.schema.names
    found = {}
    for change in changes:
        chosen = tuple(names.index(step.column) for step in change.steps)
        of_class = isinstance(model.output, Classes)
        found[chosen, change.prediction if of_class else None] = change
        assert change.size == pytest.approx(sum(step.size for step in change.steps))
        check_steps(model, row, change)
    assert found.keys() == flips.keys()
    for key, change in found.items():
        assert flips[key] - 1e-12 <= change.size <= flips[key] + ROUNDING * len(key[0])
    sizes = [change.size for change in changes]
    assert sizes == sorted(sizes)


def check_steps(model, row, change):
    """Check that the change does what it says, with values of the domain."""
    new = row.copy()
    for step in change.steps:
        i = model.schema.names.index(step.column)
        column = model.schema.columns[i]
        new[i] = column.categories.index(step.new) if column.categories else step.new
        assert new[i] in list_values(model, i) or column.low <= new[i] <= column.high
        if column.values is not None:
            assert step.new in column.values
    assert model.output.predict(model.score_rows(new[None, :]))[0] == change.prediction


def read_labels(model, row):
    """Give a row as people would: by names, with labels and None."""
    pairs = zip(model.schema.columns, row.tolist(), strict=True)
    return {
        c.name: None if math.isnan(x) else c.categories[int(x)] if c.categories else x
        for c, x in pairs
    }


class TestCrispNetworks:
    @given(SEEDS)
    @settings(max_examples=150, deadline=None)
    def test_changes_are_those_of_brute_force(self, seed):
        model = make_crisp_model(seed)
        row = draw_row(model, seed)
        now = int(model.output.choose(model.score_rows(row[None, :]))[0])
        changes = find_changes(model, read_labels(model, row), limit=10**6)

        def is_reached(scores):
            return model.output.choose(scores) != now

        check_against_brute_force(model, row, is_reached, changes, 3)

    @pytest.mark.parametrize("hidden", [(), (3,), (3, 2)])
    def test_several_changes_are_those_of_brute_force(self, hidden):
        counts = Counter()
        for seed in range(25):
            model = make_dense_model(seed, hidden)
            row = draw_row(model, seed)
            now = int(model.output.choose(model.score_rows(row[None, :]))[0])
            changes = find_changes(model, read_labels(model, row), limit=10**6)

            def is_reached(scores, model=model, now=now):
                return model.output.choose(scores) != now

            check_against_brute_force(model, row, is_reached, changes, 3)
            counts[len(changes[0].steps) if changes else 0] += 1
        assert counts[1]
        assert counts[2]

    @given(SEEDS)
    @settings(max_examples=60, deadline=None)
    def test_a_target_is_reached_with_columns_held_fixed(self, seed):
        model = make_crisp_model(seed)
        row = draw_row(model, seed)
        labels = model.output.labels
        wanted = (int(model.output.choose(model.score_rows(row[None, :]))[0]) + 1) % len(labels)
        fixed = model.schema.names[:1]
        changes = find_changes(
            model, read_labels(model, row), target=labels[wanted], fixed=fixed, limit=10**6
        )
        assert changes.fixed == fixed
        assert all(change.prediction == labels[wanted] for change in changes)
        assert all(step.column != fixed[0] for change in changes for step in change.steps)

    @given(SEEDS)
    @settings(max_examples=60, deadline=None)
    def test_amounts_are_brought_into_a_range(self, seed):
        model = make_crisp_model(seed, amounts=True)
        row = draw_row(model, seed)
        now = float(model.score_rows(row[None, :])[0, 0])
        rng = np.random.default_rng(seed)
        low = now + float(rng.choice([0.1, 0.5, 1.0]))
        high = float(rng.choice([low, low + 1.0, np.inf]))
        target = (low, None if high == np.inf else high)
        changes = find_changes(
            model, read_labels(model, row), target=target, max_changes=2, limit=10**6
        )

        def is_reached(scores):
            return (scores[:, 0] >= low) & (scores[:, 0] <= high)

        check_against_brute_force(model, row, is_reached, changes, 2)

    def test_sixty_columns_are_searched_whole(self):
        rng = np.random.default_rng(0)
        n = 180
        layer = Layer(
            "heaviside",
            "sum",
            "identity",
            1,
            np.zeros(n),
            np.repeat(np.arange(60), 3),
            rng.choice([-1.0, 1.0], (n, 1)),
            rng.random((n, 1)).round(2),
            alpha=rng.normal(size=n).round(2),
        )
        columns = tuple(Column(f"c{i}", 0.0, 1.0) for i in range(60))
        model = Model(Schema(columns), [layer], Classes((0, 1)))
        row = rng.random(60).round(3)
        score = float(model.score_rows(row[None, :])[0, 0])
        best = sorted(list_gains(model, row))
        centre = score + sum(best[-3:]) - 0.02  # three changes, and these alone or nearly so
        model = Model(model.schema, [layer.replace(centre=[centre])], model.output)
        changes = find_changes(model, row)
        assert changes.exact
        assert changes.complete
        assert {len(change.steps) for change in changes} == {3}
        check_steps(model, row, changes[0])

    def test_a_search_that_ends_early_says_so(self):
        model = make_dense_model(4, (3, 2))
        row = read_labels(model, draw_row(model, 4))
        whole = find_changes(model, row, limit=10**6)
        assert whole.n_evaluated > 3
        cut = find_changes(model, row, limit=10**6, max_evaluations=1)
        assert not cut.complete
        assert cut.n_evaluated == 1
        assert "not exhaustive" in str(cut)

    def test_columns_that_are_not_read_do_not_change(self):
        layer = Layer(
            "heaviside", "sum", "identity", 1, [0], [1], [[1.0]], [[0.5]], alpha=[1.0], centre=[0.5]
        )
        columns = Column("unread", 0.0, 1.0), Column("read", 0.0, 1.0)
        model = Model(Schema(columns), [layer], Classes((0, 1)))
        changes = find_changes(model, [0.2, 0.2])
        assert [step.column for change in changes for step in change.steps] == ["read"]


def list_gains(model, row):
    """Give the most that each column can add to the score."""
    now = float(model.score_rows(row[None, :])[0, 0])
    for i in range(len(row)):
        values = list_values(model, i)
        rows = np.repeat(row[None, :], len(values), axis=0)
        rows[:, i] = values
        yield float(model.score_rows(rows)[:, 0].max()) - now


class TestNumbers:
    """Where a number moves to: just over the boundary, to a short decimal."""

    def find_value(self, old, *, w=1.0, b=54.5, low=29.0, high=77.0, gaps=False):
        missing = [1.0 if old is None and w > 0 else 0.0]
        layer = Layer(
            "heaviside", "sum", "identity", 1, [0], [0], [[w]], [[b]], alpha=[1.0], centre=[0.5],
            missing=missing,
        )  # fmt: skip
        schema = Schema((Column("age", low, high, gaps=gaps),))
        changes = find_changes(Model(schema, [layer], Classes((0, 1))), [old])
        return changes[0].steps[0].new

    def test_whole_numbers_stay_whole(self):
        assert self.find_value(50) == 55.0
        assert self.find_value(60) == 54.0
        assert self.find_value(62, b=60.0) == 59.0
        assert self.find_value(212, b=235.5, low=126, high=564) == 236.0
        assert self.find_value(30_000, b=50_000.5, low=0, high=10**6) == 50_001.0

    def test_decimals_are_as_short_as_the_cell_allows(self):
        assert self.find_value(1.4, b=2.5, low=0.0, high=6.2) == 2.5
        assert self.find_value(0.123456, b=0.5, low=0.0, high=1.0) == 0.5
        assert self.find_value(0.987654, b=0.5, low=0.0, high=1.0) == 0.49
        assert self.find_value(3.2e-6, b=8e-6, low=1e-6, high=1e-5) == 8e-6

    def test_at_most_is_left_by_a_little(self):
        assert self.find_value(50, w=-1.0, b=55.0) == 56.0
        assert self.find_value(60, w=-1.0, b=55.0) == 55.0

    def test_they_stay_within_the_observed_range(self):
        assert self.find_value(100, b=76.99999) == 76.0
        assert self.find_value(20, b=29.0) == 29.0
        assert self.find_value(50, b=76.99999) == 77.0
        layer = Layer("heaviside", "sum", "identity", 1, [0], [0], [[1.0]], [[90.0]],
                      alpha=[1.0], centre=[0.5])  # fmt: skip
        model = Model(Schema((Column("age", 29.0, 77.0),)), [layer], Classes((0, 1)))
        assert not find_changes(model, [50])
        assert find_changes(model, [95])[0].steps[0].new == 77.0

    def test_what_is_missing_becomes_a_number(self):
        assert 29.0 <= self.find_value(None, gaps=True) < 54.5
        assert self.find_value(None, w=-1.0, gaps=True) <= 54.5

    def test_nothing_becomes_missing(self):
        layer = Layer("heaviside", "sum", "identity", 1, [0], [0], [[0.0]], [[0.0]],
                      alpha=[1.0], centre=[0.5], missing=[0.0])  # fmt: skip
        model = Model(Schema((Column("age", 0.0, 9.0, gaps=True),)), [layer], Classes((0, 1)))
        assert model.predict([[np.nan]]) == [0]
        changes = find_changes(model, [5.0])
        assert not changes
        assert changes.complete


class TestSmoothNetworks:
    def make_slope(self, **changes):
        layer = Layer(
            "sigmoid", "sum", "identity", 1, [0, 0], [0, 1], [[0.2], [0.0]], [[50.0], [0.0]],
            alpha=[4.0, 3.0], centre=[2.0], levels=[[], [0.0, 1.0]],
        )  # fmt: skip
        columns = Column("age", 20.0, 80.0, unit="y"), Column("sex", 0, 1, categories=("f", "m"))
        return Model(Schema(columns), [layer.replace(**changes)], Classes(("well", "ill")))

    def test_a_change_ends_just_beyond_the_boundary(self):
        changes = find_changes(self.make_slope(), {"age": 40, "sex": "f"}, fixed="sex")
        assert str(changes[0]) == "age: 40 → 50 y"
        assert not changes.exact
        assert "approximate" in str(changes)

    def test_none_is_no_proof(self):
        changes = find_changes(self.make_slope(centre=[8.0]), {"age": 40, "sex": "f"})
        assert str(changes) == (
            "No change of up to 3 inputs was found that would make it ill; "
            "the search was approximate."
        )

    def test_narrow_windows_are_found(self):
        layer = Layer(
            "tanh_prod", "sum", "identity", 1, [0], [0], [[500.0, -500.0]], [[50.0, 50.2]],
            alpha=[4.0], centre=[2.0],
        )  # fmt: skip
        model = Model(Schema((Column("age", 0.0, 100.0),)), [layer], Classes((0, 1)))
        assert 50.0 <= find_changes(model, [40.0])[0].steps[0].new <= 50.2

    @given(SEEDS)
    @settings(max_examples=60, deadline=None)
    def test_every_change_does_what_it_says(self, seed):
        model = with_ranks(make_model(seed), seed)
        if not isinstance(model.output, Classes):
            return
        row = draw_row(model, seed)
        changes = find_changes(model, row, max_changes=2)
        for change in changes:
            check_steps(model, row, change)
            assert change.prediction != model.predict(row[None, :])[0]
        json.dumps(changes.to_dict(), allow_nan=False)

    def test_columns_that_steps_alone_read_are_exact(self):
        first = Layer("heaviside", "sum", "identity", 1, [0, 0], [0, 1], [[1.0], [1.0]],
                      [[0.5], [0.5]])  # fmt: skip
        last = Layer("sigmoid", "sum", "identity", 1, [0], [2], [[3.0]], [[1.5]],
                     alpha=[2.0], centre=[1.0])  # fmt: skip
        columns = Column("a", 0.0, 1.0), Column("b", 0.0, 1.0)
        changes = find_changes(Model(Schema(columns), [first, last], Classes((0, 1))), [0.2, 0.2])
        assert changes.exact
        assert len(changes[0].steps) == 2


class TestWords:
    def make_card(self):
        layer = Layer(
            "heaviside", "sum", "identity", 3, [0, 1, 2], [0, 1, 1], [[1.0], [1.0], [-1.0]],
            [[1.5], [0.5], [-0.5]], alpha=[2.0, 3.0, 3.0], centre=[0.0, 1.0, 1.0],
        )  # fmt: skip
        columns = Column("a", 0.0, 2.0, (0.0, 1.0, 2.0)), Column("b", -1.0, 1.0)
        return Model(Schema(columns), [layer], Classes(("x", "y", "z")))

    def test_other_classes_are_named(self):
        assert str(find_changes(self.make_card(), [0, 0])) == (
            "One change would make it y, for example b: 0 → 0.5.\n"
            "Also: b: 0 → -0.5 (z).\n"
            "No smaller change exists."
        )

    def test_several_changes_are_said_to_be_needed_together(self):
        layer = Layer(
            "heaviside", "sum", "identity", 1, [0, 0], [0, 1], [[1.0], [1.0]], [[0.5], [0.5]],
            alpha=[1.0, 1.0], centre=[2.0],
        )  # fmt: skip
        columns = Column("a", 0.0, 1.0, (0.0, 1.0)), Column("b", 0.0, 1.0, (0.0, 1.0))
        model = Model(Schema(columns), [layer], Classes((0, 1)))
        assert str(find_changes(model, [0, 0])) == (
            "Two changes together would make it class 1, for example a: 0 → 1 and b: 0 → 1.\n"
            "No smaller change exists."
        )
        assert str(find_changes(model, [0, 0], fixed=["a", "b"], max_changes=1)) == (
            "No change of one input within the observed ranges would make it class 1.\n"
            "Held fixed: a, b."
        )

    def test_amounts_are_brought_to_a_range(self):
        layer = Layer("heaviside", "sum", "identity", 1, [0], [0], [[1.0]], [[0.5]],
                      alpha=[3.0])  # fmt: skip
        model = Model(Schema((Column("a", 0.0, 1.0, (0.0, 1.0)),)), [layer], Targets(("dose",)))
        for target, words in (
            ((2, None), "bring dose to 2 or more"),
            ((2, 4), "bring dose between 2 and 4"),
        ):
            changes = find_changes(model, [0], target=target)
            assert f"One change would {words}, for example a: 0 → 1." in str(changes)
            assert changes[0].prediction == 3.0
        changes = find_changes(model, [1], target=(None, 1))
        assert "bring dose to 1 or less" in str(changes)

    def test_data_are_ready_for_json(self):
        data = find_changes(self.make_card(), [0, 0]).to_dict()
        again = json.loads(json.dumps(data, allow_nan=False))
        assert again["changes"][0]["steps"] == [
            {"column": "b", "old": 0.0, "new": 0.5, "unit": None, "size": 0.25}
        ]
        assert again["exact"]
        assert again["complete"]
        assert again["changes"][0]["prediction"] == "y"


class TestRows:
    def make_model(self):
        layer = Layer(
            "heaviside", "sum", "identity", 1, [0, 0], [0, 1], [[1.0], [0.0]], [[54.5], [0.0]],
            alpha=[1.0, 2.0], centre=[3.0], levels=[[], [0.0, 1.0]],
        )  # fmt: skip
        columns = (
            Column("age", 29.0, 77.0),
            Column("sex", 0, 1, categories=("f", "m"), gaps=True),
        )
        return Model(Schema(columns), [layer], Classes(("well", "ill")))

    @pytest.mark.parametrize(
        "row",
        [
            {"sex": "m", "age": 50},
            [50, "m"],
            (50, "m"),
            np.array([50, "m"], object),
            [[50, "m"]],
            pd.Series({"sex": "m", "age": 50}),
            pd.Series([50, "m"]),
            pd.DataFrame({"sex": ["m"], "age": [50]}),
            pl.DataFrame({"sex": ["m"], "age": [50]}),
        ],
        ids=lambda row: type(row).__module__ + type(row).__name__,
    )
    def test_every_form_of_a_row_is_read(self, row):
        assert read_row(self.make_model(), row).tolist() == [[50.0, 1.0]]

    def test_gaps_of_every_kind_are_read(self):
        for gap in (None, np.nan, pd.NA):
            row = read_row(self.make_model(), {"age": 50, "sex": gap})
            assert np.isnan(row[0, 1])

    def test_single_precision_is_read(self):
        layer = Layer("heaviside", "sum", "identity", 1, [0], [0], [[1.0]], [[38.0]])
        model = Model(Schema((Column("t", 35.0, 42.0),)), [layer], Classes((0, 1)))
        assert read_row(model, np.array([37], np.float32)).dtype == np.float64


class TestErrors:
    def make_model(self):
        return TestRows().make_model()

    @pytest.mark.parametrize(
        ("row", "message"),
        [
            ({"age": 50}, "expected a value of 'sex', got none"),
            ({"age": 50, "sex": "m", "id": 3}, "expected no value of 'id', got one"),
            ([[50, "m"], [51, "f"]], "expected one row, got 2"),
            (pd.DataFrame({"age": [1, 2], "sex": ["f", "f"]}), "expected one row, got 2"),
            ([50], "expected 2 columns, got 1"),
            ({"age": "old", "sex": "m"}, "expected a number, got 'old'"),
            (50, "expected a table"),
        ],
    )
    def test_rows_that_cannot_be_read(self, row, message):
        with pytest.raises(InputError, match=message):
            find_changes(self.make_model(), row)

    @pytest.mark.parametrize(
        ("settings", "message"),
        [
            ({"target": "dead"}, "target: expected one of the classes 'well', 'ill', got 'dead'"),
            (
                {"target": "well"},
                "target: expected what the row does not have yet, but it has well",
            ),
            ({"fixed": "height"}, "fixed: expected names of columns, got 'height'"),
            ({"max_changes": 0}, "at least 1"),
            ({"limit": 0}, "at least 1"),
        ],
    )
    def test_settings_that_make_no_sense(self, settings, message):
        with pytest.raises(InputError, match=message):
            find_changes(self.make_model(), [50, "m"], **settings)

    @pytest.mark.parametrize("target", [None, 3.0, (1,), (2, 1), ("a", "b"), (None, None)])
    def test_amounts_need_a_range(self, target):
        layer = Layer("heaviside", "sum", "identity", 1, [0], [0], [[1.0]], [[0.5]])
        model = Model(Schema((Column("a", 0.0, 1.0),)), [layer], Targets(("dose",)))
        with pytest.raises(InputError, match=r"target: expected \(low, high\)"):
            find_changes(model, [0.0], target=target)

    def test_several_amounts_are_refused(self):
        layer = Layer("heaviside", "sum", "identity", 2, [0, 1], [0, 0], [[1.0]] * 2, [[0.5]] * 2)
        model = Model(Schema((Column("a", 0.0, 1.0),)), [layer], Targets(("p", "q")))
        with pytest.raises(InputError, match="one target to find changes, got 2 targets"):
            find_changes(model, [0.0], target=(0, 1))
