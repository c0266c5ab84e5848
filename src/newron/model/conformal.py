"""How far the truth of new rows lies from predictions: intervals and sets with a coverage."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from newron.errors import InputError, ModelError
from newron.formatting import format_count, format_percent, format_rounded
from newron.model.arithmetic import Floats
from newron.model.measurement import PROTOCOLS
from newron.model.output import Output, Targets
from newron.model.parts import check_keys, read_list, read_number, read_numbers, read_text
from newron.model.result import Result

# What a table is made for; between two of them the larger is taken, which covers more.
COVERAGES = (
    *(round(0.05 * k, 2) for k in range(1, 10)),
    *(round(0.01 * k, 2) for k in range(50, 100)),
    0.995,
    0.999,
)
_DIGITS = 5
_SLACK = 1e-9  # of a rank, for what floating point makes of 0.95 · 20
_MAX_ROWS = 2.0**53


@dataclass(frozen=True)
class Conformal(Result):
    """The ends of intervals, or of sets of classes, by the part of new rows that they cover.

    - ``protocol``: How predictions were made that the model's own training did not see.
    - ``n_rows``: How many rows they were compared with, by weight.
    - ``coverages``: In rising order, between 0 and 1.
    - ``ends``: For each target two rows: what to add to the prediction for the low and the high end
      of an interval, in units of ``prediction ** (power / 2)``. Of classes one row: the least
      probability of a class in the set.
    - ``power``: The variance of targets grows with this power of their mean: 1 of counts, 2 of
      claims.

    >>> errors = np.linspace(-1.0, 1.0, 99)
    >>> table = calibrate_targets(Targets(("y",)), errors[:, None], np.zeros((99, 1)))
    >>> table.describe()
    '90 % of new rows lie from 0.918 below to 0.918 above the prediction'
    >>> table.find_intervals(Targets(("y",)), np.array([[5.0]]), 0.5).tolist()
    [[4.48979, 5.51021]]
    """

    protocol: str
    n_rows: float
    coverages: tuple[float, ...]
    ends: tuple[tuple[float, ...], ...]
    power: float = 0.0

    def __post_init__(self) -> None:
        """Check every part: a file may hold anything."""
        if self.protocol not in PROTOCOLS:
            raise ModelError(f"conformal: expected one of {PROTOCOLS}, got {self.protocol!r}")
        rising = all(a < b for a, b in zip(self.coverages, self.coverages[1:], strict=False))
        inside = all(0.0 < coverage < 1.0 for coverage in self.coverages)
        if not (self.coverages and rising and inside and len(self.coverages) <= 1000):
            raise ModelError("conformal: expected rising coverages between 0 and 1, got others")
        sound = all(len(row) == len(self.coverages) for row in self.ends) and self.ends
        if not sound or not all(math.isfinite(end) for row in self.ends for end in row):
            raise ModelError("conformal: expected a finite end for each coverage, got others")
        if not 0.0 < self.n_rows < _MAX_ROWS or not 0.0 <= self.power <= 2.0:
            raise ModelError(
                f"conformal: {self.n_rows} rows or power {self.power} are not possible"
            )

    def check(self, output: Output) -> None:
        """Raise unless the table is of an output's kind."""
        expected = 1
        if isinstance(output, Targets):
            expected = 2 if output.link == "sorted" else 2 * output.n_scores
        if len(self.ends) != expected:
            raise ModelError(
                f"conformal: expected {expected} rows of ends for this output, got {len(self.ends)}"
            )

    def _find(self, coverage: float) -> int:
        if not 0.0 < coverage < 1.0:
            raise InputError(f"coverage: expected a number between 0 and 1, got {coverage}")
        place = int(np.searchsorted(self.coverages, coverage - _SLACK))
        if place == len(self.coverages):
            raise InputError(
                f"coverage: expected at most {self.coverages[-1]:g}, as "
                f"{format_count(round(self.n_rows), 'row')} allow, got {coverage:g}; calibrate on "
                "more rows"
            )
        return place

    def find_intervals(self, output: Output, predicted: Floats, coverage: float = 0.9) -> Floats:
        """Return the intervals of predictions.

        - ``predicted`` of shape (n_rows, n_scores): As ``output.transform`` returns them.
        """
        ends = np.array(self.ends)[:, self._find(coverage)]
        low = predicted + ends[0::2] * predicted ** (0.5 * self.power)
        high = predicted + ends[1::2] * predicted ** (0.5 * self.power)
        if isinstance(output, Targets) and output.link == "sorted":
            low, high = low[:, :1], np.maximum(high[:, -1:], low[:, :1])
        if isinstance(output, Targets) and output.link == "log":
            low, high = low.clip(0.0), high.clip(0.0)
        found = np.stack([low, high], axis=-1)
        return found[:, 0] if found.shape[1] == 1 else found

    def find_sets(self, probabilities: Floats, coverage: float = 0.9) -> NDArray[np.bool_]:
        """Return which classes are in the set of each row; the likeliest always is."""
        least = self.ends[0][self._find(coverage)]
        likeliest = probabilities == probabilities.max(axis=1, keepdims=True)
        return np.asarray((probabilities >= least) | likeliest)

    def describe(self, coverage: float = 0.9) -> str:
        """Return in words how far the truth of new rows lies from predictions.

        - ``coverage``: Where the table ends before it, its last one.
        """
        place = self._find(min(coverage, self.coverages[-1]))
        part = format_percent(self.coverages[place], limits=False)
        ends = [row[place] for row in self.ends]
        if len(ends) == 1:
            least = format_percent(max(ends[0], 0.0))
            return f"{part} of new rows are of a class whose probability is at least {least}"
        if len(ends) > 2 or self.power not in (0.0, 2.0):
            wider = "that widen with the prediction" if self.power else "of each target"
            return f"{part} of new rows lie within intervals {wider}"
        if self.power == 2.0:
            low, high = (format_rounded(max(1.0 + end, 0.0)) for end in ends)
            return f"{part} of new rows are {low} to {high} times what is predicted"
        low, high = (format_rounded(abs(end)) for end in ends)
        sides = ("above" if ends[0] > 0.0 else "below"), ("below" if ends[1] < 0.0 else "above")
        return f"{part} of new rows lie from {low} {sides[0]} to {high} {sides[1]} the prediction"

    def to_dict(self) -> dict[str, Any]:
        """Return the table as the model's file has it."""
        known: dict[str, Any] = {"protocol": self.protocol, "rows": self.n_rows}
        if self.power:
            known["power"] = self.power
        return {
            **known,
            "coverages": list(self.coverages),
            "ends": [list(row) for row in self.ends],
        }


def read_conformal(item: Any) -> Conformal:
    """Make a table of a part of a file, checking all of it."""
    where = "conformal"
    needed = {"protocol", "rows", "coverages", "ends"}
    check_keys(item, needed | {"power"}, needed, where)
    return Conformal(
        read_text(item["protocol"], where),
        read_number(item["rows"], where),
        read_numbers(item["coverages"], where),
        tuple(read_numbers(row, where) for row in read_list(item["ends"], where)),
        read_number(item.get("power", 0.0), where),
    )


# ---- making them ----


def calibrate_targets(
    output: Targets,
    truth: Floats,
    predicted: Floats,
    weight: Floats | None = None,
    *,
    protocol: str = "new rows",
) -> Conformal:
    """Make the table of intervals from predictions of rows that a model was not trained on.

    - ``predicted`` of shape (n_rows, n_scores): As ``output.transform`` returns them.
    - ``weight`` of shape (n_rows,): A weight of two is the same as the row twice.

    Returned: with as large coverages as the rows allow: of 90 % there must be 19 rows.
    """
    weights = np.ones(len(truth)) if weight is None else weight
    power = _find_power(output)
    spread = predicted ** (0.5 * power)
    errors = (truth - predicted) / np.where(spread > 0.0, spread, 1.0)
    # Quantiles make a band: from below the lowest to above the highest.
    pairs = [(0, -1)] if output.link == "sorted" else [(k, k) for k in range(errors.shape[1])]
    tables = [
        (-_find_quantiles(-errors[:, low], weights), _find_quantiles(errors[:, high], weights))
        for low, high in pairs
    ]
    ends = [
        _shorten(row, away) for pair in tables for row, away in zip(pair, (-1.0, 1.0), strict=True)
    ]
    return _make_table(protocol, weights, ends, power)


def calibrate_classes(
    truth: NDArray[np.intp],
    probabilities: Floats,
    weight: Floats | None = None,
    *,
    own: tuple[NDArray[np.intp], Floats] | None = None,
    protocol: str = "new rows",
) -> Conformal:
    """Make the table of sets from probabilities of rows that a model was not trained on.

    - ``truth`` of shape (n_rows,): The numbers of the classes.
    - ``weight`` of shape (n_rows,): A weight of two is the same as the row twice.
    - ``own``: Where other networks predicted: what the model itself predicts for its training rows.
      Its sets are to cover these as well; rules have few probabilities, and another network's limit
      may lie just above one of them.

    Returned: with as large coverages as the rows allow: of 90 % there must be 9 rows.
    """
    weights = np.ones(len(truth)) if weight is None else weight
    least = _find_least(truth, probabilities, weights)
    if own is not None:
        least = np.minimum(least, _find_least(*own, np.ones(len(own[0]))))
    return _make_table(protocol, weights, [_shorten(least, -1.0).clip(0.0)], 0.0)


def _find_least(truth: NDArray[np.intp], probabilities: Floats, weights: Floats) -> Floats:
    """Return the probability that so many rows have at least for their class."""
    return -_find_quantiles(-probabilities[np.arange(len(truth)), truth], weights, tails=1.0)


def _find_power(output: Targets) -> float:
    """Return how the variance of targets grows with their mean."""
    if output.link != "log":
        return 0.0
    name, _, number = output.objective.partition(":")
    if name == "tweedie":
        return float(number or 1.5)
    return 1.0 if name == "poisson" else 2.0  # a loss of one's own: errors that grow with it


def _find_quantiles(values: Floats, weights: Floats, tails: float = 0.5) -> Floats:
    """Return the upper end for each coverage, NaN where there are too few rows.

    The n + 1 places among n rows are equally likely for a new one: the end is the row of rank
    (n + 1) · (1 - part that may lie above), rounded up.
    """
    order = np.argsort(values, kind="stable")
    ranks, total = np.cumsum(weights[order]), float(weights.sum())
    levels = (total + 1.0) * (1.0 - tails * (1.0 - np.array(COVERAGES)))
    places = np.searchsorted(ranks, levels - _SLACK * (total + 1.0))
    found = np.append(values[order], np.nan)[places]
    return np.asarray(found)


def _shorten(ends: Floats, away: float) -> Floats:
    """Round ends to a few digits, away from the prediction: so they cover no less."""
    with np.errstate(divide="ignore", invalid="ignore"):
        exponent = np.floor(np.log10(np.abs(ends)))
    step = 10.0 ** (np.where(np.isfinite(exponent), exponent, 0.0) - _DIGITS + 1.0)
    rounded = np.ceil(away * ends / step - _SLACK) * step * away
    return np.array([float(f"{end:.{_DIGITS}g}") for end in rounded]) + 0.0


def _make_table(protocol: str, weights: Floats, ends: list[Floats], power: float) -> Conformal:
    table = np.array(ends)
    known = ~np.isnan(table).any(axis=0)
    if not known.any():
        raise InputError(
            f"expected rows to calibrate on, got {format_count(round(float(weights.sum())), 'row')}"
            ", too few for any interval"
        )
    total = float(weights.sum())
    return Conformal(
        protocol,
        int(total) if total.is_integer() else total,
        tuple(np.array(COVERAGES)[known].tolist()),
        tuple(tuple(row.tolist()) for row in table[:, known]),
        power,
    )
