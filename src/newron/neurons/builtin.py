"""The paper's section 3: the functions that newron comes with, each as its formula.

A generalized neuron is y = f(G(h(x))). h puts one input through a function of z = w (x − b): b is a
position on the column's own axis, w a direction and a sharpness. G takes these parts together, f
what comes of it, less a trained centre; a loss compares the score with the target. This file is the
definition; where the compiled core has a kernel of the same name, that is a faster way to the same
number, and a test compares the two.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import fields
from typing import Any

import numpy as np

from newron.expressions.arithmetic import Floats
from newron.expressions.tracing import REDUCTIONS, Term, where
from newron.expressions.tree import Parameter
from newron.neurons import operations
from newron.neurons.activation import Activation
from newron.neurons.aggregation import Aggregation
from newron.neurons.loss import Loss, make_loss
from newron.neurons.operations import cos, exp, log, maximum, minimum, tanh
from newron.neurons.processing import Processing, make_processing

PROCESSING: dict[str, Processing] = {}


class _Step(Processing):
    """Heaviside, by comparison with b: the sign of a product could underflow."""

    def value(self, x: Floats, w: Floats, b: Floats, parameters: Floats | None = None) -> Floats:
        del parameters
        up, down = w[:, 0] > 0.0, w[:, 0] < 0.0
        holds = np.where(up, x >= b[:, 0], np.where(down, x <= b[:, 0], True))
        return holds.astype(np.float64)


def _define(
    surrogate: str | None = None, **flags: bool
) -> Callable[[Callable[..., Any]], Callable[..., Any]]:
    def keep(function: Callable[..., Any]) -> Callable[..., Any]:
        other = None if surrogate is None else PROCESSING[surrogate]
        made = make_processing(function, other, reach=1e100, **flags)
        PROCESSING[made.name] = (
            _Step(*(getattr(made, f.name) for f in fields(made))) if made.crisp else made
        )
        return function

    return keep


# ---- the paper's ----


@_define()
def sigmoid(z: Any) -> Any:
    """Rise smoothly from 0 to 1, half of it at b."""
    return operations.sigmoid(z)


@_define(surrogate="sigmoid", crisp=True)
def heaviside(z: Any) -> Any:
    """Step from 0 to 1 at b; trained as if its derivative were the sigmoid's."""
    return where(z >= 0.0, 1.0, 0.0)


@_define()
def tanh_prod(*z: Any) -> Any:
    """Rise and fall as often as there are factors: a bell of two, a wave of more."""
    product = tanh(z[0])
    for each in z[1:]:
        product = product * tanh(each)
    return (product + 1.0) * 0.5


# ---- of ordinary networks ----


@_define(weighs=True)
def linear(z: Any) -> Any:
    """Go straight: with this h, a sum and relu as f, it is the standard neuron."""
    return z


@_define()
def relu(z: Any) -> Any:
    """Be 0 up to b, and straight from there."""
    return maximum(z, 0.0)


@_define()
def selu(z: Any) -> Any:
    """Be straight above b, and bend to a level below."""
    return where(
        z > 0.0, 1.05070098735548049342 * z, 1.75809934084737685994 * (exp(minimum(z, 0.0)) - 1.0)
    )


# ---- good company ----


@_define()
def gaussian(z: Any) -> Any:
    """Be a bell around b: 1 there, and nearly 0 from 2 / w on."""
    return exp(-(z * z))


@_define()
def cosine(z: Any) -> Any:
    """Be a wave that is highest at b, for hours, months and angles; w is 2 π by the period."""
    return 0.5 + 0.5 * cos(z)


@_define()
def hinge(z: Any) -> Any:
    """Be a straight piece from 0 to 1, half of it at b."""
    return maximum(minimum(0.5 + 0.25 * z, 1.0), 0.0)


@_define()
def softplus(z: Any) -> Any:
    """Be a relu with a smooth bend."""
    return maximum(z, 0.0) + log(1.0 + exp(-abs(z)))


# ---- G, of the parts α h(x) of a neuron, and f, of what comes of them ----

AGGREGATIONS: dict[str, Aggregation] = {
    name: Aggregation(name, Parameter("part"), name, Parameter("total")) for name in REDUCTIONS
}

_X = Term(Parameter("x"))
ACTIVATIONS: dict[str, Activation] = {
    name: Activation(name, formula.expression, reach=1e300)
    for name, formula in {
        "identity": _X,
        "sigmoid": operations.sigmoid(_X),
        "tanh": tanh(_X),
        "relu": maximum(_X, 0.0),
    }.items()
}


# ---- losses, of a score and a target ----

LOSSES: dict[str, Loss] = {}
_POSITIVE = (0.0, math.inf)


def _train_on(
    inverse_link: Callable[..., Any] | None = None,
    targets: tuple[float, float] = (-math.inf, math.inf),
) -> Callable[[Callable[..., Any]], Callable[..., Any]]:
    def keep(function: Callable[..., Any]) -> Callable[..., Any]:
        LOSSES[function.__name__] = make_loss(function, inverse_link, targets)
        return function

    return keep


@_train_on(operations.sigmoid, (0.0, 1.0))
def binary(score: Any, target: Any) -> Any:
    """Log loss of two classes, whose log-odds are the score."""
    return maximum(score, 0.0) + log(1.0 + exp(-abs(score))) - target * score


@_train_on()
def squared(score: Any, target: Any) -> Any:
    """Squared error: the mean."""
    return (score - target) ** 2


@_train_on()
def huber(score: Any, target: Any, bend: Any = 1.345) -> Any:
    """Squared for small errors, straight from the bend on: a mean that outliers do not rule."""
    inside = minimum(abs(score - target), bend)
    return inside * (abs(score - target) - 0.5 * inside)


@_train_on()
def quantile(score: Any, target: Any, level: Any = 0.5, width: Any = 0.1) -> Any:
    """Pinball loss, rounded off by a logistic kernel: a quantile."""
    u = (target - score) / width
    return width * (maximum(u, 0.0) + log(1.0 + exp(-abs(u))) + (level - 1.0) * u)


@_train_on()
def absolute(score: Any, target: Any, width: Any = 0.1) -> Any:
    """Pinball loss of half: the median."""
    return quantile(score, target, 0.5, width)


@_train_on(exp, _POSITIVE)
def poisson(score: Any, target: Any) -> Any:
    """Half the Poisson deviance of counts."""
    return exp(score) - target * score + where(target > 0.0, target * log(target) - target, 0.0)


@_train_on(exp, _POSITIVE)
def gamma(score: Any, target: Any) -> Any:
    """Half the gamma deviance of targets above 0."""
    return score + target * exp(-score) - log(target) - 1.0


@_train_on(exp, _POSITIVE)
def tweedie(score: Any, target: Any, power: Any = 1.5) -> Any:
    """Half the Tweedie deviance of targets with zeros, the power between 1 and 2."""
    rise, fall = 2.0 - power, 1.0 - power
    best = where(target > 0.0, exp(rise * log(target)), 0.0) / (rise * fall)
    return exp(rise * score) / rise - target * exp(fall * score) / fall + best
