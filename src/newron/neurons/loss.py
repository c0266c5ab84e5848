"""Losses of one's own: formulas of a score and a target, with their inverse link."""

from __future__ import annotations

import inspect
import math
from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any, cast

import numpy as np

from newron.errors import DefinitionError
from newron.expressions.arithmetic import Floats
from newron.expressions.data import check_size, from_data, to_data
from newron.expressions.enclosure import enclose
from newron.expressions.tape import record
from newron.expressions.text import write_formula
from newron.expressions.tracing import trace
from newron.expressions.tree import (
    Call,
    Expression,
    Number,
    Parameter,
    call,
    negate,
    rebuild,
    substitute,
    walk,
)
from newron.neurons.activation import REACH, Activation, check_formula
from newron.neurons.naming import check_name, describe
from newron.neurons.processing import MAX_PARAMETER

SCORE, TARGET = Parameter("score"), Parameter("target")
_ERROR = Parameter("error")
_MAX_SETTINGS = 16
_REACH = 600.0  # of scores without units; training keeps them within 40 of the best constant
_LINK = "inverse_link"
_EXP = call("exp", Parameter("x"))
_IDENTITY = Activation(_LINK, Parameter("x"))
# Their arguments have no units: a score inside them is a number by itself.
_UNIT_FREE = ("exp", "log", "sin", "cos", "sigmoid", "tanh")


@dataclass(frozen=True, repr=False)
class Loss:
    """What a network is trained on: a formula of a score and a target.

    Make one with the decorator :func:`newron.neurons.objective`. Calling it with settings returns
    the same loss with other numbers: ``huber(bend=2.0)``.

    - ``expression``: The loss as a tree over ``score``, ``target`` and the settings.
    - ``settings``: Names and values of what the formula leaves open; they are not trained.
    - ``inverse_link``: What is predicted, of the score.
    - ``targets``: Between which numbers targets must be.
    - ``about``: What it is, in a line.

    >>> from newron.neurons import minimum, objective
    >>> @objective
    ... def bounded(score, target, most=1.0):
    ...     return minimum((score - target) ** 2, most)
    >>> bounded(most=4.0)
    <objective bounded(most=4): minimum((score - target) * (score - target), most)>
    """

    name: str
    expression: Expression
    settings: tuple[tuple[str, float], ...] = ()
    inverse_link: Activation = _IDENTITY
    targets: tuple[float, float] = (-math.inf, math.inf)
    about: str = ""

    def __call__(self, **settings: float) -> Loss:
        """Return the loss with other settings."""
        known = dict(self.settings)
        for name in settings:
            if name not in known:
                raise DefinitionError(
                    f"objective {self.name}: expected settings among "
                    f"{', '.join(known) or 'none'}, got {name!r}"
                )
        changed = {
            name: _read_setting(self.name, name, settings.get(name, known[name])) for name in known
        }
        return replace(self, settings=tuple(changed.items())).check()

    # ---- what is derived from the formula ----

    @cached_property
    def formula(self) -> Expression:
        """The tree over ``score`` and ``target`` alone, settings as numbers."""
        return substitute(self.expression, {name: Number(at) for name, at in self.settings})

    @cached_property
    def of_error(self) -> bool:
        """Whether the loss is one of score - target alone, whatever the two are."""
        changed = _read_error(self.formula)
        return not any(node in (SCORE, TARGET) for node in walk(changed))

    @property
    def link(self) -> str:
        """How predictions follow from scores: "identity", "log" or "formula"."""
        known: dict[Expression, str] = {Parameter("x"): "identity", _EXP: "log"}
        return known.get(self.inverse_link.expression, "formula")

    @property
    def unit_free(self) -> bool:
        """Whether scores are numbers without units, such as logarithms."""
        parts = walk(self.inverse_link.expression)
        return any(isinstance(node, Call) and node.name in _UNIT_FREE for node in parts)

    @property
    def text(self) -> str:
        """The name with the settings."""
        named = ", ".join(f"{name}={value:g}" for name, value in self.settings)
        return f"{self.name}({named})" if named else self.name

    def value(self, score: Floats, target: Floats) -> Floats:
        """Return the loss."""
        tape = record(self.formula, ("score", "target"))
        return tape.evaluate({"score": score, "target": target})[0]

    # ---- as data and text ----

    def to_dict(self) -> dict[str, Any]:
        """Return the definition as plain data."""
        out: dict[str, Any] = {"name": self.name, "formula": to_data(self.expression)}
        if self.settings:
            out["settings"] = dict(self.settings)
        if self.inverse_link != _IDENTITY:
            formula = substitute(self.inverse_link.expression, {"x": SCORE})
            out["inverse link"] = to_data(formula)
        ends = dict(zip(("low", "high"), self.targets, strict=True))
        out |= {key: end for key, end in ends.items() if math.isfinite(end)}
        return out | ({"about": self.about} if self.about else {})

    @classmethod
    def from_dict(cls, data: Any) -> Loss:
        """Return the loss of plain data, checking every part.

        - ``data``: As :meth:`to_dict` returns it.
        """
        known = {"name", "formula", "settings", "inverse link", "low", "high", "about"}
        name = data.get("name") if isinstance(data, dict) else None
        what = check_name(name, "objective", data, known, {"name", "formula"})
        settings = _check_settings(data.get("settings", {}), what)
        link = _IDENTITY
        if "inverse link" in data:
            inner = from_data(data["inverse link"], ("score",), what)
            link = _make_link(substitute(inner, {"score": Parameter("x")}), what)
        ends = [data.get("low", -math.inf), data.get("high", math.inf)]
        if not all(isinstance(end, int | float) and not isinstance(end, bool) for end in ends):
            raise DefinitionError(f"{what}: expected ends of the targets that are numbers")
        formula = from_data(data["formula"], ("score", "target", *settings), what)
        made = cls(
            str(name),
            formula,
            tuple(settings.items()),
            link,
            (ends[0], ends[1]),
            data.get("about", ""),
        )
        return made.check()

    def check(self) -> Loss:
        """Return the loss if it has finite values, something to train and a link that rises."""
        what = f"objective {self.name}"
        check_size(self.expression, what)
        low, high = self.targets
        if not low < high:
            raise DefinitionError(f"{what}: expected targets from low to high, got {low} to {high}")
        reach = _REACH if self.unit_free else REACH
        ends = {
            "score": (np.array(-reach), np.array(reach)),
            "target": (np.array(max(low, -REACH)), np.array(min(high, REACH))),
        }
        tape = record(self.formula, ("score", "target"))
        enclose(tape, ends, strict=what)
        slope = tape.differentiate("score")
        constant = slope.outputs[1] - len(slope.inputs)
        if 0 <= constant < len(slope.constants):
            raise DefinitionError(
                f"{what}: expected a loss with a least value somewhere, got one of the slope "
                f"{slope.constants[constant]:g} everywhere"
            )
        if not self.inverse_link.monotone:
            raise DefinitionError(
                f"{what}: expected an inverse link that is proved to rise with the score, got "
                f"{write_formula(self.inverse_link.expression)} of x"
            )
        return self

    def __str__(self) -> str:
        return self.text

    def __repr__(self) -> str:
        return f"<objective {self.text}: {write_formula(self.expression)}>"


def _read_error(node: Expression) -> Expression:
    """Return a formula with the error in place of score - target."""
    if node == call("-", SCORE, TARGET):
        return _ERROR
    if node == call("-", TARGET, SCORE):
        return negate(_ERROR)
    return cast("Expression", rebuild(node, _read_error))


def _read_setting(what: str, name: str, value: object) -> float:
    number = isinstance(value, int | float) and not isinstance(value, bool)
    if not number or not abs(value) <= MAX_PARAMETER:  # type: ignore[arg-type]
        raise DefinitionError(
            f"objective {what}: expected a value of {name} that is a number within "
            f"±{MAX_PARAMETER:g}, got {value!r}"
        )
    return float(value)  # type: ignore[arg-type]


def _check_settings(settings: Any, what: str) -> dict[str, float]:
    if not isinstance(settings, dict) or len(settings) > _MAX_SETTINGS:
        raise DefinitionError(f"{what}: expected at most {_MAX_SETTINGS} settings with numbers")
    for name in settings:
        if not isinstance(name, str) or not name.isidentifier() or name in ("score", "target"):
            raise DefinitionError(f"{what}: expected settings with names, got {str(name)[:60]!r}")
    own = what.removeprefix("objective ")
    return {name: _read_setting(own, name, value) for name, value in settings.items()}


def make_loss(
    function: Callable[..., Any],
    inverse_link: Callable[..., Any] | Activation | None = None,
    targets: tuple[float, float] = (-math.inf, math.inf),
) -> Loss:
    """Return the loss that a Python function writes."""
    name, about = describe(function, "objective")
    settings = _read_signature(function, name)
    named = {key: Parameter(key) for key in settings}
    expression = trace(function, SCORE, TARGET, **named)
    link = _IDENTITY if inverse_link is None else _trace_link(inverse_link, name)
    ends = tuple(float(end) for end in targets)
    if len(ends) != 2:
        raise DefinitionError(f"objective {name}: expected targets=(low, high), got {targets!r}")
    return Loss(name, expression, tuple(settings.items()), link, (ends[0], ends[1]), about).check()


def _trace_link(link: Callable[..., Any] | Activation, name: str) -> Activation:
    formula = link.expression if isinstance(link, Activation) else trace(link, Parameter("x"))
    return _make_link(formula, f"objective {name}")


def _make_link(formula: Expression, what: str) -> Activation:
    checked = check_formula(formula, "x", f"{what}: inverse link")
    return Activation(_LINK, formula if formula == _EXP else checked)  # its own bounds will do


def _read_signature(function: Callable[..., Any], name: str) -> dict[str, float]:
    """Return the settings with their values."""
    parameters = list(inspect.signature(function).parameters.values())
    plain = [each for each in parameters if each.kind is each.POSITIONAL_OR_KEYWORD]
    first, rest = parameters[:2], parameters[2:]
    bare = len(first) == 2 and all(each.default is each.empty for each in first)
    if len(plain) < len(parameters) or not bare or any(e.default is e.empty for e in rest):
        raise DefinitionError(
            f"objective {name}: expected (score, target) and settings with numbers as defaults, "
            f"got ({', '.join(map(str, parameters))})"
        )
    return _check_settings({each.name: each.default for each in rest}, f"objective {name}")
