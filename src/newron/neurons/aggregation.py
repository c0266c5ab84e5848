"""Aggregations G of one's own: transform each part of a neuron, reduce, finish."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property
from typing import Any, cast

import numpy as np

from newron.errors import DefinitionError
from newron.expressions.data import check_size, from_data, to_data
from newron.expressions.enclosure import enclose
from newron.expressions.tape import record
from newron.expressions.text import write_formula
from newron.expressions.tracing import REDUCTIONS, trace
from newron.expressions.tree import (
    Call,
    Condition,
    Expression,
    Parameter,
    list_parts,
    rebuild,
    substitute,
)
from newron.neurons.activation import (
    LARGEST,
    REACH,
    Activation,
    check_arguments,
    check_formula,
)
from newron.neurons.naming import check_name, describe

_REDUCE = "reduce "


@dataclass(frozen=True, repr=False)
class Aggregation:
    """G: transform each part of a neuron, reduce, finish.

    Make one with the decorator :func:`newron.neurons.aggregation`.

    - ``transform``: Of each ``part``.
    - ``finish``: Of the ``total``.
    - ``about``: What it is, in a line.

    >>> from newron.neurons import aggregation, sqrt
    >>> @aggregation
    ... def length(parts):
    ...     return sqrt((parts * parts).sum())
    >>> length
    <aggregation length: sqrt(total), total the sum of part * part>
    """

    name: str
    transform: Expression
    reduce: str
    finish: Expression
    about: str = ""

    @cached_property
    def transformation(self) -> Activation:
        """The formula of each part."""
        return Activation(self.name, substitute(self.transform, {"part": Parameter("x")}))

    @cached_property
    def finishing(self) -> Activation:
        """The formula of the total."""
        formula = substitute(self.finish, {"total": Parameter("x")})
        return Activation(self.name, formula, reach=LARGEST)

    @property
    def monotone(self) -> bool:
        """Whether G is proved never to fall as a part rises."""
        rises = self.transformation.monotone and self.finishing.monotone
        return rises and self.reduce != "product"

    def to_dict(self) -> dict[str, Any]:
        """Return the definition as plain data."""
        formulas = {"transform": to_data(self.transform), "reduce": self.reduce}
        about = {"about": self.about} if self.about else {}
        return formulas | {"finish": to_data(self.finish)} | about

    @classmethod
    def from_dict(cls, name: str, data: dict[str, Any]) -> Aggregation:
        """Return the aggregation of plain data, checking every part.

        - ``data``: As :meth:`to_dict` returns it.
        """
        needed = {"transform", "reduce", "finish"}
        what = check_name(name, "aggregation", data, needed | {"about"}, needed)
        reduce = data["reduce"]
        if reduce not in REDUCTIONS:
            known = ", ".join(REDUCTIONS)
            raise DefinitionError(f"{what}: expected reduce among {known}, got {reduce!r}")
        transform = check_formula(from_data(data["transform"], ("part",), what), "part", what)
        finish = from_data(data["finish"], ("total",), what)
        ends = _reach_total(transform, reduce)
        finish = check_formula(finish, "total", what, ends)
        return cls(name, transform, reduce, finish, data.get("about", ""))._check(what)

    def _check(self, what: str) -> Aggregation:
        try:
            self.transformation.check()
            self.finishing.check()
        except DefinitionError:
            raise DefinitionError(
                f"{what}: expected a function of the parts with a derivative, got one that is flat"
            ) from None
        return self

    def __str__(self) -> str:
        return self.name

    def __repr__(self) -> str:
        total = f"total the {self.reduce} of {write_formula(self.transform)}"
        return f"<aggregation {self.name}: {write_formula(self.finish)}, {total}>"


def _reach_total(transform: Expression, reduce: str) -> tuple[float, float]:
    """Return between which numbers the total of any parts is; without parts it is 0 or 1."""
    ends = np.array(-REACH), np.array(REACH)
    low, high = (float(end) for end in enclose(record(transform, ("part",)), {"part": ends})[0])
    if reduce == "product":
        return (0.0 if low >= 0.0 else -LARGEST), LARGEST
    if reduce == "sum":
        return (0.0 if low >= 0.0 else -LARGEST), (0.0 if high <= 0.0 else LARGEST)
    return max(min(low, 0.0), -LARGEST), min(max(high, 0.0), LARGEST)


def make_aggregation(function: Callable[..., Any]) -> Aggregation:
    """Return the aggregation that a Python function writes: one reduction, and around it."""
    name, about = describe(function, "aggregation")
    what = f"aggregation {name}"
    check_arguments(function, what, "the parts of a neuron")
    formula = trace(function, Parameter("part"))
    found = _find_reductions(formula)
    for each in found:
        check_size(each.arguments[0], what)
    if not found or any(each != found[0] for each in found[1:]):
        raise DefinitionError(
            f"{what}: expected one reduction of the parts, .sum(), .mean(), .min(), .max() or "
            f".product(), got {len(found) or 'none'}"
        )
    finish = _replace(formula, {id(each) for each in found}, {})
    check_size(finish, what)
    data = {"transform": to_data(found[0].arguments[0]), "finish": to_data(finish)}
    if _reads_parts(data["finish"]):
        raise DefinitionError(f"{what}: expected parts inside the reduction only, got them outside")
    reduce = found[0].name.removeprefix(_REDUCE)
    return Aggregation.from_dict(name, {**data, "reduce": reduce, "about": about})


def _find_reductions(formula: Expression) -> list[Call]:
    """Return the outermost reductions; parts that are shared are looked at once."""
    seen: set[int] = set()
    out: list[Call] = []
    waiting: list[Expression | Condition] = [formula]
    while waiting:
        node = waiting.pop()
        if id(node) in seen:
            continue
        seen.add(id(node))
        if isinstance(node, Call) and node.name.startswith(_REDUCE):
            out.append(node)
        else:
            waiting += list_parts(node)
    return out


def _replace(node: Expression, reductions: set[int], known: dict[int, Expression]) -> Expression:
    """Return a tree with the total in place of its reductions."""
    if id(node) in reductions:
        return Parameter("total")
    if id(node) not in known:
        changed = rebuild(node, lambda part: _replace(part, reductions, known))
        known[id(node)] = cast("Expression", changed)
    return known[id(node)]


def _reads_parts(data: Any) -> bool:
    return data == "part" or (isinstance(data, list) and any(map(_reads_parts, data)))
