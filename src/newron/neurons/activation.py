"""Activations f of one's own: formulas of one number."""

from __future__ import annotations

import inspect
from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np

from newron.errors import DefinitionError
from newron.expressions.arithmetic import Floats
from newron.expressions.data import check_size, from_data, to_data
from newron.expressions.enclosure import enclose, is_monotone
from newron.expressions.tape import Tape, record
from newron.expressions.text import write_formula
from newron.expressions.tracing import trace
from newron.expressions.tree import Expression, Parameter, bound
from newron.neurons.naming import check_name, describe

REACH = 1e30  # of what an activation reads
LARGEST = 1e100  # of what it returns


@dataclass(frozen=True, repr=False)
class Activation:
    """f: a formula of a neuron's total, less its trained centre.

    Make one with the decorator :func:`newron.neurons.activation`.

    - ``expression``: f as a tree over ``x``.
    - ``about``: What it is, in a line.
    - ``reach``: x is kept within ± this.

    >>> from newron.neurons import activation, exp, log
    >>> @activation
    ... def smooth_relu(x):
    ...     return log(1.0 + exp(x))
    >>> smooth_relu.value(np.array([0.0])).round(4).tolist()
    [0.6931]
    """

    name: str
    expression: Expression
    about: str = ""
    reach: float = REACH

    @cached_property
    def tape(self) -> Tape:
        """The formula as a program."""
        return record(self.expression, ("x",))

    @cached_property
    def training_tape(self) -> Tape:
        """The formula and its derivative."""
        return self.tape.differentiate("x")

    @cached_property
    def monotone(self) -> bool:
        """Whether f is proved never to fall."""
        return is_monotone(self.tape, "x", self.reach, {})

    def value(self, x: Floats) -> Floats:
        """Return f(x)."""
        return self.tape.evaluate({"x": self._bound(x)})[0]

    def limits(self, low: Floats, high: Floats) -> tuple[Floats, Floats]:
        """Return bounds of f for x between low and high."""
        ends = enclose(self.tape, {"x": (self._bound(low), self._bound(high))})[0]
        return np.broadcast_to(ends[0], np.shape(low)), np.broadcast_to(ends[1], np.shape(low))

    def _bound(self, x: Floats) -> Floats:
        return np.maximum(np.minimum(x, self.reach), -self.reach)

    def to_dict(self) -> dict[str, Any]:
        """Return the definition as plain data."""
        about = {"about": self.about} if self.about else {}
        return {"formula": to_data(self.expression)} | about

    @classmethod
    def from_dict(cls, name: str, data: dict[str, Any]) -> Activation:
        """Return the activation of plain data, checking every part.

        - ``data``: As :meth:`to_dict` returns it.
        """
        what = check_name(name, "activation", data, {"formula", "about"}, {"formula"})
        formula = from_data(data["formula"], ("x",), what)
        return cls(name, check_formula(formula, "x", what), data.get("about", "")).check()

    def check(self) -> Activation:
        """Return the activation if its derivative lets something be trained through it."""
        slope = self.training_tape
        constant = slope.outputs[1] - len(slope.inputs)
        if 0 <= constant < len(slope.constants) and slope.constants[constant] == 0.0:
            raise DefinitionError(
                f"activation {self.name}: expected a function with a derivative, got one that is "
                "flat everywhere"
            )
        return self

    def __str__(self) -> str:
        return self.name

    def __repr__(self) -> str:
        return f"<activation {self.name}: {write_formula(self.expression)}>"


def check_formula(
    expression: Expression, name: str, what: str, ends: tuple[float, float] = (-REACH, REACH)
) -> Expression:
    """Return a formula of one number, kept within ±1e100, if it always has a finite value."""
    check_size(expression, what)
    inputs = {name: (np.array(ends[0]), np.array(ends[1]))}
    low, high = enclose(record(expression, (name,)), inputs, strict=what)[0]
    wide = max(-float(low), float(high)) > 1.001 * LARGEST
    return bound(expression, LARGEST) if wide else expression


def make_activation(function: Callable[..., Any]) -> Activation:
    """Return the activation that a Python function writes."""
    name, about = describe(function, "activation")
    check_arguments(function, f"activation {name}", "a neuron's total")
    formula = trace(function, Parameter("x"))
    return Activation(name, check_formula(formula, "x", f"activation {name}"), about).check()


def check_arguments(function: Callable[..., Any], what: str, expected: str) -> None:
    """Raise an error for a function that takes anything but one value."""
    parameters = inspect.signature(function).parameters.values()
    names = [str(each) for each in parameters]
    if len(names) != 1 or any(each.default is not each.empty for each in parameters):
        raise DefinitionError(
            f"{what}: expected one argument, {expected}, got ({', '.join(names)})"
        )
