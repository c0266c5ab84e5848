"""Until when each row was seen, and whether the event ended that: what survival is measured by."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from newron.errors import InputError
from newron.model.arithmetic import Floats

Flags = NDArray[np.bool_]


@dataclass(frozen=True)
class Times:
    """Until when each subject was seen, and whether the event ended that."""

    event: Flags
    time: Floats
    event_name: str = "event"
    time_name: str = "time"

    def __len__(self) -> int:
        return len(self.time)

    def take(self, rows: NDArray[np.intp]) -> Times:
        """Return the times of some rows."""
        return replace(self, event=self.event[rows], time=self.time[rows])


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
