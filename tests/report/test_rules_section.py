"""Conditions of rules as the page tests them."""

import math

import numpy as np
import pytest

from newron.drawing.markup import bdi, html
from newron.model import Column
from newron.report.rules_section import RuleWriter
from newron.rules.axis import Axis
from newron.rules.node import CellRows, Literal

AXES = (
    Axis(Column("age", 18.0, 90.0, gaps=True), (40.0, 54.5, math.nextafter(60.0, 99.0))),
    Axis(Column("visits", 0.0, 5.0, values=(0.0, 1.0, 2.0, 5.0))),
    Axis(Column("colour", 0, 2, categories=("red", "green", "blue"), gaps=True)),
)
VALUES = (
    [18.0, 39.999, 40.0, 54.5, 54.4, 60.0, math.nextafter(60.0, 99.0), 61.0, math.nan],
    [0.0, 1.0, 2.0, 5.0],
    [0.0, 1.0, 2.0, math.nan],
)


def holds(literal, x):
    """Test a literal as report.js does."""
    if math.isnan(x):
        return literal["gap"]
    if "members" in literal:
        return x in literal["members"]
    return any((a is None or x >= a) and (b is None or x <= b) for a, b in literal["ranges"])


@pytest.mark.parametrize("column", [0, 1, 2])
def test_a_condition_holds_on_the_page_where_it_holds_in_rules(column):
    axis = AXES[column]
    x = np.array(VALUES[column])
    cells = np.zeros((len(x), 3), np.intp)
    cells[:, column] = axis.locate(x)
    for mask in range(1, axis.full):
        writer = RuleWriter()
        writer.begin(AXES, [])
        writer.write(Literal(column, mask))
        wanted = CellRows(AXES, cells).holds(Literal(column, mask))
        found = [holds(writer.literals[0], value) for value in VALUES[column]]
        assert found == wanted.tolist(), axis.format(mask)


@pytest.mark.parametrize(
    ("mask", "told"),
    [(0b0110, "40 ≤ … ≤ 60"), (0b1000, "> 60"), (0b10001, "< 40 or missing")],
)
def test_conditions_of_points_leave_the_name_to_their_line(mask, told):
    writer = RuleWriter()
    writer.begin(AXES, [])
    row = writer._write_term(0, Literal(0, mask), ["+1"], None)
    assert html("th", bdi("age"), scope="row") in row
    assert bdi(told) in row
