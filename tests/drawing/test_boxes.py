"""Boxes stand where their layout puts them."""

from itertools import pairwise

import pytest

from newron.drawing.boxes import Box, lay_column, lay_grid


def test_a_box_knows_its_sides_and_middles():
    box = Box(10.0, 20.0, 30.0, 40.0)
    assert (box.right, box.bottom) == (40.0, 60.0)
    assert (box.center, box.middle) == (25.0, 40.0)


@pytest.mark.parametrize("n", [0, 1, 2, 5])
def test_ports_lie_around_the_middle(n):
    box = Box(0.0, 0.0, 10.0, 100.0)
    ports = box.list_ports(n, 7.0)
    assert len(ports) == n
    assert all(x == box.x for x, _ in ports)
    assert sum(y - box.middle for _, y in ports) == pytest.approx(0.0)
    assert all(b[1] - a[1] == 7.0 for a, b in pairwise(ports))


def test_a_column_keeps_its_gaps():
    boxes = lay_column(5.0, 10.0, 20.0, [30.0, 10.0, 20.0], 6.0)
    assert [b.y - a.bottom for a, b in pairwise(boxes)] == [6.0, 6.0]
    assert {(box.x, box.width) for box in boxes} == {(5.0, 20.0)}


def test_a_grid_goes_line_by_line():
    boxes = lay_grid((5.0, 10.0), 5, 2, (8.0, 9.0), (12.0, 20.0))
    assert [(box.x, box.y) for box in boxes] == [
        (5.0, 10.0), (17.0, 10.0), (5.0, 30.0), (17.0, 30.0), (5.0, 50.0),
    ]  # fmt: skip
