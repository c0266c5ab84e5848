"""The decorators that make neurons of plain Python functions."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, overload

from newron.errors import DefinitionError
from newron.neurons.activation import Activation, make_activation
from newron.neurons.aggregation import Aggregation, make_aggregation
from newron.neurons.builtin import ACTIVATIONS, AGGREGATIONS, PROCESSING
from newron.neurons.naming import check_new
from newron.neurons.processing import Processing, make_processing

__all__ = ["activation", "aggregation", "processing"]


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


def _find(surrogate: str | Processing | None) -> Processing | None:
    if surrogate is None or isinstance(surrogate, Processing):
        return surrogate
    if surrogate not in PROCESSING:
        known = ", ".join(PROCESSING)
        raise DefinitionError(f"expected a surrogate among {known}, got {surrogate!r}")
    return PROCESSING[surrogate]
