"""Elementary functions that round alike everywhere.

Only operations that IEEE 754 defines to the last bit are used, in the order in
which ``cpp/core/vector_math.h`` writes them. So the compiled path and any
machine give the same bits, and a label never depends on which one predicted it.
The error of :func:`exp` is about one unit in the last place.
"""

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]

_LIMIT = 708.0  # beyond it the result would leave the normal numbers
_ROUND = 6755399441055744.0  # 1.5 * 2**52: adding it rounds to a whole number
LOG = (
    1.531383769920937332e-01,
    1.818357216161805012e-01,
    2.222219843214978396e-01,
    2.857142874366239149e-01,
    3.999999999940941908e-01,
    6.666666666666735130e-01,
)
SIN = (
    -2.50507602534068634195e-08,
    2.75573137070700676789e-06,
    -1.98412698298579493134e-04,
    8.33333333332248946124e-03,
    -1.66666666666666324348e-01,
)
COS = (
    2.08757232129817482790e-09,
    -2.75573143513906633035e-07,
    2.48015872894767294178e-05,
    -1.38888888888741095749e-03,
    4.16666666666666019037e-02,
)
_FAR = 1e6  # beyond it sine and cosine stay as they are


def exp(x: Floats) -> Floats:
    """Return e**x, with x clamped to ±708."""
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
    """Return 1 / (1 + e**-x)."""
    e = exp(-np.abs(x))
    tail = e / (1.0 + e)
    return np.where(x < 0.0, tail, 1.0 - tail)


def tanh(x: Floats) -> Floats:
    """Return the hyperbolic tangent."""
    e = exp(-2.0 * np.abs(x))
    size = (1.0 - e) / (1.0 + e)
    return np.where(x < 0.0, -size, size)


def softmax(z: Floats) -> Floats:
    """Return the softmax over the last axis."""
    e = exp(z - z.max(axis=-1, keepdims=True))
    # Term by term: NumPy's own sum rounds differently for different shapes.
    total = e[..., 0]
    for k in range(1, e.shape[-1]):
        total = total + e[..., k]
    return np.asarray(e / total[..., None])


def log(x: Floats) -> Floats:
    """Return the natural logarithm, with x at least 2**-1022."""
    m, k = np.frexp(np.maximum(x, 2.0**-1022))
    low = m < 0.70710678118654752440
    f = np.where(low, m + m, m) - 1.0
    k = np.where(low, k - 1, k).astype(np.float64)
    s = f / (2.0 + f)
    z = s * s
    r: Floats = np.full_like(z, 1.479819860511658591e-01)
    for c in LOG:
        r = r * z + c
    r = r * z
    h = 0.5 * f * f
    return np.asarray(
        k * 6.93147180369123816490e-01 - ((h - (s * (h + r) + k * 1.90821492927058770002e-10)) - f)
    )


def sin(x: Floats) -> Floats:
    """Return the sine, with x clamped to a million."""
    quadrant, s, c = _turn(x)
    sign = np.where(np.abs(quadrant) == 2.0, -s, s)
    return np.where(quadrant == 1.0, c, np.where(quadrant == -1.0, -c, sign))


def cos(x: Floats) -> Floats:
    """Return the cosine, with x clamped to a million."""
    quadrant, s, c = _turn(x)
    sign = np.where(np.abs(quadrant) == 2.0, -c, c)
    return np.where(quadrant == 1.0, -s, np.where(quadrant == -1.0, s, sign))


def _turn(x: Floats) -> tuple[Floats, Floats, Floats]:
    """Return the quadrant, -2 to 2, and sine and cosine of what is beyond its middle."""
    x = np.maximum(np.minimum(x, _FAR), -_FAR)
    n = (x * 6.36619772367581382433e-01 + _ROUND) - _ROUND
    r = ((x - n * 1.57079632673412561417e00) - n * 6.07710050630396597660e-11) - (
        n * 2.02226624879595063154e-21
    )
    quadrant = n - 4.0 * ((n * 0.25 + _ROUND) - _ROUND)
    z = r * r
    s: Floats = np.full_like(z, 1.58969099521155010221e-10)
    c: Floats = np.full_like(z, -1.13596475577881948265e-11)
    for a, b in zip(SIN, COS, strict=True):
        s, c = s * z + a, c * z + b
    return quadrant, s * z * r + r, c * z * z - 0.5 * z + 1.0
