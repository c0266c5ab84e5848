"""The section of inputs: of each its rows, what the network makes of it, how much it matters."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise

import numpy as np
from numpy.typing import NDArray

from newron.drawing.boxes import Box
from newron.drawing.markup import Markup, bdi, html, join
from newron.drawing.palette import SIZES
from newron.drawing.scale import Linear
from newron.drawing.shapes import Drawable, Label, Line, Rect
from newron.drawing.svg import write_chart
from newron.drawing.text import measure
from newron.figures.diagram import Function, Neuron
from newron.figures.plot import draw_function
from newron.formatting import clean, format_position, format_rounded, format_unit, name_class
from newron.model.arithmetic import Floats
from newron.model.schema import Column
from newron.report.effects_section import write_curves
from newron.report.facts import Facts
from newron.report.numbers import count, integer, percent
from newron.shapes.curve import trace_function
from newron.shapes.shape import Shape

_BARS = 24
_MAX_LABELS = 8  # categories that have a bar each; the rarest are joined
_MAX_FUNCTIONS, _MAX_PLOTS = 4, 100  # of an input, and of all, that are drawn
_MAX_READING = 60  # characters of a condition that is written out
_MAX_INPUTS = 12  # that have a panel before the rest is folded
_MIN_SLOT = 34.0  # of a category, to have its own label
_WIDTH, _BASE, _TOP = 280.0, 104.0, 88.0
_SHADES = 5  # classes that have a shade of their own

Bars = list[tuple[float, float, NDArray[np.bool_]]]  # left end, width, rows


def write_inputs(facts: Facts) -> Markup:
    """Return the section."""
    panels = [_write_panel(facts, i) for i in facts.used]
    shown, rest = panels[:_MAX_INPUTS], panels[_MAX_INPUTS:]
    more = html(
        "details",
        html("summary", count(len(rest), "more input")),
        html("div", rest, class_="panels"),
    )
    return join(
        html("h2", "Input by input"),
        html("p", _describe_bars(facts), " ", _describe_order(facts)),
        _write_key(facts),
        html("div", shown, class_="panels"),
        more if rest else None,
        _write_unused(facts),
    )


def _describe_bars(facts: Facts) -> Markup:
    rows = bdi(f"The {count(len(facts.rows), facts.labels.noun)} over each input.")
    if facts.is_crisp:
        return join(rows, " The blue stretch is where a condition holds.")
    if facts.effects is None or all(effect.deviation is None for effect in facts.effects):
        return rows
    return join(
        rows,
        " The curve below is what the input adds, and the band around it how sure that is: two "
        "standard deviations of the weights either way.",
    )


def _describe_order(facts: Facts) -> Markup:
    if facts.classes is None:
        return Markup(
            "The number beside a name is how far the answer moves, on average, when the input is "
            "held constant; the largest first."
        )
    return Markup(
        "The number beside a name is the share of {} {}s whose answer changes when the input is "
        "held constant; the largest first."
    ).format(integer(facts.importance.n_rows), bdi(facts.labels.noun))


def _write_unused(facts: Facts) -> Markup | None:
    used = set(facts.used)
    names = [bdi(name) for i, name in enumerate(facts.model.schema.names) if i not in used]
    if not names:
        return None
    listed = Markup(", ").join(names)
    return html("p", "Not used by the network: ", listed, ".", class_="small muted")


def _write_key(facts: Facts) -> Markup | None:
    classes = facts.classes
    if classes is None or facts.truth is None:
        return None
    items = [
        html("li", html("i", class_=f"key {style}"), bdi(name_class(classes.labels[c])))
        for c, style in _order_classes(facts)
        if c is not None
    ]
    if len(classes.labels) > _SHADES:
        items.append(html("li", html("i", class_="key neg"), "all others"))
    return html("ul", items, class_="keys")


def _order_classes(facts: Facts) -> list[tuple[int | None, str]]:
    """Return the classes from the foot of a bar up, with their shades; None is all others."""
    classes = facts.classes
    if classes is None or facts.truth is None:
        return [(None, "neg")]
    n = len(classes.labels)
    if n == 2:
        return [(1, "pos"), (0, "neg")]
    shades: list[tuple[int | None, str]] = [(k, f"shade{k}") for k in range(min(n, _SHADES))]
    return shades if n <= _SHADES else [*shades, (None, "neg")]


# ---- a panel ----


def _write_panel(facts: Facts, i: int) -> Markup:
    column = facts.model.schema.columns[i]
    influence = facts.importance.of(column.name).value
    weight = percent(influence) if facts.classes is not None else format_rounded(influence)
    own = [
        (f, n) for n in facts.diagram.neurons for f in (*n.functions, *n.folded) if f.signal == i
    ]
    own.sort(key=lambda pair: -pair[0].influence)
    limit = min(_MAX_FUNCTIONS, max(_MAX_PLOTS // len(facts.used), 1))
    zone = own[0][0] if len(own) == 1 and own[0][0].crisp else None
    parts = [] if zone else [_write_function(facts, f, neuron) for f, neuron in own[:limit]]
    if facts.effects is not None:
        parts = write_curves(facts.effects, column.name, _WIDTH - 8, limit)
    elif len(own) > limit:
        parts.append(html("p", count(len(own) - limit, "more function"), class_="muted"))
    if facts.is_crisp:
        found = {member.reading: member for f, _ in own[:limit] for member in f.members}
        parts += [_write_condition(facts, one) for one in list(found.values())[:_MAX_FUNCTIONS]]
    head = html("h3", bdi(column.name), html("span", weight, title="influence"))
    return html("div", head, _draw_rows(facts, i, zone), parts, class_="input")


def _write_function(facts: Facts, function: Function, neuron: Neuron) -> Markup:
    width = _WIDTH - 8
    where = f", in {neuron.name}" if len(facts.diagram.neurons) > 1 else ""
    head = Label.fitted(0, 12, clean(f"{function.reading}{where}"), "cond", width, "b")
    plot = draw_function(function, Box(46, 18, width - 54, 40))
    chart = write_chart(width, 84, [head, plot], "; ".join(function.sentences))
    if facts.is_crisp:
        return chart
    return join(chart, [html("p", bdi(_describe(member.shape))) for member in function.members])


def _describe(shape: Shape) -> str:
    times = "" if shape.weight is None else f", times {format_rounded(shape.weight)}"
    return f"{shape.description}{times}"


def _write_condition(facts: Facts, function: Function) -> Markup:
    """Compare the rows on which a condition holds with the others."""
    holds = _evaluate(facts, function) >= 0.5
    head, truth = bdi(_name_condition(facts, function)), facts.truth
    if truth is not None and facts.is_binary and facts.classes is not None:
        name = bdi(name_class(facts.classes.labels[1]))
        on, off = (_format_fraction(truth[part] == 1) for part in (holds, ~holds))
        return html("p", head, f": {on} are ", name, f"; otherwise {off}.")
    if truth is not None and facts.classes is None:
        on, off = (_format_mean(truth[part, 0]) for part in (holds, ~holds))
        return html("p", head, f": {on}; otherwise {off}.")
    return html("p", head, f": {integer(int(holds.sum()))} of {integer(len(holds))}.")


def _name_condition(facts: Facts, function: Function) -> str:
    """Return a condition; of a long list of categories how many there are."""
    if len(function.reading) <= _MAX_READING:
        return function.reading
    layer, e = facts.model.layers[function.shape.layer - 1], function.shape.function
    held = int((np.asarray(layer.levels[e]) >= 0.5).sum())
    return f"in {held} of {len(layer.levels[e])} categories" if held else function.reading


def _evaluate(facts: Facts, function: Function) -> Floats:
    """Return h of a function that reads a column, on all rows."""
    layer, e = facts.model.layers[function.shape.layer - 1], function.shape.function
    x, levels = facts.rows[:, function.signal], layer.levels[e]
    if len(levels):
        known = (x >= 0) & (x < len(levels))
        codes = np.where(known, x, len(levels)).astype(np.intp)
        return np.append(levels, layer.missing[e])[codes]
    h = trace_function(facts.model.schema, layer, e, x)
    return np.where(np.isnan(x), layer.missing[e], h)


def _format_fraction(own: NDArray[np.bool_]) -> str:
    if not len(own):
        return "none"
    n = int(own.sum())
    return f"{integer(n)} of {integer(len(own))} ({percent(n / len(own))})"


def _format_mean(values: Floats) -> str:
    return f"{values.mean():.3g} on average ({integer(len(values))})" if len(values) else "none"


# ---- rows ----


def _draw_rows(facts: Facts, i: int, zone: Function | None) -> Markup:
    column, values = facts.model.schema.columns[i], facts.rows[:, i]
    missing = ~np.isfinite(values)
    if column.categories is not None:
        missing = ~((values >= 0) & (values < len(column.categories)))
    slot = 52.0 if missing.any() or (column.gaps and zone is not None) else 0.0
    right = _WIDTH - 4 - slot
    if column.categories is not None or _has_few_values(column):
        shapes, bars = _draw_labels(column, values, right, zone)
    else:
        shapes, bars = _draw_numbers(column, values, right, zone)
    if slot:
        shapes += _draw_missing(zone)
        bars.append((_WIDTH - 40, 24.0, missing))
    largest = max((int(part.sum()) for _, _, part in bars), default=1) or 1
    for x, width, part in bars:
        shapes += _draw_bar(facts, x, width, part, _TOP / largest)
    shapes.append(Line(((4, _BASE), (_WIDTH - 4, _BASE)), "hair"))
    return write_chart(_WIDTH, 126, shapes, f"Rows over {column.name}")


def _has_few_values(column: Column) -> bool:
    return column.values is not None and len(column.values) <= _MAX_LABELS


def _draw_bar(
    facts: Facts, x: float, width: float, part: NDArray[np.bool_], scale: float
) -> list[Drawable]:
    shapes: list[Drawable] = []
    y, left = _BASE, int(part.sum())
    for c, style in _order_classes(facts):
        n = left if c is None or facts.truth is None else int((facts.truth[part] == c).sum())
        left -= n
        y -= n * scale
        if n:
            shapes.append(Rect(x, y, width, n * scale, style, 0.0))
    return shapes


def _draw_labels(
    column: Column, values: Floats, right: float, zone: Function | None
) -> tuple[list[Drawable], Bars]:
    """Draw slots of categories, or of few values; the rarest of many are joined."""
    kinds = [float(k) for k in range(column.n_categories)] or sorted(column.values or ())
    names = [clean(c) for c in column.categories or ()] or [format_position(v, 0.0) for v in kinds]
    sizes = [int((values == kind).sum()) for kind in kinds]
    order = sorted(range(len(kinds)), key=lambda k: -sizes[k])[:_MAX_LABELS]
    kept = sorted(order) if len(kinds) > _MAX_LABELS else list(range(len(kinds)))
    others = [k for k in range(len(kinds)) if k not in kept]
    groups = [(names[k], [k]) for k in kept] + ([(f"{len(others)} more", others)] if others else [])
    slot = (right - 4) / len(groups)
    shapes: list[Drawable] = []
    bars: Bars = []
    for g, (name, members) in enumerate(groups):
        x = 4 + g * slot
        inside = zone is not None and all(_holds(zone, column, kinds[k]) for k in members)
        if inside:
            shapes.append(_draw_zone(x + 1, slot - 2))
        if slot >= _MIN_SLOT:
            shapes.append(_write_tick(x + slot / 2, name, slot - 2, bold=inside))
        own = np.isin(values, [kinds[k] for k in members])
        bars.append((x + slot * 0.2, slot * 0.6, own))
    if slot < _MIN_SLOT:
        largest = f"{len(kinds)} categories, most often {names[order[0]]}"
        shapes.append(Label.fitted(4, _BASE + 16, largest, "tick", right, "m"))
    return shapes, bars


def _draw_zone(x: float, width: float) -> Rect:
    return Rect(x, 6, width, _BASE - 6, "zone", 2.0)


def _write_tick(x: float, text: str, room: float, *, bold: bool) -> Label:
    style = "b" if bold else "m"
    return Label.fitted(x, _BASE + 16, text, "tick", room, style, anchor="middle")


def _holds(zone: Function, column: Column, value: float) -> bool:
    """Return whether a condition holds for a category or a value."""
    at = int(value) if column.categories is not None else int(np.argmin(np.abs(zone.x - value)))
    return bool(abs(zone.y[at]) > 0.5 * abs(zone.weight))


def _draw_numbers(
    column: Column, values: Floats, right: float, zone: Function | None
) -> tuple[list[Drawable], Bars]:
    low, high = column.low, column.high if column.high > column.low else column.low + 1.0
    x = Linear(low, high, 4.0, right)
    shapes: list[Drawable] = []
    marks = [] if zone is None else [m for m in zone.marks if low < m.place < high]
    if zone is not None:
        for a, b in pairwise([low, *(mark.place for mark in marks), high]):
            if _holds(zone, column, 0.5 * a + 0.5 * b):
                shapes.append(_draw_zone(x(a), x(b) - x(a)))
        shapes += [Line(((x(m.place), 6), (x(m.place), _BASE + 4)), "cut") for m in marks]
    shapes += _write_ends(column, x, [(x(m.place), m.text) for m in marks])
    edges = np.linspace(low, high, _BARS + 1)
    inner = np.searchsorted(edges[1:-1], values, side="right")
    known = np.isfinite(values)
    bars = [
        (x(edges[k]) + 0.5, x(edges[k + 1]) - x(edges[k]) - 1.0, (inner == k) & known)
        for k in range(_BARS)
    ]
    return shapes, bars


def _write_ends(column: Column, x: Linear, marks: Sequence[tuple[float, str]]) -> list[Drawable]:
    """Write thresholds in bold, and the ends of the range where there is room."""
    unit, right, y = clean(format_unit(column.unit)), x.end, _BASE + 16
    low, high = (format_position(end, x.high - x.low) for end in (x.low, x.high))
    if not marks:
        first = Label.fitted(4, y, low, "tick", right / 2, "m")
        return [first, Label.fitted(right, y, high + unit, "tick", right / 2, "m", anchor="end")]
    text = "–".join(dict.fromkeys(word for _, word in marks)) + unit
    half = measure(text, SIZES["tick"], bold=True) / 2
    middle = sum(place for place, _ in marks) / len(marks)
    middle = min(max(middle, 4 + half), max(right - half, 4 + half))
    shapes: list[Drawable] = [_write_tick(middle, text, right, bold=True)]
    if middle - half > 12 + measure(low, SIZES["tick"]):
        shapes.append(Label(4, y, low, "tick", style="m"))
    if middle + half < right - 8 - measure(high, SIZES["tick"]):
        shapes.append(Label(right, y, high, "tick", "end", "m"))
    return shapes


def _draw_missing(zone: Function | None) -> list[Drawable]:
    x = _WIDTH - 28
    held = zone is not None and (zone.shape.missing or 0.0) >= 0.5
    shapes: list[Drawable] = [_draw_zone(x - 24, 48)] if held else []
    return [*shapes, _write_tick(x, "missing", 60.0, bold=held)]
