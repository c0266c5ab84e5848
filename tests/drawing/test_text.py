"""Widths of texts, and names made fit for a picture."""

import string
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from newron.drawing.text import fit, isolate, measure, split
from newron.formatting import clean

TEXTS = st.text(max_size=60)
ROOMS = st.floats(20, 300)


def test_widths_are_those_of_arial():
    assert measure("Wiii", 1000) == 944 + 3 * 222
    assert measure("Wiii", 1000, bold=True) == 944 + 3 * 278
    assert measure("age ≥ 55", 12) == pytest.approx(12 * 3.885, abs=0.001)


@pytest.mark.parametrize(("name", "bold"), [("Regular", False), ("Bold", True)])
def test_widths_are_those_of_an_installed_font(name, bold):
    ttlib = pytest.importorskip("fontTools.ttLib")
    path = Path(f"/usr/share/fonts/truetype/liberation/LiberationSans-{name}.ttf")
    if not path.exists():
        pytest.skip("Liberation Sans is not installed")
    font = ttlib.TTFont(path)
    glyphs, advances = font.getBestCmap(), font["hmtx"]
    for character in map(chr, range(32, 0x180)):
        if ord(character) in glyphs and character.isprintable():
            own = advances[glyphs[ord(character)]][0] / font["head"].unitsPerEm
            counted = measure(character, 1, bold=bold)
            assert counted >= own - 0.001 or counted >= 0.72, character
            assert counted <= own + 0.001 or character not in string.printable, character


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
    assert isolate("\u202ex\u2069") == "�x�"  # no name ends what isolates it


def test_a_cut_name_stays_isolated():
    shown = fit(isolate("ضغط الدم الانقباضي"), 60, 12)
    assert shown.count("\u2068") == shown.count("\u2069") == 1


def test_unusual_characters_are_taken_as_wide():
    assert measure("心", 10) == 10
    assert measure("🫀", 10) == 14
    assert measure("e\u0301", 10) == measure("e", 10)
