"""Measured values with 95 % intervals."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence

import numpy as np
from numpy.typing import ArrayLike, NDArray

from newron.errors import InputError
from newron.model.result import Estimate

Floats = NDArray[np.float64]

_CONFIDENCE = 0.95
_Z = 1.959963984540054  # of the normal distribution, for 95 %
_N_DRAWS = 1000
_MAX_RESAMPLED = 20_000  # beyond so many rows, means are drawn from their normal limit


def estimate_proportion(count: int, n: int) -> Estimate:
    """Estimate a proportion, with Wilson's interval.

    - ``count``, ``n``: So many of so many. Of none the value is NaN, between 0 and 1.

    >>> found = estimate_proportion(254, 303)
    >>> f"{found.value:.3f}, {found.low:.3f} to {found.high:.3f}"
    '0.838, 0.793 to 0.875'
    """
    from scipy.stats import binomtest

    if not 0 <= count <= n:
        raise InputError(f"count: expected 0 to {n}, got {count}")
    if n == 0:
        return Estimate(math.nan, 0.0, 1.0)
    interval = binomtest(count, n).proportion_ci(_CONFIDENCE, "wilson")
    return Estimate(count / n, float(interval.low), float(interval.high))


def estimate_difference(first: Estimate, second: Estimate, correlation: float = 0.0) -> Estimate:
    """Estimate the difference of two proportions, with Newcombe's interval.

    - ``first``, ``second``: From :func:`estimate_proportion`.
    - ``correlation``: Of the two over the same rows; 0 where they are independent.

    Returned: of ``first - second`` (Newcombe 1998: method 10 of independent proportions, and with
    a correlation that of paired ones).

    >>> found = estimate_difference(estimate_proportion(56, 70), estimate_proportion(48, 80))
    >>> f"{found.value:.3f}, {found.low:.4f} to {found.high:.4f}"
    '0.200, 0.0524 to 0.3339'
    """
    value = first.value - second.value
    below = _join(first.value - first.low, second.high - second.value, correlation)
    above = _join(first.high - first.value, second.value - second.low, correlation)
    return Estimate(value, value - below, value + above)


def _join(a: float, b: float, correlation: float) -> float:
    return math.sqrt(max(a * a - 2.0 * correlation * a * b + b * b, 0.0))


def average_proportions(parts: Sequence[Estimate]) -> Estimate:
    """Return the mean of independent proportions (interval of Zou and Donner 2008)."""
    n, value = len(parts), sum(part.value for part in parts) / len(parts)
    below = math.sqrt(sum((part.value - part.low) ** 2 for part in parts)) / n
    above = math.sqrt(sum((part.high - part.value) ** 2 for part in parts)) / n
    return Estimate(value, value - below, value + above)


def estimate_auc(auc: float, n_positive: int, n_negative: int) -> Estimate:
    """Estimate the area under a ROC curve, with Newcombe's interval (2006, method 5).

    - ``auc``: The area that was measured.
    - ``n_positive``, ``n_negative``: Rows of both classes, at least one of each.

    Returned: like Wilson's, the interval is not empty where the area is 0 or 1.

    >>> found = estimate_auc(0.9, 139, 164)
    >>> f"{found.low:.2f} to {found.high:.2f}"
    '0.86 to 0.93'
    """
    from scipy.optimize import brentq

    area = min(max(auc, 0.0), 1.0)
    extra = 0.5 * (n_positive + n_negative) - 1.0

    def half_width(a: float) -> float:
        factor = 1.0 + extra * ((1.0 - a) / (2.0 - a) + a / (1.0 + a))
        return _Z * math.sqrt(a * (1.0 - a) * factor / (n_positive * n_negative))

    def find_limit(sign: float, start: float, stop: float) -> float:
        return float(brentq(lambda a: sign * (a - area) - half_width(a), start, stop))

    # At an end of [0, 1] the area itself is a limit; the search must not stop there.
    inside = 1e-12
    low = 0.0 if area <= 0.0 else find_limit(-1.0, 0.0, min(area, 1.0 - inside))
    high = 1.0 if area >= 1.0 else find_limit(1.0, max(area, inside), 1.0)
    return Estimate(area, low, high)


def estimate_mean(
    values: ArrayLike,
    *,
    low: float = -math.inf,
    high: float = math.inf,
    test_ratio: float = 0.0,
) -> Estimate:
    """Estimate a mean, with the interval of Student's t.

    - ``values`` of shape (n,): At least one; of one the interval is between the limits.
    - ``low``, ``high``: Limits that the interval is cut at.
    - ``test_ratio``: Where the values are scores of folds whose training rows overlap: test rows
      for each training row, e.g. 0.25 of five folds (variance of Nadeau and Bengio 2003).

    >>> found = estimate_mean([1.0, 2.0, 3.0, 4.0], low=0.0)
    >>> f"{found.value:.2f}, {found.low:.2f} to {found.high:.2f}"
    '2.50, 0.45 to 4.55'
    """
    from scipy.stats import t

    array = np.asarray(values, np.float64)
    n = len(array)
    mean = float(array.mean()) if n else math.nan
    if n < 2:
        return Estimate(mean, low, high)
    error = float(array.std(ddof=1)) * math.sqrt(1.0 / n + test_ratio)
    half = float(t.ppf(0.5 + 0.5 * _CONFIDENCE, n - 1)) * error
    return Estimate(mean, max(mean - half, low), min(mean + half, high))


def bootstrap_means(
    columns: ArrayLike, measures: Sequence[Callable[[Floats], float]]
) -> tuple[Estimate, ...]:
    """Estimate functions of the means of columns over rows, with intervals of 1,000 samples.

    A measure that is NaN for some samples has its interval from the others.
    """
    rows = np.asarray(columns, np.float64)
    draws = _draw_means(rows, np.random.default_rng(0))
    estimates = []
    for measure in measures:
        value = measure(rows.mean(axis=0))
        drawn = np.array([measure(means) for means in draws])
        known = drawn[~np.isnan(drawn)]
        low, high = np.quantile(known, [0.025, 0.975]) if len(known) else (value, value)
        estimates.append(Estimate(value, float(low), float(high)))
    return tuple(estimates)


def _draw_means(rows: Floats, rng: np.random.Generator) -> Sequence[Floats]:
    n = len(rows)
    if n > _MAX_RESAMPLED:
        covariance = np.atleast_2d(np.cov(rows, rowvar=False)) / n
        return list(rng.multivariate_normal(rows.mean(axis=0), covariance, _N_DRAWS))
    draws = (np.bincount(rng.integers(0, n, n), minlength=n) for _ in range(_N_DRAWS))
    return [np.asarray(counts @ rows / n) for counts in draws]
