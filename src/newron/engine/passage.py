"""Passages over the rows: all that a step needs of a block is computed while it is there.

Each is one round of tasks on a cluster and one reading of codes that lie on disk, and what is
summed at once need not be kept by row.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np
from numpy.typing import NDArray

from newron.engine.design import BinnedDesign, Pairs, Tables, add_scores, sum_block
from newron.engine.likelihood import Likelihood, Scores
from newron.engine.rows import Block, Index, Values
from newron.model.arithmetic import Floats

Differentiate = Callable[..., tuple[NDArray[Any], NDArray[Any]]]  # of a block
Lose = Callable[..., float]  # of a block
BinSums = tuple[Floats, Floats]  # of gradient and curvature


@dataclass(frozen=True)
class Slope:
    """Where a likelihood falls: by function, with the curvature of sampled rows.

    ``loss`` is there where it was asked for.
    """

    downhill: Floats
    curvature: NDArray[Any]
    loss: float | None


def find_slope(
    design: BinnedDesign, likelihood: Likelihood, scores: Scores, output: int, *, lost: bool
) -> Slope:
    """Return gradient and curvature of one output; with ``lost`` the loss too."""
    step = partial(
        _sum_slope,
        likelihood.differentiate_block(output),
        likelihood.lose_block() if lost else None,
        design.pairs,
    )
    sought = likelihood.sought
    *sums, curvature, loss = design.rows.total(
        step, design.places, sought.targets, sought.weight, *scores
    )
    sampled = curvature[0] if len(curvature) == 1 else np.concatenate(curvature)
    return Slope(design.collect(*sums), sampled, likelihood.factor * loss if lost else None)


def _sum_slope(
    differentiate: Differentiate,
    lose: Lose | None,
    pairs: Pairs,
    block: Block,
    places: Index,
    *row_values: NDArray[Any],
) -> tuple[Any, ...]:
    gradient, curvature = differentiate(block, *row_values)
    lost = 0.0 if lose is None else lose(block, *row_values)
    return *sum_block(pairs, block, gradient), [curvature[places]], lost


def try_step(
    design: BinnedDesign,
    likelihood: Likelihood,
    scores: Scores,
    output: int,
    step: Floats,
    rate: float,
) -> tuple[Values, float]:
    """Return the scores of one output after a part of a step, and the loss there."""
    task = partial(_move_block, design.tabulate(step), rate, output, likelihood.lose_block())
    sought = likelihood.sought
    made, lost = design.rows.make_total(1, task, sought.targets, sought.weight, *scores)
    return made[0], likelihood.factor * float(lost)


def _move_block(
    tables: tuple[float, Tables, Pairs, Tables],
    rate: float,
    output: int,
    lose: Lose,
    block: Block,
    targets: Floats,
    weight: Floats,
    *scores: NDArray[Any],
) -> tuple[NDArray[Any], float]:
    own = list(scores)
    own[output] = move_scores(rate, block, scores[output], add_scores(*tables, block))
    return own[output], lose(block, targets, weight, *own)


def move_scores(rate: float, block: Block, start: NDArray[Any], move: NDArray[Any]) -> NDArray[Any]:
    """Return the scores of a block after a part of a step."""
    del block
    return np.asarray(start + rate * move)


def sum_derivatives(
    likelihood: Likelihood, scores: Scores, outputs: Iterable[int]
) -> tuple[list[BinSums], list[float]]:
    """Return gradient and curvature by bin of some outputs, and the curvature of all rows."""
    slopes = [likelihood.differentiate_block(k) for k in outputs]
    sought = likelihood.sought
    found = likelihood.rows.total(
        partial(_sum_derivatives, slopes), sought.targets, sought.weight, *scores
    )
    return list(zip(found[::3], found[1::3], strict=True)), list(found[2::3])


def _sum_derivatives(
    slopes: list[Differentiate], block: Block, *row_values: NDArray[Any]
) -> tuple[Any, ...]:
    out: list[Any] = []
    for slope in slopes:
        gradient, curvature = slope(block, *row_values)
        bins, _, total = sum_block(Pairs(), block, curvature)
        out += [sum_block(Pairs(), block, gradient)[0], bins, total]
    return tuple(out)
