"""Elementary functions that round alike everywhere.

Only operations that IEEE 754 defines to the last bit are used, in the order in
which ``cpp/core/vector_math.h`` writes them. So the compiled path and any
machine give the same bits, and a label never depends on which one predicted it.
The error of :func:`exp` is about one unit in the last place.
"""

import numpy as np
from numpy.typing import NDArray

__all__ = ["Floats", "exp", "sigmoid", "softmax", "tanh"]

Floats = NDArray[np.float64]

_LIMIT = 708.0  # beyond it the result would leave the normal numbers
_ROUND = 6755399441055744.0  # 1.5 * 2**52: adding it rounds to a whole number


def exp(x: Floats) -> Floats:
    """Give e**x, with x clamped to ±708."""
    x = np.maximum(np.minimum(x, _LIMIT), -_LIMIT)
    n = (x * 1.4426950408889634074 + _ROUND) - _ROUND
    r = (x - n * 6.93145751953125e-1) - n * 1.42860682030941723212e-6
    s = r * r
    p = 1.26177193074810590878e-4 * s + 3.02994407707441961300e-2
    p = p * s + 9.99999999999999999910e-1
    p = p * r
    q = 3.00198505138664455042e-6 * s + 2.52448340349684104192e-3
    q = q * s + 2.27265548208155028766e-1
    q = q * s + 2.00000000000000000009e0
    return np.ldexp(1.0 + 2.0 * (p / (q - p)), n.astype(np.int32))


def sigmoid(x: Floats) -> Floats:
    """Give 1 / (1 + e**-x)."""
    e = exp(-np.abs(x))
    tail = e / (1.0 + e)
    return np.where(x < 0.0, tail, 1.0 - tail)


def tanh(x: Floats) -> Floats:
    """Give the hyperbolic tangent."""
    e = exp(-2.0 * np.abs(x))
    size = (1.0 - e) / (1.0 + e)
    return np.where(x < 0.0, -size, size)


def softmax(z: Floats) -> Floats:
    """Give the softmax over the last axis."""
    e = exp(z - z.max(axis=-1, keepdims=True))
    # Term by term: NumPy's own sum rounds differently for different shapes.
    total = e[..., 0]
    for k in range(1, e.shape[-1]):
        total = total + e[..., k]
    return np.asarray(e / total[..., None])
