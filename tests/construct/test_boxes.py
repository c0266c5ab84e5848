"""Step functions on boxes and their networks: equal everywhere, at the ends too."""

import itertools
import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from construct.rows import check_file, check_paths, surround
from newron.construct import MISSING, Interval, OneOf, from_boxes
from newron.errors import InputError
from newron.model import Classes, Column, Schema, Targets

SEEDS = st.integers(0, 10**6)
ENDS = (-math.inf, -1e300, -2.5, -1e-310, 0.0, 5e-324, 0.1, 0.3, 1.0, 1e300, math.inf)
LABELS = ("red", "green", "blue")
CLOSED = ("left", "right", "both", "neither")
NUMBERS = surround(ENDS)
CELLS = [*NUMBERS.tolist(), math.nan]
COLOURS = [0.0, 1.0, 2.0, math.nan, -1.0, 3.0]  # the last two are no category, so gaps
SCHEMA = Schema(
    (
        Column("x", -3.0, 1.0, gaps=True),
        Column("colour", 0.0, 2.0, categories=LABELS, gaps=True),
        Column("y", -3.0, 1.0),
    )
)


# ---- what conditions mean, told once more and in another way ----


def passes_interval(interval, x):
    if math.isnan(x):
        if interval.missing is None:
            return interval.low <= -1e300 and interval.high >= 1e300
        return interval.missing
    above = x > interval.low or (x == interval.low and interval.closed in ("left", "both"))
    below = x < interval.high or (x == interval.high and interval.closed in ("right", "both"))
    return above and below


def passes_colour(condition, x):
    if condition is None:
        return True
    condition = condition if isinstance(condition, OneOf) else OneOf(condition)
    return LABELS[int(x)] in condition.labels if x in (0.0, 1.0, 2.0) else condition.missing


def passes(i, condition, x):
    if isinstance(condition, Interval):
        return passes_interval(condition, x)
    if i == 1:
        return passes_colour(condition, x)
    return condition is None or math.isnan(x)  # MISSING


def holds(box, row):
    return all(passes(i, condition, row[i]) for i, condition in enumerate(box))


def list_held(boxes, values, row):
    return [value for box, value in zip(boxes, values, strict=True) if holds(box, row)]


def evaluate(boxes, values, outside, row):
    held = list_held(boxes, values, row)
    if not held:
        return outside
    total = 0.0
    for value in held:
        total += value
    return total


# ---- random boxes ----


def draw_interval(rng):
    while True:
        low, high = sorted(rng.choice(ENDS, 2).tolist())
        closed = str(rng.choice(CLOSED))
        missing = (None, None, True, False)[rng.integers(4)]
        if {-1e300, 1e300} & {low, high} and missing is None:
            continue  # whether every number passes is told above for closed ends alone
        if low < high or (low == high and closed == "both" and math.isfinite(low)):
            return Interval(low, high, closed, missing)


def draw_number(rng):
    kind = rng.random()
    if kind < 0.2:
        return None
    # x ≥ 1e300 is how networks say "missing": that one number is left to it.
    return MISSING if kind < 0.25 else draw_interval(rng)


def draw_colour(rng):
    chosen = [label for label in LABELS if rng.random() < 0.5]
    kind = rng.random()
    if kind < 0.3:
        return None
    if kind < 0.6:
        return OneOf(chosen, missing=bool(rng.random() < 0.3))
    return set(chosen)


def draw_box(rng):
    return [draw_number(rng), draw_colour(rng), draw_number(rng)]


def draw_rows(rng, n=300):
    return np.stack([rng.choice(cells, n) for cells in (CELLS, COLOURS, CELLS)], axis=1)


def meet(one, other):
    """Tell whether two boxes have a row in common, by trying values of each column."""
    return all(
        any(passes(i, one[i], x) and passes(i, other[i], x) for x in cells)
        for i, cells in enumerate((CELLS, COLOURS, CELLS))
    )


def split(rng, boxes, times):
    """Cut a box of intervals into several, again and again."""
    boxes = [list(box) for box in boxes]
    for _ in range(times):
        box = boxes.pop(rng.integers(len(boxes)))
        i = int(rng.integers(len(box)))
        cut = float(rng.choice(NUMBERS))
        low, high, closed = box[i]
        if not low < cut < high:
            boxes.append(box)
            continue
        left_has_cut = rng.random() < 0.5
        left_end = closed in ("left", "both")
        right_end = closed in ("right", "both")
        ends = {(True, True): "both", (True, False): "left", (False, True): "right"}
        for part in (
            (low, cut, ends.get((left_end, left_has_cut), "neither")),
            (cut, high, ends.get((not left_has_cut, right_end), "neither")),
        ):
            boxes.append([*box[:i], part, *box[i + 1 :]])
    return [[Interval(*part) for part in box] for box in boxes]


class TestFromBoxes:
    @given(SEEDS)
    @settings(max_examples=150, deadline=None)
    def test_values_add_up_where_boxes_overlap_and_outside_is_elsewhere(self, seed):
        rng = np.random.default_rng(seed)
        boxes = [draw_box(rng) for _ in range(rng.integers(1, 7))]
        values = rng.choice([0.0, 0.5, -1.25, 3.0, 8.0], len(boxes)).tolist()
        outside = float(rng.choice([0.0, 0.0, 2.0, -0.5]))
        model = from_boxes(boxes, values, SCHEMA, outside=outside, overlap="add")
        rows = draw_rows(rng)
        rows = rows[~np.any(rows[:, [0, 2]] == 1e300, axis=1)]
        want = [evaluate(boxes, values, outside, row) for row in rows.tolist()]
        np.testing.assert_array_equal(check_paths(model, rows)[:, 0], want)

    @given(SEEDS)
    @settings(max_examples=100, deadline=None)
    def test_a_partition_gives_back_every_value_to_the_last_bit(self, seed):
        rng = np.random.default_rng(seed)
        n = int(rng.integers(1, 4))
        boxes = split(rng, [[(-math.inf, math.inf, "both")] * n], int(rng.integers(0, 12)))
        boxes = [box for box in boxes if rng.random() < 0.8] or boxes[:1]
        values = rng.normal(size=len(boxes)) * 10.0 ** rng.integers(-20, 20, len(boxes))
        outside = float(rng.choice([0.0, rng.normal(), 1e17]))
        model = from_boxes(boxes, values, outside=outside)
        rows = rng.choice(NUMBERS, (300, n))
        want = [evaluate(boxes, values, outside, row) for row in rows.tolist()]
        np.testing.assert_array_equal(check_paths(model, rows)[:, 0], want)
        assert len(model.layers) <= 3

    @given(SEEDS, st.integers(2, 5))
    @settings(max_examples=100, deadline=None)
    def test_the_class_of_a_box_wins_there(self, seed, n_classes):
        rng = np.random.default_rng(seed)
        n = int(rng.integers(1, 4))
        boxes = split(rng, [[(-math.inf, math.inf, "both")] * n], int(rng.integers(1, 12)))
        boxes = [box for box in boxes if rng.random() < 0.8] or boxes[:1]
        labels = [f"class {i}" for i in range(n_classes)]
        values = rng.choice(labels, len(boxes)).tolist()
        outside = str(rng.choice(labels))
        model = from_boxes(boxes, values, outside=outside, output=Classes(tuple(labels)))
        rows = rng.choice(NUMBERS, (300, n))
        want = []
        for row in rows.tolist():
            held = list_held(boxes, values, row)
            want.append(held[0] if held else outside)
        scores = check_paths(model, rows)
        assert model.output.predict(scores).tolist() == want
        best = np.sort(scores, axis=1)
        assert np.all(np.abs(best[:, -1] - (best[:, -2] if n_classes > 2 else 0.0)) >= 0.5)

    @given(SEEDS)
    @settings(max_examples=150, deadline=None)
    def test_overlaps_are_found(self, seed):
        rng = np.random.default_rng(seed)
        boxes = [draw_box(rng) for _ in range(3)]
        pairs = [(i, j) for i, j in itertools.combinations(range(3), 2) if meet(boxes[i], boxes[j])]
        if not pairs:
            from_boxes(boxes, [1, 2, 3], SCHEMA)
            return
        with pytest.raises(InputError, match=f"got {pairs[0][0]} and {pairs[0][1]} .*; say"):
            from_boxes(boxes, [1, 2, 3], SCHEMA)

    def test_boxes_of_one_class_may_overlap_and_of_two_may_not(self):
        boxes = [{"x": Interval(0, 2)}, {"x": Interval(1, 3)}]
        for labels in (("a", "b"), ("a", "b", "c")):
            model = from_boxes(boxes, ["b", "b"], output=Classes(labels))
            rows = [[-1.0], [0.5], [1.5], [2.5], [3.0]]
            assert model.predict(rows).tolist() == ["a", "b", "b", "b", "a"]
            with pytest.raises(InputError, match=r"got 0 and 1 .* cut one short"):
                from_boxes(boxes, ["a", "b"], output=Classes(labels))

    def test_scores_of_classes_and_several_targets_are_kept(self):
        boxes = [{"x": Interval(0, 1)}, {"x": Interval(1, 2), "z": Interval(0)}]
        scores = [[0.5, -2.0, 0.0], [1.0, 0.0, 3.0]]
        rows = [[0.0, -1.0], [1.0, -1.0], [1.0, 0.0]]
        want = [[0.5, -2.0, 0.0], [0.25, 0.25, 0.25], [1.0, 0.0, 3.0]]
        for output in (Classes((7, 8, 9)), Targets(("p", "q", "r")), None):
            model = from_boxes(boxes, scores, outside=0.25, output=output)
            assert model.scores(rows).tolist() == want
        assert model.output.names == ("y1", "y2", "y3")
        model = from_boxes(boxes, scores, outside=[0.0, 1.0, 0.0], output=Classes((7, 8, 9)))
        assert model.predict(rows).tolist() == [7, 8, 9]

    def test_it_comes_back_from_its_file(self, tmp_path):
        rng = np.random.default_rng(1)
        boxes = [draw_box(rng) for _ in range(8)]
        model = from_boxes(boxes, range(8), SCHEMA, outside=0.1, overlap="add")
        check_file(model, tmp_path, draw_rows(rng))

    def test_boxes_with_one_condition_need_no_hidden_neuron(self):
        model = from_boxes([{"x": Interval(1)}, {"x": Interval(high=0)}], [2.0, 3.0])
        assert len(model.layers) == 1
        assert model.n_functions == 2
        assert model.predict([[-1.0], [0.0], [1.0]]).tolist() == [3.0, 0.0, 2.0]

    def test_boxes_of_the_value_outside_cost_nothing(self):
        boxes = [{"x": Interval(0, 1)}, {"x": Interval(1, 2)}]
        assert from_boxes(boxes, [0.0, 2.0]).n_functions == 3
        assert from_boxes(boxes, [5.0, 2.0], outside=5.0).n_functions == 3
        assert from_boxes(boxes, ["a", "b"], output=Classes(("a", "b", "c"))).n_functions == 3

    def test_constants_are_networks_too(self, tmp_path):
        rows = np.array([[0.0], [np.nan]])
        for boxes, values in (([{"x": Interval()}], [4.5]), ([], [])):
            model = from_boxes(boxes, values, ["x"], outside=4.5)
            assert model.n_functions == 0
            assert check_paths(model, rows)[:, 0].tolist() == [4.5, 4.5]
            check_file(model, tmp_path, rows)
        with_more = [{}, {"x": Interval(0)}]
        model = from_boxes(with_more, [4.5, 1.0], ["x"], outside=9.0, overlap="add")
        assert model.predict([[-1.0], [1.0]]).tolist() == [4.5, 5.5]

    def test_boxes_that_hold_nothing_are_left_out(self):
        tiny = Interval(0.0, 5e-324, "neither")
        far = Interval(2e300, 3e300)
        boxes = [{"x": tiny}, {"x": far}, {"x": Interval(0, 1)}, {"x": Interval(), "c": {"a"}}]
        model = from_boxes(boxes, [1, 2, 3, 4], overlap="add")
        assert model.n_functions == 4
        with pytest.raises(InputError, match="got 2 and 3"):
            from_boxes(boxes, [1, 2, 3, 4])
        assert from_boxes([{"c": OneOf(())}], [1], SCHEMA_OF_C).n_functions == 0

    def test_gaps_pass_where_they_are_let_in(self):
        nan = math.nan
        cases = {
            Interval(1): [False, False, True],
            Interval(1, missing=True): [True, False, True],
            Interval(): [True, True, True],
            Interval(missing=False): [False, True, True],
            MISSING: [True, False, False],
        }
        for condition, want in cases.items():
            model = from_boxes([{"x": condition, "z": Interval(0)}], [1.0])
            rows = np.array([[nan, 0.0], [0.0, 0.0], [1.0, 0.0]])
            assert check_paths(model, rows)[:, 0].tolist() == [float(x) for x in want]
        model = from_boxes([{"c": OneOf(["a", "b"], missing=True)}, {"c": {"c"}}], [1.0, 2.0])
        assert model.predict([["a"], ["b"], ["c"], [None]]).tolist() == [1.0, 1.0, 2.0, 1.0]
        assert [column.gaps for column in model.schema.columns] == [True]


SCHEMA_OF_C = Schema((Column("c", 0.0, 1.0, categories=("a", "b")),))


class TestSchema:
    def test_columns_are_made_of_what_boxes_say(self):
        boxes = [
            {"b": Interval(1, 5), "a": Interval(high=2)},
            {"c": {"z", "y"}, "b": Interval(-3, 0, missing=True)},
            {"c": OneOf(["x", "y"]), "d": Interval()},
        ]
        schema = from_boxes(boxes, [1, 2, 3], overlap="add").schema
        assert schema.columns == (
            Column("b", -3.0, 5.0, gaps=True),
            Column("a", 2.0, 2.0),
            Column("c", 0.0, 2.0, categories=("y", "z", "x")),
            Column("d", 0.0, 1.0),
        )

    def test_names_may_be_given_alone(self):
        model = from_boxes([{"b": Interval(1)}], [1.0], ["a", "b"])
        assert model.schema.names == ("a", "b")
        assert from_boxes([[None, Interval(1)]], [1.0]).schema.names == ("x1", "x2")

    def test_true_is_not_one(self):
        schema = Schema((Column("c", 0.0, 1.0, categories=(True, False)),))
        model = from_boxes([{"c": {True}}], [1.0], schema)
        assert model.layers[0].levels[0].tolist() == [1.0, 0.0]
        with pytest.raises(InputError, match="got the label 1"):
            from_boxes([{"c": {1}}], [1.0], schema)


class TestErrors:
    @pytest.mark.parametrize(
        ("make", "message"),
        [
            (lambda: Interval(2, 1), "low 2.0, high 1.0"),
            (lambda: Interval(1, 1), "leave the box out"),
            (lambda: Interval(math.nan), "numbers in it"),
            (lambda: Interval(math.inf, math.inf, "both"), "numbers in it"),
            (lambda: Interval("a"), "an end that is a number, got 'a'"),
            (lambda: Interval(1, closed="up"), "closed among left, right, both, neither, got 'up'"),
            (lambda: Interval(1, missing="yes"), "missing that is True"),
            (lambda: OneOf("red"), "a list or set of labels, got 'red'"),
            (lambda: OneOf([None]), "text or numbers, got None"),
            (lambda: OneOf(["a"], missing=None), "missing that is True"),
            (lambda: from_boxes([{}], [1, 2], ["x"]), "a value for each of 1 boxes, got 2"),
            (lambda: from_boxes([{"z": Interval(1)}], [1], ["x"]), "box 0: .* got 'z'"),
            (lambda: from_boxes([[Interval(1)]], [1], ["x", "y"]), "expected 2 conditions"),
            (lambda: from_boxes(["x"], [1], ["x"]), "box 0: expected a mapping or a list"),
            (lambda: from_boxes([{"x": 3}], [1]), "box 0, 'x': expected an Interval .* got 3"),
            (lambda: from_boxes([{"x": {"a"}}], [1], SCHEMA), "expected an Interval, got .* 'a'"),
            (
                lambda: from_boxes([{"colour": Interval(1)}], [1], SCHEMA),
                "box 0, 'colour': expected a set of its categories",
            ),
            (
                lambda: from_boxes([{"colour": {"grey"}}], [1], SCHEMA),
                r"expected one of \('red', 'green', 'blue'\), got the label 'grey'",
            ),
            (lambda: from_boxes([{"x": Interval(1)}], ["a"]), "for labels give output=Classes"),
            (lambda: from_boxes([{"x": Interval(1)}], [math.nan]), "finite"),
            (lambda: from_boxes([{"x": Interval(1)}], [[1, 2]], output=Targets(("y",))), "1 num"),
            (lambda: from_boxes([{"x": Interval(1)}], [1], outside="a"), "outside to be 1 finite"),
            (lambda: from_boxes([{"x": Interval(1)}], [1], overlap="max"), "overlap among"),
            (
                lambda: from_boxes([{"x": Interval(1)}], ["c"], output=Classes(("a", "b"))),
                r"expected one of the classes \('a', 'b'\), got 'c'",
            ),
            (
                lambda: from_boxes(
                    [{"x": Interval(1)}], ["a"], output=Classes(("a", "b")), overlap="add"
                ),
                "labels cannot be added up",
            ),
        ],
    )
    def test_errors_say_what_was_expected(self, make, message):
        with pytest.raises(InputError, match=message) as caught:
            make()
        assert "\n" not in str(caught.value)
