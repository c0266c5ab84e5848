"""Draw a model: choose what is shown and how it is laid out; the result is a finished picture."""

from __future__ import annotations

import os
from dataclasses import dataclass, field, replace
from os import PathLike
from pathlib import Path
from typing import Any, Literal

import numpy as np
from numpy.typing import ArrayLike

from newron._files import write_whole
from newron.drawing.shapes import Label, Scene
from newron.drawing.svg import write_svg
from newron.errors import InputError
from newron.explanations.row import read_row
from newron.figures.annotations import describe, make_subtitle
from newron.figures.card import lay_card
from newron.figures.diagram import Diagram
from newron.figures.diagram_reader import read_diagram
from newron.figures.folded import choose_strongest, lay_folded
from newron.figures.joining import join_inputs
from newron.figures.layered import lay_layers
from newron.figures.narrow import lay_narrow, lay_narrow_card
from newron.formatting import clean
from newron.model.model import Model
from newron.rules.scorecard import ScoreCard

Layout = Literal["auto", "layered", "scorecard", "folded"]
Theme = Literal["auto", "light", "dark"]

_LAYOUTS = ("auto", "layered", "scorecard", "folded")
_THEMES = ("auto", "light", "dark")
_SUFFIXES = (".svg", ".png", ".pdf")
_MAX_LAYERED = 24  # functions that are drawn in layers; more are folded

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
    _check("theme", theme, _THEMES)
    settings: dict[str, Any] = {"max_inputs": max_inputs, "layout": layout, "narrow": narrow}
    picture = compose(model, X, row=row, title=title, row_name=row_name, **settings)
    scene, diagram = picture.scene, picture.diagram
    return Figure(
        write_svg(scene, title=diagram.title, description=picture.description, theme=theme),
        scene.width,
        scene.height,
        picture.layout,
        diagram.n_drawn,
        diagram.n_folded,
        diagram.n_left_out,
        tuple(scene.labels),
    )


@dataclass(frozen=True)
class Picture:
    """A picture that is laid out: not yet SVG."""

    scene: Scene
    diagram: Diagram
    layout: str

    @property
    def description(self) -> str:
        """The picture in sentences."""
        return describe(self.diagram)


def compose(
    model: Model | ScoreCard,
    X: ArrayLike | None = None,
    *,
    row: Any = None,
    max_inputs: int | None = 20,
    layout: Layout = "auto",
    narrow: bool = False,
    title: str | None = None,
    row_name: str = "this row",
) -> Picture:
    """Read what there is to draw and lay it out; the parameters are those of :func:`draw`."""
    _check("layout", layout, _LAYOUTS)
    if max_inputs is not None and max_inputs < 1:
        raise InputError(f"max_inputs: expected at least 1 or None, got {max_inputs}")
    network = model.rules.to_model() if isinstance(model, ScoreCard) else model
    rows = None if X is None else np.asarray(network.read(X), np.float64)
    one = None if row is None else read_row(network, row)
    diagram = read_diagram(network, rows, one, title=title, max_inputs=max_inputs)
    chosen = _choose_layout(diagram, layout)
    if chosen == "folded":
        diagram = choose_strongest(diagram)
    elif chosen == "scorecard":
        diagram = join_inputs(diagram)
    diagram = replace(
        diagram,
        title=clean(diagram.title),
        subtitle=make_subtitle(diagram, chosen),
        row_name=clean(row_name),
    )
    return Picture((_NARROW if narrow else _WIDE)[chosen](diagram), diagram, chosen)


def _check(name: str, value: str, known: tuple[str, ...]) -> None:
    if value not in known:
        raise InputError(f"{name}: expected one of {', '.join(known)}, got {value!r}")


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
    return "layered" if diagram.n_drawn <= _MAX_LAYERED else "folded"


@dataclass(frozen=True)
class Figure:
    """The picture of a network.

    A notebook shows it by itself; :meth:`save` writes it as SVG, PNG or PDF.

    Attributes
    ----------
    svg : str
        The picture, self-contained; its colours follow the reader's light or dark mode.
    width, height : float
        In pixels.
    layout : str
        "layered", "scorecard" or "folded".
    n_drawn, n_folded, n_left_out : int
        How many functions have a plot, how many are only counted because others matter
        more, and how many do not matter over the observed range. Together they are all.
    labels : tuple of Label
        All texts, with their positions.

    Examples
    --------
    >>> from newron.model import Classes, Column, Layer, Model, Schema
    >>> layer = Layer("heaviside", "sum", "identity", 1, [0], [0], [[1.0]], [[38.0]])
    >>> model = Model(Schema((Column("t", 35.0, 42.0),)), [layer], Classes(("well", "ill")))
    >>> model.plot().svg.startswith("<svg")
    True
    """

    svg: str = field(repr=False)
    width: float
    height: float
    layout: str
    n_drawn: int
    n_folded: int
    n_left_out: int
    labels: tuple[Label, ...] = field(default=(), repr=False)

    def save(self, path: str | PathLike[str], *, scale: float = 2.0) -> None:
        """Write the picture; the suffix says how: ``.svg``, ``.png`` or ``.pdf``.

        The file appears whole or not at all. PNG and PDF are light unless the figure was
        drawn with ``theme="dark"``, and need the extra ``figures``.

        Parameters
        ----------
        path : str or path-like
            Where to; the suffix decides.
        scale : float, default=2.0
            Pixels of a PNG for each pixel of the figure.

        Raises
        ------
        InputError
            If the suffix is another, or Typst is not installed for PNG and PDF.
        """
        suffix = Path(path).suffix.lower()
        if suffix not in _SUFFIXES:
            raise InputError(
                f"expected a file name that ends in {', '.join(_SUFFIXES)}, got {os.fspath(path)!r}"
            )
        if suffix == ".svg":
            content = self.svg.encode("utf-8")
        else:
            from newron.figures.conversion import make_pdf, make_png

            content = (
                make_pdf(self.svg, self.labels)
                if suffix == ".pdf"
                else make_png(self.svg, self.labels, scale)
            )
        write_whole(content, path)

    def to_html(self) -> str:
        """Return the picture for a page: it gets smaller where there is less room.

        Returns
        -------
        str
        """
        return self.svg.replace("<svg ", '<svg style="max-width:100%;height:auto" ', 1)

    def _repr_svg_(self) -> str:
        return self.to_html()

    def _repr_mimebundle_(self, **_: Any) -> dict[str, str]:
        return {"image/svg+xml": self.to_html(), "text/plain": repr(self)}
