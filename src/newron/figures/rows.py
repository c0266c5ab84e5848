"""The given rows: what lies where in them, and a part of them to measure on."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from newron.model.arithmetic import Floats
from newron.model.model import Model
from newron.model.network import trace_signals

_BINS = 24
_MAX_WORK, _MIN_ROWS = 400_000, 200  # functions times rows, to measure influence


@dataclass
class RowSample:
    """The given rows and what lies where in them; without rows, nothing does."""

    model: Model
    rows: Floats | None
    sample: Floats | None = field(init=False)
    neurons: Floats | None = field(init=False)

    def __post_init__(self) -> None:
        self.sample = self.neurons = None
        if self.rows is not None and len(self.rows):
            self.sample = self._draw_sample(self.rows)
            signals = trace_signals(self.model.schema, self.model.layers, self.sample)
            self.neurons = signals[:, len(self.model.schema) :]

    def _draw_sample(self, rows: Floats) -> Floats:
        """Return so many rows that a figure is drawn in time, always the same ones."""
        limit = max(_MAX_WORK // max(self.model.n_functions, 1), _MIN_ROWS)
        if len(rows) <= limit:
            return np.ascontiguousarray(rows, np.float64)
        chosen = np.random.default_rng(0).choice(len(rows), limit, replace=False)
        return np.ascontiguousarray(rows[np.sort(chosen)], np.float64)

    def get(self, signal: int) -> Floats | None:
        """Return the values of a signal, missing ones included."""
        n = len(self.model.schema)
        if self.rows is None or self.neurons is None:
            return None
        values = self.rows[:, signal] if signal < n else self.neurons[:, signal - n]
        return np.asarray(values, np.float64)


def count_values(
    values: Floats,
    low: float,
    high: float,
    few: Sequence[float] = (),
    n_labels: int = 0,
) -> tuple[int, ...]:
    """Count values: by category, by value where they are few, or in equal parts of a range."""
    known = values[np.isfinite(values)]
    if n_labels:
        inside = known[(known >= 0) & (known < n_labels)].astype(np.intp)
        return tuple(np.bincount(inside, minlength=n_labels).tolist())
    if len(few):
        return tuple(int(np.sum(np.abs(known - value) <= 1e-9)) for value in few)
    if not (math.isfinite(high - low) and high > low):
        return ()
    counts: NDArray[np.intp] = np.histogram(known, _BINS, (low, high))[0]
    return tuple(counts.tolist())
