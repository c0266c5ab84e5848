"""Values as text: exact ones can be read back, rounded ones never lie about 0 and 1."""

import math
from fractions import Fraction

import pytest
from hypothesis import given
from hypothesis import strategies as st

from newron.formatting import (
    MINUS,
    clean,
    format_count,
    format_fraction,
    format_label,
    format_number,
    format_percent,
    format_position,
    format_threshold,
    quote,
    to_ascii,
)

finite = st.floats(allow_nan=False, allow_infinity=False)


@given(finite)
def test_a_number_is_read_back_exactly(value: float) -> None:
    assert float(format_number(value)) == value


@given(st.floats(-1e300, 1e300))
def test_a_threshold_is_printed_as_itself_or_as_its_neighbour(value: float) -> None:
    text = format_threshold(value)
    near = [value, math.nextafter(value, math.inf), math.nextafter(value, -math.inf)]
    assert float(text.replace(MINUS, "-")) in near
    assert len(text) <= len(format_number(value))


@given(st.integers(-(10**6), 10**6), st.integers(0, 5), st.integers(0, 5))
def test_a_decimal_fraction_is_written_exactly(number: int, twos: int, fives: int) -> None:
    value = Fraction(number, 2**twos * 5**fives)
    text = format_fraction(value)
    assert "/" not in text
    assert Fraction(text.replace(MINUS, "-")) == value


def test_a_fraction_that_is_no_decimal_keeps_its_denominator() -> None:
    assert format_fraction(Fraction(-2, 7)) == "−2/7"


@given(st.floats(0.0, 1.0), st.integers(0, 2))
def test_only_certainty_is_printed_as_0_or_100_per_cent(value: float, digits: int) -> None:
    text = format_percent(value, digits)
    assert (text == "100 %") == (value == 1.0)
    assert (text == "0 %") == (value == 0.0)


@given(st.floats(-1e6, 1e6), st.floats(1e-3, 1e6))
def test_a_position_is_off_by_a_hundredth_of_the_axis_at_most(value: float, span: float) -> None:
    near = float(format_position(value, span).replace(MINUS, "-"))
    assert abs(near - value) <= 0.01 * span


@pytest.mark.parametrize(
    ("number", "noun", "text"),
    [(0, "row", "0 rows"), (1, "row", "1 row"), (1234, "category", "1 234 categories")],
)
def test_a_count_names_one_thing_or_several(number: int, noun: str, text: str) -> None:
    assert format_count(number, noun) == text


@pytest.mark.parametrize("name", ["Sum", "a or b", "x\ny", "age ", "a, b", "3rd", "AB", ""])
def test_a_name_that_the_grammar_could_misread_is_quoted(name: str) -> None:
    assert quote(name).startswith('"')


def test_labels_keep_their_type_visible() -> None:
    assert [format_label(x) for x in (True, 1, "1", 1.5)] == ["True", "1", '"1"', "1.5"]


@given(st.text())
def test_a_clean_text_is_one_line_without_control_characters(text: str) -> None:
    cleaned = clean(text)
    assert len(cleaned) == len(text)
    assert len(cleaned.splitlines()) <= 1
    assert not any(ord(c) < 32 or 127 <= ord(c) < 160 for c in cleaned)


def test_signs_have_an_ascii_form_and_letters_stay() -> None:
    assert to_ascii("größe ≥ 3 → “ja”") == 'größe >= 3 -> "ja"'
