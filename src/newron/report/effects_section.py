"""What columns and pairs of a smooth network add: curves, heat maps, sentences."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise

import numpy as np
from numpy.typing import NDArray

from newron.drawing.markup import Markup, bdi, html, join
from newron.drawing.scale import Linear
from newron.drawing.shapes import Drawable, Label, Line, Rect
from newron.drawing.svg import write_chart
from newron.formatting import clean, format_position, format_rounded
from newron.model.arithmetic import Floats
from newron.report.facts import Facts
from newron.shapes.effect import Effect, Scale
from newron.shapes.effects import Effects

_MAX_LINES, _MAX_SURFACES = 14, 6  # that are shown before the rest is folded
_MAX_CELLS = 21  # of a heat map, each way
_HEIGHT, _LEFT = 84.0, 46.0
_SIDE = 280.0


def write_effects(facts: Facts, effects: Effects) -> Markup:
    """Return what every column and pair adds, in words, and heat maps of the pairs."""
    mean = " Each has mean 0 over the training rows." if facts.model.means else ""
    lists = [_write_score(*effects.list_lines(label)) for label in effects.labels]
    return join(
        html("p", f"What each input adds to the score.{mean}"),
        html("div", lists, class_="neurons"),
        _write_surfaces([effect for effect in effects if effect.kind == "surface"]),
    )


def _write_score(heading: str, lines: Sequence[str]) -> Markup:
    *parts, last = lines or ["nothing"]
    items = [html("li", bdi(line)) for line in parts]
    shown, rest = items[:_MAX_LINES], items[_MAX_LINES:]
    summary = html("summary", f"{len(rest)} more")
    more = html("details", summary, html("ul", rest)) if rest else None
    end = html("ul", html("li", bdi(last)))
    return html("div", html("h3", bdi(heading)), html("ul", shown), more, end)


# ---- curves ----


def write_curves(effects: Effects, column: str, width: float, limit: int) -> list[Markup]:
    """Return the curves of one column, one for each score, with their sentences."""
    own = [effect for effect in effects if effect.columns == (column,)]
    several = len(effects.labels) > 1
    parts = [_write_curve(effect, width, several) for effect in own[:limit]]
    if len(own) > limit:
        parts.append(html("p", f"{len(own) - limit} more scores read it", class_="muted"))
    pairs = [effect.name for effect in effects if column in effect.columns and effect not in own]
    if pairs:
        named = Markup(", ").join(map(bdi, dict.fromkeys(pairs)))
        parts.append(html("p", "Also in ", named, ".", class_="muted"))
    return parts


def _write_curve(effect: Effect, width: float, several: bool) -> Markup:
    n = effect.scales[0].n_values
    values, positions = effect.values[:n], effect.scales[0].positions[:n]
    spread = np.zeros(n) if effect.deviation is None else 2.0 * effect.deviation[:n]
    low = min(float((values - spread).min()), 0.0)
    high = max(float((values + spread).max()), 0.0)
    y = Linear(low, high if high > low else low + 1.0, _HEIGHT - 22.0, 18.0)
    shapes: list[Drawable] = [Line(((_LEFT, y(0.0)), (width - 4, y(0.0))), "hair")]
    if effect.kind == "levels":
        shapes += _draw_levels(values, spread, y, width)
    else:
        shapes += _draw_curve(positions, values, spread, y, width)
    for end in {low, high}:
        text = format_rounded(end, 2)
        shapes.append(Label(_LEFT - 6, y(end) + 4, text, "tick", "end", "m"))
    what = f" for {clean(str(effect.output))}" if several else ""
    head = Label.fitted(0, 10, clean(f"adds{what}"), "tick", width, "m")
    chart = write_chart(width, _HEIGHT, [head, *shapes], str(effect))
    return join(chart, html("p", bdi(effect.description)))


def _draw_curve(
    positions: Floats, values: Floats, spread: Floats, y: Linear, width: float
) -> list[Drawable]:
    low, high = float(positions[0]), float(positions[-1])
    x = Linear(low, high if high > low else low + 1.0, _LEFT, width - 4)
    places = [x(float(p)) for p in positions]
    shapes: list[Drawable] = []
    if spread.any():
        edges = list(zip(places, values - spread, values + spread, strict=True))
        shapes += [
            Rect(a, y(float(top)), b - a, y(float(foot)) - y(float(top)), "band", 0.0)
            for (a, foot, top), (b, _, _) in pairwise(edges)
            if b > a
        ]
    points = tuple((p, y(float(v))) for p, v in zip(places, values, strict=True))
    foot = _HEIGHT - 4.0
    ends = [
        Label(_LEFT, foot, format_position(low, high - low), "tick", style="m"),
        Label(width - 4, foot, format_position(high, high - low), "tick", "end", "m"),
    ]
    return [*shapes, Line(points, "curve"), *ends]


def _draw_levels(values: Floats, spread: Floats, y: Linear, width: float) -> list[Drawable]:
    slot = (width - 4 - _LEFT) / len(values)
    middles = [_LEFT + (k + 0.5) * slot for k in range(len(values))]
    bands = [
        Line(((x, y(float(v - s))), (x, y(float(v + s)))), "ci")
        for x, v, s in zip(middles, values, spread, strict=True)
        if s
    ]
    bars: list[Drawable] = [
        Rect(
            _LEFT + k * slot + 0.15 * slot,
            min(y(float(v)), y(0.0)),
            0.7 * slot,
            max(abs(y(float(v)) - y(0.0)), 1.0),
            "pos" if v >= 0 else "neg",
            0.0,
        )
        for k, v in enumerate(values)
    ]
    return [*bars, *bands]


# ---- heat maps ----


def _write_surfaces(surfaces: Sequence[Effect]) -> Markup | None:
    if not surfaces:
        return None
    maps = [_write_map(effect) for effect in surfaces]
    shown, rest = maps[:_MAX_SURFACES], maps[_MAX_SURFACES:]
    summary = html("summary", f"{len(rest)} more pairs")
    more = html("details", summary, html("div", rest, class_="panels")) if rest else None
    return join(
        html("p", "What two inputs add together: blue more, red less."),
        html("div", shown, class_="panels"),
        more,
    )


def _write_map(effect: Effect) -> Markup:
    first, second = (_thin(scale) for scale in effect.scales)
    grid = effect.values[np.ix_(first, second)]
    size = float(np.abs(effect.values).max()) or 1.0
    box = _SIDE - _LEFT
    wide, high = box / len(first), (box - 40.0) / len(second)
    cells: list[Drawable] = [
        Rect(
            _LEFT + i * wide,
            4.0 + (len(second) - 1 - j) * high,
            wide + 0.3,
            high + 0.3,
            "heat-up" if value >= 0.0 else "heat-down",
            0.0,
            attributes={"fill-opacity": f"{abs(value) / size:.2f}"},
        )
        for (i, j), value in np.ndenumerate(grid)
    ]
    foot = 4.0 + len(second) * high
    labels = _label_ends(effect.scales, box, foot)
    chart = write_chart(_SIDE, foot + 34.0, [*cells, *labels], str(effect))
    head = html("h3", bdi(effect.name), html("span", bdi(str(effect.output))))
    return html("div", head, chart, html("p", bdi(effect.description)), class_="input")


def _thin(scale: Scale) -> NDArray[np.intp]:
    """Return the positions that a heat map shows: some of many."""
    n = scale.n_values
    return np.unique(np.linspace(0, n - 1, min(n, _MAX_CELLS)).round().astype(int))


def _label_ends(scales: Sequence[Scale], box: float, foot: float) -> list[Drawable]:
    (low, high), (least, most) = map(_format_ends, scales)
    across, up = (clean(scale.column.name) for scale in scales)
    half = box / 3
    return [
        Label.fitted(_LEFT, foot + 14, low, "tick", half, "m"),
        Label.fitted(_LEFT + box, foot + 14, high, "tick", half, "m", anchor="end"),
        Label.fitted(_LEFT + box / 2, foot + 14, across, "tick", half, "b", anchor="middle"),
        Label.fitted(_LEFT - 5, 14, most, "tick", _LEFT - 6, "m", anchor="end"),
        Label.fitted(_LEFT - 5, foot - 4, least, "tick", _LEFT - 6, "m", anchor="end"),
        Label.fitted(0, foot + 30, f"↑ {up}", "tick", box, "b"),
    ]


def _format_ends(scale: Scale) -> tuple[str, str]:
    labels = [label for label in scale.labels if label is not None]
    if scale.column.categories is not None:
        return clean(str(labels[0])), clean(str(labels[-1]))
    span = float(scale.positions[scale.n_values - 1] - scale.positions[0])
    first, last = (float(scale.positions[k]) for k in (0, scale.n_values - 1))
    return format_position(first, span), format_position(last, span)
