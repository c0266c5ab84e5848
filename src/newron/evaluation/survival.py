"""How good predictions of survival are: concordance, Brier score."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray

from newron.errors import InputError
from newron.evaluation.calibration import group_rows
from newron.evaluation.intervals import Floats, estimate_mean, estimate_proportion
from newron.model.result import Estimate, Result

_Z = 1.959963984540054
_TIE = 1e-8  # risks that differ by less are the same
_BLOCK = 2_000_000  # pairs that are compared together
_N_TIMES = 100

Pair = tuple[ArrayLike, ArrayLike]


@dataclass(frozen=True)
class SurvivalBin(Result):
    """Rows of about the same predicted probability of the event until some time.

    - ``probability``: The mean of these probabilities.
    - ``observed``: How often it happened until then, by Kaplan and Meier's estimate of the group.

    >>> SurvivalBin(0.3, 40, Estimate(0.4, 0.26, 0.55)).n_rows
    40
    """

    probability: float
    n_rows: int
    observed: Estimate


@dataclass(frozen=True)
class SurvivalQuality(Result):
    """How good predicted risks and survival curves are.

    Attributes
    ----------
    n_rows, n_events : int
    concordance : Estimate
        How often who has the event sooner has the higher risk; 0.5 is chance.
    brier : Estimate
        The integrated Brier score: the mean squared error of survival curves over time.
    constant_brier : Estimate
        That of the Kaplan-Meier curve of the training rows for all.
    times : tuple of float
        Over which that is the mean.
    brier_by_time, constant_by_time : tuple of float
        The score at each of these times.
    calibrated_at : float
        The median time of the events.
    calibration : tuple of SurvivalBin
        Groups of rows by their predicted probability of the event until then.

    Examples
    --------
    >>> train = ([1, 1, 0, 1], [1.0, 2.0, 3.0, 4.0])
    >>> curves = [lambda t: np.exp(-0.5 * np.asarray(t))] * 4
    >>> found = measure_survival(train, train, [3.0, 2.0, 1.0, 0.0], curves)
    >>> found.n_events, found.concordance.value
    (3, 1.0)
    """

    n_rows: int
    n_events: int
    concordance: Estimate
    brier: Estimate
    constant_brier: Estimate
    times: tuple[float, ...] = ()
    brier_by_time: tuple[float, ...] = ()
    constant_by_time: tuple[float, ...] = ()
    calibrated_at: float = 0.0
    calibration: tuple[SurvivalBin, ...] = ()


def measure_survival(
    train: Pair, test: Pair, risk: ArrayLike, curves: Sequence[Callable[[Floats], Floats]]
) -> SurvivalQuality:
    """Measure risks and survival curves of rows that a model was not trained on.

    Parameters
    ----------
    train, test : pair of arrays (event, time)
        Of the training rows, for the weights of rows that were lost, and of the rows that
        were predicted.
    risk : array-like of shape (n_rows,)
        The higher, the sooner the event.
    curves : sequence of callables
        The survival of each row as a function of time.

    Returns
    -------
    SurvivalQuality

    Examples
    --------
    >>> rng = np.random.default_rng(0)
    >>> time = rng.exponential(size=200)
    >>> train, test = (np.ones(100), time[:100]), (np.ones(100), time[100:])
    >>> curves = [lambda t: np.exp(-t)] * 100
    >>> found = measure_survival(train, test, rng.normal(size=100), curves)
    >>> bool(abs(found.brier.value - found.constant_brier.value) < 0.01)
    True
    """
    known, times = _read(train), _read(test)
    grid = _choose_times(known, times)
    rows = np.array([np.asarray(curve(grid)) for curve in curves]).reshape(len(times[0]), -1)
    constant = np.tile(estimate_kaplan_meier(*known)(grid), (len(rows), 1))
    middle = float(np.median(times[1][times[0]])) if times[0].any() else float(grid[0])
    until = np.array([float(curve(np.array([middle]))[0]) for curve in curves])
    return SurvivalQuality(
        n_rows=len(times[0]),
        n_events=int(times[0].sum()),
        concordance=estimate_concordance(*times, risk),
        brier=estimate_brier(train, test, rows, grid),
        constant_brier=estimate_brier(train, test, constant, grid),
        times=tuple(grid.tolist()),
        brier_by_time=tuple(_square_errors(known, times, rows, grid).mean(axis=0).tolist()),
        constant_by_time=tuple(_square_errors(known, times, constant, grid).mean(axis=0).tolist()),
        calibrated_at=middle,
        calibration=measure_survival_bins(*times, 1.0 - until, middle),
    )


def measure_survival_bins(
    event: ArrayLike, time: ArrayLike, probability: ArrayLike, until: float
) -> tuple[SurvivalBin, ...]:
    """Compare predicted probabilities of the event until a time with what happened.

    Up to ten groups of at least 20 rows; the intervals are Wilson's, of as many rows without
    losses as would have the variance of Greenwood's formula (Rothman 1978).

    >>> time = np.random.default_rng(1).exponential(size=400)
    >>> found = measure_survival_bins(np.ones(400), time, np.full(400, 1 - np.exp(-0.5)), 0.5)
    >>> len(found), round(found[0].probability, 2), round(found[0].observed.value, 2)
    (1, 0.39, 0.42)
    """
    happened, times = _read((event, time))
    soft = np.asarray(probability, np.float64)
    return tuple(
        SurvivalBin(
            float(soft[part].mean()),
            int(part.sum()),
            estimate_happened(happened[part], times[part], until),
        )
        for part in group_rows(soft)
    )


def estimate_happened(event: NDArray[np.bool_], time: Floats, until: float) -> Estimate:
    """Estimate the probability of the event until a time from rows that may be lost before."""
    value = 1.0 - float(estimate_kaplan_meier(event, time)([until])[0])
    values, events, at_risk = _count_at_risk(time, event)
    known = (values <= until) & (at_risk > events)
    terms = events[known] / (at_risk[known] * (at_risk[known] - events[known]))
    variance = (1.0 - value) ** 2 * float(terms.sum())
    n = value * (1.0 - value) / variance if variance > 0.0 else float((time > until).sum())
    rows = max(round(n), 1)
    wide = estimate_proportion(round(value * rows), rows)
    return Estimate(value, min(wide.low, value), max(wide.high, value))


def _choose_times(
    train: tuple[NDArray[np.bool_], Floats], test: tuple[NDArray[np.bool_], Floats]
) -> Floats:
    """Return times from the first events on, as long as rows are seen in both tables."""
    event, time = test
    begin = float(np.quantile(time[event], 0.05)) if event.any() else float(time.min())
    end = min(float(np.quantile(time, 0.9)), 0.999 * float(train[1].max()))
    if not begin < end:
        raise InputError("expected events over some time to measure survival, got too few")
    return np.linspace(begin, end, _N_TIMES)


def _read(pair: Pair) -> tuple[NDArray[np.bool_], Floats]:
    event, time = (np.asarray(each) for each in pair)
    if event.shape != time.shape or event.ndim != 1 or not len(event):
        raise InputError(
            f"expected an event and a time for each row, got shapes {event.shape} and {time.shape}"
        )
    return event.astype(bool), time.astype(np.float64)


def estimate_concordance(event: ArrayLike, time: ArrayLike, risk: ArrayLike) -> Estimate:
    """Estimate Harrell's concordance, with an interval from the rows' influence.

    Pairs count in which the earlier row had the event, or, at the same time, one had it and the
    other was lost; equal risks count half.

    Parameters
    ----------
    event, time : array-like of shape (n_rows,)
        Whether the event happened, and when, or until when it had not.
    risk : array-like of shape (n_rows,)
        The higher, the sooner the event.

    Returns
    -------
    Estimate

    Examples
    --------
    >>> estimate_concordance([1, 1, 0], [1.0, 2.0, 3.0], [0.9, 0.5, 0.7]).value
    0.6666666666666666
    """
    happened, times = _read((event, time))
    risks = np.asarray(risk, np.float64)
    if risks.shape != times.shape or not np.isfinite(risks).all():
        raise InputError(f"risk: expected a finite number for each of {len(times)} rows")
    n = len(times)
    right, pairs = np.zeros(n), np.zeros(n)
    first = np.flatnonzero(happened)
    step = max(_BLOCK // n, 1)
    for begin in range(0, len(first), step):
        i = first[begin : begin + step, None]
        counts = (times > times[i]) | ((times == times[i]) & ~happened)
        ahead = risks[i] - risks
        won = counts * np.where(np.abs(ahead) <= _TIE, 0.5, (ahead > 0.0))
        for total, each in ((right, won), (pairs, counts)):
            total[i[:, 0]] += each.sum(axis=1)
            total += each.sum(axis=0)
    if not pairs.any():
        raise InputError("expected pairs of rows that can be compared, got none")
    value = float(right.sum() / pairs.sum())
    # Each pair counts for both of its rows.
    half = _Z * float(np.sqrt(np.sum((right - value * pairs) ** 2)) / (0.5 * pairs.sum()))
    return Estimate(value, max(value - half, 0.0), min(value + half, 1.0))


def estimate_kaplan_meier(event: ArrayLike, time: ArrayLike) -> Callable[[ArrayLike], Floats]:
    """Estimate the survival of all rows together.

    Returned: the probability of no event until a time, as a function of times.

    >>> curve = estimate_kaplan_meier([1, 0, 1], [1.0, 2.0, 3.0])
    >>> curve([0.5, 1.0, 2.5, 3.0]).round(3).tolist()
    [1.0, 0.667, 0.667, 0.0]
    """
    happened, times = _read((event, time))
    return _multiply(*_count_at_risk(times, happened))


def _count_at_risk(times: Floats, happened: NDArray[np.bool_]) -> tuple[Floats, Floats, Floats]:
    values, places = np.unique(times, return_inverse=True)
    here = np.bincount(places, minlength=len(values)).astype(np.float64)
    at_risk = len(times) - np.append(0.0, np.cumsum(here)[:-1])
    events = np.bincount(places, happened.astype(np.float64), len(values))
    return values, events.astype(np.float64), at_risk


def _multiply(values: Floats, events: Floats, at_risk: Floats) -> Callable[[ArrayLike], Floats]:
    safe = np.where(at_risk > 0.0, at_risk, 1.0)
    curve = np.append(1.0, np.cumprod(1.0 - events / safe))

    def evaluate(when: ArrayLike) -> Floats:
        return np.asarray(curve[np.searchsorted(values, np.asarray(when, np.float64), "right")])

    return evaluate


def _estimate_seen(event: NDArray[np.bool_], time: Floats) -> Callable[[ArrayLike], Floats]:
    """Estimate how likely a row is still seen at a time; at one time events come first."""
    values, events, at_risk = _count_at_risk(time, event)
    lost = _count_at_risk(time, ~event)[1]
    return _multiply(values, lost, at_risk - events)


def estimate_brier(train: Pair, test: Pair, survival: ArrayLike, times: ArrayLike) -> Estimate:
    """Estimate the integrated Brier score: rows that were lost are weighed in by others.

    Parameters
    ----------
    train, test : pair of arrays (event, time)
        As of :func:`measure_survival`.
    survival : array-like of shape (n_rows, n_times)
        The predicted probability of no event until each time.
    times : array-like of shape (n_times,)
        In rising order, at least two, within the times of the training rows.

    Returns
    -------
    Estimate
        The mean over time, by the trapezoidal rule.

    Examples
    --------
    >>> train = (np.ones(4), np.array([1.0, 2.0, 3.0, 4.0]))
    >>> right = np.array([[0, 0], [1, 0], [1, 1], [1, 1]])
    >>> estimate_brier(train, train, right, [1.5, 2.5]).value
    0.0
    """
    known, (event, time) = _read(train), _read(test)
    grid, curves = np.asarray(times, np.float64), np.asarray(survival, np.float64)
    if len(grid) < 2 or curves.shape != (len(time), len(grid)):
        raise InputError(
            f"survival: expected shape {(len(time), len(grid))} and two times or more, got "
            f"{curves.shape}"
        )
    errors = _square_errors(known, (event, time), curves, grid)
    widths = np.diff(grid)
    rows = (0.5 * (errors[:, 1:] + errors[:, :-1])) @ widths / (grid[-1] - grid[0])
    return estimate_mean(rows, low=0.0, high=math.inf)


def _square_errors(
    known: tuple[NDArray[np.bool_], Floats],
    test: tuple[NDArray[np.bool_], Floats],
    curves: Floats,
    grid: Floats,
) -> Floats:
    """Return the weighed squared error of each row at each time."""
    event, time = test
    seen = _estimate_seen(*known)
    own, then = seen(time), seen(grid)
    if not (then > 0.0).all():
        raise InputError("times: expected times at which training rows are still seen")
    had = (time[:, None] <= grid) & event[:, None]
    has_not = time[:, None] > grid
    weight = np.where(own > 0.0, 1.0 / np.where(own > 0.0, own, 1.0), 0.0)[:, None]
    return np.asarray(had * weight * curves**2 + has_not / then * (1.0 - curves) ** 2)
