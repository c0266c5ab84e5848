"""Figures look as they did when someone looked at them."""

import pytest

from figures.geometry import find_problems
from figures.goldens import FIGURES, FOLDER


@pytest.mark.parametrize("name", FIGURES)
def test_a_figure_is_the_one_that_is_kept(name):
    figure = FIGURES[name]()
    assert not find_problems(figure.labels, figure.width, figure.height)
    kept = (FOLDER / f"{name}.svg").read_text(encoding="utf-8")
    assert figure.svg == kept, "look at it, then run scripts/draw_figures golden"


def test_nothing_else_is_kept():
    assert {path.stem for path in FOLDER.glob("*.svg")} == set(FIGURES)
