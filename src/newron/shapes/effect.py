"""What each column does to each score: one curve for a column, one surface for a pair.

An effect is the sum of all functions that read a column, or two columns together through hidden
neurons, weights included: its values are what is added to the score. All effects and the intercept
make up the score.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from typing import Any, Literal

import numpy as np

from newron.formatting import clean, format_rounded
from newron.model.arithmetic import Floats
from newron.model.output import Label
from newron.model.schema import Column
from newron.shapes.sentence import describe_shape, format_contribution
from newron.shapes.shape import Shape

EffectKind = Literal["steps", "curve", "levels", "surface", "joint"]

_MAX_LEVELS = 12  # steps or categories that a sentence lists


@dataclass(frozen=True)
class Level:
    """The values of a column that add the same.

    - ``condition``: Which values, in the words of rules: "≥ 55 y or missing".
    - ``value``: What they add to the score.
    """

    condition: str
    value: float


@dataclass(frozen=True, eq=False)
class Scale:
    """Positions of a column at which an effect is known.

    - ``positions``: Numbers, or the numbers of categories; where values may be missing NaN comes
      last.
    """

    column: Column
    positions: Floats

    @property
    def labels(self) -> tuple[Label | None, ...]:
        """The positions as people know them: categories, numbers, None for a missing value."""
        categories = self.column.categories
        return tuple(
            None if math.isnan(x) else x if categories is None else categories[int(x)]
            for x in self.positions.tolist()
        )

    @property
    def n_values(self) -> int:
        """How many positions are not missing."""
        return int(np.isfinite(self.positions).sum())

    def format(self, k: int) -> str:
        """Return a position in words: "age 55 y", "sex m", "age missing"."""
        label = self.labels[k]
        if label is None:
            return f"{self.column.name} missing"
        text = format_rounded(label, 4) if isinstance(label, float) else str(label)
        unit = f" {self.column.unit}" if self.column.unit and isinstance(label, float) else ""
        return f"{self.column.name} {text}{unit}"


@dataclass(frozen=True, eq=False)
class Effect:
    """What one column, or several together, add to one score.

    Parameters
    ----------
    columns : tuple of str
        One for a curve, two for a surface.
    output : label
        The class or target whose score it is part of.
    kind : str
        steps, curve, levels (categories), surface (two columns) or joint (more).
    scales : tuple of Scale
        The positions of each column; empty for more than two.
    values : array
        What is added there: of shape (positions,) or (positions, positions).
    least, greatest : float
        Of what is added over the observed range; for more than two columns, limits of it.
    levels : tuple of Level
        For steps and categories, which values add what: steps along the axis, categories
        from the most to the least.
    shape : Shape, optional
        For curves, the shape, with values that are added to the score.
    deviation : array, optional
        The posterior standard deviation at the positions, where the fit knows it.

    Examples
    --------
    See :func:`newron.shapes.read_effects`, which makes them.
    """

    columns: tuple[str, ...]
    output: Label
    kind: EffectKind
    scales: tuple[Scale, ...]
    values: Floats
    least: float
    greatest: float
    levels: tuple[Level, ...] = ()
    shape: Shape | None = None
    deviation: Floats | None = field(default=None)

    @property
    def name(self) -> str:
        """The columns in one name: "age", or "age × sex"."""
        return " × ".join(self.columns)

    @property
    def size(self) -> float:
        """By how much it can move the score."""
        return self.greatest - self.least

    @property
    def description(self) -> str:
        """What it does, in words."""
        if self.kind == "surface":
            return self._describe_surface()
        if self.kind == "joint":
            low, high = format_rounded(self.least), format_rounded(self.greatest)
            return f"together, between {low} and {high}"
        return describe_shape(self.shape) if self.shape else _list_levels(self.levels)

    def _describe_surface(self) -> str:
        ends = []
        for word, at in (("least", self.values.argmin()), ("most", self.values.argmax())):
            place = np.unravel_index(int(at), self.values.shape)
            where = " and ".join(s.format(int(k)) for s, k in zip(self.scales, place, strict=True))
            ends.append(f"{word} {format_rounded(float(self.values[place]))} at {where}")
        return ", ".join(ends)

    def to_dict(self) -> dict[str, Any]:
        """Return the effect as plain data.

        Returns
        -------
        dict
        """
        return {
            "columns": list(self.columns),
            "output": self.output,
            "kind": self.kind,
            "positions": [list(scale.labels) for scale in self.scales],
            "values": self.values.tolist(),
            "deviation": None if self.deviation is None else self.deviation.tolist(),
            "levels": [{"condition": one.condition, "value": one.value} for one in self.levels],
            "least": self.least,
            "greatest": self.greatest,
            "text": self.description,
        }

    def __str__(self) -> str:
        return clean(f"{self.name}: {self.description}", directions=False)


def _list_levels(levels: tuple[Level, ...]) -> str:
    """Return which values add what: "+2 if ≥ 55 y, otherwise 0"."""
    if len(levels) == 1:
        return f"always {format_contribution(levels[0].value)}"
    if len(levels) == 2:
        # The one that adds nothing goes last, or else the one with the longer condition.
        first, last = sorted(levels, key=lambda level: (level.value == 0.0, len(level.condition)))
        return f"{_format_level(first)}, otherwise {format_contribution(last.value)}"
    parts = list(map(_format_level, levels[:_MAX_LEVELS]))
    rest = len(levels) - _MAX_LEVELS
    return "; ".join([*parts, *([f"… and {rest} more"] if rest > 0 else [])])


def _format_level(level: Level) -> str:
    return f"{format_contribution(level.value)} if {level.condition}"
