"""The decorators that make neurons of plain Python functions."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any, overload

from newron.errors import DefinitionError
from newron.neurons.activation import Activation, make_activation
from newron.neurons.aggregation import Aggregation, make_aggregation
from newron.neurons.builtin import ACTIVATIONS, AGGREGATIONS, LOSSES, PROCESSING
from newron.neurons.loss import Loss, make_loss
from newron.neurons.naming import check_new
from newron.neurons.processing import Processing, make_processing


@overload
def processing(function: Callable[..., Any]) -> Processing: ...
@overload
def processing(
    *, surrogate: str | Processing | None = ...
) -> Callable[[Callable[..., Any]], Processing]: ...
def processing(
    function: Callable[..., Any] | None = None, *, surrogate: str | Processing | None = None
) -> Processing | Callable[[Callable[..., Any]], Processing]:
    """Make a processing function h of a Python function of z = w (x − b).

    The function is called once, with a :class:`Term` for each argument. An argument without a
    default is a factor, with a w and a b of its own; ``*z`` takes as many as ``n_factors=`` of the
    estimator says. An argument with a number as default is a further parameter that is trained from
    there.

    Parameters
    ----------
    function : callable
    surrogate : str or Processing, optional
        Whose derivative trains a function that has none, such as a step.

    Returns
    -------
    Processing

    Raises
    ------
    DefinitionError
        If it is no formula of known operations, if it can divide by 0 or leave the range of
        numbers, or if there is nothing to train.

    Examples
    --------
    >>> from newron.neurons import maximum, processing
    >>> @processing
    ... def leaky(z, a=0.1):
    ...     return maximum(z, a * z)
    >>> leaky
    <processing leaky: maximum(z, a * z)>
    """

    def make(function: Callable[..., Any]) -> Processing:
        other = _find(surrogate)
        made = make_processing(function, other)
        check_new(made.name, "processing", [*PROCESSING, "smooth"])
        return made

    return make if function is None else make(function)


def aggregation(function: Callable[..., Any]) -> Aggregation:
    """Make an aggregation G of a Python function of a neuron's parts.

    The function is called once, with a :class:`Term` that stands for all parts α h(x) of a neuron.
    It transforms them, reduces them once by ``.sum()``, ``.mean()``, ``.min()``, ``.max()`` or
    ``.product()``, and may go on with the result. A neuron without functions has the total 0, or
    1 of a product.

    Parameters
    ----------
    function : callable

    Returns
    -------
    Aggregation

    Raises
    ------
    DefinitionError
        If it is no formula of known operations around one reduction, or can divide by 0.

    Examples
    --------
    >>> from newron.neurons import aggregation, exp, log
    >>> @aggregation
    ... def soft_max(parts):
    ...     return log(exp(parts).sum() + 1e-30)
    >>> soft_max.reduce
    'sum'
    """
    made = make_aggregation(function)
    check_new(made.name, "aggregation", AGGREGATIONS)
    return made


def activation(function: Callable[..., Any]) -> Activation:
    """Make an activation f of a Python function of a neuron's total.

    The neuron's trained centre is taken from the total before.

    Parameters
    ----------
    function : callable

    Returns
    -------
    Activation

    Raises
    ------
    DefinitionError
        If it is no formula of known operations, or can divide by 0.

    Examples
    --------
    >>> from newron.neurons import activation
    >>> @activation
    ... def bent(x):
    ...     return x / (1.0 + abs(x))
    >>> bent
    <activation bent: x / (1 + abs(x))>
    """
    made = make_activation(function)
    check_new(made.name, "activation", ACTIVATIONS)
    return made


@overload
def objective(function: Callable[..., Any]) -> Loss: ...
@overload
def objective(
    *,
    inverse_link: Callable[..., Any] | Activation | None = ...,
    targets: tuple[float, float] = ...,
) -> Callable[[Callable[..., Any]], Loss]: ...
def objective(
    function: Callable[..., Any] | None = None,
    *,
    inverse_link: Callable[..., Any] | Activation | None = None,
    targets: tuple[float, float] = (-math.inf, math.inf),
) -> Loss | Callable[[Callable[..., Any]], Loss]:
    """Make a loss of a Python function of a score and a target.

    The function is called once, with a :class:`Term` for each argument. Arguments with a number as
    default are settings, which calling the result changes: ``my_loss(bend=2.0)``. Gradient and
    curvature follow by differentiation; where the curvature is not above 0, that of the parabola
    through the nearest least value takes its place.

    Parameters
    ----------
    function : callable
        The loss of one score and one target, in the units of the targets.
    inverse_link : callable or Activation, optional
        What is predicted, of the score; by default the score itself. With classes it must be
        ``sigmoid``.
    targets : tuple of two floats, optional
        Between which numbers targets are; a target beyond them is an error of ``fit``.

    Returns
    -------
    Loss

    Raises
    ------
    DefinitionError
        If it is no formula of known operations, if it can divide by 0 or leave the range of
        numbers, or if the inverse link is not proved to rise.

    Examples
    --------
    >>> from newron.neurons import exp, objective
    >>> @objective(inverse_link=exp, targets=(0.0, float("inf")))
    ... def counts(score, target):
    ...     return exp(score) - target * score
    >>> counts
    <objective counts: exp(score) - target * score>
    """

    def make(function: Callable[..., Any]) -> Loss:
        made = make_loss(function, inverse_link, targets)
        check_new(made.name, "objective", [*LOSSES, "auto", "categorical", "log_loss"])
        return made

    return make if function is None else make(function)


def _find(surrogate: str | Processing | None) -> Processing | None:
    if surrogate is None or isinstance(surrogate, Processing):
        return surrogate
    if surrogate not in PROCESSING:
        known = ", ".join(PROCESSING)
        raise DefinitionError(f"expected a surrogate among {known}, got {surrogate!r}")
    return PROCESSING[surrogate]
