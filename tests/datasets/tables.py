"""Which tables are drawn, and pandas, without which there are none."""

import pytest

pd = pytest.importorskip("pandas", reason="the tables of newron.datasets need pandas")


DRAWN = ("bisector", "xor", "parabola", "circle")
