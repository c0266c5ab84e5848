"""Widths of texts, and names made fit for a picture."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from newron.figures.metrics import clean, fit, is_measured, isolate, measure, split

TEXTS = st.text(max_size=60)
ROOMS = st.floats(20, 300)


def test_widths_are_those_of_arial():
    """Sums of advance widths in thousandths, from the font's tables."""
    assert measure("age ≥ 55 y", 100) == pytest.approx(
        (556 + 556 + 556 + 278 + 549 + 278 + 556 + 556 + 278 + 500) / 10, abs=4
    )
    assert measure("Wiii", 10) == pytest.approx((944 + 3 * 222) / 100)
    assert measure("bold", 10, bold=True) > measure("bold", 10)


@given(TEXTS, ROOMS, st.booleans())
def test_a_text_that_was_fitted_has_the_room(text, room, bold):
    shown = fit(text, room, 12, bold=bold)
    assert measure(shown, 12, bold=bold) <= room + 1e-9
    assert shown == text or shown.endswith("…")


@given(TEXTS, ROOMS)
def test_lines_have_the_room_and_are_few(text, room):
    lines = split(text, room, 12)
    assert len(lines) <= 2
    assert all(measure(line, 12) <= room + 1e-9 for line in lines)
    if not any(line.endswith("…") for line in lines):
        assert " ".join(lines) == text


@given(st.text(st.characters(codec=None)))
def test_clean_names_can_be_written_as_xml(text):
    from xml.etree import ElementTree as ET

    name = clean(text)
    ET.fromstring(f"<a>{name.replace('&', '').replace('<', '')}</a>")
    assert len(name) == len(text)


def test_only_what_turns_is_isolated():
    assert isolate("blood pressure 120") == "blood pressure 120"
    assert isolate("דם") == "\u2068דם\u2069"
    assert isolate("\u202ex") == "\u2068\u202ex\u2069"


def test_a_cut_name_stays_isolated():
    shown = fit(isolate("ضغط الدم الانقباضي"), 60, 12)
    assert shown.count("\u2068") == shown.count("\u2069") == 1


def test_unusual_characters_are_wide_and_known_to_be_unmeasured():
    assert measure("心", 10) == 10
    assert measure("🫀", 10) == 14
    assert measure("e\u0301", 10) == measure("e", 10)
    assert is_measured("age ≥ 55")
    assert not is_measured("心")
