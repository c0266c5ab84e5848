"""The decorator that makes processing functions of plain Python functions."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, overload

from newron.errors import DefinitionError
from newron.neurons.builtin import PROCESSING
from newron.neurons.processing import Processing, make_processing

__all__ = ["processing"]


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
        if made.name in PROCESSING or made.name == "smooth":
            raise DefinitionError(
                f"processing: expected a name of its own, got {made.name}, which newron has; "
                "rename it"
            )
        return made

    return make if function is None else make(function)


def _find(surrogate: str | Processing | None) -> Processing | None:
    if surrogate is None or isinstance(surrogate, Processing):
        return surrogate
    if surrogate not in PROCESSING:
        known = ", ".join(PROCESSING)
        raise DefinitionError(f"expected a surrogate among {known}, got {surrogate!r}")
    return PROCESSING[surrogate]
