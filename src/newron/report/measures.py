"""How good a model is on some rows, with 95 % intervals.

Shares have Wilson's interval. A mean of shares joins the intervals of its parts (Zou and Donner,
2008). The area under the curve has the interval of Newcombe (2006, method 5), which, like
Wilson's, is right at the ends too. What is measured of amounts is drawn again 1,000 times.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from newron.model.arithmetic import Floats
from newron.model.output import Classes

__all__ = [
    "AmountQuality",
    "Bin",
    "ClassQuality",
    "Estimate",
    "estimate_area",
    "estimate_share",
    "measure_amounts",
    "measure_classes",
]

Ints = NDArray[np.intp]

_Z = 1.959963984540054  # of the normal distribution, for 95 %
_DRAWS = 1000
_MOST_BINS, _ROWS_A_BIN = 10, 20


@dataclass(frozen=True)
class Estimate:
    """A measured value and its 95 % interval."""

    value: float
    low: float
    high: float


@dataclass(frozen=True)
class Bin:
    """Rows of about the same probability: its mean, and how many of them came true."""

    probability: float
    n_rows: int
    n_true: int

    @property
    def share(self) -> Estimate:
        """The part that came true."""
        return estimate_share(self.n_true, self.n_rows)


@dataclass(frozen=True)
class ClassQuality:
    """How often a model says the right class.

    Attributes
    ----------
    n_rows, n_right : int
    accuracy, baseline, balanced : Estimate
        The share of right answers; that of always saying ``usual``; the mean over the classes
        of the share of their rows that are found.
    usual : int
        The class that is most frequent in the rows.
    found : tuple of Estimate or None
        For each class the share of its rows that are found; None if there are none.
    area : Estimate or None
        The area under the ROC curve, for several classes the mean of each against the rest.
    confusion : array of shape (classes, classes)
        Counts: the true class by row, the said one by column.
    calibration : tuple of Bin
        Of the second of two classes; of several, of the class that is said.
    exact : bool
        Whether the rows are all inputs that there are: then nothing is estimated.
    """

    n_rows: int
    n_right: int
    accuracy: Estimate
    baseline: Estimate
    usual: int
    balanced: Estimate
    found: tuple[Estimate | None, ...]
    area: Estimate | None
    confusion: Ints
    calibration: tuple[Bin, ...]
    exact: bool = False


@dataclass(frozen=True)
class AmountQuality:
    """How near the amounts of one target are.

    ``error`` is the mean size of the difference, ``root`` the root of the mean square;
    ``baseline`` is the error of always saying the median of the rows.
    """

    name: str
    n_rows: int
    r2: Estimate | None
    error: Estimate
    root: Estimate
    baseline: Estimate


# ---- intervals ----


def estimate_share(count: int, n: int) -> Estimate:
    """Give a share with Wilson's interval.

    Examples
    --------
    >>> estimate = estimate_share(84, 100)
    >>> round(estimate.low, 3), round(estimate.high, 3)
    (0.756, 0.899)
    """
    p, shrink = count / n, 1.0 + _Z * _Z / n
    middle = (p + _Z * _Z / (2 * n)) / shrink
    half = _Z / shrink * math.sqrt(p * (1 - p) / n + _Z * _Z / (4 * n * n))
    low = 0.0 if count == 0 else middle - half
    high = 1.0 if count == n else middle + half
    return Estimate(p, low, high)


def join_shares(parts: Sequence[Estimate]) -> Estimate:
    """Give the mean of independent shares."""
    n, value = len(parts), sum(part.value for part in parts) / len(parts)
    below = math.sqrt(sum((part.value - part.low) ** 2 for part in parts)) / n
    above = math.sqrt(sum((part.high - part.value) ** 2 for part in parts)) / n
    return Estimate(value, value - below, value + above)


def estimate_area(area: float, n_true: int, n_false: int) -> Estimate:
    """Give an area under the ROC curve with Newcombe's interval.

    Examples
    --------
    >>> estimate = estimate_area(0.9, 139, 164)
    >>> round(estimate.low, 2), round(estimate.high, 2)
    (0.86, 0.93)
    """
    from scipy.optimize import brentq

    extra = 0.5 * (n_true + n_false) - 1.0

    def spread(a: float) -> float:
        more = 1.0 + extra * ((1.0 - a) / (2.0 - a) + a / (1.0 + a))
        return _Z * math.sqrt(a * (1.0 - a) * more / (n_true * n_false))

    low = 0.0 if area <= 0.0 else brentq(lambda a: area - a - spread(a), 0.0, area - _TINY * area)
    high = 1.0 if area >= 1.0 else brentq(lambda a: a - area - spread(a), area + _TINY, 1.0)
    return Estimate(area, float(low), float(high))


_TINY = 1e-12


# ---- classes ----


def measure_classes(
    output: Classes, scores: Floats, truth: Ints, *, exact: bool = False
) -> ClassQuality:
    """Measure scores of shape (rows, scores) against the numbers of the true classes."""
    n, k, said = len(truth), len(output.labels), output.choose(scores)
    confusion = np.zeros((k, k), np.intp)
    np.add.at(confusion, (truth, said), 1)
    sizes, right = confusion.sum(axis=1), int(np.trace(confusion))
    found = tuple(
        estimate_share(int(confusion[c, c]), int(sizes[c])) if sizes[c] else None for c in range(k)
    )
    usual = int(sizes.argmax())
    return ClassQuality(
        n,
        right,
        estimate_share(right, n),
        estimate_share(int(sizes[usual]), n),
        usual,
        join_shares([part for part in found if part is not None]),
        found,
        _measure_area(output, scores, truth),
        confusion,
        _calibrate(output, scores, truth, said),
        exact,
    )


def _measure_area(output: Classes, scores: Floats, truth: Ints) -> Estimate | None:
    from sklearn.metrics import roc_auc_score

    if output.n_scores == 1:
        pairs = [(scores[:, 0], truth == 1)]
    else:
        shares = output.predict_proba(scores)
        pairs = [(shares[:, c], truth == c) for c in range(len(output.labels))]
    parts = [
        estimate_area(float(roc_auc_score(own, score)), int(own.sum()), int((~own).sum()))
        for score, own in pairs
        if own.any() and not own.all()
    ]
    if not parts:
        return None
    # The classes share their rows: their limits are taken to go up and down together.
    value, low, high = (
        sum(getattr(part, name) for part in parts) / len(parts) for name in ("value", "low", "high")
    )
    return Estimate(value, low, high)


def _calibrate(output: Classes, scores: Floats, truth: Ints, said: Ints) -> tuple[Bin, ...]:
    shares = output.predict_proba(scores)
    if output.n_scores == 1:
        share, came = shares[:, 1], truth == 1
    else:
        share, came = shares[np.arange(len(said)), said], truth == said
    return tuple(
        Bin(float(share[part].mean()), int(part.sum()), int(came[part].sum()))
        for part in _part_rows(share)
    )


def _part_rows(share: Floats) -> list[NDArray[np.bool_]]:
    """Part rows by their probability: by its values where they are few, else evenly."""
    values = np.unique(share)
    n_bins = max(min(_MOST_BINS, len(share) // _ROWS_A_BIN), 1)
    if len(values) <= n_bins:
        return [share == value for value in values]
    edges = np.unique(np.quantile(share, np.linspace(0.0, 1.0, n_bins + 1)[1:-1]))
    group = np.searchsorted(edges, share, side="right")
    return [group == g for g in range(len(edges) + 1) if (group == g).any()]


# ---- amounts ----


def measure_amounts(name: str, said: Floats, truth: Floats) -> AmountQuality:
    """Measure the amounts of one target."""
    gap = said - truth
    aside = truth - np.median(truth)
    off = truth - truth.mean()
    columns = np.stack([np.abs(gap), gap**2, off, off**2, np.abs(aside)], axis=1)

    def measure_r2(means: Floats) -> float:
        spread = means[3] - means[2] ** 2
        return float(1.0 - means[1] / spread) if spread > 0.0 else math.nan

    def estimate(measure: Callable[[Floats], float]) -> Estimate:
        drawn = [measure(means) for means in draws]
        low, high = np.nanquantile(drawn, [0.025, 0.975])
        return Estimate(measure(columns.mean(axis=0)), float(low), float(high))

    draws = _draw_means(columns)
    varies = bool(off.any())
    return AmountQuality(
        name,
        len(truth),
        estimate(measure_r2) if varies else None,
        estimate(lambda means: float(means[0])),
        estimate(lambda means: math.sqrt(means[1])),
        estimate(lambda means: float(means[4])),
    )


def _draw_means(columns: Floats) -> list[Floats]:
    """Give the means of columns over rows that are drawn again, always the same draws."""
    rng, n = np.random.default_rng(0), len(columns)
    draws = (np.bincount(rng.integers(0, n, n), minlength=n) for _ in range(_DRAWS))
    return [np.asarray(counts @ columns / n) for counts in draws]
