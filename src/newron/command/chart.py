"""A chart of estimates and their intervals, in characters."""

from __future__ import annotations

import math
from collections.abc import Sequence

from newron.command.terminal import Page, Part, bold, dim
from newron.evaluation import Estimate

__all__ = ["draw_chart"]

_NAME, _PLOT = 22, 48  # columns of the names and of the plot
_STEPS = (1.0, 2.0, 2.5, 5.0, 10.0)


def draw_chart(
    page: Page, rows: Sequence[tuple[str, Estimate]], *, unit: str = "", most: float = math.inf
) -> None:
    """Print a line for each estimate, the first one bold.

    Parameters
    ----------
    page : Page
    rows : sequence of names and estimates
    unit : str
        Told once, after the last tick.
    most : float
        What no estimate is over.
    """
    low = min(estimate.low for _, estimate in rows)
    high = max(estimate.high for _, estimate in rows)
    ticks = _choose_ticks(low, high, most)
    digits = max(0, -math.floor(math.log10(ticks[1] - ticks[0]) + 1e-9))
    page.line(" " * (4 + _NAME), dim(_draw_axis(ticks, unit)))
    for number, (name, estimate) in enumerate(rows):
        shown = name if len(name) <= _NAME else name[: _NAME - 1] + "…"
        line = f"    {shown:{_NAME}}{_draw_bar(estimate, ticks)}"
        parts: list[Part] = [bold(line) if number == 0 else line]
        page.line(*parts, f"  {estimate.value:.{digits + 1}f}")


def _choose_ticks(low: float, high: float, most: float) -> list[float]:
    """Give from four to eight round numbers that hold all estimates."""
    span = max(high - low, 1e-12 * max(abs(high), 1.0))
    size = 10.0 ** math.floor(math.log10(span / 4.0))
    step = next(size * k for k in _STEPS if span / (size * k) <= 5.0)
    first, last = math.floor(low / step), math.ceil(min(high, most) / step)
    return [k * step for k in range(first, max(last, first + 1) + 1)]


def _place(value: float, ticks: Sequence[float]) -> int:
    share = (value - ticks[0]) / (ticks[-1] - ticks[0])
    return round(min(max(share, 0.0), 1.0) * (_PLOT - 1))


def _draw_axis(ticks: Sequence[float], unit: str) -> str:
    line = [" "] * (_PLOT + 8)
    for tick in ticks:
        word = f"{tick:g}".replace("-", "−")
        start = max(_place(tick, ticks) - len(word) // 2, 0)
        line[start : start + len(word)] = word
    return f"{''.join(line).rstrip()} {unit}".rstrip()


def _draw_bar(estimate: Estimate, ticks: Sequence[float]) -> str:
    low, at, high = (_place(x, ticks) for x in (estimate.low, estimate.value, estimate.high))
    line = [" "] * _PLOT
    line[low : high + 1] = "─" * (high + 1 - low)
    line[low], line[high] = "├", "┤"
    line[at] = "●"
    return "".join(line)
