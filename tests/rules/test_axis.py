"""Cells of columns: every value has one, and every set of them can be told and read."""

import math

import numpy as np
import pytest

from newron.formatting import quote
from newron.model import Classes, Column, Schema
from newron.rules.axis import Axis, make_axes
from newron.rules.body import DecisionList
from newron.rules.node import CellRows, Literal
from newron.rules.parsing import parse_rules

from .networks import ODD_LABELS, ODD_NAMES

EPS = math.ulp(0.5)

AXES = {
    "real": Axis(Column("age", 0.0, 99.0), (3.0, 54.5, 60.0)),
    "gaps": Axis(Column("age", 0.0, 99.0, gaps=True), (3.0, 54.5)),
    "unit": Axis(Column("age", 0.0, 99.0, gaps=True, unit="years"), (3.0, 54.5)),
    "point": Axis(Column("x", -1.0, 1.0), (-0.5, math.nextafter(-0.5, 1), 0.1, 0.1 + EPS)),
    "tiny": Axis(Column("x", -1.0, 1.0, gaps=True), (-5e-324, 0.0, 5e-324)),
    "far": Axis(Column("x", -1.0, 1.0), (-1e299, 1e22, 1.2345678901234567e299)),
    "beyond": Axis(Column("x", 5.0, 6.0), (1.0, 9.0)),
    "whole": Axis(Column("n", 1.0, 5.0, (1.0, 2.0, 3.0, 4.0, 5.0))),
    "whole gaps": Axis(Column("n", 1.0, 3.0, (1.0, 2.0, 3.0), gaps=True, unit="mg/dl")),
    "decimal": Axis(Column("n", 0.1, 1234567.5, (0.1, 0.30000000000000004, 1234567.5))),
    "one value": Axis(Column("n", 1.0, 1.0, (1.0,), gaps=True)),
    "category": Axis(Column("c", 0.0, 4.0, categories=("a", "b", "dark red", "d", "e"))),
    "category gaps": Axis(Column("c", 0.0, 1.0, categories=("a", "b"), gaps=True)),
    **{f"labels {k}": Axis(Column("c", 0.0, 1.0, categories=c)) for k, c in enumerate(ODD_LABELS)},
    **{f"name {n}": Axis(Column(n, 0.0, 1.0, gaps=True), (0.0, 0.5)) for n in ODD_NAMES},
    "name empty": Axis(Column("", 0.0, 1.0, gaps=True), (0.0, 0.5)),
}


@pytest.fixture(params=AXES, ids=str)
def axis(request):
    return AXES[request.param]


def list_places(axis):
    """Give values around every boundary."""
    if axis.listed:
        return axis.representatives
    near = [
        y for u in axis.boundaries for y in (u, math.nextafter(u, -9e9), math.nextafter(u, 9e9))
    ]
    gap = [np.nan] if axis.missing else []
    return np.array([*near, axis.column.low, axis.column.high, -1e300, 1e299, 0.0, *gap])


def test_representatives_lie_in_their_cells(axis):
    cells = axis.locate(axis.representatives)
    assert cells.tolist() == list(range(axis.n_cells))


def test_boundaries_part_the_numbers(axis):
    x = list_places(axis)
    cells = axis.locate(x)
    assert ((cells >= 0) & (cells < axis.n_cells)).all()
    if not axis.listed:
        numbers = ~np.isnan(x)
        under = x[numbers, None] < np.array(axis.boundaries)[None, :]
        assert np.array_equal(cells[numbers], (~under).sum(axis=1))


def test_every_set_of_cells_is_told_and_read(axis):
    """What is told of a mask is read as a condition that holds in these cells alone."""
    schema = Schema((axis.column,))
    x = list_places(axis)
    truth = axis.locate(x)
    for mask in range(1, axis.full):
        told = axis.format(mask)
        for text in (told, f"({told})", f"not ({told})", f"any of [{told}; never]"):
            read_axes, body = parse_rules(
                f"If {text}, then yes\nOtherwise no", schema, Classes(("no", "yes"))
            )
            assert isinstance(body, DecisionList)
            rows = CellRows(read_axes, read_axes[0].locate(x)[:, None])
            held = rows.holds(body.branches[0].node)
            wanted = np.array([bool(mask >> int(c) & 1) for c in truth])
            assert np.array_equal(held, ~wanted if text.startswith("not") else wanted), text
            if text == told:
                node = body.branches[0].node
                assert isinstance(node, Literal), told
                assert read_axes[0].format(node.mask) == told


def test_words():
    age, whole, colour = AXES["gaps"], AXES["whole"], AXES["category"]
    assert [age.format(m) for m in (0b1000, 0b0111, 0b1110, 0b0010, 0b0101)] == [
        "age missing",
        "age not missing",
        "age ≥ 3 or missing",
        "3 ≤ age < 54.5",
        "age < 3 or ≥ 54.5",
    ]
    assert [whole.format(m) for m in (0b1, 0b11110, 0b11, 0b11000, 0b1110, 0b10001)] == [
        "n = 1",
        "n ≠ 1",
        "n ≤ 2",
        "n ≥ 4",
        "2 ≤ n ≤ 4",
        "n in {1, 5}",
    ]
    assert [colour.format(m) for m in (0b100, 0b11011, 0b11)] == [
        "c = dark red",
        "c ≠ dark red",
        "c in {a, b}",
    ]
    assert AXES["unit"].format(0b010) == "3 ≤ age < 54.5 years"
    point = AXES["point"]
    assert [point.format(m) for m in (0b00010, 0b11101, 0b00011, 0b11100)] == [
        "x = -0.5",
        "x ≠ -0.5",
        "x ≤ -0.5",
        "x > -0.5",
    ]


def test_what_is_outside_has_no_cell():
    whole = Axis(AXES["whole"].column, (1.0, 1.2, 1.7, 4.5))
    assert whole.locate(np.array([0.0, 1.5, np.nan])).tolist() == [-1] * 3
    # No condition parts 6 from 5, or 3.5 from 2 to 4: the network takes them alike.
    assert whole.locate(np.array([6.0, 3.5])).tolist() == [4, 3]
    assert whole.contains(np.array([6.0, 5.0, np.nan])).tolist() == [False, True, False]
    assert AXES["real"].locate(np.array([np.nan])).tolist() == [-1]
    assert AXES["category"].locate(np.array([np.nan, 5.0])).tolist() == [-1, -1]
    assert AXES["category gaps"].locate(np.array([np.nan, 5.0])).tolist() == [2, 2]


def test_too_many_values_are_an_axis():
    values = tuple(map(float, range(2000)))
    axis = Axis(Column("x", 0.0, 1999.0, values), (10.0,))
    assert not axis.listed
    assert axis.n_cells == 2


def test_axes_sort_and_merge_boundaries():
    column = Column("x", 0.0, 1.0)
    colour = Column("c", 0.0, 0.0, categories=("a",))
    axes = make_axes(Schema((column, colour)), [[2.0, -1.0, 2.0, 0.0, -0.0], [5.0]])
    assert axes[0].boundaries == (-1.0, 0.0, 2.0)
    assert axes[1].n_cells == 1


@pytest.mark.parametrize(
    ("name", "written"),
    [
        ("age", "age"),
        ("chest pain", "chest pain"),
        ("a or b", '"a or b"'),
        ("A", '"A"'),
        ("ABC", "ABC"),
        ("x ≥ 3", '"x ≥ 3"'),
        ('say "hi"', '"say \\"hi\\""'),
        ("3rd", '"3rd"'),
        ("Then", '"Then"'),
        ("thence", "thence"),
        ("", '""'),
        (" a", '" a"'),
        ("a ", '"a "'),
        ("a  b", '"a  b"'),
    ],
)
def test_names_are_quoted_where_needed(name, written):
    assert quote(name) == written


def test_labels_may_look_like_groups():
    assert quote("A", value=True) == "A"
