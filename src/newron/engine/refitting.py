"""The weights of a network's last layer, set anew towards the additive model's scores.

Functions are fitted curve by curve; small errors of many curves add up. Least squares on
the rows, weighed by the loss's curvature, balance them.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray
from scipy.linalg import cho_solve
from scipy.linalg.lapack import dpotrf

from newron.model.arithmetic import Floats
from newron.model.edits import open_functions
from newron.model.model import Model

_MIN_ROWS, _MAX_VALUES = 2_000, 1e6  # functions times rows that are looked at
_RIDGE = 0.02  # towards the weights as they were, in nats


def refit_weights(
    model: Model,
    rows: Floats,
    scores: Floats,
    curvature: Floats,
    scale: Floats,
    directions: tuple[int, ...] = (),
) -> Model:
    """Return the model whose scores on rows are nearest to others, (outputs, rows).

    The curvature is that of scores in units of each output's scale, in which they are fitted.
    A weight that must keep its sign, because a column's direction is given, does.
    """
    last = model.layers[-1]
    if last.alpha is None or last.centre is None or not len(last.source):
        return model
    n = len(last.source)
    some = max(_MIN_ROWS, int(_MAX_VALUES / n))
    if len(rows) > some:
        part = np.linspace(0, len(rows) - 1, some).astype(np.intp)
        rows, scores, curvature = rows[part], scores[:, part], curvature[:, part]
    values = open_functions(model.schema, model.layers[:-1], last).score_rows(rows)
    alpha, bias = np.array(last.alpha), np.array(last.centre)
    for k in range(last.n_neurons):
        mine = last.target == k
        functions = np.concatenate([np.ones((len(rows), 1)), values[:, mine]], axis=1)
        before = np.concatenate([[-bias[k]], alpha[mine]])
        left = (scores[k] - functions @ before) / scale[k]
        found = scale[k] * _solve(functions, left, curvature[k])
        bias[k], alpha[mine] = -(before + found)[0], (before + found)[1:]
    if directions:
        held = _find_held(model, directions)
        alpha = np.where(held & (alpha * last.alpha < 0.0), 0.0, alpha)
    return Model(
        model.schema, [*model.layers[:-1], last.replace(alpha=alpha, centre=bias)], model.output
    )


def _solve(functions: Floats, target: Floats, curvature: Floats) -> Floats:
    weighed = functions * curvature[:, None]
    matrix = functions.T @ weighed
    matrix[np.diag_indices(len(matrix))] += _RIDGE
    factor, failed = dpotrf(matrix, lower=1)
    if failed:
        return np.zeros(len(matrix))
    return np.asarray(cho_solve((factor, True), weighed.T @ target))


def _find_held(model: Model, directions: tuple[int, ...]) -> NDArray[np.bool_]:
    signs = np.append(np.array(directions), np.zeros(sum(x.n_neurons for x in model.layers)))
    return np.asarray(signs[model.layers[-1].source] != 0)
