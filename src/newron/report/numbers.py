"""Numbers as the page prints them: narrow spaces in large counts, and before the per cent sign."""

from __future__ import annotations

from functools import partial

from newron.evaluation import Estimate
from newron.formatting import format_count, format_integer, format_percent, format_rounded

integer = partial(format_integer, separator="\u202f", minimum=10_000)
count = partial(format_count, separator="\u202f", minimum=10_000)
percent = partial(format_percent, space="\u00a0")


def percent_interval(estimate: Estimate) -> str:
    """Return the interval of a fraction, in per cent and without the sign: "79 to 88"."""
    return f"{int(100 * estimate.low + 0.5)} to {int(100 * estimate.high + 0.5)}"


def interval(estimate: Estimate) -> str:
    """Return the interval of a regression target."""
    return f"{format_rounded(estimate.low)} to {format_rounded(estimate.high)}"
