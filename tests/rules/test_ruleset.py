"""Rules as a value: asked, measured, told in every way."""

import heapq
import json
from itertools import product

import numpy as np
import pytest

from newron.errors import InputError, ModelError, NewronWarning
from newron.model import Classes, Column, Layer, Model, RankScale, Schema, Targets
from newron.rules import RuleSet
from newron.rules.axis import make_axes
from newron.rules.circuit import find_boundaries
from newron.rules.extraction import extract

from . import reader
from .networks import (
    NAMES,
    Wishes,
    make_layer,
    make_model,
    make_monk2,
    make_rows,
    make_score,
    make_step,
    make_table,
    make_wide,
)

# ---- asking ----


def test_frames_are_read_by_name(patients):
    pd = pytest.importorskip("pandas")
    rules = extract(patients)
    frame = pd.DataFrame(
        {
            "unused": [0.0, 1.0, 0.5],
            "vessels": [0, 1, 2],
            "pain <|>": ["typical", "none & such", "<b>"],
            "age": [60.0, None, 30.0],
        }
    )
    assert rules.predict(frame).tolist() == ["ill", "ill", "ill"]
    assert np.array_equal(rules.predict(frame), patients.predict(frame))
    shown = frame[["age", "pain <|>", "vessels", "unused"]].to_numpy(object)
    assert np.array_equal(rules.predict(shown), patients.predict(shown))


def test_polars_frames_are_read():
    pl = pytest.importorskip("polars")
    model = make_score(2, [2.0, 1.0], 2.0)
    frame = pl.DataFrame({"x2": [1.0, 1.0], "x1": [0.0, 1.0]})
    assert extract(model).predict(frame).tolist() == ["well", "ill"]


def test_float32_is_not_rounded_on_the_way():
    model = make_step(Column("x", 0.0, 1.0), 0.1)
    rows = np.array([[0.1], [0.2], [0.05]], np.float32)
    assert np.array_equal(extract(model).predict(rows), model.predict(rows))


def test_no_rows_and_no_columns():
    rules = extract(make_score(2, [2.0, 1.0], 2.0))
    assert rules.predict(np.empty((0, 2))).shape == (0,)
    with pytest.raises(InputError):
        rules.predict([[1.0]])


def test_values_outside_the_domain_are_warned_of():
    columns = (Column("n", 1.0, 2.0, (1.0, 2.0)), Column("x", 0.0, 1.0), Column("z", 0.0, 1.0))
    last = make_layer(1, [0, 0], [0, 1], [1.0] * 2, [2.0, 0.5], alpha=[1.0] * 2, centre=[1.0])
    model = Model(Schema(columns), [last], Classes(("well", "ill")))
    rules = extract(model)
    with pytest.warns(NewronWarning, match=r"^2 rows .*column 'n'") as caught:
        said = rules.predict([[3.0, 0.0, 0.0], [1.5, 9.0, 0.0], [2.0, 0.0, 0.0]])
    assert caught[0].filename == __file__
    assert said.tolist() == ["ill", "ill", "ill"]  # as the network says
    rules.predict([[1.0, np.nan, np.nan]])  # a missing value is inside
    rules.predict([[1.0, 1e9, 0.0]])  # outside what was observed, inside what was proved


# ---- measuring ----


@pytest.mark.parametrize("first", range(0, 60, 15))
def test_support_and_precision_by_counting(first):
    rng = np.random.default_rng(first)
    for seed in range(first, first + 15):
        model = make_model(seed, Wishes(outputs=("binary", "many")))
        rows = make_rows(model, seed, 300)
        rows = rows[rng.integers(0, len(rows), 200)]
        labels = model.output.labels
        y = rng.integers(0, len(labels), len(rows))
        said = np.empty(len(rows), object)
        said[:] = [labels[k] for k in y]
        form = ("rules", "points")[seed % 2]
        rules = extract(model, form=form, seconds=1.0).cover(make_table(model, rows), said)
        counted = count_by_hand(rules, model, rows, y)
        records = rules.to_records()
        assert sorted((r["support"], r["precision"] or 0) for r in records) == sorted(
            (n, right or 0) for n, right in counted
        )
        if form == "rules":
            assert [(r["support"], r["precision"]) for r in records] == counted
            assert sum(n for n, _ in counted) == len(rows)


def count_by_hand(rules, model, rows, y):
    """Give rows and the share of right ones for each line of the text."""
    reading = reader.read(rules.to_text(), model)
    if reading.constants is not None:
        return [(int(reader.holds(node, rows).sum()), None) for node, *_ in reading.terms]
    left = np.ones(len(rows), bool)
    out = []
    for held, outcome in [
        *((reader.holds(node, rows), outcome) for node, outcome, *_ in reading.branches),
        (np.ones(len(rows), bool), reading.default[0]),
    ]:
        here = held & left
        n = int(here.sum())
        out.append((n, int((y[here] == outcome).sum()) / n if n else None))
        left &= ~held
    return out


def test_support_is_printed_and_is_no_part_of_the_rules():
    model = make_step(Column("x", 0.0, 9.0), 3.0)
    plain = extract(model)
    rules = plain.cover([[1.0], [3.0], [4.0], [5.0]], ["well", "ill", "well", "ill"])
    assert rules.to_text() == (
        "If x ≥ 3, then ill — 3 rows, 66.7 % right\nOtherwise well — 1 row, 100 % right"
    )
    assert rules.to_text(notes=False) == plain.to_text()
    assert RuleSet.parse(rules.to_text(), model).to_text() == plain.to_text()
    assert rules.proof
    assert plain.to_records()[0]["support"] is None
    silent = plain.cover([[1.0], [3.0]])
    assert silent.to_text() == "If x ≥ 3, then ill — 1 row\nOtherwise well — 1 row"


def test_what_is_outside_is_not_a_gap():
    model = make_step(Column("n", 1.0, 3.0, (1.0, 2.0, 3.0), gaps=True), 9.0, missing=[1.0])
    rules = extract(model).cover([[7.0], [np.nan], [1.0]], ["well", "ill", "well"])
    by_rule = {record["rule"]: record["support"] for record in rules.to_records()}
    assert by_rule in ({"n missing": 1, "otherwise": 2}, {"n not missing": 1, "otherwise": 2})


def test_wrong_targets_are_refused():
    rules = extract(make_step(Column("x", 0.0, 9.0), 3.0))
    with pytest.raises(InputError, match=r"'well', 'ill'.*got 'dead'"):
        rules.cover([[1.0]], ["dead"])
    with pytest.raises(InputError, match="1 rows"):
        rules.cover([[1.0]], ["ill", "ill"])


def test_points_have_support_alone():
    model = make_score(2, [2.0, 1.0], 3.0)
    rules = extract(model, form="points").cover([[1.0, 0.0], [1.0, 1.0]], ["well", "ill"])
    assert "+2  x1 ≥ 1 — 2 rows" in rules.to_text()
    assert "+1  x2 ≥ 1 — 1 row" in rules.to_text()


# ---- telling ----


def test_a_frame_has_a_row_for_each_rule(patients):
    pytest.importorskip("pandas")
    frame = extract(patients, form="rules").to_frame()
    assert list(frame.columns) == ["rule", "prediction", "support", "precision", "literals"]
    assert frame["literals"].sum() == extract(patients, form="rules").n_literals
    assert frame["rule"].iloc[-1] == "otherwise"
    assert set(frame["prediction"]) == {"well", "ill"}


def test_json_is_json(patients):
    table = np.array([[60.0, "<b>", 1.0, 0.0]], object)
    for form in ("rules", "points"):
        rules = extract(patients, form=form).cover(table, ["ill"])
        content = json.loads(rules.to_json())
        assert content["proof"]["equal"] is True
        assert content["model"] == patients.fingerprint
        assert content["literals"] == rules.n_literals
        assert RuleSet.parse(content["text"], patients).proof
        assert content["columns"] == ["age", "pain <|>", "vessels"]
        assert len(content["domain"]) == 4
    wrong = RuleSet.parse("If vessels = 3, then ill\nOtherwise well", patients)
    content = json.loads(wrong.to_json())
    assert content["proof"]["equal"] is False
    assert set(content["proof"]["counterexample"]) == set(patients.schema.names)


def test_the_domain_is_told(patients):
    assert extract(patients).domain.splitlines() == [
        "age: any number (observed: 18 to 90 years), or missing",
        'pain <|>: one of "none & such", typical, "<b>"',
        "vessels: one of 0, 1, 2, 3",
        "unused: any number (observed: 0 to 1)",
    ]
    exact = make_step(Column("n", 0.1, 1234567.5, (0.1, 1234567.5)), 1.0)
    assert extract(exact).domain == "n: one of 0.1, 1234567.5"


def test_print_tells_rules_and_proof(patients):
    rules = extract(patients)
    assert str(rules).startswith(f"{rules.to_text()}\n\n{rules.proof}")
    assert repr(rules) == f"<RuleSet: {rules.form}, {len(rules)} rules, 3 literals>"
    assert rules.columns == ("age", "pain <|>", "vessels")
    assert rules.form == "count"


# ---- special networks ----


def test_monk2():
    rules = extract(make_monk2())
    assert str(rules).startswith(
        "If exactly 2 of [a1 = 1; a2 = 1; a3 = 1; a4 = 1; a5 = 1; a6 = 1], then class 1\n"
        "Otherwise class 0\n\nProved equal to the network in class alone. All 432 inputs"
    )
    assert (rules.n_literals, len(rules)) == (6, 1)
    assert rules.minimal


@pytest.mark.parametrize(
    ("count", "words"),
    [
        ([0, 1, 1, 1], "any"),
        ([0, 0, 1, 1], "at least 2"),
        ([0, 0, 0, 1], "all"),
        ([1, 1, 0, 0], "at most 1"),
        ([0, 1, 0, 0], "exactly 1"),
        ([1, 0, 0, 0], "none"),
    ],
)
def test_counts_are_kept_as_counts(count, words):
    """A table over the number of conditions that hold, told by that number."""
    columns = tuple(Column(f"x{i}", 0.0, 2.0) for i in range(3))
    hidden = make_layer(1, [0] * 3, range(3), [1.0] * 3, [1.0] * 3)
    steps = [(k, count[k] - count[k - 1]) for k in range(1, 4) if count[k] != count[k - 1]]
    n = len(steps)
    last = make_layer(
        1, [0] * n, [3] * n, [1.0] * n, [float(k) for k, _ in steps],
        alpha=[float(up) for _, up in steps], centre=[0.5 - count[0]],
    )  # fmt: skip
    model = Model(Schema(columns), [hidden, last], Classes(("well", "ill")))
    rules = extract(model)
    assert rules.n_literals == 3
    assert len(rules) == 1
    assert rules.proof
    simple = {"any": " or ", "all": " and ", "none": " and "}
    told = rules.to_text()
    alike = ("at least", "at most", "exactly") if words not in simple else (" and ", " or ")
    assert any(word in told for word in alike), told


@pytest.mark.parametrize("aggregation", ["min", "max", "mean", "product"])
def test_other_aggregations_are_all_any_and_counts(aggregation):
    columns = tuple(Column(f"x{i}", 0.0, 2.0) for i in range(4))
    hidden = make_layer(1, [0] * 4, range(4), [1.0] * 4, [1.0] * 4, aggregation=aggregation)
    last = make_layer(1, [0], [4], [1.0], [0.4], alpha=[1.0], centre=[1.0])
    model = Model(Schema(columns), [hidden, last], Classes(("well", "ill")))
    rules = extract(model)
    assert (rules.n_literals, len(rules)) == (4, 1)
    every = aggregation in ("min", "product")
    number = 4 if every else (2 if aggregation == "mean" else 1)
    rows = np.array(list(product([0.0, 1.0], repeat=4)))
    assert np.array_equal(rules.predict(rows) == "ill", rows.sum(axis=1) >= number)


def test_constant_networks():
    for said, centre in (("ill", -1.0), ("well", 61.0)):
        for n in (1, 3, 60):  # by its table, and where that is too large
            rules = extract(make_score(n, [1.0] * n, centre))
            assert rules.to_text() == f"Always {said}"
            assert (len(rules), rules.n_literals, rules.columns) == (0, 0, ())
            assert rules.proof
            assert set(rules.predict(np.ones((3, n)))) == {said}
            assert RuleSet.parse(rules.to_text(), rules._model).to_text() == rules.to_text()
    many = Model(
        make_score(2, [1.0] * 2, 0.0).schema,
        [make_layer(3, [], [], [], [], alpha=[], centre=[1.0, 0.0, 0.0])],
        Classes(("a", "b", "c")),
    )
    rules = extract(many)
    assert rules.to_text() == "Always b"
    assert extract(many, form="rules").to_text() == "Always b"
    assert extract(many, form="points").proof
    assert rules.to_records()[0]["prediction"] == "b"
    assert rules.proof.size == 1


def test_dead_conditions_are_folded_away():
    """w = 0, thresholds outside, neurons that say one thing, opposites: nothing of it is told."""
    whole = tuple(map(float, range(6)))
    columns = (Column("x", 0.0, 5.0, whole, required=True), Column("y", 0.0, 5.0))
    hidden = make_layer(2, [0, 0, 1, 1], [0, 1, 0, 0], [0.0, 1.0, 1.0, -1.0], [3.0, 2.0, 9.0, 9.0])
    last = make_layer(
        1, [0] * 4, [2, 3, 1, 1], [1.0, 1.0, 1.0, 0.3], [2.0, 1.0, 4.0, 4.0],
        alpha=[1.0, 5.0, 1.0, -1.0], centre=[6.0],
    )  # fmt: skip
    model = Model(Schema(columns), [hidden, last], Classes(("well", "ill")))
    assert extract(model).to_text() == "If y ≥ 2, then ill\nOtherwise well"


def test_unused_columns_do_not_matter():
    rules = extract(make_step(Column("x", 0.0, 1.0), 0.5))
    assert rules.columns == ("x",)
    wide = make_score(3, [0.0, 2.0, 0.0], 1.0)
    assert extract(wide).to_text() == "If x2 ≥ 1, then ill\nOtherwise well"
    assert extract(wide).columns == ("x2",)


def test_amounts_add_up():
    schema = make_score(2, [1.0, 1.0], 0.0).schema
    layer = make_layer(
        2, [0, 0, 1], [0, 1, 1], [1.0] * 3, [1.0] * 3, alpha=[0.1, 0.2, -3.0], centre=[-0.3, 0.0]
    )
    model = Model(schema, [layer], Targets(("y", "blood sugar")))
    rules = extract(model)
    assert rules.to_text() == (
        "Add up for y, blood sugar\n"
        "    +0.2  −3  x2 ≥ 1\n"
        "    +0.1   0  x1 ≥ 1\n"
        "     0.3   0  to start with"
    )
    rows = [[0.0, 0.0], [1.0, 1.0]]
    assert rules.predict(rows).tolist() == [[0.3, 0.0], [0.6, -3.0]]
    assert np.array_equal(rules.predict(rows), model.predict(rows))
    assert rules.proof
    with pytest.raises(ModelError, match="points"):
        extract(model, form="rules")
    one = Model(schema, [make_layer(1, [], [], [], [], alpha=[], centre=[-2.5])], Targets(("y",)))
    assert extract(one).to_text() == "Add up for y\n    2.5  to start with"
    assert extract(one).predict([[0.0, 0.0]]).tolist() == [2.5]
    assert extract(one).proof


def test_a_column_of_direct_inputs_and_neurons():
    """Grown networks: the output sees columns and neurons; a condition on both is compound."""
    columns = (Column("age", 0.0, 99.0), Column("married", 0.0, 1.0, (0.0, 1.0)))
    hidden = make_layer(1, [0, 0], [0, 1], [1.0, 1.0], [33.0, 1.0], aggregation="min")
    last = make_layer(1, [0, 0], [2, 0], [1.0, 1.0], [1.0, 60.0], alpha=[0.9, 0.4], centre=[0.5])
    model = Model(Schema(columns), [hidden, last], Classes(("poor", "rich")))
    assert extract(model, form="points").to_text() == (
        "Points for rich\n"
        "    +0.9  age ≥ 33 and married = 1\n"
        "    +0.4  age ≥ 60\n"
        "Sum ≥ 0.5: rich\n"
        "Otherwise: poor"
    )
    assert extract(model).n_literals == 2
    assert extract(model).columns == ("age", "married")


def test_what_is_not_crisp_is_refused():
    schema = Schema((Column("x", 0.0, 1.0, rank_scale=RankScale((0.0, 1.0), (0.0, 1.0))),))
    soft = Layer("sigmoid", "sum", "identity", 1, [0], [0], [[1.0]], [[0.0]], alpha=[1.0])
    with pytest.raises(ModelError, match="sigmoid in layer 1"):
        extract(Model(schema, [soft], Classes((0, 1))))
    ranked = make_layer(1, [0], [0], [1.0], [0.0], rank=[True])
    with pytest.raises(ModelError, match="own scale"):
        extract(Model(schema, [ranked], Classes((0, 1))))
    weighed = make_layer(1, [0], [0], [1.0], [0.0], alpha=[1.0])
    last = make_layer(1, [0], [1], [1.0], [0.0], alpha=[1.0])
    with pytest.raises(ModelError, match="last layer"):
        extract(Model(schema, [weighed, last], Classes((0, 1))))
    with pytest.raises(ModelError, match="form"):
        extract(make_monk2(), form="haiku")


def test_large_networks_are_told_in_points():
    model = make_wide(30, 4)
    rules = extract(model, seconds=1.0)
    assert rules.form == "points"
    assert rules.proof
    rng = np.random.default_rng(0)
    rows = rng.normal(size=(500, 30)).round(1)
    rows[:, ::5] = np.where(rng.random((500, 6)) < 0.2, np.nan, rows[:, ::5])
    assert np.array_equal(rules.predict(rows), model.predict(rows))


# ---- the shortest ----

TINY = Wishes(
    most_columns=3,
    depth=1,
    odd=0.0,
    kinds=("real", "whole", "category"),
    outputs=("binary",),
    places=(-1.0, 0.5),
)


def find_shortest(model):
    """Give the length of the shortest if/then rules of one class, by search over all covers.

    A condition names an interval of numbers, with or without gaps, or a set of categories.
    """
    axes = make_axes(model.schema, find_boundaries(model), gaps=True)
    cells = list(product(*(range(axis.n_cells) for axis in axes)))
    if len(cells) > 16:
        return None
    rows = np.array(
        [[a.representatives[c] for a, c in zip(axes, cell, strict=True)] for cell in cells]
    )
    classes = model.output.choose(model.score_rows(rows))
    boxes = {}
    for masks in product(*map(list_masks, axes)):
        inside = sum(
            1 << k
            for k, cell in enumerate(cells)
            if all(mask >> c & 1 for mask, c in zip(masks, cell, strict=True))
        )
        price = 0.25 + sum(mask != axis.full for mask, axis in zip(masks, axes, strict=True))
        boxes[inside] = min(price, boxes.get(inside, np.inf))
    return min(
        cover(sum(1 << k for k, c in enumerate(classes) if c == outcome), boxes)
        for outcome in (0, 1)
    )


def list_masks(axis):
    out = []
    for mask in range(1, axis.full + 1):
        places = mask & ~axis.missing
        n_runs = (places ^ (places << 1)).bit_count() // 2
        if axis.column.categories is not None or mask == axis.full or n_runs <= 1:
            out.append(mask)
    return out


def cover(wanted, boxes):
    """Give the least price of boxes that hold all that is wanted and nothing else."""
    useful = {box: price for box, price in boxes.items() if box & ~wanted == 0}
    best, queue = {0: 0.0}, [(0.0, 0)]
    while queue:
        price, covered = heapq.heappop(queue)
        if covered == wanted:
            return price
        for box, more in useful.items():
            together = covered | box
            if price + more < best.get(together, np.inf):
                best[together] = price + more
                heapq.heappush(queue, (price + more, together))
    raise AssertionError


@pytest.mark.parametrize("first", range(0, 120, 30))
def test_minimal_rules_are_the_shortest(first):
    n_minimal = 0
    for seed in range(first, first + 30):
        model = make_model(seed, TINY)
        shortest = find_shortest(model)
        if shortest is None:
            continue
        rules = extract(model, form="rules")
        assert rules.length <= shortest + 1e-9, f"seed {seed}:\n{rules.to_text()}"
        n_minimal += rules.minimal
    assert n_minimal >= 3


def test_the_shortest_form_is_not_longer_than_others():
    for seed in range(60):
        model = make_model(seed, Wishes(outputs=("binary", "many")))
        lengths = [
            extract(model, form=form, seconds=60.0).length
            for form in ("shortest", "rules", "points")
        ]
        assert lengths[0] <= min(lengths) + 1e-9


def test_names_do_not_change_the_rules():
    """What is found depends on the network, not on what its columns are called."""
    for seed in range(20):
        model = make_model(seed, Wishes(odd=0.0))
        columns = [
            Column(f"column {NAMES.index(c.name)}", c.low, c.high, c.values, None, c.categories,
                   c.gaps, c.unit, c.required)
            for c in model.schema.columns
        ]  # fmt: skip
        renamed = Model(Schema(tuple(columns)), model.layers, model.output)
        assert extract(model, seconds=60.0).length == extract(renamed, seconds=60.0).length
