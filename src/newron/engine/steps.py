"""Steps where smooth curves are not enough: a jump at a cut of one column."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from newron.engine.basis import Group
from newron.engine.binning import BinnedTable, NumberBins
from newron.engine.evidence import Coefficients
from newron.model.arithmetic import Floats

_MIN_BINS = 5
_GAIN = 4.0  # of the loss, beyond the logarithm of the number of cuts
_MIN_PART = 0.02  # of the best step's gain
_MIN_CURVATURE = 3.0


def find_steps(
    table: BinnedTable, at: Coefficients, sums: Sequence[tuple[Floats, Floats]]
) -> list[Group]:
    """Return the best step of each column where it lowers the loss enough, best first.

    ``sums`` are gradient and curvature summed over bins, (columns, 256), for each output.
    """
    found: list[tuple[float, int, int]] = []
    for c, bins in enumerate(table.columns):
        if not isinstance(bins, NumberBins) or bins.n_bins < _MIN_BINS:
            continue
        own = _list_functions(c, bins, at)
        gain = np.zeros(bins.n_bins)
        for gradient, curvature in sums:
            gain += _measure_gain(gradient[c], curvature[c], own)
        cut = int(np.argmax(gain))
        threshold = np.log(bins.n_bins) + _GAIN + 0.5 * (len(sums) - 1)
        if gain[cut] > threshold:
            found.append((float(gain[cut]), c, cut))
    found.sort(key=lambda step: (-step[0], step[1]))
    best = found[0][0] if found else 0.0
    return [
        _make_step(table.columns[c].mass, c, cut)
        for gain, c, cut in found
        if gain > _MIN_PART * best
    ]


def _list_functions(c: int, bins: NumberBins, at: Coefficients) -> tuple[Floats, Floats]:
    """Return the column's own functions by bin, with a constant, and their precisions."""
    functions, precision = [np.ones((bins.n_bins, 1))], [np.array([1e-3])]
    for g in at.by_column.get(c, []):
        functions.append(at.groups[g].basis[:-1])
        precision.append(np.full(at.groups[g].size, 1.0 / at.variance[g]))
    return np.concatenate(functions, axis=1), np.concatenate(precision)


def _measure_gain(gradient: Floats, curvature: Floats, own: tuple[Floats, Floats]) -> Floats:
    """Return the gain of a step at every cut, when the column's own functions may move."""
    functions, precision = own
    n = len(functions)
    curvature = np.maximum(curvature[:n], 0.0) + 1e-9
    weighed = curvature[:, None] * functions
    inner = functions.T @ weighed + np.diag(precision)
    above = np.cumsum(gradient[:n][::-1])[::-1]
    bent = np.cumsum(curvature[::-1])[::-1]
    crossed = np.cumsum(weighed[::-1], axis=0)[::-1]
    explained = np.einsum("kp,kp->k", crossed, np.linalg.solve(inner, crossed.T).T)
    left = np.maximum(bent - explained, 1e-9)
    gain = 0.5 * above**2 / (left + 1.0)
    gain[left < _MIN_CURVATURE] = 0.0
    gain[0] = 0.0
    return np.asarray(gain)


def _make_step(mass: Floats, c: int, cut: int) -> Group:
    step = np.zeros((len(mass), 1))
    step[cut:-1] = 1.0
    step -= mass @ step / mass.sum()
    if mass[-1] == 0.0:
        step[-1] = 0.0
    return Group("step", (c,), step, 1.0, cut)
