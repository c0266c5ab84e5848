"""Functions of bins that curves are made of, in groups with a prior variance each.

A group's functions have unit variance together under the prior of variance 1, so that the
variances of all groups are on one scale: that of a curve's contribution to the score.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, replace

import numpy as np

from newron.engine.binning import BinnedTable, Bins, LevelBins, NumberBins, TermBins
from newron.model.arithmetic import Floats

_SMOOTH, _ROUGH = 8, 8  # leading functions of the kernels
_PAIR_FUNCTIONS = 4, 6  # of a column in a pair, on few and on many rows
_SMOOTH_PART = 0.3, 1.0  # of the smooth kernel beside the linear one, in the same pairs
_SMALL_PART = 1e-4  # of a kernel's variance below which functions are left out
_NODES = 64  # of a kernel, into which more bins are joined
_FARTHEST = 3.0  # standard deviations, beyond which a column's own scale is clipped


@dataclass(frozen=True, eq=False)
class Group:
    """Functions with one prior variance: by bin of a column, by cell of a pair, or by row.

    ``columns`` has one, two or no entries.
    """

    kind: str
    columns: tuple[int, ...]
    basis: Floats
    variance: float = 0.2  # to begin with; evidence converges more slowly from below
    cut: int = 0  # of a step: its first bin
    tied: bool = False  # whether all groups of its kind have one variance

    @property
    def size(self) -> int:
        """How many functions there are."""
        return int(self.basis.shape[1])

    @property
    def is_pair(self) -> bool:
        """Whether the functions are of cells of two columns."""
        return len(self.columns) == 2


@dataclass(frozen=True, eq=False)
class PairBasis:
    """A column's leading functions in pairs, by bin, with their parts of the variance."""

    basis: Floats
    part: Floats


def list_groups(table: BinnedTable, *, rough: bool) -> Iterator[Group]:
    """Yield the groups of all columns; rough curves are for few rows."""
    for c, bins in enumerate(table.columns):
        yield from _list_marks(c, bins)
        if isinstance(bins, NumberBins) and bins.n_bins > 1:
            yield from _list_curves(c, bins, rough)


def list_lines(table: BinnedTable) -> Iterator[Group]:
    """Yield a straight line for each column of numbers, and the marks of the others, tied."""
    for c, bins in enumerate(table.columns):
        for group in _list_marks(c, bins):
            yield replace(group, tied=True)
        if isinstance(bins, NumberBins) and bins.n_bins > 1:
            yield Group("line", (c,), make_line(bins)[:, None], 0.01, tied=True)


def make_line(bins: Bins) -> Floats:
    """Return a column of numbers as one function of its bins, or the main split of categories."""
    if isinstance(bins, NumberBins) and bins.n_bins > 1:
        line = standardize(_make_linear(bins).sum(axis=1), bins.fraction)
    else:
        marks = _mark_levels(bins)
        line = np.zeros(bins.n_bins)
        if marks is not None:
            line = standardize(_rotate(marks, bins.fraction, 0.0, 1)[0][:, 0], bins.fraction)
    return _with_missing(line[:, None])[:, 0]


def _list_marks(c: int, bins: Bins) -> Iterator[Group]:
    """Yield the groups of missing values and of categories."""
    if bins.missing_mass > 0.0 and bins.n_bins:
        yield Group("missing", (c,), _mark_missing(bins))
    if isinstance(bins, LevelBins):
        basis = _mark_levels(bins)
        if basis is not None:
            yield Group("category", (c,), _with_missing(basis))


def _list_curves(c: int, bins: NumberBins, rough: bool) -> Iterator[Group]:
    kind = "term" if isinstance(bins, TermBins) else "linear"
    yield Group(kind, (c,), _with_missing(_make_linear(bins)))
    if bins.n_bins < 3:
        return
    basis = _make_smooth(bins)
    if basis.shape[1]:
        yield Group("smooth", (c,), _with_missing(basis))
    if rough:
        basis = _find_leading(_linear_kernel, _place_bins(bins)[1], bins.fraction, _ROUGH)
        if basis.shape[1]:
            yield Group("rough", (c,), _with_missing(basis))


def make_pair_bases(
    table: BinnedTable, columns: Iterable[int], *, many: bool
) -> dict[int, PairBasis]:
    """Return the functions of columns that pairs are products of, but of constants."""
    bases = {c: _make_pair_basis(table.columns[c], many) for c in columns}
    return {c: basis for c, basis in bases.items() if basis is not None}


def _make_pair_basis(bins: Bins, many: bool) -> PairBasis | None:
    if bins.n_bins < 2:
        return None
    if isinstance(bins, NumberBins):
        functions: Floats | None = _make_linear(bins)
        if bins.n_bins > 2:
            smooth = np.sqrt(_SMOOTH_PART[many]) * _make_smooth(bins)
            functions = np.concatenate([_make_linear(bins), smooth], axis=1)
        threshold = 1e-3
    else:
        functions, threshold = _mark_levels(bins), _SMALL_PART
    if functions is None:
        return None
    basis, part = _rotate(functions, bins.fraction, threshold, _PAIR_FUNCTIONS[many])
    return PairBasis(_with_missing(basis), part) if len(part) else None


def _with_missing(basis: Floats) -> Floats:
    """Add the bin of missing values, where curves are 0."""
    return np.concatenate([basis, np.zeros((1, basis.shape[1]))])


def _mark_missing(bins: Bins) -> Floats:
    part = bins.missing_mass / bins.mass.sum()
    mark = np.full((len(bins.mass), 1), -part)
    mark[-1] += 1.0
    return np.asarray(mark / np.sqrt(max(part * (1.0 - part), 0.05)))


def _mark_levels(bins: Bins) -> Floats | None:
    """Return a function for each category, centered; one for two."""
    fraction = bins.fraction
    spread = 1.0 - float(np.sum(fraction**2))
    if bins.n_bins < 2 or spread < 1e-9:
        return None
    marks = np.eye(bins.n_bins) - fraction
    if bins.n_bins == 2:
        return np.asarray(marks[:, :1] / np.sqrt(0.5 * spread))
    return np.asarray(marks / np.sqrt(spread))


# ---- scales of a column of numbers ----


def standardize(values: Floats, fraction: Floats) -> Floats:
    """Return values of bins with mean 0 and variance 1 in their mass."""
    size = float(np.abs(values).max()) or 1.0
    small = values / size
    apart = small - fraction @ small
    return np.asarray(apart / max(float(np.sqrt(fraction @ apart**2)), 1e-150))


def _make_linear(bins: NumberBins) -> Floats:
    own = np.clip(standardize(bins.centers, bins.fraction), -_FARTHEST, _FARTHEST)
    own = standardize(own, bins.fraction)
    if bins.n_bins == 2:
        return own[:, None]
    rank = standardize(bins.rank, bins.fraction)
    return np.asarray(np.column_stack([own, rank]) / np.sqrt(2.0))


def _place_bins(bins: NumberBins) -> tuple[Floats, Floats]:
    """Return bins between 0 and 1 on the column's own scale and by rank."""
    own = np.clip(standardize(bins.centers, bins.fraction), -_FARTHEST, _FARTHEST)
    return _to_unit(own), _to_unit(bins.rank)


def _to_unit(values: Floats) -> Floats:
    return np.asarray((values - values[0]) / max(values[-1] - values[0], 1e-12))


# ---- kernels ----


def _cubic_kernel(u: Floats, v: Floats) -> Floats:
    """Return the kernel of cubic splines on the unit interval, without its linear part."""
    return np.asarray(np.outer(_k2(u), _k2(v)) - _k4(np.abs(u[:, None] - v)))


def _linear_kernel(u: Floats, v: Floats) -> Floats:
    """Return the kernel of linear splines on the unit interval."""
    return np.asarray(np.outer(u - 0.5, v - 0.5) + _k2(np.abs(u[:, None] - v)))


def _k2(u: Floats) -> Floats:
    return np.asarray(0.5 * ((u - 0.5) ** 2 - 1.0 / 12.0))


def _k4(u: Floats) -> Floats:
    square = (u - 0.5) ** 2
    return np.asarray((square**2 - 0.5 * square + 7.0 / 240.0) / 24.0)


def _make_smooth(bins: NumberBins) -> Floats:
    """Return the leading functions of the cubic kernel between a column's scale and rank."""
    own, rank = _place_bins(bins)
    return _find_leading(_cubic_kernel, 0.5 * (own + rank), bins.fraction, _SMOOTH)


def _find_leading(
    kernel: Callable[[Floats, Floats], Floats], positions: Floats, fraction: Floats, n_max: int
) -> Floats:
    """Return the leading eigenfunctions of a kernel in the bins' mass, by bin.

    They have mean 0, and together a variance of 1 that falls off as the eigenvalues do. Many
    bins are joined into fewer nodes, from which the kernel goes back to the bins.
    """
    nodes, mass = _join_nodes(positions, fraction)
    across = kernel(positions, nodes)
    inside = kernel(nodes, nodes)
    means = inside @ mass
    across = across - (across @ mass)[:, None] - means + mass @ means
    inside = inside - means[:, None] - means + mass @ means
    root = np.sqrt(mass)
    values, vectors = np.linalg.eigh(root[:, None] * inside * root)
    values, vectors = values[::-1], vectors[:, ::-1]
    total = float(values[values > 0.0].sum())
    if total <= 1e-12:
        return np.zeros((len(positions), 0))
    kept = int(np.sum(values[:n_max] > _SMALL_PART * total))
    basis = across @ (root[:, None] * vectors[:, :kept]) / np.sqrt(values[:kept] * total)
    return np.asarray(basis - fraction @ basis)


def _join_nodes(positions: Floats, fraction: Floats) -> tuple[Floats, Floats]:
    if len(positions) <= _NODES:
        return positions, fraction
    part = np.arange(len(positions)) * _NODES // len(positions)
    mass = np.bincount(part, fraction) + 1e-12
    return np.bincount(part, (fraction + 1e-12) * positions) / mass, mass / mass.sum()


def _rotate(
    functions: Floats, fraction: Floats, threshold: float, n_max: int
) -> tuple[Floats, Floats]:
    """Return the leading uncorrelated sums of functions, and their parts of the variance.

    They have mean 0 and variance 1.
    """
    centered = functions - fraction @ functions
    values, vectors = np.linalg.eigh((centered.T * fraction) @ centered)
    values, vectors = values[::-1], vectors[:, ::-1]
    total = float(values[values > 0.0].sum())
    if total <= 1e-12:
        return np.zeros((len(fraction), 0)), np.zeros(0)
    kept = int(np.sum(values[:n_max] > threshold * total))
    basis = centered @ vectors[:, :kept] / np.sqrt(values[:kept])
    return np.asarray(basis), np.asarray(values[:kept] / total)
