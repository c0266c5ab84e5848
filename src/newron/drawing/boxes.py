"""Boxes: where things stand in a picture, and how they are laid out in columns and grids."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

Port = tuple[float, float]
"""Where an edge begins or ends."""


@dataclass(frozen=True)
class Box:
    """A box at its position."""

    x: float
    y: float
    width: float
    height: float

    @property
    def middle(self) -> float:
        """Its middle, from top to bottom."""
        return self.y + self.height / 2

    @property
    def center(self) -> float:
        """Its middle, from left to right."""
        return self.x + self.width / 2

    @property
    def right(self) -> float:
        """Its right side."""
        return self.x + self.width

    @property
    def bottom(self) -> float:
        """Its lower side."""
        return self.y + self.height

    def list_ports(self, n: int, step: float) -> list[Port]:
        """Return where n edges end on its left side, so far apart, around the middle.

        >>> Box(50.0, 0.0, 20.0, 60.0).list_ports(3, 10.0)
        [(50.0, 20.0), (50.0, 30.0), (50.0, 40.0)]
        """
        return [(self.x, self.middle + (k - (n - 1) / 2) * step) for k in range(n)]


def lay_column(x: float, y: float, width: float, heights: Sequence[float], gap: float) -> list[Box]:
    """Return boxes below each other.

    >>> [box.y for box in lay_column(0.0, 10.0, 5.0, [20.0, 30.0], 4.0)]
    [10.0, 34.0]
    """
    boxes = []
    for height in heights:
        boxes.append(Box(x, y, width, height))
        y += height + gap
    return boxes


def lay_grid(
    origin: Port, n: int, n_columns: int, size: tuple[float, float], pitch: tuple[float, float]
) -> list[Box]:
    """Return n boxes line by line; ``pitch`` is how far columns and lines are apart.

    >>> [(box.x, box.y) for box in lay_grid((0.0, 0.0), 3, 2, (8.0, 8.0), (10.0, 20.0))]
    [(0.0, 0.0), (10.0, 0.0), (0.0, 20.0)]
    """
    return [
        Box(origin[0] + k % n_columns * pitch[0], origin[1] + k // n_columns * pitch[1], *size)
        for k in range(n)
    ]
