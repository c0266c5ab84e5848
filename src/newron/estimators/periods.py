"""Rows of subjects as rows of periods: one for each interval of time that a subject enters."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from newron.errors import InputError
from newron.model.arithmetic import Floats
from newron.tables.field import Field
from newron.training.training_set import hash_rows

Flags = NDArray[np.bool_]

_EVENTS, _INTERVALS = 8, (5, 25)  # in an interval, and how many of these there are


@dataclass(frozen=True)
class Times:
    """Until when each subject was seen, and whether the event ended that."""

    event: Flags
    time: Floats
    event_name: str = "event"
    time_name: str = "time"

    def __len__(self) -> int:
        return len(self.time)


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


def read_times(y: Any, n_rows: int) -> Times:
    """Read what a user gives: a structured array, a pair (event, time), or two columns.

    >>> found = read_times(([True, False], [3.0, 5.0]), 2)
    >>> found.event.tolist(), found.time.tolist()
    ([True, False], [3.0, 5.0])
    """
    event, time, names = _split(y)
    event, time = np.asarray(event), np.asarray(time)
    if event.shape != (n_rows,) or time.shape != (n_rows,):
        raise InputError(
            f"y: expected an event and a time for each of {n_rows} rows, got shapes "
            f"{event.shape} and {time.shape}"
        )
    if event.dtype != bool and not np.isin(event, (0, 1)).all():
        raise InputError("y: expected events that are true or false, or 1 and 0, got others")
    try:
        times = time.astype(np.float64)
    except (TypeError, ValueError):
        raise InputError(f"y: expected times that are numbers, got {time.dtype}") from None
    if not (np.isfinite(times) & (times >= 0.0)).all():
        raise InputError("y: expected finite times from 0 on, got missing or negative ones")
    return Times(event.astype(bool), times, *names)


def _split(y: Any) -> tuple[Any, Any, tuple[str, str]]:
    if isinstance(y, Times):
        return y.event, y.time, (y.event_name, y.time_name)
    if isinstance(y, tuple) and len(y) == 2:
        return y[0], y[1], ("event", "time")
    if hasattr(y, "columns") and len(y.columns) == 2:
        names = tuple(map(str, y.columns))
        table = [np.asarray(y[name]) for name in y.columns]
        return _order(table, names)
    values = np.asarray(y)
    if values.dtype.names is not None and len(values.dtype.names) == 2:
        names = values.dtype.names
        return _order([values[name] for name in names], names)
    if values.ndim == 2 and values.shape[1] == 2:
        return values[:, 0], values[:, 1], ("event", "time")
    raise InputError(
        "y: expected a structured array of an event and a time, a pair (event, time) or two such "
        f"columns, got {type(y).__name__} of shape {values.shape}; times alone say not whether "
        "the event happened"
    )


def _order(columns: list[Any], names: Any) -> tuple[Any, Any, tuple[str, str]]:
    """Return event and time, in whichever order they stand: events are the flags."""
    first, second = (np.asarray(column) for column in columns)
    if second.dtype == bool and first.dtype != bool:
        return second, first, (str(names[1]), str(names[0]))
    return first, second, (str(names[0]), str(names[1]))


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
