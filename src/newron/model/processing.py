"""The processing functions h: what they mean, in double precision.

A class here says what a function does; the struct of the same name in
``cpp/core/processing.h`` does it fast. ARCHITECTURE.md tells how to add one.
"""

from abc import ABC, abstractmethod
from typing import ClassVar

import numpy as np

from newron.errors import ModelError
from newron.model.arithmetic import Floats, exp, sigmoid, tanh

__all__ = ["OneFactor", "Processing", "get_processing", "processing_names", "register"]

_LARGEST = 1e100  # keeps unbounded functions finite, far beyond any use


class Processing(ABC):
    """One kind of processing function, h(x) with parameters w and b.

    ARCHITECTURE.md has the recipe for a new one.

    Examples
    --------
    >>> step = get_processing("heaviside")
    >>> step.value(np.array([[50.0], [60.0]]), np.array([[1.0]]), np.array([[54.0]])).tolist()
    [[0.0], [1.0]]
    """

    name: ClassVar[str]
    crisp: ClassVar[bool] = False
    """Takes the values 0 and 1 only."""
    bounded: ClassVar[bool] = True
    """Stays within 0 and 1."""
    many_factors: ClassVar[bool] = False
    """Has any number of pairs w, b instead of one."""
    weighs: ClassVar[bool] = False
    """w is itself a weight: no alpha in the last layer, b stays where it is."""

    @abstractmethod
    def value(self, x: Floats, w: Floats, b: Floats) -> Floats:
        """Return h(x).

        Parameters
        ----------
        x : array of shape (n_rows, n_functions)
        w, b : arrays of shape (n_functions, n_factors)

        Returns
        -------
        array of shape (n_rows, n_functions)
        """

    def limits(self, w: Floats, b: Floats, low: Floats, high: Floats) -> tuple[Floats, Floats]:
        """Return the least and the greatest value for x between low and high.

        The functions that are not bounded are monotone.

        Parameters
        ----------
        w, b : arrays of shape (n_functions, n_factors)
        low, high : arrays of shape (n_functions,)

        Returns
        -------
        tuple of two arrays of shape (n_functions,)
        """
        if self.bounded:
            return np.zeros(len(w)), np.ones(len(w))
        ends = [self.value(end[None, :], w, b)[0] for end in (low, high)]
        return np.minimum(*ends), np.maximum(*ends)


class OneFactor(Processing):
    """A function of z = w (x - b): a subclass has ``name`` and :meth:`shape`.

    Examples
    --------
    >>> get_processing("relu").shape(np.array([-1.0, 2.0])).tolist()
    [0.0, 2.0]
    """

    def value(self, x: Floats, w: Floats, b: Floats) -> Floats:
        """Return h(x).

        Parameters
        ----------
        x : array of shape (n_rows, n_functions)
        w, b : arrays of shape (n_functions, 1)

        Returns
        -------
        array of shape (n_rows, n_functions)
        """
        return self.shape(w[:, 0] * (x - b[:, 0]))

    @abstractmethod
    def shape(self, z: Floats) -> Floats:
        """Return h as a function of z.

        Parameters
        ----------
        z : array

        Returns
        -------
        array
        """


_REGISTRY: dict[str, Processing] = {}


def register(cls: type[Processing]) -> type[Processing]:
    """Make a processing function known by its name; a decorator of its class.

    Parameters
    ----------
    cls : subclass of Processing

    Returns
    -------
    type
        The class itself.

    Examples
    --------
    >>> @register  # doctest: +SKIP
    ... class Gauss(OneFactor):
    ...     name = "gauss"
    ...
    ...     def shape(self, z):
    ...         return np.exp(-z * z)
    """
    _REGISTRY[cls.name] = cls()
    return cls


def processing_names() -> tuple[str, ...]:
    """Return the names of all processing functions.

    Returns
    -------
    tuple of str

    Examples
    --------
    >>> "heaviside" in processing_names()
    True
    """
    return tuple(_REGISTRY)


def get_processing(name: str) -> Processing:
    """Return the processing function of a name.

    Parameters
    ----------
    name : str
        One of :func:`processing_names`.

    Returns
    -------
    Processing

    Raises
    ------
    ModelError
        If there is none of this name.

    Examples
    --------
    >>> get_processing("heaviside").crisp
    True
    """
    try:
        return _REGISTRY[name]
    except (KeyError, TypeError):
        known = ", ".join(_REGISTRY)
        raise ModelError(f"expected a processing function among {known}, got {name!r}") from None


@register
class Heaviside(Processing):
    """H(w (x - b)): 1 from b on for w > 0, up to b for w < 0, always for w = 0."""

    name = "heaviside"
    crisp = True

    def value(self, x: Floats, w: Floats, b: Floats) -> Floats:
        # By comparison, never by the sign of a product that can underflow.
        up, down = w[:, 0] > 0.0, w[:, 0] < 0.0
        holds = np.where(up, x >= b[:, 0], np.where(down, x <= b[:, 0], True))
        return holds.astype(np.float64)


@register
class Sigmoid(OneFactor):
    """1 / (1 + exp(-w (x - b)))."""

    name = "sigmoid"

    def shape(self, z: Floats) -> Floats:
        return sigmoid(z)


@register
class TanhProd(Processing):
    """(product of tanh(w_m (x - b_m)) + 1) / 2."""

    name = "tanh_prod"
    many_factors = True

    def value(self, x: Floats, w: Floats, b: Floats) -> Floats:
        product = np.ones(np.broadcast_shapes(x.shape, (len(w),)))
        for m in range(w.shape[1]):
            product = product * tanh(w[:, m] * (x - b[:, m]))
        return np.asarray((product + 1.0) * 0.5)


@register
class Linear(OneFactor):
    """w (x - b): the standard neuron."""

    name = "linear"
    bounded = False
    weighs = True

    def shape(self, z: Floats) -> Floats:
        return _bound(z)


@register
class Relu(OneFactor):
    """max(0, w (x - b))."""

    name = "relu"
    bounded = False

    def shape(self, z: Floats) -> Floats:
        return np.maximum(_bound(z), 0.0)


@register
class Selu(OneFactor):
    """The scaled exponential linear unit of w (x - b)."""

    name = "selu"
    bounded = False

    def shape(self, z: Floats) -> Floats:
        z = _bound(z)
        under = 1.75809934084737685994 * (exp(z) - 1.0)
        return np.where(z > 0.0, 1.05070098735548049342 * z, under)


def _bound(z: Floats) -> Floats:
    return np.maximum(np.minimum(z, _LARGEST), -_LARGEST)
