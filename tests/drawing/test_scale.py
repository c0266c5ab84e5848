"""Axes: positions and round values."""

import pytest

from newron.drawing.scale import Linear, find_step


def test_ends_are_where_the_axis_is_drawn():
    axis = Linear(2.0, 6.0, 100.0, 20.0)
    assert (axis(2.0), axis(4.0), axis(6.0)) == (100.0, 60.0, 20.0)


@pytest.mark.parametrize(("low", "high"), [(0.0, 1.0), (43.0, 97.0), (-0.003, 0.0007), (1e6, 3e6)])
def test_ticks_are_round_and_inside(low, high):
    axis = Linear(low, high, 0.0, 1.0)
    ticks = axis.list_ticks(5)
    step = find_step((high - low) / 5)
    assert 2 <= len(ticks) <= 6
    assert low - 1e-6 * step <= ticks[0]
    assert ticks[-1] <= high + 1e-6 * step
    assert all(tick / step == pytest.approx(round(tick / step)) for tick in ticks)
