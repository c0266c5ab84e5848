"""Processing functions h: formulas of z = w (x − b), and what follows from a formula."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property, lru_cache
from typing import Any

import numpy as np

from newron.errors import DefinitionError
from newron.expressions.arithmetic import Floats
from newron.expressions.data import check_size, from_data, to_data
from newron.expressions.enclosure import Ends, enclose, is_monotone
from newron.expressions.tape import Tape, record
from newron.expressions.text import write_formula
from newron.expressions.tracing import trace
from newron.expressions.tree import (
    Expression,
    Parameter,
    bound,
    substitute,
)
from newron.neurons.naming import check_name, describe

REACH = 1e30  # of z: no formula of a few products leaves the range of numbers
MAX_PARAMETER = 1e6
_LARGEST = 1e100  # of h
_MAX_FACTORS = 16


@dataclass(frozen=True, repr=False)
class Processing:
    """One kind of processing function: a formula of z = w (x − b).

    Make one with the decorator :func:`newron.neurons.processing`.

    - ``expression``: h as a tree over the factors z and the further parameters.
    - ``factors``: The names of the factors; each has a w and a b of its own.
    - ``parameters``: Names and starts of further trained parameters.
    - ``surrogate``: Whose derivative trains a function that has none of its own.
    - ``about``: What it is, in a line.
    - ``reach``: z is kept within ± this.
    - ``weighs``: w is itself a weight: no alpha in the last layer, b stays where it is.
    - ``crisp``: A step at b, which takes the values 0 and 1 only: what rules are made of.
    - ``function``: What was traced, where it takes any number of factors.

    >>> from newron.model.processing import get_processing
    >>> get_processing("sigmoid").shape(np.array([0.0])).tolist()
    [0.5]
    """

    name: str
    expression: Expression
    factors: tuple[str, ...] = ("z",)
    parameters: tuple[tuple[str, float], ...] = ()
    surrogate: Expression | None = None
    about: str = ""
    reach: float = REACH
    weighs: bool = False
    crisp: bool = False
    function: Callable[..., Any] | None = field(default=None, compare=False)

    # ---- what is derived from the formula ----

    @property
    def arguments(self) -> tuple[str, ...]:
        """The names of factors and parameters."""
        return (*self.factors, *(name for name, _ in self.parameters))

    @property
    def many_factors(self) -> bool:
        """Whether there are pairs w, b by a list, not one of them alone."""
        return self.function is not None or len(self.factors) > 1

    @cached_property
    def tape(self) -> Tape:
        """The formula as a program."""
        return record(self.expression, self.arguments)

    @cached_property
    def training_tape(self) -> Tape:
        """The formula and its derivatives by all arguments, or those of its surrogate."""
        if self.surrogate is None:
            return self.tape.differentiate(*self.arguments)
        both = record([self.expression, self.surrogate], self.arguments)
        tape = both.differentiate(*self.arguments, output=1)
        return replace(tape, outputs=(tape.outputs[0], *tape.outputs[2:]))

    @cached_property
    def range(self) -> tuple[float, float]:
        """Between which values h stays."""
        low, high = enclose(self.tape, self._ends())[0]
        return float(low), float(high)

    @property
    def bounded(self) -> bool:
        """Whether h stays within 0 and 1."""
        low, high = self.range
        return low >= -1e-12 and high <= 1.0 + 1e-12

    @cached_property
    def monotone(self) -> bool:
        """Whether h is proved never to fall as z rises, whatever its parameters are."""
        if len(self.factors) != 1:
            return False
        z = self.factors[0]
        others = {name: ends for name, ends in self._ends().items() if name != z}
        return is_monotone(self.tape, z, self.reach, others)

    def _ends(self) -> dict[str, Ends]:
        factors = dict.fromkeys(self.factors, self.reach)
        named = factors | {name: MAX_PARAMETER for name, _ in self.parameters}
        return {name: (np.array(-end), np.array(end)) for name, end in named.items()}

    # ---- values ----

    def with_factors(self, n: int) -> Processing:
        """Return the function with so many factors."""
        if n == len(self.factors):
            return self
        if self.function is None or not 1 <= n <= _MAX_FACTORS:
            most = len(self.factors) if self.function is None else f"1 to {_MAX_FACTORS}"
            raise DefinitionError(f"{self.name}: expected {most} factors, got {n}")
        return _retrace(self, n)

    def value(self, x: Floats, w: Floats, b: Floats, parameters: Floats | None = None) -> Floats:
        """Return h(x), of shape (n_rows, n_functions) as x is.

        ``w`` and ``b`` have the shape (n_functions, n_factors), ``parameters`` a column for each.
        """
        own = self.with_factors(w.shape[1])
        with np.errstate(over="ignore", invalid="ignore"):
            z = [w[:, m] * (x - b[:, m]) for m in range(w.shape[1])]
        values = dict(zip(own.factors, (own._bound(each) for each in z), strict=True))
        for k, (name, start) in enumerate(self.parameters):
            values[name] = np.array(start) if parameters is None else parameters[:, k]
        return own.tape.evaluate(values)[0]

    def shape(self, z: Floats) -> Floats:
        """Return h as a function of z, all factors alike and parameters at their start."""
        values: dict[str, Any] = dict.fromkeys(self.factors, self._bound(z))
        return self.tape.evaluate(values | dict(self.parameters))[0]

    def _bound(self, z: Floats) -> Floats:
        return np.maximum(np.minimum(z, self.reach), -self.reach)

    def limits(
        self,
        w: Floats,
        b: Floats,
        low: Floats,
        high: Floats,
        parameters: Floats | None = None,
    ) -> tuple[Floats, Floats]:
        """Return bounds of h for x between low and high."""
        if self.bounded:
            return np.zeros(len(w)), np.ones(len(w))
        own = self.with_factors(w.shape[1])
        with np.errstate(over="ignore", invalid="ignore"):
            ends = [
                np.sort([w[:, m] * (end - b[:, m]) for end in (low, high)], axis=0)
                for m in range(w.shape[1])
            ]
        values: dict[str, Ends] = {
            name: (own._bound(z[0]), own._bound(z[1]))
            for name, z in zip(own.factors, ends, strict=True)
        }
        for k, (name, start) in enumerate(self.parameters):
            at = np.full(len(w), start) if parameters is None else parameters[:, k]
            values[name] = (at, at)
        least, greatest = enclose(own.tape, values)[0]
        return np.broadcast_to(least, len(w)), np.broadcast_to(greatest, len(w))

    # ---- as data and text ----

    def to_dict(self) -> dict[str, Any]:
        """Return the definition as plain data."""
        out: dict[str, Any] = {"factors": list(self.factors)}
        if self.parameters:
            out["parameters"] = dict(self.parameters)
        out["formula"] = to_data(self.expression)
        if self.surrogate is not None:
            out["surrogate"] = to_data(self.surrogate)
        return out | ({"about": self.about} if self.about else {})

    @classmethod
    def from_dict(cls, name: str, data: dict[str, Any]) -> Processing:
        """Return the function of plain data, checking every part.

        - ``data``: As :meth:`to_dict` returns it.
        """
        known = {"factors", "parameters", "formula", "surrogate", "about"}
        what = check_name(name, "processing", data, known, {"factors", "formula"})
        factors, starts = data["factors"], data.get("parameters", {})
        if not isinstance(factors, list) or not 1 <= len(factors) <= _MAX_FACTORS:
            raise DefinitionError(f"{what}: expected a list of factors, got {str(factors)[:60]!r}")
        if not isinstance(starts, dict) or not all(map(_is_start, starts.values())):
            raise DefinitionError(f"{what}: expected parameters with starts that are numbers")
        arguments = [*factors, *starts]
        if not all(isinstance(each, str) and each.isidentifier() for each in arguments):
            raise DefinitionError(f"{what}: expected arguments that are names")
        if len(set(arguments)) < len(arguments) or len(arguments) > 2 * _MAX_FACTORS:
            raise DefinitionError(f"{what}: expected a few arguments that differ")
        surrogate = data.get("surrogate")
        made = cls(
            name,
            from_data(data["formula"], arguments, what),
            tuple(factors),
            tuple((key, float(value)) for key, value in starts.items()),
            None if surrogate is None else from_data(surrogate, arguments, what),
            data.get("about", ""),
        )
        return made.check()

    def check(self) -> Processing:
        """Return the function if its formula has a finite value and something to train."""
        what = f"processing {self.name}"
        check_size(self.expression, what)
        enclose(self.tape, self._ends(), strict=what)
        if self.surrogate is not None:
            check_size(self.surrogate, what)
            enclose(record(self.surrogate, self.arguments), self._ends(), strict=what)
        tape = self.training_tape
        slopes = [tape.outputs[1 + m] for m in range(len(self.factors))]
        flat = [_is_zero(tape, number) for number in slopes]
        if any(flat):
            raise DefinitionError(
                f"{what}: expected a function whose derivative trains it, got one that is flat "
                f'in {self.factors[flat.index(True)]}; name another one, surrogate="sigmoid"'
            )
        return self

    def __str__(self) -> str:
        return self.name

    def __repr__(self) -> str:
        return f"<processing {self.name}: {write_formula(self.expression)}>"


def _is_zero(tape: Tape, number: int) -> bool:
    first = len(tape.inputs)
    constants = tape.constants
    return first <= number < first + len(constants) and constants[number - first] == 0.0


def _is_start(value: object) -> bool:
    number = isinstance(value, int | float) and not isinstance(value, bool)
    return number and abs(value) <= MAX_PARAMETER  # type: ignore[arg-type]


@lru_cache(maxsize=256)
def _retrace(processing: Processing, n: int) -> Processing:
    assert processing.function is not None  # noqa: S101 - the caller has looked
    factors = tuple(f"z{m}" for m in range(1, n + 1)) if n > 1 else ("z",)
    expression = _bound_result(
        processing.function, factors, dict(processing.parameters), processing.reach
    )
    return replace(processing, expression=expression, factors=factors)


def make_processing(
    function: Callable[..., Any],
    surrogate: Processing | None = None,
    *,
    reach: float = REACH,
    **flags: bool,
) -> Processing:
    """Return the processing function that a Python function writes."""
    name, about = describe(function, "processing")
    factors, starts, any_number = _read_signature(function)
    own = Processing(
        name,
        _bound_result(function, factors, starts, reach),
        factors,
        tuple(starts.items()),
        None if surrogate is None else _rename(surrogate, factors, name),
        about,
        reach,
        function=function if any_number else None,
        **flags,
    )
    return own.check()


def _bound_result(
    function: Callable[..., Any], factors: Sequence[str], starts: dict[str, float], reach: float
) -> Expression:
    """Trace a function; where it may leave ±1e100 it is kept within."""
    named = {name: Parameter(name) for name in starts}
    expression = trace(function, *map(Parameter, factors), **named)
    what = f"processing {function.__name__}"
    check_size(expression, what)
    made = Processing(
        function.__name__, expression, tuple(factors), tuple(starts.items()), reach=reach
    )
    low, high = enclose(made.tape, made._ends(), strict=what)[0]
    wide = max(abs(float(low)), abs(float(high))) > 1.1 * _LARGEST
    return bound(expression, _LARGEST) if wide else expression


def _read_signature(function: Callable[..., Any]) -> tuple[tuple[str, ...], dict[str, float], bool]:
    """Return the factors, the further parameters with their starts, and whether factors vary."""
    factors: list[str] = []
    starts: dict[str, float] = {}
    any_number = False
    for name, each in inspect.signature(function).parameters.items():
        if each.kind is each.VAR_KEYWORD:
            raise DefinitionError(f"{function.__name__}: expected named parameters, got **{name}")
        if each.kind is each.VAR_POSITIONAL:
            any_number = True
        elif each.default is each.empty:
            factors.append(name)
        elif _is_start(each.default):
            starts[name] = float(each.default)
        else:
            raise DefinitionError(
                f"{function.__name__}: expected a start of {name} that is a number within "
                f"±{MAX_PARAMETER:g}, got {each.default!r}"
            )
    if any_number:
        factors = ["z1", "z2"]
    if not factors:
        raise DefinitionError(f"{function.__name__}: expected an argument z = w (x - b), got none")
    return tuple(factors), starts, any_number


def _rename(surrogate: Processing, factors: tuple[str, ...], name: str) -> Expression:
    """Return a surrogate over the factors of the function that it trains."""
    own = surrogate.with_factors(len(factors))
    if own.parameters or own.surrogate is not None:
        raise DefinitionError(
            f"{name}: expected a surrogate that has a derivative and no parameters, got {own.name}"
        )
    values = dict(zip(own.factors, map(Parameter, factors), strict=True))
    return substitute(own.expression, values)
