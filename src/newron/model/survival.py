"""Survival: hazards of a network over intervals of time, and the curves that follow."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from newron.errors import InputError, ModelError
from newron.model.arithmetic import Floats
from newron.model.output import Classes
from newron.tables.table import encode_rows, is_plain

if TYPE_CHECKING:
    from newron.model.model import Model
    from newron.tables.field import Field

_BLOCK = 100_000  # rows of one row and one interval that are evaluated together
_MAX_ENDS = 10_000
_MIN_HAZARD = 1e-300


@dataclass(frozen=True)
class Survival(Classes):
    """Whether an event happens in an interval of time to those whom it has not met before.

    The network reads a row and a time; its probability of the second class is the hazard of the
    interval that the time is in.

    Parameters
    ----------
    labels : tuple of str
        No event, and the event.
    unit, offset : float
        As of :class:`Classes`.
    loss : optional
        As of :class:`Classes`.
    limits, bands : tuple of float
        Of ordered classes, which these are not: empty.
    time : str, default "time"
        The column that is the time.
    ends : tuple of float
        The last times of the intervals, in rising order; the first one begins at 0.

    Examples
    --------
    >>> output = Survival(("no event", "event"), time="months", ends=(6.0, 12.0))
    >>> output.n_scores, output.n_intervals
    (1, 2)
    """

    time: str = "time"
    ends: tuple[float, ...] = ()

    def __post_init__(self) -> None:
        """Check that there are two classes and intervals."""
        super().__post_init__()
        if len(self.labels) != 2:
            raise ModelError(f"survival: expected no event and the event, got {list(self.labels)}")
        rising = all(a < b for a, b in zip(self.ends, self.ends[1:], strict=False))
        sound = all(0.0 <= end < math.inf for end in self.ends) and rising
        if not (1 <= len(self.ends) <= _MAX_ENDS and sound):
            raise ModelError("survival: expected rising times from 0 on as ends of intervals")

    @property
    def n_intervals(self) -> int:
        """How many intervals there are."""
        return len(self.ends)


@dataclass(frozen=True, eq=False)
class TimeCurve:
    """A curve of survival or of cumulative hazard, as a function of time.

    Parameters
    ----------
    x : array of shape (n_times,)
        The last times of the intervals.
    y : array of shape (n_times,)
        The curve there.
    kind : {"survival", "cumulative hazard"}

    Examples
    --------
    >>> curve = TimeCurve(np.array([1.0, 2.0]), np.array([0.9, 0.5]), "survival")
    >>> curve([0.0, 1.0, 2.0, 9.0]).tolist()
    [1.0, 0.9, 0.5, 0.5]
    """

    x: Floats
    y: Floats
    kind: str

    def __call__(self, times: ArrayLike) -> Floats:
        """Return the curve at some times: between two ends hazards are even, then it stays."""
        values = np.asarray(times, np.float64)
        if not np.all(values >= 0.0):
            raise InputError("times: expected numbers from 0 on, got others")
        survives = self.kind == "survival"
        with np.errstate(divide="ignore"):
            hazard = -np.log(self.y) if survives else self.y
        largest = np.append(hazard[np.isfinite(hazard)], 0.0).max() + 1000.0
        level = np.minimum(hazard, largest)  # a survival of 0 has no finite hazard
        found = np.interp(values, np.append(0.0, self.x), np.append(0.0, level))
        if not survives:
            return np.asarray(np.where(found >= largest, np.inf, found))
        # At the ends themselves to the last bit.
        place = np.minimum(np.searchsorted(self.x, values), len(self.x) - 1)
        return np.asarray(np.where(values >= self.x[place], self.y[place], np.exp(-found)))

    @property
    def domain(self) -> tuple[float, float]:
        """The first and the last time at which something is known."""
        return 0.0, float(self.x[-1])


def get_survival(model: Model) -> Survival:
    """Return the output of a survival model, or raise."""
    if not isinstance(model.output, Survival):
        raise ModelError("expected a model of survival, got one of classes or numbers")
    return model.output


def refuse_survival(model: Model, what: str) -> None:
    """Raise for a model of survival where right answers are counted: hazards have none."""
    if isinstance(model.output, Survival):
        raise InputError(
            f"{what}: expected classes or numbers, whose right answers are counted, got survival; "
            "see riskcard(), plot() and newron.evaluation.measure_survival"
        )


def drop_time(model: Model) -> tuple[Field, ...]:
    """Return the columns of a row: all but the time."""
    output = get_survival(model)
    return tuple(field for field in model.fields if field.name != output.time)


def list_fields(model: Model) -> tuple[Field, ...]:
    """Return the columns of a row as users have it: of survival without the time."""
    return drop_time(model) if isinstance(model.output, Survival) else model.fields


def read_subjects(model: Model, X: Any) -> Floats:
    """Return rows as the network reads them but for the time, which a table may have or not."""
    fields = drop_time(model)
    if not is_plain(X) or any(field.categories is not None for field in fields):
        return encode_rows(X, fields)
    rows = np.asarray(X, np.float64)
    if rows.ndim != 2 or rows.shape[1] != len(fields):
        raise InputError(f"expected a table with {len(fields)} columns, got shape {rows.shape}")
    return rows


def make_curves(
    output: Survival, cumulative: Floats, kind: str = "survival"
) -> NDArray[np.object_]:
    """Return a curve of survival, or of the cumulative hazard, for each row of hazards."""
    values = np.exp(-cumulative) if kind == "survival" else cumulative
    curves = np.empty(len(values), object)
    for i, row in enumerate(values):
        curves[i] = TimeCurve(np.array(output.ends), row, kind)
    return curves


def add_time(model: Model, rows: NDArray[np.float64], time: float | Floats) -> Floats:
    """Return rows without a time as the network reads them, at some time each."""
    place = model.schema.names.index(get_survival(model).time)
    return np.insert(rows, place, time, axis=1)


def find_hazards(model: Model, rows: Floats, *, n_threads: int = 1) -> Floats:
    """Return the probability of the event in each interval, of shape (rows, intervals)."""
    output = get_survival(model)
    ends = np.array(output.ends)
    found = np.empty((len(rows), len(ends)))
    step = max(_BLOCK // len(ends), 1)
    for first in range(0, len(rows), step):
        part = np.asarray(rows[first : first + step], np.float64)
        periods = add_time(model, np.repeat(part, len(ends), axis=0), np.tile(ends, len(part)))
        scores = model.score_rows(np.ascontiguousarray(periods), n_threads=n_threads)
        found[first : first + step] = output.predict_proba(scores)[:, 1].reshape(-1, len(ends))
    return found


def find_risk(cumulative: Floats) -> Floats:
    """Return a risk for each row: the logarithm of its cumulative hazard, the mean over the times.

    Where hazards are proportional it orders rows as they do; where they are not it counts what
    happens early more than once, as the mortality of survival forests does.
    """
    mean = np.clip(cumulative.mean(axis=1), _MIN_HAZARD, 1.0 / _MIN_HAZARD)
    return np.asarray(np.log(mean))


def accumulate(hazards: Floats) -> Floats:
    """Return the cumulative hazards at the ends of the intervals."""
    with np.errstate(divide="ignore"):
        return np.asarray(np.cumsum(-np.log1p(-hazards), axis=1))
