"""The network of a model's file, read by the checker itself."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from itertools import pairwise
from typing import Any

LARGEST = 1e300  # numbers lie below it; it stands for "never" itself
_MAX_LISTED = 1000  # values that a column may list; with more it is any number
_MAX_DECIMALS = 15
_MAX_WHOLE = 2.0**50
_LARGEST_PRODUCT = 1e99  # far below where the network cuts products off


class CertificateError(Exception):
    """The certificate does not show that the rules equal the network."""


# ---- conditions, of networks and of rules ----


@dataclass(frozen=True, eq=False)
class Test:
    """A condition on one column: its truth for a number, the number of a category, or None."""

    column: int
    numbers: tuple[float, ...]  # where the truth may change
    holds: Callable[[float | None], bool]


@dataclass(frozen=True, eq=False)
class Count:
    """How many of the parts hold is one of some numbers."""

    parts: tuple[Condition, ...]
    allowed: frozenset[int]


Condition = bool | Test | Count


# ---- the network ----


@dataclass(frozen=True)
class Column:
    """A column: any number, one of some values, or one of some categories."""

    name: str
    values: tuple[float, ...] | None
    labels: tuple[Any, ...] | None
    unit: str | None
    required: bool


@dataclass(frozen=True)
class Last:
    """The last layer: the weighted conditions of each score."""

    aggregation: str
    parts: tuple[tuple[tuple[Condition, float], ...], ...]
    centres: tuple[float, ...] | None

    @cached_property
    def scale(self) -> float | None:
        """The power of ten that makes whole numbers of all weights, as the network finds it."""
        if self.aggregation == "product":
            return None
        numbers = [weight for parts in self.parts for _, weight in parts]
        numbers += self.centres or ()
        for digits in range(_MAX_DECIMALS + 1):
            scale = 10.0**digits
            whole = [float(round(number * scale)) for number in numbers]
            if max([1.0, *map(abs, whole)]) * max(len(numbers), 1) >= _MAX_WHOLE:
                return None
            if all(a / scale == b for a, b in zip(whole, numbers, strict=True)):
                return scale
        return None

    @cached_property
    def decimals(self) -> list[tuple[list[Fraction], Fraction]]:
        """What each condition adds to each score, and its centre, as the file writes them."""
        mean = self.aggregation == "mean"
        return [
            (
                [_read_decimal(weight) / (len(parts) if mean else 1) for _, weight in parts],
                _read_decimal(self.centres[j]) if self.centres else Fraction(0),
            )
            for j, parts in enumerate(self.parts)
        ]

    def score_exactly(self, truths: Sequence[Sequence[bool]]) -> list[Fraction]:
        """Return the scores without rounding, with the weights as the file writes them."""
        out = []
        for j, (parts, held) in enumerate(zip(self.parts, truths, strict=True)):
            weights = [_read_decimal(weight) for _, weight in parts]
            values = [w if h else Fraction(0) for w, h in zip(weights, held, strict=True)]
            centre = _read_decimal(self.centres[j]) if self.centres else Fraction(0)
            out.append(Fraction(_aggregate(self.aggregation, values)) - centre)
        return out

    def bound_rounding(self) -> Fraction:
        """Return how far scores in float64 may lie from exact ones, at most.

        Each weight is read, and each of n additions (or products) is rounded, by 2**-53 of
        what all weights together can reach, and by the least number where that is near 0.
        """
        bounds = []
        for j, parts in enumerate(self.parts):
            sizes = [abs(_read_decimal(weight)) for _, weight in parts]
            product = self.aggregation == "product"
            size: Any = math.prod(max(x, Fraction(1)) for x in sizes) if product else sum(sizes)
            size += abs(_read_decimal(self.centres[j])) if self.centres else 0
            if size >= (_LARGEST_PRODUCT if product else LARGEST):
                raise CertificateError("the network adds numbers without bound")
            smallest = Fraction(1, 2**1074)
            bounds.append((len(parts) + 4) * (size * Fraction(1, 2**52) + (size + 1) * smallest))
        return Fraction(max(bounds))

    def divisors(self, scale: float) -> list[float]:
        """Return what whole scores are divided by."""
        mean = self.aggregation == "mean"
        return [scale * (max(len(parts), 1) if mean else 1) for parts in self.parts]

    def score(self, truths: Sequence[Sequence[bool]]) -> list[float]:
        """Return the scores in float64, in the order in which the network adds."""
        scale = self.scale
        out = []
        for j, (parts, held) in enumerate(zip(self.parts, truths, strict=True)):
            weights = [weight for _, weight in parts]
            centre = self.centres[j] if self.centres else 0.0
            if scale is None:
                values = [w if h else 0.0 for w, h in zip(weights, held, strict=True)]
                out.append(_aggregate(self.aggregation, values) - centre)
                continue
            divisor = self.divisors(scale)[j]
            whole = [round(w * scale) if h else 0 for w, h in zip(weights, held, strict=True)]
            kind = "sum" if self.aggregation == "mean" else self.aggregation
            total = int(_aggregate(kind, whole)) - round(centre * divisor)
            out.append(float(total) / divisor)
        return out


@dataclass(frozen=True)
class Network:
    """A network of conditions."""

    columns: tuple[Column, ...]
    last: Last
    labels: tuple[Any, ...] | None
    targets: tuple[str, ...] | None
    limits: tuple[float, ...] = ()  # of ordered classes: where their bands begin

    @property
    def n_scores(self) -> int:
        """How many sums there are."""
        return len(self.last.parts)

    def decide(self, scores: Sequence[Any]) -> int:
        """Return the class of scores: from 0 on the second of two, or the first highest.

        Of ordered classes it is the number of limits that the score reaches.
        """
        if self.limits:
            return sum(scores[0] >= limit for limit in self.limits)
        return int(scores[0] >= 0) if len(scores) == 1 else list(scores).index(max(scores))


def _read_decimal(number: float) -> Fraction:
    return Fraction(repr(float(number)))


def _aggregate(aggregation: str, values: Sequence[Any]) -> Any:
    if not values:
        return 1.0 if aggregation == "product" else 0.0
    total = values[0]
    for value in values[1:]:
        if aggregation == "product":
            total = max(min(total * value, 1e100), -1e100)
        elif aggregation in ("min", "max"):
            total = min(total, value) if aggregation == "min" else max(total, value)
        else:
            total = total + value
    return total / len(values) if aggregation == "mean" else total


# ---- reading ----


def read_network(document: Any) -> Network:
    """Read the content of a model's file; only crisp networks have rules."""
    try:
        columns = tuple(_read_column(item) for item in document["inputs"])
        signals: dict[tuple[str, str], Any] = {
            ("input", column.name): i for i, column in enumerate(columns)
        }
        *hidden, last = document["layers"]
        for number, layer in enumerate(hidden, 1):
            made = [_read_neuron(layer, neuron, columns, signals) for neuron in layer["neurons"]]
            for j, neuron in enumerate(made, 1):
                signals["neuron", f"{number}.{j}"] = neuron
        output = document["output"]
        labels = tuple(output["classes"]) if "classes" in output else None
        targets = tuple(output["targets"]) if "targets" in output else None
        if targets is not None and output.get("link") == "log":
            targets = tuple(f"log({name})" for name in targets)
        limits = _read_limits(output.get("bands", ()), labels)
        return Network(columns, _read_last(last, columns, signals), labels, targets, limits)
    except (KeyError, TypeError, ValueError, IndexError, AttributeError) as error:
        raise CertificateError(f"not the content of a model's file: {error!r}") from None


def _read_limits(given: Any, labels: Any) -> tuple[float, ...]:
    limits = tuple(map(float, given))
    rising = all(-LARGEST < a <= b < LARGEST for a, b in pairwise(limits))
    if limits and not (rising and labels is not None and len(limits) == len(labels) - 1 > 1):
        raise CertificateError("expected bands that rise, one less than classes")
    return limits


def _read_column(item: Any) -> Column:
    labels = tuple(item["categories"]) if "categories" in item else None
    values = tuple(sorted(map(float, item["values"]))) if "values" in item else None
    if values is not None and len(values) > _MAX_LISTED:
        values = None
    return Column(item["name"], values, labels, item.get("unit"), bool(item.get("required")))


@dataclass(frozen=True, eq=False)
class _Neuron:
    parts: tuple[Condition, ...]
    values: tuple[float, ...]  # by the number of parts that hold


def _read_neuron(layer: Any, neuron: Any, columns: Any, signals: Any) -> _Neuron:
    parts = tuple(_read_function(layer, item, columns, signals) for item in neuron["functions"])
    if any("alpha" in item for item in neuron["functions"]):
        raise CertificateError("expected weights in the last layer alone")
    values = []
    for k in range(len(parts) + 1):
        ones = [1.0] * k + [0.0] * (len(parts) - k)
        z = _aggregate(layer["aggregation"], ones)
        values.append(_activate(layer["activation"], z - float(neuron.get("centre", 0.0))))
    return _Neuron(parts, tuple(values))


def _read_function(layer: Any, item: Any, columns: Any, signals: Any) -> Condition:
    if layer["processing"] != "heaviside" or item.get("scale", "own") != "own":
        raise CertificateError("expected a network of steps on the columns' own scale")
    kind = "input" if "input" in item else "neuron"
    source = signals[kind, item[kind]]
    if isinstance(source, _Neuron):
        w, b = float(item["w"]), float(item["b"])
        allowed = [k for k, z in enumerate(source.values) if _is_one(z, w, b)]
        return Count(source.parts, frozenset(allowed))
    missing = float(item.get("missing", 0.0)) == 1.0
    if columns[source].labels is not None:
        levels = [float(level) == 1.0 for level in item["levels"]]
        return Test(source, (), lambda x: missing if x is None else levels[int(x)])
    w, b = float(item["w"]), float(item["b"])
    return Test(source, (b,), lambda x: missing if x is None else _is_one(x, w, b))


def _is_one(x: float, w: float, b: float) -> bool:
    return True if w == 0.0 else x >= b if w > 0.0 else x <= b


def _read_last(layer: Any, columns: Any, signals: Any) -> Last:
    parts = tuple(
        tuple(
            (_read_function(layer, item, columns, signals), float(item.get("alpha", 1.0)))
            for item in neuron["functions"]
        )
        for neuron in layer["neurons"]
    )
    if layer["activation"] != "identity":
        raise CertificateError("expected scores without activation")
    centred = any("centre" in neuron for neuron in layer["neurons"])
    centres = tuple(float(neuron["centre"]) for neuron in layer["neurons"]) if centred else None
    return Last(layer["aggregation"], parts, centres)


# ---- activations, rounded as the network rounds them ----


def _activate(name: str, z: float) -> float:
    if name == "relu":
        return max(z, 0.0)
    if name == "sigmoid":
        e = _exp(-abs(z))
        tail = e / (1.0 + e)
        return tail if z < 0.0 else 1.0 - tail
    if name == "tanh":
        e = _exp(-2.0 * abs(z))
        size = (1.0 - e) / (1.0 + e)
        return -size if z < 0.0 else size
    if name != "identity":
        raise CertificateError(f"unknown activation {name!r}")
    return z


def _exp(x: float) -> float:
    x = max(min(x, 708.0), -708.0)
    n = (x * 1.4426950408889634074 + 6755399441055744.0) - 6755399441055744.0
    r = (x - n * 6.93145751953125e-1) - n * 1.42860682030941723212e-6
    s = r * r
    p = (1.26177193074810590878e-4 * s + 3.02994407707441961300e-2) * s
    p = (p + 9.99999999999999999910e-1) * r
    q = (3.00198505138664455042e-6 * s + 2.52448340349684104192e-3) * s
    q = (q + 2.27265548208155028766e-1) * s + 2.00000000000000000009e0
    return math.ldexp(1.0 + 2.0 * (p / (q - p)), int(n))
