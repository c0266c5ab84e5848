"""Colours: contrast with the page, and different in greyscale."""

import pytest

from newron.drawing.palette import DARK, LIGHT, SIZES, edge_width, write_stylesheet


def luminance(colour):
    parts = [int(colour[k : k + 2], 16) / 255 for k in (1, 3, 5)]
    linear = [p / 12.92 if p <= 0.04045 else ((p + 0.055) / 1.055) ** 2.4 for p in parts]
    return sum(w * p for w, p in zip((0.2126, 0.7152, 0.0722), linear, strict=True))


def contrast(a, b):
    low, high = sorted([luminance(a), luminance(b)])
    return (high + 0.05) / (low + 0.05)


@pytest.mark.parametrize("colours", [LIGHT, DARK])
def test_texts_and_lines_stand_out(colours):
    for name in ("ink", "muted", "blue", "green", "red"):
        assert contrast(colours[name], colours["bg"]) >= 4.5
        assert contrast(colours[name], colours["surface"]) >= 4.5
    for name in ("line", "rug"):
        assert contrast(colours[name], colours["bg"]) >= 3.0
    for tint in ("blue-tint", "green-tint", "red-tint"):
        assert contrast(colours["ink"], colours[tint]) >= 7.0


def test_tints_are_three_greys():
    greys = [luminance(LIGHT[f"{name}-tint"]) for name in ("blue", "green", "red")]
    assert greys[0] - greys[1] > 0.1
    assert greys[1] - greys[2] > 0.1


def test_no_text_is_small():
    assert min(SIZES.values()) == 11.0


def test_four_times_the_influence_is_twice_the_added_width():
    assert edge_width(0.0) == 1.0
    assert edge_width(1.0) == 6.0
    assert edge_width(0.4) - 1 == pytest.approx(2 * (edge_width(0.1) - 1), abs=0.02)
    assert edge_width(7.0) == 6.0


def test_all_colours_are_variables():
    rules = write_stylesheet().split("}\n", 4)[-1]
    assert "#" not in rules
    assert set(LIGHT) == set(DARK)
