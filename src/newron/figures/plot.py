"""One function as a plot: scales, curve or bars, rows below, thresholds, the dot of a row."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise

from newron.drawing.boxes import Box
from newron.drawing.palette import SIZES
from newron.drawing.shapes import Attributes, Dot, Drawable, Group, Label, Line, Rect
from newron.drawing.text import fit, measure
from newron.figures.captions import Mark
from newron.figures.diagram import Axis, Function
from newron.formatting import MINUS, format_percent, format_position, format_rounded

RUG = 8.0  # how far rows hang below the axis
TICKS = 16.0  # the line of numbers below that
MAX_VALUE = 36.0  # the widest number beside the y axis
_PAD = 7.0
_INSET = 6.0  # from the frame to the highest and the lowest value
_SLOT, _SMALL_SLOT, _SMALL = 54.0, 47.0, 130.0
_BETWEEN = 5.0  # two labels
_WIDEST_BAR, _WIDEST_RUG = 34.0, 18.0
_MIN_LETTERS = 5  # of a label that is cut


@dataclass(frozen=True)
class Scale:
    """Where values lie in a frame."""

    frame: Box
    axis: Axis
    low: float
    high: float

    @property
    def missing_slot(self) -> float:
        """The width of the part for missing values."""
        if not self.axis.has_missing:
            return 0.0
        return _SMALL_SLOT if self.frame.width < _SMALL else _SLOT

    @property
    def end(self) -> float:
        """Where the axis ends, and the part for missing values begins."""
        return self.frame.right - self.missing_slot

    @property
    def slot(self) -> float:
        """The width for one category or value."""
        n = len(self.axis.labels) or len(self.axis.values) or 1
        return (self.end - self.frame.x - 2 * _PAD) / n

    @property
    def missing(self) -> float:
        """The x of a missing value."""
        return self.frame.right - self.missing_slot / 2

    def x(self, value: float) -> float:
        """Return the x of a value, of a category by its number; what lies outside is at the end."""
        if math.isnan(value):
            return self.missing
        start = self.frame.x + _PAD
        if self.axis.labels:
            return start + (value + 0.5) * self.slot
        low, high = self.axis.limits
        fraction = min(max((value - low) / (high - low), 0.0), 1.0)
        return start + fraction * (self.end - _PAD - start)

    def y(self, value: float) -> float:
        """Return the y of what a function adds."""
        top, bottom = self.frame.y + _INSET, self.frame.bottom - _INSET
        if not self.high > self.low:
            return bottom
        fraction = min(max((value - self.low) / (self.high - self.low), 0.0), 1.0)
        return bottom - fraction * (bottom - top)

    @property
    def attributes(self) -> Attributes:
        """What a page's script needs to move the dot."""
        low, high = self.axis.limits
        found: Attributes = {}
        if self.axis.labels:
            places = (f"{k}:{self.x(k):.1f}" for k in range(len(self.axis.labels)))
            found["data-slots"] = " ".join(places)
        else:
            found |= {"data-lo": low, "data-hi": high}
            found |= {"data-x0": _round(self.x(low)), "data-x1": _round(self.x(high))}
        found |= {"data-vlo": self.low, "data-vhi": self.high}
        found |= {"data-y0": _round(self.y(self.low)), "data-y1": _round(self.y(self.high))}
        if self.axis.has_missing:
            found["data-xm"] = _round(self.missing)
        return found


def _round(value: float) -> float:
    return round(value, 1)


# ---- rows below the axis ----


def draw_rug(scale: Scale) -> list[Drawable]:
    """Draw how many rows lie where, hanging from the axis; few rows are seen too."""
    axis, y = scale.axis, scale.frame.bottom + 1.5
    largest = max([*axis.density, axis.n_missing if axis.has_missing else 0], default=0)
    if not largest:
        return []
    bars = [(x, width, n) for (x, width), n in zip(_place_bars(scale), axis.density, strict=True)]
    if axis.has_missing:
        bars.append((scale.missing - 6.0, 12.0, axis.n_missing))
    return [
        Rect(x, y, width, max(1.0, RUG * (n / largest) ** 0.6), "rug", 0.0)
        for x, width, n in bars
        if n
    ]


def _place_bars(scale: Scale) -> list[tuple[float, float]]:
    """Return x and width of each bar of the density."""
    axis, n = scale.axis, len(scale.axis.density)
    if axis.labels or axis.values:
        width = min(_WIDEST_RUG, scale.slot * 0.5)
        places = range(n) if axis.labels else axis.values
        return [(scale.x(place) - width / 2, width) for place in places]
    step = (axis.high - axis.low) / n
    sides = [scale.x(axis.low + k * step) for k in range(n + 1)]
    return [(a, max(1.0, b - a - 0.6)) for a, b in pairwise(sides)]


# ---- the numbers below ----


class _Shelf:
    """A line of labels that never touch: the first come first."""

    def __init__(self, y: float, left: float, right: float) -> None:
        self._y, self._left, self._right = y, left, right
        self._taken: list[tuple[float, float]] = []
        self.labels: list[Label] = []

    def place(self, x: float, text: str, *, bold: bool, title: str = "") -> bool:
        """Put a label as near to x as the ends allow; return whether there was room."""
        half = measure(text, SIZES["tick"], bold=bold) / 2
        x = min(max(x, self._left + half), self._right - half)
        if x - half < self._left - 0.1:
            return False
        if any(x - half - _BETWEEN < b and x + half + _BETWEEN > a for a, b in self._taken):
            return False
        self._taken.append((x - half, x + half))
        style = "b" if bold else "m"
        self.labels.append(Label(x, self._y, text, "tick", "middle", style, title))
        return True


def draw_ticks(
    scale: Scale,
    marks: Sequence[Mark],
    members: Sequence[bool] = (),
    *,
    missing_holds: bool = False,
) -> list[Drawable]:
    """Write thresholds in bold, which are never dropped, then what there is room for."""
    frame, axis = scale.frame, scale.axis
    y = frame.bottom + RUG + 12.5
    shelf = _Shelf(y, frame.x - 2, scale.end + (2 if not axis.has_missing else -4))
    if axis.labels:
        _place_labels(shelf, scale, members)
    else:
        _place_marks(shelf, scale, marks)
        span = axis.high - axis.low
        for value in (axis.low, axis.high, *axis.values):
            shelf.place(scale.x(value), format_position(value, span), bold=False)
    if not axis.has_missing:
        return list(shelf.labels)
    style = "b" if missing_holds else "m"
    return [*shelf.labels, Label(scale.missing, y, "missing", "tick", "middle", style)]


def _place_labels(shelf: _Shelf, scale: Scale, members: Sequence[bool]) -> None:
    """Write the categories, those that are high in bold; or how many where they are many."""
    labels = scale.axis.labels
    room = scale.slot - _BETWEEN
    pairs = list(zip(labels, members, strict=True))
    texts = [fit(label, room, SIZES["tick"], bold=on) for label, on in pairs]
    if any(
        text != label and len(text) < _MIN_LETTERS
        for text, label in zip(texts, labels, strict=True)
    ):
        high = [label for label, on in pairs if on]
        fraction = "" if len(high) == len(labels) else f"{len(high)} of "
        text = f"{fraction}{len(labels)} categories"
        text = fit(text, scale.end - scale.frame.x, SIZES["tick"], bold=True)
        middle = (scale.frame.x + scale.end) / 2
        shelf.place(middle, text, bold=True, title=", ".join(high))
        return
    for k, ((label, on), text) in enumerate(zip(pairs, texts, strict=True)):
        shelf.place(scale.x(k), text, bold=on, title=label)


def _place_marks(shelf: _Shelf, scale: Scale, marks: Sequence[Mark]) -> None:
    unit = f" {scale.axis.unit}" if scale.axis.unit else ""
    room = scale.end - scale.frame.x
    for x, text in _merge_marks(scale, marks, unit):
        whole = text + unit
        wide = measure(whole, SIZES["tick"], bold=True) > room
        shown = fit(text if wide else whole, room - _BETWEEN, SIZES["tick"], bold=True)
        shelf.place(x, shown, bold=True, title=whole)


def _merge_marks(scale: Scale, marks: Sequence[Mark], unit: str) -> list[tuple[float, str]]:
    """Return what to write where; marks that would touch become one: "190–236"."""
    runs = [[mark] for mark in marks]
    while True:
        boxes = [_find_box(scale, run, unit) for run in runs]
        close = [k for k, (a, b) in enumerate(pairwise(boxes)) if b[0] - a[1] <= 2 * _BETWEEN]
        if not close:
            return [
                ((a + b) / 2, _format_run(run)) for run, (a, b) in zip(runs, boxes, strict=True)
            ]
        k = close[0]
        runs[k : k + 2] = [runs[k] + runs[k + 1]]


def _find_box(scale: Scale, run: Sequence[Mark], unit: str) -> tuple[float, float]:
    half = measure(_format_run(run) + unit, SIZES["tick"], bold=True) / 2
    x = (scale.x(run[0].place) + scale.x(run[-1].place)) / 2
    x = min(max(x, scale.frame.x - 2 + half), scale.end + 2 - half)
    return x - half, x + half


def _format_run(run: Sequence[Mark]) -> str:
    return run[0].text if len(run) == 1 else f"{run[0].text}–{run[-1].text}"


# ---- the plot ----


def draw_function(function: Function, frame: Box, *, y_ticks: bool = True) -> Group:
    """Draw the blue plot of a function, with all that a page's script needs to move it."""
    scale = Scale(frame, function.axis, function.low, function.high)
    zero = scale.y(0.0)
    shapes: list[Drawable] = [
        Rect(frame.x, frame.y, frame.width, frame.height, "box-blue"),
        Line(((frame.x, zero), (frame.right, zero)), "axis"),
        *draw_rug(scale),
    ]
    shapes += _draw_bars(function, scale) if function.axis.labels else _draw_curve(function, scale)
    if function.missing is not None:
        shapes += _draw_missing(scale, function.missing)
    held = function.shape.missing is not None and function.shape.missing >= 0.5
    shapes += draw_ticks(scale, function.marks, _find_high(function), missing_holds=held)
    if y_ticks:
        shapes += _draw_values(function, scale)
    if function.part is not None:
        shapes.append(Dot(scale.x(function.place), scale.y(function.added)))
    attributes: Attributes = {"class": "fn", "data-fn": function.key, **scale.attributes}
    return Group(attributes, tuple(shapes), _describe(function))


def _find_high(function: Function) -> list[bool]:
    """Return which categories count: at least half of the weight, or anything where many add."""
    if not function.axis.labels:
        return []
    if function.joined:
        return [y != 0.0 for y in function.y.tolist()]
    return [abs(y) >= 0.5 * abs(function.weight) for y in function.y.tolist()]


def _describe(function: Function) -> str:
    return f"{'; '.join(function.sentences)} (influence {format_percent(function.influence)})"


def _draw_curve(function: Function, scale: Scale) -> list[Drawable]:
    frame = scale.frame
    cuts: list[Drawable] = [
        Line(((x, frame.y), (x, frame.bottom + 3)), "cut")
        for x in (scale.x(mark.place) for mark in function.marks)
    ]
    points = [
        (_round(scale.x(x)), _round(scale.y(y)))
        for x, y in zip(function.x.tolist(), function.y.tolist(), strict=True)
    ]
    return [*cuts, Line(tuple(_simplify(points)), "curve")]


def _simplify(points: list[tuple[float, float]]) -> list[tuple[float, float]]:
    """Leave out points in the middle of level lines."""
    inner = [
        here
        for before, here, after in zip(points, points[1:], points[2:], strict=False)
        if not before[1] == here[1] == after[1]
    ]
    return [points[0], *inner, points[-1]]


def _draw_bars(function: Function, scale: Scale) -> list[Drawable]:
    width = min(_WIDEST_BAR, scale.slot * 0.62)
    zero, shapes = scale.y(0.0), []
    for k, value in enumerate(function.y.tolist()):
        y, x = scale.y(value), scale.x(k) - width / 2
        if abs(y - zero) < 1.2:
            shapes.append(Rect(x, zero - 1.2, width, 2.4, "bar-off", 1.0))
        else:
            shapes.append(Rect(x, min(y, zero), width, abs(y - zero), "bar", 1.0))
    return list(shapes)


def _draw_missing(scale: Scale, value: float) -> list[Drawable]:
    frame, x, y = scale.frame, scale.end + 3, scale.y(value)
    return [
        Line(((x, frame.y), (x, frame.bottom)), "cut"),
        Line(((scale.missing - 11, y), (scale.missing + 11, y)), "curve"),
    ]


def _draw_values(function: Function, scale: Scale) -> list[Drawable]:
    """Write 0 and 1, or 0 and the weight, beside the frame."""
    x = scale.frame.x - 5
    return [
        Label(x, scale.y(value) + 4, text, "tick", "end", "m")
        for value, text in list_values(function)
    ]


def list_values(function: Function) -> list[tuple[float, str]]:
    """Return what is written on the y axis."""
    if function.bounded:
        if function.shape.weight is None:
            return [(1.0, "1"), (0.0, "0")]
        sign = "+" if function.weight > 0.0 else ""
        return [(function.weight, _write_value(function.weight, sign)), (0.0, "0")]
    return [(end, _write_value(end)) for end in (function.high, function.low)]


def _write_value(value: float, sign: str = "") -> str:
    """Write a number of the y axis with as many digits as there is room for, at most three."""
    for digits in (3, 2, 1):
        text = sign + format_rounded(value, digits)
        if measure(text, SIZES["tick"]) <= MAX_VALUE:
            return text
    return f"{sign}{_write_power(value)}"  # a number is never cut


def _write_power(value: float) -> str:
    """Write a number of many digits as one and a power of ten: "4e5"."""
    digit, power = f"{value:.0e}".split("e")
    return f"{digit}e{int(power)}".replace("-", MINUS)
