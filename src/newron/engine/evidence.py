"""Newton's steps for the coefficients and the evidence's for their prior variances, in turn.

The prior of a group's coefficients is normal with a variance of its own. The variance that
maximizes the evidence is the squared length of the coefficients by their effective number;
it is drawn towards that of all groups of its kind. So nothing is chosen on validation rows.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from functools import cached_property, partial
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.linalg import cho_solve
from scipy.linalg.lapack import dpotrf

from newron.engine.basis import Group
from newron.engine.design import BinnedDesign, DenseDesign, Design, find_slices
from newron.engine.likelihood import Likelihood
from newron.engine.passage import find_slope, move_scores, try_step
from newron.engine.posterior import FactorPosterior, KernelPosterior, Posterior, invert
from newron.engine.rows import Values
from newron.model.arithmetic import Floats

Attempt = Callable[[float], tuple[Values, float]]  # a rate to the scores and the loss there

_FREE = 1e-6  # prior precision of the constant
_SHARED_FREE = 0.05  # of the constants of several classes, which are free together
_LARGEST, _SMALLEST = 4.0, 1e-7  # prior variances
_WIDEST = 8.0  # of those that are widened
_PULL = 3.0  # times the geometric mean: one column shall not free all of its kind
_FASTER = 1.2  # the evidence's steps crawl towards their end
_FARTHEST = 2.5  # a step of the logarithm of a variance
_DONE = 0.1
_HALVINGS = 7  # of a step that goes too far


@dataclass(frozen=True)
class Settings:
    """How to solve."""

    rounds: int = 12
    pull: float = 5.0  # effective coefficients that a kind's variance counts for
    callback: Callable[[], None] | None = None  # between rounds
    fixed: bool = False  # whether prior variances stay as they are


@dataclass
class Coefficients:
    """What is known of the groups: coefficients, prior variances, effective numbers."""

    groups: list[Group]
    values: Floats  # (1 + functions, outputs)
    variance: Floats  # of each group
    effective: Floats  # (groups, outputs)
    posteriors: list[Posterior] = field(default_factory=list)

    @classmethod
    def begin(cls, groups: Sequence[Group], start: Floats) -> Coefficients:
        """Begin with a constant alone."""
        size = 1 + sum(group.size for group in groups)
        values = np.zeros((size, len(start)))
        values[0] = start
        variance = np.array([group.variance for group in groups])
        return cls(list(groups), values, variance, np.zeros((len(groups), len(start))))

    def extend(self, groups: Sequence[Group]) -> Coefficients:
        """Add groups, at zero."""
        more = Coefficients.begin(groups, np.zeros(self.values.shape[1]))
        return Coefficients(
            [*self.groups, *groups],
            np.concatenate([self.values, more.values[1:]]),
            np.concatenate([self.variance, more.variance]),
            np.concatenate([self.effective, more.effective]),
        )

    def widen(self, factor: float) -> Coefficients:
        """Return a copy whose prior variances are larger by a factor."""
        variance = np.minimum(factor * self.variance, np.maximum(_WIDEST, self.variance))
        return Coefficients(list(self.groups), self.values.copy(), variance, self.effective.copy())

    def keep(self, mask: NDArray[np.bool_]) -> Coefficients:
        """Return some of the groups."""
        kept = np.repeat(np.concatenate([[True], mask]), [1, *(g.size for g in self.groups)])
        groups = [group for group, is_kept in zip(self.groups, mask, strict=True) if is_kept]
        return Coefficients(groups, self.values[kept], self.variance[mask], self.effective[mask])

    @cached_property
    def slices(self) -> list[slice]:
        """Where each group's coefficients lie."""
        return find_slices(self.groups)

    @cached_property
    def sizes(self) -> NDArray[np.intp]:
        """How many coefficients each group has."""
        return np.array([group.size for group in self.groups], np.intp)

    @cached_property
    def by_column(self) -> dict[int, list[int]]:
        """The positions of the groups of each single column."""
        out: dict[int, list[int]] = {}
        for g, group in enumerate(self.groups):
            if len(group.columns) == 1:
                out.setdefault(group.columns[0], []).append(g)
        return out

    def sum_groups(self, values: Floats) -> Floats:
        """Return the sum over each group of a value of every coefficient."""
        begin = np.cumsum([1, *self.sizes])[:-1]
        return np.asarray(np.add.reduceat(values, begin) if len(begin) else np.zeros(0))

    def precision(self, shift_free: bool) -> Floats:
        """Return the prior precision of every coefficient."""
        first = _SHARED_FREE if shift_free else _FREE
        return np.concatenate([[first], np.repeat(1.0 / self.variance, self.sizes)])


def solve(
    design: Design, likelihood: Likelihood, at: Coefficients, settings: Settings
) -> tuple[list[Values], bool]:
    """Find coefficients and prior variances.

    Returns the scores of each output, and whether the variances stand still.
    """
    outputs = range(likelihood.n_outputs)
    scores = [design.score(at.values[:, k]) for k in outputs]
    change = np.inf
    walk = _Walk(likelihood, at, scores)
    for n_round in range(settings.rounds):
        if settings.callback is not None:
            settings.callback()
        at.posteriors = [_step(design, walk, k) for k in outputs]
        _count_effective(at)
        likelihood.update(scores, float(at.effective.sum()) + 1.0)
        walk.loss = None if likelihood.objective.follows else walk.loss
        change = 0.0 if settings.fixed else _update_variances(at, settings.pull)
        if change < _DONE and n_round > 2:
            break
    return scores, change < _DONE


# ---- coefficients ----


@dataclass
class _Walk:
    """Where Newton's steps have come: coefficients, scores and the loss, where it is known."""

    likelihood: Likelihood
    at: Coefficients
    scores: list[Values]
    loss: float | None = None

    def take(self, output: int, step: Floats, attempt: Attempt, precision: Floats) -> None:
        """Take a step as far as it lowers the loss with its penalty."""
        values = self.at.values[:, output]
        loss = self.likelihood.loss(self.scores) if self.loss is None else self.loss
        limit = (loss + _penalize(values, precision)) * (1.0 + 1e-7) + 1e-9
        rate = 1.0
        for _ in range(_HALVINGS):
            scores, after = attempt(rate)
            if after + _penalize(values + rate * step, precision) <= limit:
                self.scores[output] = scores
                break
            rate *= 0.5
        else:
            rate, after = 0.0, loss
        self.at.values[:, output] = values + rate * step
        self.loss = after

    def attempt(self, design: Design, output: int, step: Floats) -> Attempt:
        """Return what tries a part of a step of one output."""
        if isinstance(design, BinnedDesign):
            return partial(try_step, design, self.likelihood, self.scores, output, step)
        return partial(self._move, output, design.score(step))

    def _move(self, output: int, move: Values, rate: float) -> tuple[Values, float]:
        scores = list(self.scores)
        moved = partial(move_scores, rate)
        scores[output] = self.likelihood.rows.make_one(moved, scores[output], move)
        return scores[output], self.likelihood.loss(scores)

    def look(self, design: Design, output: int) -> tuple[Floats, NDArray[Any]]:
        """Return the gradient by function, and the curvature of the design's rows."""
        if isinstance(design, BinnedDesign):
            unknown = self.loss is None
            slope = find_slope(design, self.likelihood, self.scores, output, lost=unknown)
            self.loss = slope.loss if unknown else self.loss
            return slope.downhill, slope.curvature
        gradient, curvature = self.likelihood.differentiate(self.scores, output)
        return design.project(gradient), self.likelihood.rows.take(None, curvature)


def _penalize(values: Floats, precision: Floats) -> float:
    return 0.5 * float(precision[1:] @ values[1:] ** 2)


def _step(design: Design, walk: _Walk, output: int) -> Posterior:
    """Take one of Newton's steps for one output."""
    if isinstance(design, DenseDesign) and design.size > len(design.matrix):
        return _step_by_rows(design, walk, output)
    downhill, curvature = walk.look(design, output)
    precision = walk.at.precision(walk.likelihood.shift_free)
    # The constant's precision only damps it.
    downhill[1:] -= precision[1:] * walk.at.values[1:, output]
    factor = _factorize(design.gram(curvature, output), precision + _FREE)
    step = cho_solve((factor, True), downhill, check_finite=False)
    walk.take(output, step, walk.attempt(design, output, step), precision)
    return FactorPosterior(factor, precision)


def _factorize(hessian: Floats, ridge: Floats) -> Floats:
    """Return the lower Cholesky factor of a matrix and a ridge; more of it where needed."""
    n = len(ridge)
    more = 0.0
    for _ in range(8):
        matrix = np.array(hessian, order="F")
        matrix[np.diag_indices(n)] += ridge + more
        factor, failed = dpotrf(matrix, lower=1, clean=1, overwrite_a=True)
        if not failed:
            return np.asarray(factor)
        more = max(10.0 * more, 1e-6 * float(np.diag(hessian).max()) + 1e-9)
    raise FloatingPointError("a curvature that is no number")


def _step_by_rows(design: DenseDesign, walk: _Walk, output: int) -> Posterior:
    """Take the same step where rows are fewer than coefficients, by the kernel of rows."""
    precision = np.maximum(walk.at.precision(walk.likelihood.shift_free), 1e-3)
    prior = 1.0 / precision
    kernel = design.kernel(prior)
    values = walk.at.values[:, output]
    rows = walk.likelihood.rows
    derivatives = walk.likelihood.differentiate(walk.scores, output)
    gradient, curvature = (rows.take(None, part) for part in derivatives)
    curvature = np.maximum(curvature, 1e-8 * float(curvature.max()))
    root = np.sqrt(curvature)
    factor = _factorize(root[:, None] * kernel * root, np.ones(len(root)))
    target = curvature * (design.matrix @ values) + gradient
    solved = cho_solve((factor, True), root * (kernel @ target), check_finite=False)
    step = prior * (design.matrix.T @ (target - root * solved)) - values
    walk.take(output, step, walk.attempt(design, output, step), precision)
    return KernelPosterior(prior, design, root[:, None] * invert(factor) * root)


# ---- variances ----


def _count_effective(at: Coefficients) -> None:
    for k, posterior in enumerate(at.posteriors):
        used = at.sizes - at.sum_groups(posterior.variances()) / at.variance
        at.effective[:, k] = np.maximum(used, 1e-6)


def _update_variances(at: Coefficients, pull: float) -> float:
    """Set the variances anew; return the largest change of a logarithm that matters."""
    if not at.groups:
        return 0.0
    squares = at.sum_groups((at.values**2).sum(axis=1))
    used = at.effective.sum(axis=1)
    pooled = _pool(at, squares, used)
    updated = _tie(at, squares, used, (squares + pull * pooled) / (used + pull))
    updated = np.clip(updated, _SMALLEST, _LARGEST)
    change = np.log(updated / at.variance)
    at.variance = at.variance * np.exp(np.clip(_FASTER * change, -_FARTHEST, _FARTHEST))
    matters = (used > 0.05) | np.array([group.tied for group in at.groups])
    return float(np.max(np.abs(change) * matters, initial=0.0))


def _pool(at: Coefficients, squares: Floats, used: Floats) -> Floats:
    """Return the variance of each group's kind."""
    pooled = np.empty(len(used))
    kinds = np.array([group.kind for group in at.groups])
    for kind in set(kinds.tolist()):
        mine = kinds == kind
        total = squares[mine].sum() / used[mine].sum()
        logarithm = float(np.log(at.variance[mine]) @ used[mine] / used[mine].sum())
        pooled[mine] = min(total, _PULL * float(np.exp(logarithm)))
    return pooled


def _tie(at: Coefficients, squares: Floats, used: Floats, updated: Floats) -> Floats:
    """Return the variances with those of tied groups equal."""
    out = updated.copy()
    kinds = np.array([group.kind if group.tied else "" for group in at.groups])
    for kind in set(kinds.tolist()) - {""}:
        mine = kinds == kind
        out[mine] = squares[mine].sum() / used[mine].sum()
    return out
