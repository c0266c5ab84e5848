"""What a picture is made of: labels, boxes, lines, edges and dots. No SVG, no colours."""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from typing import Literal

from newron.drawing.palette import BOLD, SIZES
from newron.drawing.text import fit, measure

Attributes = dict[str, str | int | float]
Anchor = Literal["start", "middle", "end"]
EdgeForm = Literal["across", "straight", "gutter", "elbow", "rise", "turn"]


@dataclass(frozen=True)
class Label:
    """A line of text. ``title`` is the whole text where this one is cut."""

    x: float
    y: float
    text: str
    size: str = "tick"
    anchor: Anchor = "start"
    style: str = ""
    title: str = ""
    attributes: Attributes = field(default_factory=dict)

    @classmethod
    def fitted(
        cls,
        x: float,
        y: float,
        text: str,
        size: str,
        room: float,
        style: str = "",
        attributes: Attributes | None = None,
        *,
        anchor: Anchor = "start",
    ) -> Label:
        """Return a label of at most ``room`` pixels; a text that is cut is its title.

        The value of an input keeps its room: a page writes other values there.
        """
        known = dict(attributes or {})
        if "data-val" in known:
            known["data-room"] = math.floor(room)
        whole = cls(x, y, text, size, anchor, style, text, known)
        return replace(whole, text=fit(text, room, SIZES[size], bold=whole.is_bold))

    @property
    def is_bold(self) -> bool:
        """Whether the text is bold."""
        return self.size in BOLD or "b" in self.style.split()

    @property
    def width(self) -> float:
        """The width of the text."""
        return measure(self.text, SIZES[self.size], bold=self.is_bold)

    @property
    def box(self) -> tuple[float, float, float, float]:
        """Left, top, right and bottom."""
        size, width = SIZES[self.size], self.width
        left = self.x - {"start": 0.0, "middle": width / 2, "end": width}[self.anchor]
        return left, self.y - 0.78 * size, left + width, self.y + 0.2 * size


@dataclass(frozen=True)
class Rect:
    """A box with round corners."""

    x: float
    y: float
    width: float
    height: float
    style: str
    radius: float = 3.0
    title: str = ""
    attributes: Attributes = field(default_factory=dict)


@dataclass(frozen=True)
class Line:
    """A line through points."""

    points: tuple[tuple[float, float], ...]
    style: str
    attributes: Attributes = field(default_factory=dict)


@dataclass(frozen=True)
class Edge:
    """A connection; ``form`` says how it bends."""

    x0: float
    y0: float
    x1: float
    y1: float
    width: float
    on: bool = False
    form: EdgeForm = "across"
    style: str = ""
    attributes: Attributes = field(default_factory=dict)


@dataclass(frozen=True)
class Dot:
    """Where a row is."""

    x: float
    y: float
    radius: float = 5.0
    style: str = "dot"
    attributes: Attributes = field(default_factory=dict)


@dataclass(frozen=True)
class Group:
    """Shapes that belong together: one function with its frame, curve, labels and dot."""

    attributes: Attributes
    shapes: tuple[Drawable, ...]
    title: str = ""


Drawable = Label | Rect | Line | Edge | Dot | Group


@dataclass
class Scene:
    """A picture: panels behind edges behind shapes; ``heading`` is how high its heading is."""

    width: float
    height: float
    heading: float = 0.0
    panels: list[Rect] = field(default_factory=list)
    edges: list[Edge] = field(default_factory=list)
    shapes: list[Drawable] = field(default_factory=list)

    def add(self, *shapes: Drawable) -> None:
        """Put shapes on top; edges go below all other shapes."""
        for shape in shapes:
            if isinstance(shape, Edge):
                self.edges.append(shape)
            else:
                self.shapes.append(shape)

    @property
    def labels(self) -> list[Label]:
        """All texts."""
        return [shape for shape in _walk(self.shapes) if isinstance(shape, Label)]


def _walk(shapes: list[Drawable] | tuple[Drawable, ...]) -> Iterator[Drawable]:
    for shape in shapes:
        yield shape
        if isinstance(shape, Group):
            yield from _walk(shape.shapes)
