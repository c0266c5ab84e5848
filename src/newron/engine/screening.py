"""Wide tables: straight lines of all columns, and curves of those that stand out.

On a table of very many columns, those that look best by chance would be taken for true ones.
So all columns share the prior variance of their straight lines, and only a column with more
evidence than chance would find among so many has curves of its own. Two columns may do something
together that neither does alone: products of lines find them, for all pairs at once.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from newron.engine.basis import Group
from newron.engine.rows import Codes
from newron.model.arithmetic import Floats

WIDE = 150  # columns, beyond which a table is wide
_GAIN = 3.0  # of the evidence, beyond the logarithm of the number of columns
_MAX_COLUMNS = 40  # that are found at a time
_MIN_PART = 0.1  # of the best column's gain
_VARIANCES = 10.0 ** np.arange(-3.0, 1.1, 0.5)
_BY_CHANCE = 9.0  # less than the largest of so many squares: about twenty pairs have it by chance
_MAX_PARTNERS = 64  # columns that are looked at for their partners

Sums = Sequence[tuple[Floats, Floats]]  # of gradient and curvature over bins, for each output


def find_columns(groups: Sequence[Group], sums: Sums, n_columns: int) -> NDArray[np.intp]:
    """Return the columns whose groups have more evidence than chance, in order."""
    by_column: dict[int, list[Floats]] = {}
    for group in groups:
        by_column.setdefault(group.columns[0], []).append(group.basis)
    gain = np.zeros(n_columns)
    for c, bases in by_column.items():
        functions = np.concatenate(bases, axis=1)
        size = len(functions)
        gain[c] = sum(_measure(functions, g[c, :size], w[c, :size]) for g, w in sums)
    threshold = max(np.log(n_columns) + _GAIN, _MIN_PART * float(gain.max()))
    best = np.argsort(-gain, kind="stable")[:_MAX_COLUMNS]
    return np.sort(best[gain[best] > threshold])


def _measure(functions: Floats, gradient: Floats, curvature: Floats) -> float:
    """Return the evidence of functions of one column, were they added alone."""
    curvature = np.maximum(curvature, 0.0)
    centered = functions - curvature @ functions / max(float(curvature.sum()), 1e-300)
    values, vectors = np.linalg.eigh((centered.T * curvature) @ centered)
    values = np.maximum(values, 0.0)[:, None]
    along = ((gradient @ centered) @ vectors)[:, None] ** 2
    evidence = 0.5 * (along / (values + 1.0 / _VARIANCES) - np.log1p(values * _VARIANCES))
    return float(evidence.sum(axis=0).max())


def find_partners(
    lines: Sequence[Floats],
    codes: Codes,
    derivatives: Sequence[tuple[NDArray[Any], NDArray[Any]]],
) -> list[int]:
    """Return the columns whose products with another column explain more than chance would.

    Parameters
    ----------
    lines : sequence of ndarray
        A function of each column's bins, of mean 0 and variance 1.
    codes : ndarray of shape (columns, rows)
    derivatives : sequence of (gradient, curvature)
        Of the rows, for each output.

    Returns
    -------
    list of int
        The columns of the strongest pairs, in order.
    """
    values = np.stack(
        [line.astype(np.float32)[code] for line, code in zip(lines, codes, strict=True)]
    )
    squares = values**2
    gain = np.zeros((len(values), len(values)), np.float32)
    for gradient, curvature in derivatives:
        along = (values * gradient.astype(np.float32)) @ values.T
        bent = (squares * curvature.astype(np.float32)) @ squares.T
        gain += along**2 / (bent + 1.0)
    first, second = np.triu_indices(len(values), 1)
    strength = gain[first, second]
    threshold = max(2.0 * np.log(max(len(strength), 1)) - _BY_CHANCE, 1.0) * len(derivatives)
    found: dict[int, None] = {}
    for q in np.argsort(-strength, kind="stable")[:_MAX_PARTNERS].tolist():
        if strength[q] <= threshold or len(found) >= _MAX_PARTNERS:
            break
        found |= {int(first[q]): None, int(second[q]): None}
    return sorted(found)
