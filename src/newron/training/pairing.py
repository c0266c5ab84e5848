"""Pairs of columns: which ones matter, and how much of them a network should have.

A network without hidden layer adds up curves of single columns: what two columns do
together is beyond it. So a second network is trained that has, besides the curves,
hidden neurons which read two columns each. It has little decay and overfits; the
additive one has much and is stiff. Validation rows tell with which coefficient each enters
the mixture of both, which is distilled into one network. Coefficients are found more surely
than a choice between the two is made.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import combinations

import numpy as np
from numpy.typing import NDArray
from scipy.optimize import minimize

from newron.model.arithmetic import Floats
from newron.objectives import Expansion
from newron.training.context import FitContext
from newron.training.distillation import distil, fit_distilled, mean_scores
from newron.training.encoding import Encoding
from newron.training.folds import Fold
from newron.training.gradient import fit_restarts
from newron.training.problem import Problem
from newron.training.ranking import Ranking, Ranks, learn_ranking
from newron.training.specification import FitResult, Specification
from newron.training.training_set import Counts, TrainingSet

__all__ = ["Mixture", "evaluate_mixture", "find_pairs", "fit_mixture"]

_PAIRS_PER_COLUMN, _MAX_PAIRS = 3, 90
_MAX_COLUMNS = 128  # whose pairs are looked at
_BINS = 8  # of a column: cells of two columns must hold rows
_RIDGE = 1.0  # of a cell's weight
_EVENLY = 1.0  # rows that would have both coefficients be one half
_LESS_DECAY = 9.0  # how much less of it networks with pairs have
_CHUNK = 4096
Pair = tuple[int, int]
Mask = NDArray[np.bool_]  # a row for each row, a column for each way to cut


@dataclass(frozen=True)
class Mixture:
    """Coefficients of a network without and one with pairs, and their validation losses."""

    coefficients: tuple[float, float]
    losses: Floats  # of each fold


# ---- finding pairs ----


def find_pairs(
    data: TrainingSet, spec: Specification, scores: Floats, columns: Sequence[int]
) -> list[Pair]:
    """Return the pairs of columns that explain most of what a network's scores leave over.

    Both columns are cut in two at every bin; the gain is that of a weight for each of
    the four parts, for the best two cuts.
    """
    problem = spec.make_problem(data)
    expansion = problem.expand(problem.scale.apply(scores))
    ranking = learn_ranking(data, _BINS)
    ranks = ranking.encode(data.X)
    masks = {c: _cut_column(ranks[c], data.count, ranking, c) for c in columns}
    masks = {c: mask for c, mask in masks.items() if mask.shape[1]}
    if len(masks) > _MAX_COLUMNS:
        alone = {c: _gain_alone(mask, expansion) for c, mask in masks.items()}
        first = sorted(sorted(masks, key=lambda c: -alone[c])[:_MAX_COLUMNS])
        masks = {c: masks[c] for c in first}
    if len(masks) < 2:
        return []
    gains = _gain_together(list(masks.values()), expansion)
    order = list(masks)
    found = [(-gains[i, j], order[i], order[j]) for i, j in combinations(range(len(order)), 2)]
    n_pairs = min(_PAIRS_PER_COLUMN * len(order), _MAX_PAIRS)
    return [(i, j) for _, i, j in sorted(found)[:n_pairs]]


def _cut_column(ranks: Ranks, count: Counts, ranking: Ranking, column: int) -> Mask:
    """Return a mask of the rows for each way to cut a column in two."""
    ordered, bins = int(ranking.n_ordered[column]), int(ranking.n_bins[column])
    counts = np.bincount(ranks, count, minlength=bins)
    free = sorted(range(ordered, bins), key=lambda b: (-counts[b], b))
    cuts = [ranks <= b for b in range(ordered - 1)] + [ranks == b for b in free[:_BINS]]
    return np.array(cuts, bool).reshape(len(cuts), len(ranks)).T


def _gain_alone(mask: Mask, expansion: Expansion) -> float:
    total = 0.0
    for gradient, curvature in _list_outputs(expansion):
        inside, held = mask.T @ gradient, mask.T @ curvature
        outside, rest = gradient.sum() - inside, curvature.sum() - held
        total += float(np.max(inside**2 / (held + _RIDGE) + outside**2 / (rest + _RIDGE)))
    return total


def _list_outputs(expansion: Expansion) -> Iterator[tuple[Floats, Floats]]:
    """Yield each row's first and second derivative, output by output."""
    for k, gradient in enumerate(expansion.gradient.T):
        curvature = expansion.curvature(k, k)
        assert curvature is not None  # noqa: S101 - of a score by itself
        yield gradient, curvature


def _gain_together(masks: list[Mask], expansion: Expansion) -> Floats:
    """Return the gain of every pair of columns, summed over the outputs."""
    begin = np.cumsum([0] + [mask.shape[1] for mask in masks[:-1]])
    joined = np.concatenate(masks, axis=1)
    total = np.zeros((len(masks), len(masks)))
    for gradient, curvature in _list_outputs(expansion):
        quarters = zip(
            _sum_quarters(joined, gradient), _sum_quarters(joined, curvature), strict=True
        )
        # Rounding can make less than nothing of the curvature of no row.
        gain = sum(part**2 / (np.maximum(held, 0.0) + _RIDGE) for part, held in quarters)
        total += np.maximum.reduceat(np.maximum.reduceat(gain, begin, axis=0), begin, axis=1)
    # The last digits depend on the threads of a matrix product: they must not decide.
    largest = max(float(total.max()), 1e-9)
    return np.asarray(np.round(total, 9 - int(np.ceil(np.log10(largest)))))


def _sum_quarters(masks: Mask, amount: Floats) -> Iterator[Floats]:
    """Sum an amount over the rows in both, one or the other, or neither of two masks."""
    both = np.zeros((masks.shape[1], masks.shape[1]))
    for at in range(0, len(masks), _CHUNK):
        part = masks[at : at + _CHUNK].astype(np.float64)
        both += part.T @ (part * amount[at : at + _CHUNK, None])
    one = np.diag(both)
    yield both
    yield one[:, None] - both
    yield one[None, :] - both
    yield amount.sum() - one[:, None] - one[None, :] + both


# ---- networks with pairs ----


def _read_pairs(spec: Specification, encoding: Encoding, pairs: Sequence[Pair]) -> Specification:
    """Return the specification of a network whose hidden neurons read these pairs.

    Of a column on two scales its rank is read: few far rows shall not decide.
    """
    channels = {channel.column: k for k, channel in enumerate(encoding.channels)}
    hidden, last = spec.architecture.layers[0], spec.architecture.layers[-1]
    architecture = replace(
        spec.architecture,
        layers=(replace(hidden, n_neurons=len(pairs)), last),
        reads=tuple((channels[i], channels[j]) for i, j in pairs),
        functions_per_input=1,
        direct_inputs=True,
    )
    decay = spec.recipe.weight_decay / (1.0 if spec.own_decay else _LESS_DECAY)
    return replace(spec, architecture=architecture).adjust(weight_decay=decay)


def _specify_pairs(
    data: TrainingSet, deep: Specification, additive: Sequence[FitResult]
) -> Specification | None:
    """Specify the network with the pairs that additive ones, trained on these rows, lack."""
    core = additive[0].core
    assert core is not None  # noqa: S101 - it was trained by gradients
    scores = mean_scores([fitted.model for fitted in additive], data.X)
    columns = sorted({channel.column for channel in core.encoding.channels})
    pairs = find_pairs(data, deep, scores, columns)
    return _read_pairs(deep, core.encoding, pairs) if pairs else None


def evaluate_mixture(
    data: TrainingSet,
    deep: Specification,
    additive: Sequence[FitResult],
    folds: Sequence[Fold],
    context: FitContext,
) -> Mixture | None:
    """Train a network with pairs in each fold; find the coefficients by validation rows.

    ``additive`` are the networks without pairs of the folds. None where no two columns
    make a pair.
    """
    whole = deep.make_problem(data)
    problems, scores = [whole.take(fold.validation) for fold in folds], []
    for fold, alone in zip(folds, additive, strict=True):
        train = data.take(fold.train)
        spec = _specify_pairs(train, deep, [alone])
        if spec is None:
            return None
        (paired,) = fit_restarts(train, spec.adjust(n_init=1), context.aside())
        X = data.X[fold.validation.index]
        both = np.stack([fitted.model.score_rows(X) for fitted in (alone, paired)])
        scores.append(whole.scale.apply(both))
    coefficients = _find_coefficients(problems, scores)
    losses = [
        problem.measure(np.tensordot(coefficients, each, 1))
        for problem, each in zip(problems, scores, strict=True)
    ]
    return Mixture((float(coefficients[0]), float(coefficients[1])), np.array(losses))


def _find_coefficients(problems: list[Problem], scores: list[Floats]) -> Floats:
    """Return the coefficients of lowest loss, none negative, drawn a little towards 1/2."""
    every = np.concatenate(scores, axis=1)
    problem = replace(
        problems[0],
        targets=np.concatenate([each.targets for each in problems]),
        weight=np.concatenate([each.weight for each in problems]),
    )
    total = float(problem.weight.sum())

    def measure(coefficients: Floats) -> float:
        lost = problem.measure(np.tensordot(coefficients, every, 1))
        return total * lost + _EVENLY * float(np.sum((coefficients - 0.5) ** 2))

    found = minimize(measure, np.full(2, 0.5), bounds=[(0.0, None)] * 2, method="L-BFGS-B")
    return np.asarray(found.x)


def fit_mixture(
    data: TrainingSet,
    additive: Specification,
    deep: Specification,
    mixture: Mixture,
    n: int,
    context: FitContext,
) -> FitResult:
    """Train n networks without and n with pairs, and distil their mixture into one."""
    alone = fit_restarts(data, additive.adjust(n_init=n), context)
    spec = _specify_pairs(data, deep, alone)
    if spec is None:
        return fit_distilled(data, additive, n, context)
    paired = fit_restarts(data, spec.adjust(n_init=n), context.aside())
    middle = deep.make_problem(data).scale.shift
    groups = [[fitted.model for fitted in group] for group in (alone, paired)]

    def teach(X: Floats) -> Floats:
        parts = [mean_scores(models, X) - middle for models in groups]
        return middle + np.tensordot(mixture.coefficients, np.stack(parts), 1)

    return distil(data, spec, teach, context)
