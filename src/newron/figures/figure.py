"""A finished picture: SVG text that shows itself in notebooks and goes to files."""

from __future__ import annotations

import os
from dataclasses import dataclass, field
from os import PathLike
from pathlib import Path
from typing import Any

from newron._files import write_whole
from newron.errors import InputError
from newron.figures.shapes import Label

__all__ = ["Figure"]

_SUFFIXES = (".svg", ".png", ".pdf")


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
        All texts, with their places.
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
        scale : float, default=2.0
            Pixels of a PNG for each pixel of the figure.
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

    def _repr_svg_(self) -> str:
        return self.svg

    def _repr_mimebundle_(self, **_: Any) -> dict[str, str]:
        return {"image/svg+xml": self.svg, "text/plain": repr(self)}
