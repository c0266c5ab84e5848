"""The section of inputs: of each its rows, what the network makes of it, how much it matters."""

from __future__ import annotations

import math
from collections.abc import Sequence
from itertools import pairwise

import numpy as np
from numpy.typing import NDArray

from newron.figures.diagram import Function, Neuron
from newron.figures.metrics import fit, measure
from newron.figures.palette import SIZES
from newron.figures.plot import Frame, draw_function
from newron.figures.svg import write_shapes
from newron.figures.writing import write_place
from newron.model.arithmetic import Floats
from newron.model.schema import Column
from newron.report.charts import line, make_svg, rect, text
from newron.report.facts import Facts
from newron.report.writing import count, say_class, tell, write_count, write_per_cent
from newron.shapes.curve import trace_function

__all__ = ["write_inputs"]

_BARS = 24
_MOST_LABELS = 8  # categories that have a bar each; the rarest are joined
_MOST_FUNCTIONS, _MOST_PLOTS = 4, 100  # of an input, and of all, that are drawn
_MOST_INPUTS = 24  # that have a panel before the rest is folded
_LEAST_SLOT = 34.0  # of a category, to have its own label
_WIDTH, _BASE, _TOP = 280.0, 104.0, 88.0
_SHADES = 5  # classes that are told apart


def write_inputs(facts: Facts) -> str:
    """Write the section."""
    panels = [_write_panel(facts, i) for i in facts.used]
    shown, rest = panels[:_MOST_INPUTS], panels[_MOST_INPUTS:]
    more = ""
    if rest:
        more = (
            f"<details><summary>{count(len(rest), 'more input')}</summary>"
            f'<div class="panels">{"".join(rest)}</div></details>'
        )
    return (
        f"<h2>Input by input</h2><p>{_tell_bars(facts)} {_tell_order(facts)}</p>"
        f'{_write_key(facts)}<div class="panels">{"".join(shown)}</div>{more}{_tell_unused(facts)}'
    )


def _tell_bars(facts: Facts) -> str:
    nouns = f"The {count(len(facts.rows), facts.words.noun)} over each input."
    crisp = " The blue stretch is where a condition holds." if facts.is_crisp else ""
    return f"{tell(nouns)}{crisp}"


def _tell_order(facts: Facts) -> str:
    if facts.classes is None:
        return (
            "The number beside a name is how far the answer moves, on average, when the input is "
            "held constant; the largest first."
        )
    return (
        f"The number beside a name is the share of {write_count(facts.importance.n_rows)} "
        f"{tell(facts.words.noun)}s whose answer changes when the input is held constant; the "
        "largest first."
    )


def _tell_unused(facts: Facts) -> str:
    used = set(facts.used)
    names = [name for i, name in enumerate(facts.model.schema.names) if i not in used]
    if not names:
        return ""
    told = ", ".join(map(tell, names))
    return f'<p class="small muted">Not used by the network: {told}.</p>'


def _write_key(facts: Facts) -> str:
    classes = facts.classes
    if classes is None or facts.truth is None:
        return ""
    order = _order_classes(facts)
    items = [
        f'<li><i class="key {style}"></i>{tell(say_class(classes.labels[c]))}</li>'
        for c, style in order
        if c is not None
    ]
    if len(classes.labels) > _SHADES:
        items.append('<li><i class="key neg"></i>all others</li>')
    return f'<ul class="keys">{"".join(items)}</ul>'


def _order_classes(facts: Facts) -> list[tuple[int | None, str]]:
    """Give the classes from the foot of a bar up, with their shades; None is all others."""
    classes = facts.classes
    if classes is None or facts.truth is None:
        return [(None, "neg")]
    n = len(classes.labels)
    if n == 2:
        return [(1, "pos"), (0, "neg")]
    shades = [f"shade{k}" for k in range(min(n, _SHADES))]
    found: list[tuple[int | None, str]] = list(enumerate(shades))
    return found if n <= _SHADES else [*found, (None, "neg")]


# ---- a panel ----


def _write_panel(facts: Facts, i: int) -> str:
    column = facts.model.schema.columns[i]
    influence = facts.importance.of(column.name).value
    weight = write_per_cent(influence) if facts.classes is not None else f"{influence:.3g}"
    own = [
        (f, n) for n in facts.diagram.neurons for f in (*n.functions, *n.folded) if f.signal == i
    ]
    own.sort(key=lambda pair: -pair[0].influence)
    most = min(_MOST_FUNCTIONS, max(_MOST_PLOTS // len(facts.used), 1))
    zone = own[0][0] if len(own) == 1 and own[0][0].crisp else None
    told = [] if zone else [_write_function(facts, f, neuron) for f, neuron in own[:most]]
    if len(own) > most:
        told.append(f'<p class="muted">{count(len(own) - most, "more function")}</p>')
    if facts.is_crisp:
        members = [member for f, _ in own[:most] for member in f.members]
        told += [_tell_condition(facts, member) for member in members[:_MOST_FUNCTIONS]]
    return (
        f'<div class="input"><h3>{tell(column.name)}<span title="influence">{weight}</span></h3>'
        f"{_draw_rows(facts, i, zone)}{''.join(told)}</div>"
    )


def _write_function(facts: Facts, function: Function, neuron: Neuron) -> str:
    width = _WIDTH - 8
    drawn = draw_function(function, Frame(46, 18, width - 54, 40))
    where = f", in {neuron.name}" if len(facts.diagram.neurons) > 1 else ""
    head = text(0, 12, f"{function.reading}{where}", "t-cond b", room=width)
    sentences = [told.partition(": ")[2] or told for told in function.sentences]
    svg = make_svg(width, 84, [head, write_shapes([drawn])], "; ".join(function.sentences))
    words = "" if facts.is_crisp else "".join(f"<p>{tell(told)}</p>" for told in sentences)
    return f"{svg}{words}"


def _tell_condition(facts: Facts, function: Function) -> str:
    """Say how the rows on which a condition holds differ from the others."""
    holds = _evaluate(facts, function) >= 0.5
    told = tell(function.reading)
    if facts.truth is not None and facts.is_binary and facts.classes is not None:
        name = tell(say_class(facts.classes.labels[1]))
        on, off = (_tell_share(facts.truth[part] == 1) for part in (holds, ~holds))
        return f"<p>{told}: {on} are {name}; otherwise {off}.</p>"
    if facts.truth is not None and facts.classes is None:
        on, off = (_tell_mean(facts.truth[part, 0]) for part in (holds, ~holds))
        return f"<p>{told}: {on}; otherwise {off}.</p>"
    return f"<p>{told}: {write_count(int(holds.sum()))} of {write_count(len(holds))}.</p>"


def _evaluate(facts: Facts, function: Function) -> Floats:
    """Give h of a function that reads a column, on all rows."""
    layer, e = facts.model.layers[function.shape.layer - 1], function.shape.function
    x, levels = facts.rows[:, function.signal], layer.levels[e]
    if len(levels):
        known = (x >= 0) & (x < len(levels))
        places = np.where(known, x, len(levels)).astype(np.intp)
        return np.append(levels, layer.gap_values[e])[places]
    h = trace_function(facts.model.schema, layer, e, x)
    return np.where(np.isnan(x), layer.gap_values[e], h)


def _tell_share(own: NDArray[np.bool_]) -> str:
    if not len(own):
        return "none"
    n = int(own.sum())
    return f"{write_count(n)} of {write_count(len(own))} ({write_per_cent(n / len(own))})"


def _tell_mean(amounts: Floats) -> str:
    if not len(amounts):
        return "none"
    return f"{amounts.mean():.3g} on average ({write_count(len(amounts))})"


# ---- rows ----


def _draw_rows(facts: Facts, i: int, zone: Function | None) -> str:
    column, values = facts.model.schema.columns[i], facts.rows[:, i]
    missing = ~np.isfinite(values)
    if column.categories is not None:
        missing = ~((values >= 0) & (values < len(column.categories)))
    gap = 52.0 if missing.any() or (column.gaps and zone is not None) else 0.0
    right = _WIDTH - 4 - gap
    if column.categories is not None or _is_few(column):
        shapes, parts = _place_labels(column, values, right, zone)
    else:
        shapes, parts = _place_numbers(column, values, right, zone)
    if gap:
        shapes += _place_gap(zone)
        parts.append((_WIDTH - 40, 24.0, missing))
    most = max((int(part.sum()) for _, _, part in parts), default=1) or 1
    for x, width, part in parts:
        shapes += _draw_bar(facts, x, width, part, _TOP / most)
    shapes.append(line(4, _BASE, _WIDTH - 4, _BASE, "hair"))
    return make_svg(_WIDTH, 126, shapes, f"Rows over {column.name}")


def _is_few(column: Column) -> bool:
    return column.values is not None and len(column.values) <= _MOST_LABELS


def _draw_bar(
    facts: Facts, x: float, width: float, part: NDArray[np.bool_], scale: float
) -> list[str]:
    shapes, y, left = [], _BASE, int(part.sum())
    for c, style in _order_classes(facts):
        n = left if c is None or facts.truth is None else int((facts.truth[part] == c).sum())
        left -= n
        y -= n * scale
        if n:
            shapes.append(rect(x, y, width, n * scale, style))
    return shapes


Parts = list[tuple[float, float, NDArray[np.bool_]]]


def _place_labels(
    column: Column, values: Floats, right: float, zone: Function | None
) -> tuple[list[str], Parts]:
    """Give slots of categories, or of few values; the rarest of many are joined."""
    kinds = [float(k) for k in range(column.n_categories)] or sorted(column.values or ())
    names = [str(c) for c in column.categories or ()] or [write_place(v, 0.0) for v in kinds]
    sizes = [int((values == kind).sum()) for kind in kinds]
    order = sorted(range(len(kinds)), key=lambda k: -sizes[k])[:_MOST_LABELS]
    kept = sorted(order) if len(kinds) > _MOST_LABELS else list(range(len(kinds)))
    others = [k for k in range(len(kinds)) if k not in kept]
    groups = [(names[k], [k]) for k in kept] + ([(f"{len(others)} more", others)] if others else [])
    slot = (right - 4) / len(groups)
    shapes, parts = [], []
    for g, (name, members) in enumerate(groups):
        x = 4 + g * slot
        inside = zone is not None and all(_holds(zone, column, kinds[k]) for k in members)
        if inside:
            shapes.append(rect(x + 1, 6, slot - 2, _BASE - 6, "zone", 2))
        style = "t-tick b" if inside else "t-tick m"
        if slot >= _LEAST_SLOT:
            shapes.append(text(x + slot / 2, _BASE + 16, name, style, "middle", slot - 2))
        own = np.isin(values, [kinds[k] for k in members])
        parts.append((x + slot * 0.2, slot * 0.6, own))
    if slot < _LEAST_SLOT:
        largest = f"{len(kinds)} categories, most often {names[order[0]]}"
        shapes.append(text(4, _BASE + 16, largest, room=right))
    return shapes, parts


def _holds(zone: Function, column: Column, value: float) -> bool:
    """Tell whether a condition holds for a category or a value."""
    if column.categories is not None:
        return bool(abs(zone.y[int(value)]) > 0.5 * abs(zone.weight))
    at = int(np.argmin(np.abs(zone.x - value)))
    return bool(abs(zone.y[at]) > 0.5 * abs(zone.weight))


def _place_numbers(
    column: Column, values: Floats, right: float, zone: Function | None
) -> tuple[list[str], Parts]:
    low, high = column.low, column.high if column.high > column.low else column.low + 1.0

    def x(value: float) -> float:
        return 4 + (min(max(value, low), high) - low) / (high - low) * (right - 4)

    shapes: list[str] = []
    marks = [] if zone is None else [m for m in zone.marks if low < m.place < high]
    if zone is not None:
        for a, b in pairwise([low, *(mark.place for mark in marks), high]):
            if _holds(zone, column, 0.5 * a + 0.5 * b):
                shapes.append(rect(x(a), 6, x(b) - x(a), _BASE - 6, "zone", 2))
        shapes += [line(x(m.place), 6, x(m.place), _BASE + 4, "cut") for m in marks]
    shapes += _write_ends(column, low, high, [(x(m.place), m.text) for m in marks], right)
    edges = np.linspace(low, high, _BARS + 1)
    inner = np.searchsorted(edges[1:-1], values, side="right")
    known = np.isfinite(values)
    parts = [
        (x(edges[k]) + 0.5, x(edges[k + 1]) - x(edges[k]) - 1.0, (inner == k) & known)
        for k in range(_BARS)
    ]
    return shapes, parts


def _write_ends(
    column: Column, low: float, high: float, marks: Sequence[tuple[float, str]], right: float
) -> list[str]:
    """Write thresholds in bold, and the ends of the range where there is room."""
    unit = f" {column.unit}" if column.unit else ""
    y, span = _BASE + 16, high - low
    ends = [write_place(low, span), write_place(high, span)]
    if not marks:
        return [
            text(4, y, ends[0], room=right / 2),
            text(right, y, fit(f"{ends[1]}{unit}", right / 2, SIZES["tick"]), anchor="end"),
        ]
    told = "–".join(dict.fromkeys(word for _, word in marks)) + unit
    half = measure(told, SIZES["tick"], bold=True) / 2
    middle = sum(place for place, _ in marks) / len(marks)
    middle = min(max(middle, 4 + half), max(right - half, 4 + half))
    shapes = [text(middle, y, told, "t-tick b", "middle", right)]
    if middle - half > 12 + measure(ends[0], SIZES["tick"]):
        shapes.append(text(4, y, ends[0]))
    if middle + half < right - 8 - measure(ends[1], SIZES["tick"]):
        shapes.append(text(right, y, ends[1], anchor="end"))
    return shapes


def _place_gap(zone: Function | None) -> list[str]:
    x = _WIDTH - 28
    held = zone is not None and (zone.shape.missing or 0.0) >= 0.5
    shapes = [rect(x - 24, 6, 48, _BASE - 6, "zone", 2)] if held else []
    style = "t-tick b" if held else "t-tick m"
    return [*shapes, text(x, _BASE + 16, "missing", style, "middle", math.inf)]
