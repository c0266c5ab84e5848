"""Pairs of columns: which ones matter, and how much of them a network should have.

A network without hidden layer adds up curves of single columns: what two columns do
together is beyond it. So a second network is trained that has, besides the curves,
hidden neurons which read two columns each. It has little decay and overfits; the
additive one has much and is stiff. Rows held out say with which share each enters the
mixture of both, which teaches one network. Shares are found more surely than a choice
between the two is made.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import combinations

import numpy as np
from numpy.typing import NDArray
from scipy.optimize import minimize

from newron.model.arithmetic import Floats
from newron.training.encoding import Encoding
from newron.training.fitting import (
    Data,
    Fitted,
    Plan,
    fit_restarts,
    name_loss,
    scale_scores,
    scale_targets,
    weigh_rows,
)
from newron.training.holdout import Split, list_rows, measure_loss, take
from newron.training.ranking import Ranking, Ranks, learn_ranking
from newron.training.refitting import Bend, find_bend, make_goal
from newron.training.teaching import keep_best, mean_scores, teach_more

__all__ = ["Mixture", "find_pairs", "fit_mixture", "judge_mixture"]

_PAIRS_PER_COLUMN, _MOST_PAIRS = 3, 90
_MOST_COLUMNS = 128  # whose pairs are looked at
_BINS = 8  # of a column: cells of two columns must hold rows
_RIDGE = 1.0  # of a cell's weight
_EVENLY = 1.0  # rows that would have both shares be one half
_LESS_DECAY = 9.0  # how much less of it networks with pairs have
_CHUNK = 4096
Pair = tuple[int, int]
Mask = NDArray[np.bool_]  # a row for each row, a column for each way to cut


@dataclass(frozen=True)
class Mixture:
    """The shares of a network without and one with pairs, and what rows held out said."""

    shares: tuple[float, float]
    losses: Floats  # on each split's rows


# ---- finding pairs ----


def find_pairs(data: Data, plan: Plan, scores: Floats, columns: Sequence[int]) -> list[Pair]:
    """Give the pairs of columns that explain most of what a network's scores leave over.

    Both columns are cut in two at every bin; the gain is that of a weight for each of
    the four parts, for the best two cuts.
    """
    rows = list_rows(data)
    scores = scale_scores(scores, scale_targets(data, plan, rows))
    bend = find_bend(make_goal(data, plan), scores)
    ranking = learn_ranking(data.X, rows.index, data.fields, _BINS, rows.weight)
    ranks = ranking.encode(data.X)
    masks = {c: _cut_column(ranks[c], ranking, c) for c in columns}
    masks = {c: mask for c, mask in masks.items() if mask.shape[1]}
    if len(masks) > _MOST_COLUMNS:
        alone = {c: _gain_alone(mask, bend) for c, mask in masks.items()}
        first = sorted(sorted(masks, key=lambda c: -alone[c])[:_MOST_COLUMNS])
        masks = {c: masks[c] for c in first}
    if len(masks) < 2:
        return []
    gains = _gain_together(list(masks.values()), bend)
    order = list(masks)
    found = [(-gains[i, j], order[i], order[j]) for i, j in combinations(range(len(order)), 2)]
    most = min(_PAIRS_PER_COLUMN * len(order), _MOST_PAIRS)
    return [(i, j) for _, i, j in sorted(found)[:most]]


def _cut_column(ranks: Ranks, ranking: Ranking, column: int) -> Mask:
    """Give a mask of the rows for each way to cut a column in two."""
    ordered, bins = int(ranking.n_ordered[column]), int(ranking.n_bins[column])
    counts = np.bincount(ranks, minlength=bins)
    free = sorted(range(ordered, bins), key=lambda b: (-counts[b], b))
    cuts = [ranks <= b for b in range(ordered - 1)] + [ranks == b for b in free[:_BINS]]
    return np.array(cuts, bool).reshape(len(cuts), len(ranks)).T


def _gain_alone(mask: Mask, bend: Bend) -> float:
    total = 0.0
    for slope, curvature in _list_outputs(bend):
        inside, held = mask.T @ slope, mask.T @ curvature
        outside, rest = slope.sum() - inside, curvature.sum() - held
        total += float(np.max(inside**2 / (held + _RIDGE) + outside**2 / (rest + _RIDGE)))
    return total


def _list_outputs(bend: Bend) -> Iterator[tuple[Floats, Floats]]:
    """Give each row's first and second derivative, output by output."""
    for k, slope in enumerate(bend.slope.T):
        curvature = bend.curve(k, k)
        assert curvature is not None  # noqa: S101 - a score always bends with itself
        yield slope, curvature


def _gain_together(masks: list[Mask], bend: Bend) -> Floats:
    """Give the gain of every pair of columns, summed over the outputs."""
    begin = np.cumsum([0] + [mask.shape[1] for mask in masks[:-1]])
    joined = np.concatenate(masks, axis=1)
    total = np.zeros((len(masks), len(masks)))
    for slope, curvature in _list_outputs(bend):
        quarters = zip(_sum_quarters(joined, slope), _sum_quarters(joined, curvature), strict=True)
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


def _read_pairs(plan: Plan, encoding: Encoding, pairs: Sequence[Pair]) -> Plan:
    """Give the plan of a network whose hidden neurons read these pairs.

    Of a column on two scales its rank is read: few far rows shall not decide.
    """
    channels = {channel.column: k for k, channel in enumerate(encoding.channels)}
    hidden, last = plan.architecture.layers[0], plan.architecture.layers[-1]
    architecture = replace(
        plan.architecture,
        layers=(replace(hidden, n_neurons=len(pairs)), last),
        reads=tuple((channels[i], channels[j]) for i, j in pairs),
        functions_per_input=1,
        direct_inputs=True,
    )
    decay = plan.recipe.weight_decay / (1.0 if plan.own_decay else _LESS_DECAY)
    return replace(plan, architecture=architecture).adjust(weight_decay=decay)


def _plan_pairs(data: Data, deep: Plan, additive: Sequence[Fitted]) -> Plan | None:
    """Plan the network with the pairs that additive ones, trained on these rows, lack."""
    core = additive[0].core
    assert core is not None  # noqa: S101 - it was trained by gradients
    scores = mean_scores([fitted.model for fitted in additive], data.X)
    columns = sorted({channel.column for channel in core.encoding.channels})
    pairs = find_pairs(data, deep, scores, columns)
    return _read_pairs(deep, core.encoding, pairs) if pairs else None


def judge_mixture(
    data: Data, deep: Plan, additive: Sequence[Fitted], splits: Sequence[Split]
) -> Mixture | None:
    """Train a network with pairs on each split, and find the shares by the other rows.

    ``additive`` are the networks without pairs of the splits. None where no two
    columns make a pair.
    """
    target_scale = scale_targets(data, deep, list_rows(data))
    targets, weight = weigh_rows(data, deep, list_rows(data), target_scale)
    said = []
    for split, alone in zip(splits, additive, strict=True):
        inside = take(data, split.inside)
        plan = _plan_pairs(inside, deep, [alone])
        if plan is None:
            return None
        (paired,) = fit_restarts(inside, plan.adjust(n_init=1))
        if paired.interrupted:
            raise KeyboardInterrupt
        scores = np.stack([f.model.score_rows(data.X[split.outside]) for f in (alone, paired)])
        said.append(scale_scores(scores, target_scale))
    loss = name_loss(deep.output)
    outside = [split.outside for split in splits]
    shares = _find_shares(loss, said, [targets[o] for o in outside], [weight[o] for o in outside])
    losses = [
        measure_loss(loss, np.tensordot(shares, scores, 1), targets[o], weight[o])
        for scores, o in zip(said, outside, strict=True)
    ]
    return Mixture((float(shares[0]), float(shares[1])), np.array(losses))


def _find_shares(
    loss: str, said: list[Floats], targets: list[NDArray[np.float32]], weight: list[Floats]
) -> Floats:
    """Give the shares of lowest loss, none negative, drawn a little towards one half."""
    scores = np.concatenate(said, axis=1)
    labels, weights = np.concatenate(targets), np.concatenate(weight)

    def measure(shares: Floats) -> float:
        lost = measure_loss(loss, np.tensordot(shares, scores, 1), labels, weights)
        return float(weights.sum()) * lost + _EVENLY * float(np.sum((shares - 0.5) ** 2))

    found = minimize(measure, np.full(2, 0.5), bounds=[(0.0, None)] * 2, method="L-BFGS-B")
    return np.asarray(found.x)


def fit_mixture(data: Data, additive: Plan, deep: Plan, mixture: Mixture, n: int) -> Fitted:
    """Train n networks without and n with pairs, and one with pairs towards their mixture."""
    alone = fit_restarts(data, additive.adjust(n_init=n))
    plan = None if alone[0].interrupted else _plan_pairs(data, deep, alone)
    if plan is None:
        return keep_best(alone, data, additive)
    paired = fit_restarts(data, replace(plan.adjust(n_init=n), callbacks=()))
    if paired[0].interrupted:
        return keep_best(alone, data, additive)
    scale = scale_targets(data, deep, list_rows(data))
    middle = np.zeros(1) if scale is None else scale.shift
    groups = [[fitted.model for fitted in group] for group in (alone, paired)]

    def hear(X: Floats) -> Floats:
        parts = [mean_scores(models, X) - middle for models in groups]
        return middle + np.tensordot(mixture.shares, np.stack(parts), 1)

    return teach_more(data, plan, hear, alone)
