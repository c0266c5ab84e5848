"""The operations that formulas are made of, beside + - * /, powers, abs and comparisons."""

from __future__ import annotations

from newron.expressions.tracing import Term, apply, where

__all__ = ["cos", "exp", "log", "maximum", "minimum", "sigmoid", "sin", "sqrt", "tanh", "where"]


def exp(x: object) -> Term:
    """Return e to the power of x, which is kept within ±708.

    Parameters
    ----------
    x : term or float

    Returns
    -------
    Term

    Examples
    --------
    >>> from newron.neurons import exp, processing
    >>> @processing
    ... def bell(z):
    ...     return exp(-z * z)
    >>> bell
    <processing bell: exp(-z * z)>
    """
    return apply("exp", x)


def log(x: object) -> Term:
    """Return the natural logarithm; of 0 it is -708.4, that of the least normal number.

    Parameters
    ----------
    x : term or float
        From 0 on.

    Returns
    -------
    Term

    Examples
    --------
    >>> from newron.neurons import log, processing
    >>> @processing
    ... def spread(z):
    ...     return log(1.0 + z * z)
    >>> spread.bounded
    False
    """
    return apply("log", x)


def sqrt(x: object) -> Term:
    """Return the square root.

    Parameters
    ----------
    x : term or float
        From 0 on.

    Returns
    -------
    Term

    Examples
    --------
    >>> from newron.neurons import processing, sqrt
    >>> @processing
    ... def distance(z):
    ...     return sqrt(1.0 + z * z)
    >>> distance.monotone
    False
    """
    return apply("sqrt", x)


def sin(x: object) -> Term:
    """Return the sine of x, which is kept within a million.

    Parameters
    ----------
    x : term or float

    Returns
    -------
    Term

    Examples
    --------
    >>> from newron.neurons import processing, sin
    >>> @processing
    ... def wave(z):
    ...     return 0.5 + 0.5 * sin(z)
    >>> wave.bounded
    True
    """
    return apply("sin", x)


def cos(x: object) -> Term:
    """Return the cosine of x, which is kept within a million.

    Parameters
    ----------
    x : term or float

    Returns
    -------
    Term

    Examples
    --------
    >>> from newron.neurons import cos, processing
    >>> @processing
    ... def wave(z):
    ...     return cos(z)
    >>> [round(bound, 6) for bound in wave.range]
    [-1.0, 1.0]
    """
    return apply("cos", x)


def sigmoid(x: object) -> Term:
    """Return 1 / (1 + exp(-x)).

    Parameters
    ----------
    x : term or float

    Returns
    -------
    Term

    Examples
    --------
    >>> from newron.neurons import processing, sigmoid
    >>> @processing
    ... def swish(z):
    ...     return z * sigmoid(z)
    >>> swish.monotone
    False
    """
    return apply("sigmoid", x)


def tanh(x: object) -> Term:
    """Return the hyperbolic tangent.

    Parameters
    ----------
    x : term or float

    Returns
    -------
    Term

    Examples
    --------
    >>> from newron.neurons import processing, tanh
    >>> @processing
    ... def soft(z):
    ...     return 0.5 * (tanh(z) + 1.0)
    >>> soft.monotone
    True
    """
    return apply("tanh", x)


def minimum(a: object, b: object) -> Term:
    """Return the smaller of two values.

    Parameters
    ----------
    a, b : term or float

    Returns
    -------
    Term

    Examples
    --------
    >>> from newron.neurons import minimum, processing
    >>> @processing
    ... def capped(z):
    ...     return minimum(z, 1.0)
    >>> capped.monotone
    True
    """
    return apply("min", a, b)


def maximum(a: object, b: object) -> Term:
    """Return the larger of two values.

    Parameters
    ----------
    a, b : term or float

    Returns
    -------
    Term

    Examples
    --------
    >>> from newron.neurons import maximum, processing
    >>> @processing
    ... def leaky(z, a=0.1):
    ...     return maximum(z, a * z)
    >>> leaky.parameters
    (('a', 0.1),)
    """
    return apply("max", a, b)
