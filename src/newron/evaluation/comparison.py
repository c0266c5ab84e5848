"""Comparisons of predictors on the same rows, the same folds, or the same tables."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray

from newron.evaluation.intervals import estimate_difference, estimate_mean, estimate_proportion
from newron.model.result import Estimate, Result

ALPHA = 0.05


@dataclass(frozen=True)
class Comparison(Result):
    """The difference of two predictors, and whether chance explains it.

    Attributes
    ----------
    difference : Estimate
        Of the first less the second.
    p_value : float
        Two-sided.
    test : str
        Its name.
    n : int
        The pairs that it compares.

    Examples
    --------
    >>> found = compare_tables([0.9, 0.8], [0.8, 0.8])
    >>> found.test, found.n, found.sign
    ('Wilcoxon', 2, 0)
    """

    difference: Estimate
    p_value: float
    test: str
    n: int

    @property
    def sign(self) -> int:
        """1 or -1 where the first is significantly higher or lower (5 %), else 0."""
        return int(np.sign(self.difference.value)) if self.p_value < ALPHA else 0


def compare_classifiers(truth: ArrayLike, first: ArrayLike, second: ArrayLike) -> Comparison:
    """Compare the accuracies of two classifiers on the same rows.

    Parameters
    ----------
    truth, first, second : array-like of shape (n,)
        The true classes and those that each predicts.

    Returns
    -------
    Comparison
        By McNemar's exact test, with Newcombe's interval of paired proportions (1998).

    Examples
    --------
    >>> truth = [1] * 50
    >>> first, second = [1] * 48 + [0] * 2, [1] * 36 + [0] * 12 + [1] * 2
    >>> found = compare_classifiers(truth, first, second)
    >>> f"{found.difference.low:.4f} to {found.difference.high:.4f}, p = {found.p_value:.3f}"
    '0.0569 to 0.3404, p = 0.013'
    """
    from scipy.stats import binomtest

    true = np.asarray(truth)
    right, other = np.asarray(first) == true, np.asarray(second) == true
    n, only, lost = len(true), int((right & ~other).sum()), int((other & ~right).sum())
    difference = estimate_difference(
        estimate_proportion(int(right.sum()), n),
        estimate_proportion(int(other.sum()), n),
        _correlate(right, other),
    )
    p = float(binomtest(only, only + lost).pvalue) if only + lost else 1.0
    return Comparison(difference, p, "McNemar", n)


def _correlate(a: NDArray[np.bool_], b: NDArray[np.bool_]) -> float:
    """Return phi of two columns, with Newcombe's continuity correction."""
    n, both = len(a), int((a & b).sum())
    margins = [int(a.sum()), int((~a).sum()), int(b.sum()), int((~b).sum())]
    if not all(margins):
        return 0.0
    product = both * int((~a & ~b).sum()) - int((a & ~b).sum()) * int((b & ~a).sum())
    corrected = max(product - n / 2.0, 0.0) if product > 0 else product
    return corrected / math.sqrt(math.prod(margins))


def compare_errors(truth: ArrayLike, first: ArrayLike, second: ArrayLike) -> Comparison:
    """Compare the absolute errors of two regressors on the same rows.

    Parameters
    ----------
    truth, first, second : array-like of shape (n,)

    Returns
    -------
    Comparison
        Of the first's mean absolute error less the second's, by a paired t-test.

    Examples
    --------
    >>> found = compare_errors([1.0, 2.0, 3.0], [1.1, 2.1, 3.2], [2.0, 3.2, 3.9])
    >>> f"{found.difference.value:.2f}, p = {found.p_value:.3f}"
    '-0.90, p = 0.016'
    """
    true = np.asarray(truth, np.float64)
    errors = [np.abs(np.asarray(each, np.float64) - true) for each in (first, second)]
    return _compare_means(errors[0] - errors[1], 0.0, "paired t")


def compare_folds(first: ArrayLike, second: ArrayLike, test_ratio: float = 0.25) -> Comparison:
    """Compare two predictors by their scores on the same folds.

    Parameters
    ----------
    first, second : array-like of shape (folds,)
    test_ratio : float
        Test rows for each training row: 0.25 of five folds.

    Returns
    -------
    Comparison
        By the corrected resampled t-test (Nadeau and Bengio 2003).

    Examples
    --------
    >>> compare_folds([0.9, 0.92, 0.91, 0.9, 0.93], [0.8, 0.81, 0.8, 0.78, 0.82]).sign
    1
    """
    difference = np.asarray(first, np.float64) - np.asarray(second, np.float64)
    return _compare_means(difference, test_ratio, "corrected resampled t")


def _compare_means(differences: NDArray[np.float64], test_ratio: float, test: str) -> Comparison:
    from scipy.stats import t

    n, found = len(differences), estimate_mean(differences, test_ratio=test_ratio)
    if n < 2:
        return Comparison(found, 1.0, test, n)
    error = float(differences.std(ddof=1)) * math.sqrt(1.0 / n + test_ratio)
    if error <= 1e-12 * max(float(np.abs(differences).max()), 1e-300):  # all the same
        return Comparison(found, 1.0 if abs(found.value) < 1e-12 else 0.0, test, n)
    return Comparison(found, float(2.0 * t.sf(abs(found.value) / error, n - 1)), test, n)


def compare_tables(first: ArrayLike, second: ArrayLike) -> Comparison:
    """Compare two predictors by their mean scores on several tables.

    Parameters
    ----------
    first, second : array-like of shape (tables,)
        NaN where there is no score: such a table does not count.

    Returns
    -------
    Comparison
        By Wilcoxon's signed-rank test.

    Examples
    --------
    >>> compare_tables([0.9, 0.8, 0.7, 0.95], [0.8, 0.7, 0.65, 0.9]).p_value
    0.125
    """
    from scipy.stats import wilcoxon

    differences = np.asarray(first, np.float64) - np.asarray(second, np.float64)
    known = differences[~np.isnan(differences)]
    p = 1.0
    if len(known) > 1 and np.any(np.abs(known) > 1e-12):
        p = float(wilcoxon(np.round(known, 12)).pvalue)
    return Comparison(estimate_mean(known), p, "Wilcoxon", len(known))


# ---- many models on many tables ----


@dataclass(frozen=True)
class Ranking(Result):
    """Ranks of models over tables.

    Attributes
    ----------
    ranks : tuple of tuples of float
        By table (outer) and model (inner); 1 is the best, equals have the mean.
    mean_ranks : tuple of float
    critical_difference : float
        The least difference of mean ranks that Nemenyi's test finds significant at 5 %.
    p_value : float
        Of Friedman's test that all models are alike; NaN of fewer than three models or tables.

    Examples
    --------
    >>> found = rank_models([[0.9, 0.8], [0.7, 0.7]])
    >>> found.ranks, found.mean_ranks
    (((1.0, 2.0), (1.5, 1.5)), (1.25, 1.75))
    """

    ranks: tuple[tuple[float, ...], ...]
    mean_ranks: tuple[float, ...]
    critical_difference: float
    p_value: float


def rank_models(scores: ArrayLike) -> Ranking:
    """Rank models on each table, and test the mean ranks (Demšar 2006).

    Parameters
    ----------
    scores : array-like of shape (tables, models)
        The higher the better.

    Returns
    -------
    Ranking

    Examples
    --------
    >>> rank_models([[0.9, 0.8, 0.8], [0.7, 0.6, 0.5], [0.9, 0.7, 0.8]]).mean_ranks
    (1.0, 2.5, 2.5)
    """
    from scipy.stats import friedmanchisquare, rankdata

    ranks = np.asarray(rankdata(-np.round(np.asarray(scores, np.float64), 9), axis=1))
    n_tables, n_models = ranks.shape
    p = math.nan
    if min(ranks.shape) > 2:
        p = float(friedmanchisquare(*ranks.T).pvalue) if np.ptp(ranks) else 1.0
    return Ranking(
        ranks=tuple(tuple(map(float, row)) for row in ranks),
        mean_ranks=tuple(map(float, ranks.mean(axis=0))),
        critical_difference=_find_critical_difference(n_models, n_tables),
        p_value=p,
    )


def _find_critical_difference(n_models: int, n_tables: int) -> float:
    """Return the least difference of mean ranks that Nemenyi's test finds significant at 5 %."""
    from scipy.stats import studentized_range

    q = studentized_range.ppf(1.0 - ALPHA, n_models, np.inf) / math.sqrt(2.0)
    return float(q * math.sqrt(n_models * (n_models + 1) / (6.0 * n_tables)))
