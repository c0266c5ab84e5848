"""How the rows of two tables differ: population stability of columns and scores."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import pairwise
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from newron.errors import InputError
from newron.formatting import format_number
from newron.model.arithmetic import Floats
from newron.model.model import Model
from newron.model.output import Classes
from newron.model.result import Result
from newron.tables.field import Label
from newron.tables.table import EncodedTable

_BINS = 10
_SOME, _MUCH = 0.1, 0.25  # what the field calls a shift that is worth a look, and a large one
SCORE = "score"


@dataclass(frozen=True)
class DriftBin(Result):
    """A part of a column's values, and the fraction of rows there.

    - ``name``: Such as "40 to 55", a category, or "missing".
    - ``old``, ``new``: The fractions of both tables.

    >>> measure_stability(["a", "b", "b"], ["a", "a", "b"]).bins[0]
    DriftBin(name='a', old=0.3333333333333333, new=0.6666666666666666)
    """

    name: str
    old: float
    new: float


@dataclass(frozen=True)
class Drift(Result):
    """How much a column differs between two tables.

    Attributes
    ----------
    name : str
    psi : float
        The population stability index: the sum of (new - old) · log(new / old) over the bins.
    chance : float
        What it is at most, 19 times of 20, if nothing has changed.
    bins : tuple of DriftBin

    Examples
    --------
    >>> rng = np.random.default_rng(0)
    >>> old, new = rng.normal(size=500), rng.normal(size=500)
    >>> measure_stability(old, new).verdict, measure_stability(old, new + 1.0).verdict
    ('stable', 'much')
    """

    name: str
    psi: float
    chance: float
    bins: tuple[DriftBin, ...]

    @property
    def verdict(self) -> str:
        """One of "stable", "some" (from 0.1 on) and "much" (from 0.25 on), if not by chance."""
        if self.psi < _SOME or self.psi <= self.chance:
            return "stable"
        return "much" if self.psi >= _MUCH else "some"

    @property
    def largest(self) -> DriftBin:
        """The bin whose fraction changed most."""
        return max(self.bins, key=lambda one: abs(one.new - one.old))


def measure_stability(
    old: ArrayLike,
    new: ArrayLike,
    *,
    name: str = "x",
    categories: tuple[Label, ...] | None = None,
) -> Drift:
    """Measure the population stability index (PSI) of one column.

    Numbers are cut at the tenths of the old rows; categories and missing values are bins of their
    own.

    Parameters
    ----------
    old, new : array-like of shape (n,) and (m,)
        Numbers, NaN where missing, or text. With ``categories`` their numbers.
    name : str
        Of the column.
    categories : tuple, optional
        The labels.

    Returns
    -------
    Drift

    Examples
    --------
    >>> found = measure_stability([1.0] * 50 + [2.0] * 50, [1.0] * 90 + [2.0] * 10)
    >>> round(found.psi, 2), found.largest.name
    (0.85, '1')
    """
    before, after = np.asarray(old), np.asarray(new)
    if not len(before) or not len(after):
        raise InputError(f"{name}: expected rows in both tables, got none in one")
    if before.dtype.kind not in "biuf" or after.dtype.kind not in "biuf":
        texts = [np.array([str(x) for x in part.tolist()]) for part in (before, after)]
        categories = tuple(np.unique(np.concatenate(texts)).tolist())
        before, after = (np.searchsorted(np.array(categories), part) for part in texts)
    first, second = before.astype(np.float64), after.astype(np.float64)
    cuts, names = _cut(first, second, categories)
    counts = [_count(part, cuts, len(names)) for part in (first, second)]
    used = (counts[0] + counts[1]) > 0
    counts = [count[used] for count in counts]
    return _make_drift(name, [n for n, is_in in zip(names, used, strict=True) if is_in], *counts)


def _cut(
    old: Floats, new: Floats, categories: tuple[Label, ...] | None
) -> tuple[Floats, list[str]]:
    """Return the upper ends of the bins but the last, and the names of all, gaps last."""
    if categories is not None:
        return np.arange(len(categories) - 1.0), [*map(str, categories), "missing"]
    known = old[~np.isnan(old)]
    both = np.unique(np.concatenate([known, new[~np.isnan(new)]]))
    if len(both) <= _BINS:
        return both[:-1], [*map(format_number, both.tolist()), "missing"]
    base = known if len(known) else both
    levels = np.linspace(0.0, 1.0, _BINS + 1)[1:-1]
    cuts = np.unique(np.quantile(base, levels, method="lower"))
    ends = [format_number(float(f"{cut:.3g}")) for cut in cuts]
    between = [f"{a} to {b}" for a, b in pairwise(ends)]
    return cuts, [f"up to {ends[0]}", *between, f"above {ends[-1]}", "missing"]


def _count(values: Floats, cuts: Floats, n_bins: int) -> NDArray[np.intp]:
    places = np.searchsorted(cuts, values)
    return np.bincount(np.where(np.isnan(values), n_bins - 1, places), minlength=n_bins)


def _make_drift(name: str, names: list[str], old: NDArray[np.intp], new: NDArray[np.intp]) -> Drift:
    from scipy.stats import chi2

    # Half a row in each bin, so that an empty one has a logarithm.
    p, q = ((count + 0.5) / (count.sum() + 0.5 * len(count)) for count in (old, new))
    psi = float(np.sum((q - p) * np.log(q / p)))
    noise = 1.0 / old.sum() + 1.0 / new.sum()
    chance = float(chi2.ppf(0.95, max(len(names) - 1, 1))) * noise
    shares = zip(names, old / old.sum(), new / new.sum(), strict=True)
    return Drift(name, psi, chance, tuple(DriftBin(n, float(a), float(b)) for n, a, b in shares))


def measure_drift(
    old: EncodedTable, new: EncodedTable, model: Model | None = None
) -> tuple[Drift, ...]:
    """Measure how much the columns of two tables differ, and what a model says of them.

    Parameters
    ----------
    old, new : EncodedTable
        With the same columns.
    model : Model, optional
        Its scores come first, then its columns.

    Returns
    -------
    tuple of Drift
        The scores of a model, then columns, the least stable first.

    Examples
    --------
    >>> from newron.tables import encode
    >>> old, new = encode([["red"], ["blue"]] * 40), encode([["red"], ["red"]] * 40)
    >>> [(one.name, one.verdict) for one in measure_drift(old, new)]
    [('x1', 'much')]
    """
    if old.names != new.names:
        raise InputError(f"expected the columns {list(old.names)[:8]} in both tables, got others")
    scores = [] if model is None else _compare_scores(model, old, new)
    columns = []
    for i, (one, other) in enumerate(zip(old.fields, new.fields, strict=True)):
        first, second = _decode(one, old.rows[:, i]), _decode(other, new.rows[:, i])
        if one.categories == other.categories:
            found = measure_stability(
                old.rows[:, i], new.rows[:, i], name=one.name, categories=one.categories
            )
        else:
            found = measure_stability(first, second, name=one.name)
        columns.append(found)
    return (*scores, *sorted(columns, key=lambda drift: -drift.psi))


def _decode(field: Any, codes: Floats) -> NDArray[Any]:
    """Return a column as text: its labels, or numbers."""
    if field.categories is None:
        return np.array(["missing" if x != x else format_number(x) for x in codes.tolist()])
    labels = [*map(str, field.categories), "missing"]
    return np.array(labels)[np.where(np.isnan(codes), len(labels) - 1, codes).astype(np.intp)]


def _compare_scores(model: Model, old: EncodedTable, new: EncodedTable) -> list[Drift]:
    before, after = model.scores(old), model.scores(new)
    output = model.output
    if output.n_scores == 1:
        names = [SCORE]
    else:
        labels = output.labels if isinstance(output, Classes) else output.names
        names = [f"{SCORE} of {label}" for label in labels]
    return [measure_stability(before[:, k], after[:, k], name=name) for k, name in enumerate(names)]
