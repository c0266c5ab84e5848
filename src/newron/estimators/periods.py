"""Rows of subjects as rows of periods: one for each interval of time that a subject enters."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from newron.errors import InputError
from newron.evaluation.times import Times
from newron.model.arithmetic import Floats
from newron.tables.field import Field
from newron.training.training_set import hash_rows

_EVENTS, _INTERVALS = 8, (5, 25)  # in an interval, and how many of these there are


@dataclass(frozen=True)
class Periods:
    """Subjects by the intervals that they entered.

    - ``X`` of shape (periods, columns + 1): The subject's row, and the interval's last time.
    - ``y`` of shape (periods, 1): Whether the event happened in the interval.
    - ``group`` of shape (periods,): A key of the subject, the same for subjects that are the same.
    - ``fields``: The columns, the time last.
    """

    X: Floats
    y: Floats
    subject: NDArray[np.intp]
    group: NDArray[np.uint64]
    fields: tuple[Field, ...]


def cut_time(
    times: Times, weight: Floats | None, n_intervals: int | None = None
) -> tuple[float, ...]:
    """Return the last times of intervals that have about as many events each.

    By default there is one for eight events, within limits: of few events, few times are known.

    >>> times = Times(np.array([True] * 4 + [False]), np.array([1.0, 2.0, 3.0, 4.0, 9.0]))
    >>> cut_time(times, None, 2)
    (2.0, 4.0)
    """
    weights = np.ones(len(times)) if weight is None else weight
    used = times.event & (weights > 0.0)
    if not used.any():
        raise InputError("y: expected at least one event, got none; all rows are censored")
    values, places = np.unique(times.time[used], return_inverse=True)
    total = np.cumsum(np.bincount(places, weights[used]))
    if n_intervals is None:
        n_intervals = int(np.clip(total[-1] / _EVENTS, *_INTERVALS))
    quantiles = np.arange(1, n_intervals + 1) / n_intervals * total[-1]
    chosen = np.searchsorted(total, quantiles * (1.0 - 1e-12))
    return tuple(np.unique(values[np.minimum(chosen, len(values) - 1)]).tolist())


def expand(
    rows: Floats, times: Times, ends: tuple[float, ...], fields: tuple[Field, ...]
) -> Periods:
    """Return one row for each interval that a subject enters.

    Who is lost within an interval counts for it if seen for at least half of it.
    """
    last = np.array(ends)
    begin = np.append(0.0, last[:-1])
    place = np.searchsorted(last, times.time)  # the interval that the time is in
    inside = np.minimum(place, len(last) - 1)
    half = times.time >= 0.5 * (begin + last)[inside]
    entered = np.where(times.event | half, place + 1, place)
    entered = np.minimum(entered, len(last))
    subject = np.repeat(np.arange(len(rows)), entered)
    starts = np.cumsum(entered) - entered
    interval = np.arange(len(subject)) - starts[subject]
    happened = times.event[subject] & (interval == place[subject])
    columns = [*rows.T, times.time, times.event.astype(np.float64)]
    group = hash_rows(columns, len(rows))
    return Periods(
        np.column_stack([rows[subject], last[interval]]),
        happened[:, None].astype(np.float64),
        subject,
        group[subject],
        (*fields, Field(times.time_name)),
    )
