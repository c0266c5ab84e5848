"""Draw a model: choose what is shown and how it is laid out."""

from __future__ import annotations

from dataclasses import replace
from typing import Any, Literal

import numpy as np
from numpy.typing import ArrayLike

from newron.errors import InputError
from newron.explanations.row import read_row
from newron.figures.card import lay_card
from newron.figures.diagram import Diagram
from newron.figures.figure import Figure
from newron.figures.folded import choose_strongest, lay_folded
from newron.figures.joining import count_points, join_inputs, tell_points
from newron.figures.layered import lay_layers
from newron.figures.metrics import clean
from newron.figures.narration import describe, tell_subtitle
from newron.figures.narrow import lay_narrow, lay_narrow_card
from newron.figures.survey import read_diagram
from newron.figures.svg import write_svg
from newron.model.model import Model
from newron.rules.scorecard import ScoreCard

__all__ = ["draw"]

Layout = Literal["auto", "layered", "scorecard", "folded"]
Theme = Literal["auto", "light", "dark"]

_LAYOUTS = ("auto", "layered", "scorecard", "folded")
_THEMES = ("auto", "light", "dark")
_MOST_LAYERED = 24  # functions that are drawn in layers; more are folded


_WIDE = {"scorecard": lay_card, "layered": lay_layers, "folded": lay_folded}
_NARROW = {"scorecard": lay_narrow_card, "layered": lay_narrow, "folded": lay_narrow}


def draw(
    model: Model | ScoreCard,
    X: ArrayLike | None = None,
    *,
    row: Any = None,
    max_inputs: int | None = 20,
    layout: Layout = "auto",
    theme: Theme = "auto",
    narrow: bool = False,
    title: str | None = None,
    row_name: str = "this row",
) -> Figure:
    """Draw a network so that every function can be read.

    Blue is a function of one input over its observed range, green the aggregation, red the
    activation. Functions that do not matter over the observed range are left out, and the
    figure says how many.

    Parameters
    ----------
    model : Model or ScoreCard
        A model of any kind; a score card is drawn with its points.
    X : table, optional
        Rows, as for ``model.predict``: how many lie where is drawn below each axis, and the
        width of a line is the share of rows whose class changes when its function is held
        constant. Without rows it is by how much what the function adds varies.
    row : mapping, sequence or table of one row, optional
        A row to draw through the network: a dot on each function.
    max_inputs : int or None, default=20
        How many inputs are drawn, the most influential ones; the functions of others are
        folded and counted. None draws all.
    layout : {"auto", "layered", "scorecard", "folded"}
        A score card is for networks with one output and no hidden layer; folded draws the
        strongest functions of each neuron. "auto" takes a card where it can, layers up to 24
        functions, and folds more.
    theme : {"auto", "light", "dark"}
        "auto" follows the reader.
    narrow : bool, default=False
        A picture for phones, 358 pixels wide and without heading.
    title : str, optional
    row_name : str
        What the row is called in the picture.

    Returns
    -------
    Figure

    Examples
    --------
    >>> from newron.model import Classes, Column, Layer, Model, Schema
    >>> layer = Layer("heaviside", "sum", "identity", 1, target=[0, 0], source=[0, 1],
    ...               w=[[1.0], [1.0]], b=[[38.0], [3.0]], alpha=[2.0, 1.0], centre=[2.0])
    >>> columns = Column("temperature", 35.0, 42.0, unit="°C"), Column("days", 0.0, 9.0)
    >>> model = Model(Schema(columns), [layer], Classes(("well", "ill")))
    >>> figure = draw(model, row={"temperature": 38.5, "days": 1})
    >>> figure.layout, figure.n_drawn, figure.n_left_out
    ('scorecard', 2, 0)
    """
    _check(layout, theme, max_inputs)
    network = count_points(model) if isinstance(model, ScoreCard) else model
    rows = None if X is None else np.asarray(network.read(X), np.float64)
    one = None if row is None else read_row(network, row)
    diagram = read_diagram(network, rows, one, title=title, max_inputs=max_inputs)
    if isinstance(model, ScoreCard):
        diagram = tell_points(diagram, float(model.unit))
    chosen = _choose_layout(diagram, layout)
    if chosen == "folded":
        diagram = choose_strongest(diagram)
    elif chosen == "scorecard":
        diagram = join_inputs(diagram, rows)
    diagram = replace(
        diagram,
        title=clean(diagram.title),
        subtitle=tell_subtitle(diagram, chosen),
        row_name=clean(row_name),
    )
    scene = (_NARROW if narrow else _WIDE)[chosen](diagram)
    svg = write_svg(scene, title=diagram.title, description=describe(diagram), theme=theme)
    return Figure(
        svg,
        scene.width,
        scene.height,
        chosen,
        diagram.n_drawn,
        diagram.n_folded,
        diagram.n_left_out,
        tuple(scene.labels),
    )


def _check(layout: str, theme: str, max_inputs: int | None) -> None:
    for name, value, known in (("layout", layout, _LAYOUTS), ("theme", theme, _THEMES)):
        if value not in known:
            raise InputError(f"{name}: expected one of {', '.join(known)}, got {value!r}")
    if max_inputs is not None and max_inputs < 1:
        raise InputError(f"max_inputs: expected at least 1 or None, got {max_inputs}")


def _choose_layout(diagram: Diagram, layout: str) -> str:
    is_card = len(diagram.model.layers) == 1 and diagram.model.output.n_scores == 1
    if layout == "scorecard" and not is_card:
        raise InputError(
            "layout: a score card needs a network with one output and no hidden layer, got "
            f"{len(diagram.model.layers) - 1} hidden layers and "
            f"{diagram.model.output.n_scores} outputs; take 'auto'"
        )
    if layout != "auto":
        return layout
    if is_card:
        return "scorecard"
    return "layered" if diagram.n_drawn <= _MOST_LAYERED else "folded"
