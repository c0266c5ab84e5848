import numpy as np
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from newron.model.decimals import round_to_digits, round_to_step, shortest_between

numbers = st.floats(-1e12, 1e12, allow_nan=False)


@given(numbers, numbers)
def test_the_shortest_decimal_lies_strictly_between(a, b):
    low, high = min(a, b), max(a, b)
    found = shortest_between(low, high)
    if found is None:
        assert np.nextafter(low, high) == high or low == high
    else:
        assert low < found < high


@pytest.mark.parametrize(
    ("low", "high", "expected"),
    [(1, 2, 1.5), (0, 1, 0.5), (54, 55, 54.5), (123.4, 130.2, 127), (-1, 1, 0), (0.1, 0.2, 0.15),
     (1e30, 2e30, 1.5e30), (1e-30, 2e-30, 1.5e-30), (-3, -2, -2.5), (99, 101, 100)],
)  # fmt: skip
def test_gaps_get_the_number_a_person_would_choose(low, high, expected):
    assert shortest_between(low, high) == pytest.approx(expected, rel=1e-15)
    assert len(repr(shortest_between(low, high))) <= 8


@given(st.integers(-10_000, 10_000), st.integers(1, 500))
def test_it_is_short(start, width):
    found = shortest_between(start / 100, (start + width) / 100)
    assume(found is not None)
    assert len(f"{found!r}".lstrip("-")) <= 7


def test_digits_are_significant_ones():
    got = round_to_digits(np.array([123456.0, 0.00123456, -9.999]), 3)
    assert got.tolist() == [123000.0, 0.00123, -10.0]


def test_steps_follow_the_size_of_the_axis():
    values, size = np.array([[54.28712], [1234.567]]), np.array([[48.0], [9000.0]])
    assert round_to_step(values, size, 4).tolist() == [[54.29], [1235.0]]
    assert round_to_step(values, np.zeros((2, 1)), 4).tolist() == values.tolist()
