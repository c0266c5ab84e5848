"""The smallest change of a few inputs that changes what a network says of a row.

A column that steps alone read has finitely many cells, so that all changes can be looked
at: the search is exact. Other columns are looked at on a grid, and what is found is then
moved as near to the row as it goes: that is approximate, and said to be.

Sets of columns are ruled out by bounds before any row is evaluated. What a column adds to
the scores directly is bounded by the best of its values, what it does through hidden neurons
by intervals that are carried through the layers.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from decimal import ROUND_CEILING, ROUND_FLOOR, Decimal
from functools import cached_property, partial
from itertools import combinations, pairwise
from typing import Any, overload

import numpy as np
from numpy.typing import NDArray

from newron.errors import InputError
from newron.model.aggregation import activate
from newron.model.arithmetic import Floats
from newron.model.description import format_number
from newron.model.frame import encode_table
from newron.model.model import Model
from newron.model.network import Layer
from newron.model.output import Classes, Label, Targets
from newron.model.processing import get_processing
from newron.model.schema import Column
from newron.rules.axis import Axis, make_axes
from newron.rules.circuit import find_boundaries
from newron.rules.text import write_label

__all__ = [
    "Change",
    "Changes",
    "Step",
    "find_changes",
    "get_value",
    "open_layers",
    "read_row",
    "search_changes",
    "tell_class",
    "tell_value",
]

Ints = NDArray[np.intp]
Bools = NDArray[np.bool_]

_CLOSE = 0.025  # of the range: how much further than needed a short decimal may lie
_GRID = 50  # steps of a range that is searched on a grid
_AROUND = np.array([-4.0, 0.0, 4.0])  # places beside the b of a smooth function, by 1 / w
_THIN = (50, 24, 12, 6, 3)  # places that are left of a grid where there are too many
_ROUNDS = 6  # of looking nearer to the row, by a sixteenth each
_SLACK = 1e-9  # what bounds leave to rounding
_LARGEST = 1e100
_MONOTONE = ("heaviside", "sigmoid", "linear", "relu", "selu")
_MOST_SETS = 2_000_000
_MOST_TOGETHER = 2_000_000  # combinations of one set
_BLOCK = 2048  # sets of columns that are bounded together
_SOME = 64  # sets of columns whose options are combined together
_BATCH = 4096  # rows that are evaluated together


# ---- what is found ----


@dataclass(frozen=True)
class Step:
    """One input that changes: from ``old`` to ``new``; None is a gap."""

    column: str
    old: Label | None
    new: Label | None
    size: float
    unit: str | None = None

    def __str__(self) -> str:
        unit = f" {self.unit}" if self.unit else ""
        return f"{self.column}: {tell_value(self.old)} → {tell_value(self.new)}{unit}"


@dataclass(frozen=True)
class Change:
    """Inputs that change together, and what the network says then.

    Parameters
    ----------
    steps : tuple of Step
    size : float
        The sum of the steps: of a number, how far it moves in units of the column's
        observed range; of a category, and of what was missing, 1.
    prediction : label or float
        The class, or the amount.
    probability : float, optional
        Of that class.
    """

    steps: tuple[Step, ...]
    size: float
    prediction: Label
    probability: float | None = None

    def __str__(self) -> str:
        return " and ".join(map(str, self.steps))

    def to_dict(self) -> dict[str, Any]:
        """Give the change as plain data."""
        steps = [
            {"column": s.column, "old": s.old, "new": s.new, "unit": s.unit, "size": s.size}
            for s in self.steps
        ]
        said = {"prediction": self.prediction, "probability": self.probability}
        return {"steps": steps, "size": self.size, **said, "text": str(self)}


class Changes(Sequence[Change]):
    """The changes that were found, the smallest first; as text, a few sentences.

    They all change as few inputs as possible. There is one for each set of inputs and
    each class that it leads to.

    Attributes
    ----------
    goal : str
        What the changes do, in words: "make it class 0".
    exact : bool
        Whether all values that the network tells apart were looked at, and not a grid.
    complete : bool
        Whether nothing was left out. Where ``exact`` and ``complete`` hold there is no
        smaller change: none of fewer inputs, and none of as many whose size is less, but
        for the rounding of numbers to short decimals, a fortieth of a range at most.
    max_changes : int
        Up to how many inputs were changed.
    fixed : tuple of str
        The columns that were held fixed.
    n_evaluated : int
        How many rows were evaluated.
    """

    def __init__(
        self,
        changes: Sequence[Change],
        *,
        goal: str,
        exact: bool,
        complete: bool,
        max_changes: int,
        fixed: Sequence[str] = (),
        n_evaluated: int = 0,
    ) -> None:
        self._changes = tuple(changes)
        self.goal = goal
        self.exact = exact
        self.complete = complete
        self.max_changes = max_changes
        self.fixed = tuple(fixed)
        self.n_evaluated = n_evaluated

    @overload
    def __getitem__(self, index: int) -> Change: ...
    @overload
    def __getitem__(self, index: slice) -> tuple[Change, ...]: ...
    def __getitem__(self, index: int | slice) -> Change | tuple[Change, ...]:
        """Give one change, or some."""
        return self._changes[index]

    def __len__(self) -> int:
        """Count the changes that were found."""
        return len(self._changes)

    def __repr__(self) -> str:
        return f"<Changes: {len(self)} found, exact={self.exact}, complete={self.complete}>"

    def __str__(self) -> str:
        lines = [self._tell_found(), self._tell_certainty()] if self else [self._tell_none()]
        if len(self) > 1:
            lines.insert(1, f"Also: {'; '.join(map(self._tell_other, self[1:]))}.")
        if self.fixed:
            lines.append(f"Held fixed: {', '.join(self.fixed)}.")
        return "\n".join(lines)

    def _tell_found(self) -> str:
        first, n = self[0], len(self[0].steps)
        of_class = first.probability is not None
        goal = f"make it {tell_class(first.prediction)}" if of_class else self.goal
        head = _NUMBERS.get(n, f"{n} changes together")
        return f"{head} would {goal}, for example {first}."

    def _tell_none(self) -> str:
        inputs = "one input" if self.max_changes == 1 else f"up to {self.max_changes} inputs"
        if self.exact and self.complete:
            return f"No change of {inputs} within the observed ranges would {self.goal}."
        why = "approximate" if self.complete else "not exhaustive"
        return f"No change of {inputs} was found that would {self.goal}; the search was {why}."

    def _tell_other(self, change: Change) -> str:
        same = change.probability is None or change.prediction == self[0].prediction
        return str(change) if same else f"{change} ({tell_class(change.prediction)})"

    def _tell_certainty(self) -> str:
        if self.exact and self.complete:
            return "No smaller change exists."
        why = "approximate, over places of each range" if self.complete else "not exhaustive"
        return f"The search was {why}: a smaller change may exist."

    def to_dict(self) -> dict[str, Any]:
        """Give all changes as plain data, and how they were searched."""
        return {
            "goal": self.goal,
            "changes": [change.to_dict() for change in self],
            "exact": self.exact,
            "complete": self.complete,
            "max_changes": self.max_changes,
            "fixed": list(self.fixed),
            "evaluated": self.n_evaluated,
            "text": str(self),
        }


_NUMBERS = {1: "One change", 2: "Two changes together", 3: "Three changes together"}


def tell_value(value: Label | None) -> str:
    """Write a value of a column; None is a gap."""
    if value is None:
        return "missing"
    return format_number(value) if type(value) is float else write_label(value)


def tell_class(label: Label) -> str:
    """Write a class in a sentence: numbers with the word "class"."""
    told = tell_value(label)
    return told if isinstance(label, str) else f"class {told}"


# ---- asking ----


def find_changes(
    model: Model,
    row: Any,
    *,
    target: Any = None,
    max_changes: int = 3,
    fixed: str | Iterable[str] = (),
    limit: int = 5,
    max_evaluations: int = 500_000,
) -> Changes:
    """Find the smallest change of a few inputs that changes the class of a row.

    Fewest inputs first, then the smallest total; see :class:`Change` for its measure.
    Numbers stay within the observed range and become short decimals; nothing is changed
    into a gap. What is found tells what the network computes. It is no advice.

    Parameters
    ----------
    model : Model
    row : dict, Series, sequence, or table of one row
    target : label, or (low, high)
        The class to reach; by default any other. For amounts the ends of the range to
        reach, None where it is open.
    max_changes : int, default=3
        How many inputs may change together.
    fixed : name or names of columns
        Inputs that stay as they are.
    limit : int, default=5
        How many changes to give, each of other inputs or towards another class.
    max_evaluations : int, default=500_000
        After so many rows the search ends, and is not exhaustive.

    Returns
    -------
    Changes
        A sequence of :class:`Change`.

    Raises
    ------
    InputError
        If the row, the target or a name cannot be used, or the row is there already.

    Examples
    --------
    >>> from newron.model import Classes, Column, Layer, Model, Schema
    >>> card = Layer("heaviside", "sum", "identity", 1, target=[0, 0], source=[0, 1],
    ...              w=[[1.0], [0.0]], b=[[54.5], [0.0]], alpha=[1.0, 2.0], centre=[3.0],
    ...              levels=[[], [0.0, 1.0]])
    >>> columns = Column("age", 29.0, 77.0, unit="y"), Column("sex", 0, 1, categories=("f", "m"))
    >>> model = Model(Schema(columns), [card], Classes(("well", "ill")))
    >>> print(find_changes(model, {"age": 50, "sex": "m"}))
    One change would make it ill, for example age: 50 → 55 y.
    No smaller change exists.
    >>> print(find_changes(model, {"age": 50, "sex": "f"}, fixed="sex"))
    No change of up to 3 inputs within the observed ranges would make it ill.
    Held fixed: sex.
    """
    values = read_row(model, row)
    return search_changes(model, values, target, max_changes, fixed, limit, max_evaluations)


def search_changes(
    model: Model,
    values: Floats,
    target: Any,
    max_changes: int,
    fixed: str | Iterable[str],
    limit: int,
    max_evaluations: int,
) -> Changes:
    """Find changes of a row that has been read."""
    if min(max_changes, limit, max_evaluations) < 1:
        raise InputError("expected max_changes, limit and max_evaluations of at least 1")
    scores = model.score_rows(values)
    goal = _make_goal(model, scores, target)
    held = _read_fixed(model, fixed)
    space = _make_space(model, values[0], held)
    search = _Search(space, goal, scores[0], max_evaluations)
    found = search.run(max_changes, limit)
    if not space.exact:
        found = sorted((_refine(space, goal, one) for one in found), key=lambda one: one.size)
    return Changes(
        [_make_change(space, one) for one in found],
        goal=goal.text,
        exact=space.exact,
        complete=search.complete,
        max_changes=max_changes,
        fixed=[model.schema.names[i] for i in sorted(held)],
        n_evaluated=search.n_evaluated,
    )


def read_row(model: Model, row: Any) -> Floats:
    """Read one row, in whatever form, as an array of shape (1, columns).

    Examples
    --------
    >>> from newron.model import Classes, Column, Layer, Model, Schema
    >>> layer = Layer("heaviside", "sum", "identity", 1, [0], [0], [[1.0]], [[38.0]])
    >>> model = Model(Schema((Column("t", 35.0, 42.0),)), [layer], Classes(("well", "ill")))
    >>> [read_row(model, row).tolist() for row in ({"t": 37}, [37], [[37]])]
    [[[37.0]], [[37.0]], [[37.0]]]
    """
    named = _find_names(row)
    if named is not None:
        rows: NDArray[Any] = encode_table(_arrange(named, model), model.fields)
    else:
        rows = model.read([list(row)] if _is_flat(row) else row)
    if len(rows) != 1:
        raise InputError(f"expected one row, got {len(rows)}; take one, for example X[:1]")
    return np.ascontiguousarray(rows, np.float64)


def _is_flat(row: Any) -> bool:
    """Tell whether this is a sequence of values, and not of rows."""
    if hasattr(row, "columns") or not hasattr(row, "__len__") or np.ndim(row) == 0:
        return False
    return all(isinstance(value, str) or np.ndim(value) == 0 for value in row)


def _find_names(row: Any) -> Mapping[str, Any] | None:
    """Give the values by name, if the row has names."""
    if isinstance(row, Mapping):
        return row
    if hasattr(row, "index") and hasattr(row, "to_dict") and not hasattr(row, "columns"):
        named: dict[Any, Any] = row.to_dict()  # a Series
        return named if all(isinstance(name, str) for name in named) else None
    return None


def _arrange(named: Mapping[str, Any], model: Model) -> NDArray[Any]:
    names = model.schema.names
    for name in names:
        if name not in named:
            raise InputError(f"expected a value of {name!r}, got none; add it, None where unknown")
    for name in named:
        if name not in names:
            raise InputError(f"expected no value of {name!r}, got one; leave it out")
    values = np.empty((1, len(names)), object)
    values[0] = [named[name] for name in names]
    return values


def get_value(column: Column, x: float) -> Label | None:
    """Give a number of a row as people know it: a label, a number, or None for a gap."""
    if column.categories is not None:
        known = 0.0 <= x < len(column.categories)
        return column.categories[int(x)] if known else None
    return None if math.isnan(x) else float(x)


def _read_fixed(model: Model, fixed: str | Iterable[str]) -> set[int]:
    names = [fixed] if isinstance(fixed, str) else list(fixed)
    for name in names:
        if name not in model.schema.names:
            raise InputError(f"fixed: expected names of columns, got {name!r}")
    return {model.schema.names.index(name) for name in names}


def open_layers(model: Model) -> Callable[[Floats], list[Floats]]:
    """Give what evaluates every function: for rows, an array (rows, functions) a layer."""
    sizes = [len(layer.source) for layer in model.layers]
    probes = [_open_layer(model, layer) for layer in model.layers]

    def evaluate(rows: Floats) -> list[Floats]:
        return [p.score_rows(rows)[:, :n] for p, n in zip(probes, sizes, strict=True)]

    return evaluate


def _open_layer(model: Model, layer: Layer) -> Model:
    """Give a model whose amounts are h of each function of a layer, by a neuron for each."""
    n = len(layer.source)
    probe = layer.replace(
        aggregation="sum",
        activation="identity",
        n_neurons=max(n, 1),
        target=np.arange(n),
        alpha=None,
        centre=None,
    )
    names = tuple(f"h{e}" for e in range(max(n, 1)))
    return Model(model.schema, (*model.layers[:-1], probe), Targets(names))


# ---- what is to be reached ----


@dataclass(frozen=True)
class _Way:
    """Demands that all hold where the goal is reached in this way: factors · scores ≥ bounds."""

    factors: Floats  # (demands, scores)
    bounds: Floats


@dataclass(frozen=True)
class _Goal:
    """What the scores shall be."""

    model: Model
    text: str
    ways: tuple[_Way, ...]
    classes: tuple[int, ...] = ()
    low: float = -math.inf
    high: float = math.inf

    def is_reached(self, scores: Floats) -> Bools:
        """Tell for which rows of scores it is reached."""
        output = self.model.output
        if isinstance(output, Classes):
            return np.isin(output.choose(scores), self.classes)
        return (scores[:, 0] >= self.low) & (scores[:, 0] <= self.high)

    def list_outcomes(self, scores: Floats) -> Ints:
        """Give the number of what each row leads to, where several things are told apart."""
        output = self.model.output
        if isinstance(output, Classes):
            return output.choose(scores)
        return np.zeros(len(scores), np.intp)


def _make_goal(model: Model, scores: Floats, target: Any) -> _Goal:
    output = model.output
    if isinstance(output, Classes):
        goal = _aim_at_class(model, output, int(output.choose(scores)[0]), target)
    else:
        goal = _aim_at_amount(model, output, target)
    if goal.is_reached(scores)[0]:
        said = tell_value(_predict(model, scores)[0])
        raise InputError(f"target: expected what the row does not have yet, but it has {said}")
    return goal


def _aim_at_class(model: Model, output: Classes, now: int, target: Any) -> _Goal:
    wanted = [k for k in range(len(output.labels)) if k != now]
    if target is not None:
        if target not in output.labels:
            known = ", ".join(map(repr, output.labels))
            raise InputError(f"target: expected one of the classes {known}, got {target!r}")
        wanted = [output.labels.index(target)]
    one = len(wanted) == 1
    text = f"make it {tell_class(output.labels[wanted[0]])}" if one else "change the class"
    return _Goal(model, text, tuple(_win(output, k) for k in wanted), tuple(wanted))


def _win(output: Classes, k: int) -> _Way:
    """Demand that a class has the highest score."""
    if output.n_scores == 1:
        return _Way(np.array([[1.0 if k else -1.0]]), np.zeros(1))
    ahead = -np.eye(output.n_scores)
    ahead[:, k] += 1.0
    return _Way(np.delete(ahead, k, axis=0), np.zeros(output.n_scores - 1))


def _aim_at_amount(model: Model, output: Targets, target: Any) -> _Goal:
    if output.n_scores != 1:
        raise InputError(
            f"expected a network of classes or of one amount to find changes, "
            f"got {output.n_scores} amounts"
        )
    low, high = _read_range(target)
    demands = [(1.0, low), (-1.0, -high)]
    factors, bounds = np.array([one for one in demands if math.isfinite(one[1])]).T
    text = _tell_range(output.names[0], low, high)
    return _Goal(model, text, (_Way(factors[:, None], bounds),), (), low, high)


def _read_range(target: Any) -> tuple[float, float]:
    try:
        low, high = target
        ends = (-math.inf if low is None else float(low), math.inf if high is None else float(high))
    except (TypeError, ValueError):
        ends = math.nan, math.nan
    if not ends[0] <= ends[1] or not any(map(math.isfinite, ends)):
        raise InputError(
            f"target: expected (low, high) for an amount, None for an open end, got {target!r}"
        )
    return ends


def _tell_range(name: str, low: float, high: float) -> str:
    if not math.isfinite(high):
        return f"bring {name} to {format_number(low)} or more"
    if not math.isfinite(low):
        return f"bring {name} to {format_number(high)} or less"
    return f"bring {name} between {format_number(low)} and {format_number(high)}"


# ---- what may change ----


@dataclass(frozen=True)
class _Options:
    """The values that a column may take instead of the row's own, the nearest first."""

    column: int
    values: Floats
    costs: Floats
    edges: Ints  # the column's functions, counted over all layers
    then: Floats  # h of them, (options, functions)
    smooth: bool  # whether the values are a grid


@dataclass(frozen=True)
class _Space:
    """A row and its options; places of columns are those among the options."""

    model: Model
    row: Floats
    options: tuple[_Options, ...]
    now: Floats  # h of all functions for the row itself
    exact: bool

    @cached_property
    def values(self) -> Floats:
        """The options of all columns, NaN where there are fewer."""
        return _pad([one.values for one in self.options], np.nan)

    @cached_property
    def costs(self) -> Floats:
        """How large the steps to them are, infinite where there are fewer."""
        return _pad([one.costs for one in self.options], np.inf)

    def make_rows(self, chosen: Ints, picks: Ints) -> Floats:
        """Give rows with the picked options of the chosen columns."""
        rows = np.repeat(self.row[None, :], len(picks), axis=0)
        for p, c in enumerate(chosen):
            rows[:, self.options[c].column] = self.values[c, picks[:, p]]
        return rows


def _pad(parts: Sequence[Floats], filler: float) -> Floats:
    out = np.full((len(parts), max(map(len, parts), default=0)), filler)
    for line, part in zip(out, parts, strict=True):
        line[: len(part)] = part
    return out


def _make_space(model: Model, row: Floats, fixed: set[int]) -> _Space:
    source = np.concatenate([layer.source for layer in model.layers])
    axes = make_axes(model.schema, find_boundaries(model))
    read = [i for i in range(len(axes)) if i not in fixed and (source == i).any()]
    smooth = {i: not (axes[i].listed or _is_crisp(model, i)) for i in read}
    evaluate = open_layers(model)
    now = np.concatenate(evaluate(row[None, :]), axis=1)[0]
    options = []
    for i in read:
        old, column, edges = float(row[i]), axes[i].column, np.flatnonzero(source == i)
        x = _make_grid(model, i) if smooth[i] else np.array(list(_enter_cells(axes[i], old)))
        costs = _measure(column, old, x)
        order = np.argsort(costs, kind="stable")
        rows = np.repeat(row[None, :], len(x), axis=0)
        rows[:, i] = x[order]
        then = np.concatenate(evaluate(rows), axis=1)[:, edges]
        kept = _drop_same(then, now[edges], smooth[i])
        if kept:
            nearest = order[kept]
            options.append(_Options(i, x[nearest], costs[nearest], edges, then[kept], smooth[i]))
    return _Space(model, row, tuple(options), now, not any(smooth.values()))


def _is_crisp(model: Model, column: int) -> bool:
    """Tell whether steps alone read a column, on its own scale."""
    for layer in model.layers:
        mine = layer.source == column
        crisp = get_processing(layer.processing).crisp and not layer.rank_flags[mine].any()
        if mine.any() and not crisp:
            return False
    return True


def _drop_same(h: Floats, now: Floats, smooth: bool) -> list[int]:
    """Give the options that differ from the row and, for steps, from nearer options."""
    seen = {now.tobytes()}
    kept = []
    for k, values in enumerate(h):
        key = values.tobytes()
        if key not in seen:
            kept.append(k)
            seen |= set() if smooth else {key}
    return kept


def _measure(column: Column, old: float, new: Floats) -> Floats:
    """Give how large steps from the old value to new ones are."""
    width = column.high - column.low
    if column.categories is not None or math.isnan(old) or not width > 0.0:
        return np.where(new == old, 0.0, 1.0)
    with np.errstate(over="ignore"):
        return np.abs(new - old) / width


def _enter_cells(axis: Axis, old: float) -> Iterator[float]:
    """Give a value of every cell: a short decimal near the old one; never a gap."""
    if axis.listed:
        yield from axis.representatives[: axis.n_places].tolist()
        return
    column = axis.column
    for low, high in pairwise([-math.inf, *axis.boundaries, math.inf]):
        first, last = max(low, column.low), min(math.nextafter(high, -math.inf), column.high)
        if first <= last:
            edge = 0.5 * first + 0.5 * last if math.isnan(old) else min(max(old, first), last)
            yield _shorten(edge, old, column, partial(_is_between, first, last))


def _is_between(first: float, last: float, x: float) -> bool:
    return first <= x <= last


def _make_grid(model: Model, i: int) -> Floats:
    """Give places over the observed range, and some where smooth functions are steep."""
    column = model.schema.columns[i]
    places = [np.linspace(column.low, column.high, _GRID + 1)]
    for layer in model.layers:
        own = (layer.source == i) & ~layer.rank_flags
        w, b = np.abs(layer.w[own]).ravel(), layer.b[own].ravel()
        with np.errstate(over="ignore"):
            reach = np.divide(1.0, w, out=np.zeros_like(w), where=w > 0.0)
            places.append((b[:, None] + _AROUND * reach[:, None]).ravel())
    found = np.unique(np.concatenate(places))
    return found[(found >= column.low) & (found <= column.high)]


# ---- short decimals ----


def _shorten(edge: float, old: float, column: Column, fits: Callable[[float], bool]) -> float:
    """Give the shortest decimal that fits, at an edge or a little further from the old value.

    It has no more decimals than the old value where that is possible.
    """
    width = column.high - column.low
    rounding = ROUND_FLOOR if edge < old else ROUND_CEILING
    least = (math.floor(math.log10(abs(edge))) if edge else 0) - 16
    for exponent in range(_find_start(old, width), least - 1, -1):
        step = Decimal(1).scaleb(exponent)
        value = float(Decimal(repr(edge)).quantize(step, rounding=rounding))
        if abs(value - edge) <= _CLOSE * width and fits(value):
            return value
    return edge


def _find_start(old: float, width: float) -> int:
    """Give the power of ten from which on to look for a short decimal."""
    fine = min(0, math.floor(math.log10(0.01 * width))) if width > 0.0 else 0
    if math.isnan(old):
        return fine
    return max(fine, min(0, int(Decimal(repr(old)).normalize().as_tuple().exponent)))


# ---- bounds ----


@dataclass(frozen=True)
class _Bounds:
    """What scores can be where some columns take any of their options, for one way."""

    start: Floats  # (demands): the row's own, without what functions of neurons add
    direct: Floats  # (columns, options, demands): what an option adds to that
    hidden: Floats  # (demands, functions of neurons): their factors
    bounds: Floats

    @cached_property
    def gain(self) -> Floats:
        """The most that a column adds, (columns, demands)."""
        return np.asarray(self.direct.max(axis=1, initial=-np.inf))

    @cached_property
    def slack(self) -> Floats:
        """What is left to rounding, for each demand."""
        sizes = np.abs(np.where(np.isfinite(self.direct), self.direct, 0.0))
        most = sizes.max(axis=(0, 1), initial=0.0) + np.abs(self.hidden).sum(axis=1)
        return np.asarray(_SLACK * (1.0 + np.abs(self.start) + np.abs(self.bounds) + most))

    def list_room(self, sets: Ints, reach: tuple[Floats, Floats]) -> Floats:
        """Give for sets of columns by how much demands are met at best, (sets, demands)."""
        low, high = reach
        most = [np.maximum(low * factors, high * factors).sum(axis=1) for factors in self.hidden]
        added = np.stack(most, axis=1) + self.gain[sets].sum(axis=1)
        return np.asarray(self.start + added - self.bounds)

    def list_useful(self, sets: Ints, room: Floats, p: int) -> Bools:
        """Tell which options of the p-th column of sets leave the demands possible."""
        left = room - self.gain[sets[:, p]]
        return np.asarray((left[:, None, :] + self.direct[sets[:, p]] >= -self.slack).all(axis=2))

    def list_possible(self, chosen: Ints, room: Floats, picks: Ints) -> Bools:
        """Tell which combinations of options leave the demands possible."""
        left = room - self.gain[chosen].sum(axis=0)
        moved = self.direct[chosen[None, :], picks].sum(axis=1)
        return np.asarray((left + moved >= -self.slack).all(axis=1))


def _make_bounds(space: _Space, way: _Way, scores: Floats) -> _Bounds:
    last = space.model.layers[-1]
    direct = np.where(np.isnan(space.values), -np.inf, 0.0)[:, :, None]
    direct = np.repeat(direct, len(way.bounds), axis=2)
    if last.aggregation not in ("sum", "mean"):
        unlimited = np.full(len(way.bounds), _LARGEST**2)
        return _Bounds(unlimited, direct, np.zeros((len(way.bounds), 0)), way.bounds)
    factors = way.factors[:, last.target] * _list_weights(last)
    first = len(space.now) - len(last.source)
    now = space.now[first:]
    for c, one in enumerate(space.options):
        mine = one.edges >= first
        edges = one.edges[mine] - first
        direct[c, : len(one.values)] += (one.then[:, mine] - now[edges]) @ factors[:, edges].T
    hidden = last.source >= len(space.model.schema)
    start = way.factors @ scores - factors[:, hidden] @ now[hidden]
    return _Bounds(start, direct, factors[:, hidden], way.bounds)


def _list_weights(layer: Layer) -> Floats:
    """Give what h of each function is multiplied by on its way into the sum."""
    weights = np.ones(len(layer.source)) if layer.alpha is None else layer.alpha
    if layer.aggregation != "mean":
        return weights
    return np.asarray(weights / np.diff(layer.begin)[layer.target])


class _Reach:
    """How far neurons go where some columns take any of their options."""

    def __init__(self, space: _Space) -> None:
        last = space.model.layers[-1]
        self._n_inputs = len(space.model.schema)
        self._last = last
        self._hidden = np.flatnonzero(last.source >= self._n_inputs)
        self._layers: list[_LayerReach] = []
        if len(self._hidden) and last.aggregation in ("sum", "mean"):
            first = 0
            for layer in space.model.layers[:-1]:
                self._layers.append(_LayerReach(space, layer, first))
                first += len(layer.source)

    def spread(self, sets: Ints) -> tuple[Floats, Floats]:
        """Give the least and greatest h of the last layer's functions of neurons."""
        ends = np.zeros((2, len(sets), 0))  # of all neurons so far
        if not self._layers:
            return ends[0], ends[1]
        for reach in self._layers:
            ends = np.concatenate([ends, reach.bound(sets, ends)], axis=2)
        low, high = _bound_functions(self._last, self._hidden, ends, self._n_inputs)
        return low, high


class _LayerReach:
    """How far the neurons of a hidden layer go."""

    def __init__(self, space: _Space, layer: Layer, first: int) -> None:
        self._layer = layer
        self._n_inputs = len(space.model.schema)
        self._deep = np.flatnonzero(layer.source >= self._n_inputs)
        self._weights = np.ones(len(layer.source)) if layer.alpha is None else layer.alpha
        self._sums = layer.aggregation in ("sum", "mean")
        self._exact = get_processing(layer.processing).crisp and layer.alpha is None
        parts = space.now[first : first + len(layer.source)] * self._weights
        parts[self._deep] = 0.0
        # Of each column, by how much it moves neurons, or functions where they are not added.
        self._now = self._add(parts) if self._sums else parts
        ends = np.zeros((2, len(space.options), len(self._now)))
        for c, one in enumerate(space.options):
            mine = (one.edges >= first) & (one.edges < first + len(layer.source))
            edges = one.edges[mine] - first
            moved = np.zeros((len(one.values), len(parts)))
            moved[:, edges] = one.then[:, mine] * self._weights[edges] - parts[edges]
            moved = self._add(moved) if self._sums else moved
            ends[0, c], ends[1, c] = moved.min(axis=0, initial=0.0), moved.max(axis=0, initial=0.0)
        self._ends = ends

    def _add(self, parts: Floats) -> Floats:
        """Add functions up to neurons, along the last axis."""
        padded = np.concatenate([parts, np.zeros((*parts.shape[:-1], 1))], axis=-1)
        begin = self._layer.begin
        sums = np.add.reduceat(padded, begin[:-1], axis=-1)
        return np.asarray(np.where(np.diff(begin) > 0, sums, 0.0))

    def bound(self, sets: Ints, ends: Floats) -> Floats:
        """Give the least and greatest value of the neurons, (2, sets, neurons)."""
        layer = self._layer
        parts = self._now + np.stack([part[sets].sum(axis=1) for part in self._ends])
        h = _bound_functions(layer, self._deep, ends, self._n_inputs)
        deep = np.sort(h * self._weights[self._deep], axis=0)
        if self._sums:
            among = np.zeros((2, len(sets), len(layer.source)))
            among[:, :, self._deep] = deep
            out = parts + self._add(among)
            out = out / np.maximum(np.diff(layer.begin), 1) if layer.aggregation == "mean" else out
        else:
            parts[:, :, self._deep] = deep
            out = np.stack(
                [
                    _combine(layer.aggregation, parts[:, :, begin:end])
                    for begin, end in pairwise(layer.begin.tolist())
                ],
                axis=2,
            )
        out = out if layer.centre is None else out - layer.centre
        if not self._exact:  # what may be rounded in another way
            out += np.array([-_SLACK, _SLACK])[:, None, None] * (1.0 + np.abs(out))
        return activate(layer.activation, out)


def _bound_functions(layer: Layer, edges: Ints, ends: Floats, n_inputs: int) -> Floats:
    """Give the least and greatest h of functions of neurons."""
    function = get_processing(layer.processing)
    x = ends[:, :, layer.source[edges] - n_inputs]
    if layer.processing in _MONOTONE:
        h = np.stack([function.value(part, layer.w[edges], layer.b[edges]) for part in x])
        return np.sort(h, axis=0)
    least, most = (0.0, 1.0) if function.bounded else (-_LARGEST, _LARGEST)
    return np.stack([np.full(x[0].shape, least), np.full(x[0].shape, most)])


def _combine(aggregation: str, parts: Floats) -> Floats:
    """Aggregate intervals: (2, sets, functions) becomes (2, sets)."""
    if aggregation == "product":
        ends = np.ones(parts.shape[:2])
        for part in np.moveaxis(parts, 2, 0):
            corners = np.clip(ends[:, None] * part[None, :], -_LARGEST, _LARGEST)
            ends = np.stack([corners.min(axis=(0, 1)), corners.max(axis=(0, 1))])
        return ends
    if not parts.shape[2]:
        return np.zeros(parts.shape[:2])
    return np.asarray(parts.min(axis=2) if aggregation == "min" else parts.max(axis=2))


# ---- the search ----


@dataclass(frozen=True)
class _Found:
    """Columns that change, by their places among the options, and the row then."""

    size: float
    chosen: tuple[int, ...]
    row: tuple[float, ...]
    outcome: int


@dataclass
class _Search:
    """Looks for changes, fewest columns first, and remembers how far it came."""

    space: _Space
    goal: _Goal
    scores: Floats
    budget: int
    n_evaluated: int = 0
    complete: bool = True
    best: dict[tuple[tuple[int, ...], int], _Found] = field(default_factory=dict)

    @cached_property
    def _bounds(self) -> list[_Bounds]:
        return [_make_bounds(self.space, way, self.scores) for way in self.goal.ways]

    @cached_property
    def _reach(self) -> _Reach:
        return _Reach(self.space)

    def run(self, max_changes: int, limit: int) -> list[_Found]:
        """Give the smallest changes, sorted."""
        for k in range(1, min(max_changes, len(self.space.options)) + 1):
            self._search_sets(k, limit)
            if self.best:
                break
        return self._sort()[:limit]

    def _sort(self) -> list[_Found]:
        return sorted(self.best.values(), key=lambda one: (one.size, one.chosen, one.outcome))

    def _search_sets(self, k: int, limit: int) -> None:
        """Look at all sets of k columns, those of the least possible size first."""
        sets = self._list_sets(k)
        parts = [self._bound_sizes(sets[a : a + _BLOCK]) for a in range(0, len(sets), _BLOCK)]
        least = np.concatenate(parts)
        order = np.argsort(least, kind="stable")[: int(np.isfinite(least).sum())]
        waiting: list[tuple[Ints, Ints]] = []
        for s, one in enumerate(self._pick_options(sets[order], self._count_places(k)), 1):
            waiting.append(one)
            if s < len(order) and sum(len(picks) for _, picks in waiting) < _BATCH:
                continue
            self._evaluate(waiting)
            waiting = []
            worst = self._sort()[limit - 1].size if len(self.best) >= limit else math.inf
            if s == len(order) or least[order[s]] > worst:
                return
            if self.n_evaluated >= self.budget:
                self.complete = False
                return

    def _list_sets(self, k: int) -> Ints:
        """Give all sets of k columns, or those of the columns that gain most."""
        n = len(self.space.options)
        chosen = np.arange(n)
        if math.comb(n, k) > _MOST_SETS:
            self.complete = False
            while math.comb(n, k) > _MOST_SETS:
                n -= 1
            gain = np.sum([np.maximum(b.gain, 0.0).sum(axis=1) for b in self._bounds], axis=0)
            chosen = np.sort(np.argsort(-gain, kind="stable")[:n])
        return chosen[np.array(list(combinations(range(n), k)), np.intp)]

    def _bound_sizes(self, sets: Ints) -> Floats:
        """Give the least size that a change of each set can have; infinite if none reaches."""
        reach = self._reach.spread(sets)
        least = np.full(len(sets), np.inf)
        for bounds in self._bounds:
            room = bounds.list_room(sets, reach)
            size = np.zeros(len(sets))
            for p in range(sets.shape[1]):
                useful = bounds.list_useful(sets, room, p)
                size += np.where(useful, self.space.costs[sets[:, p]], np.inf).min(axis=1)
            least = np.minimum(least, size)
        return least

    def _count_places(self, k: int) -> int:
        """Give how many places of each column to look at, where a grid has too many."""
        counts = [len(one.values) for one in self.space.options]
        if self.space.exact or len(self.space.model.layers) == 1:
            return max(counts)
        for n in _THIN:
            if _count_picks([min(count, n) for count in counts], k) <= self.budget:
                return n
        return _THIN[-1]

    def _pick_options(self, sets: Ints, most: int) -> Iterator[tuple[Ints, Ints]]:
        """Give each set, and the combinations of its options that bounds leave possible."""
        for first in range(0, len(sets), _SOME):
            block = sets[first : first + _SOME]
            reach = self._reach.spread(block)
            pairs = [(bounds, bounds.list_room(block, reach)) for bounds in self._bounds]
            useful = [
                np.any([bounds.list_useful(block, room, p) for bounds, room in pairs], axis=0)
                for p in range(sets.shape[1])
            ]
            for s, chosen in enumerate(block):
                picks = self._combine([_thin(np.flatnonzero(mask[s]), most) for mask in useful])
                possible = [b.list_possible(chosen, room[s], picks) for b, room in pairs]
                yield chosen, picks[np.any(possible, axis=0)]

    def _combine(self, lists: list[Ints]) -> Ints:
        """Give all combinations, (combinations, columns)."""
        while math.prod(map(len, lists)) > _MOST_TOGETHER:
            self.complete = False
            longest = max(range(len(lists)), key=lambda p: len(lists[p]))
            lists[longest] = lists[longest][: len(lists[longest]) // 2]
        return np.stack([axis.ravel() for axis in np.meshgrid(*lists, indexing="ij")], axis=1)

    def _evaluate(self, waiting: Sequence[tuple[Ints, Ints]]) -> None:
        """Evaluate combinations, and keep the smallest of each set and outcome."""
        owner = np.repeat(np.arange(len(waiting)), [len(picks) for _, picks in waiting])
        rows = np.concatenate([self.space.make_rows(*one) for one in waiting])
        costs = np.concatenate([self.space.costs[c[None, :], p].sum(axis=1) for c, p in waiting])
        left = self.budget - self.n_evaluated
        if len(rows) > left:
            self.complete = False
            nearest = np.argsort(costs, kind="stable")[:left]
            owner, rows, costs = owner[nearest], rows[nearest], costs[nearest]
        self.n_evaluated += len(rows)
        scores = self.space.model.score_rows(rows)
        outcomes = self.goal.list_outcomes(scores)
        for r in np.flatnonzero(self.goal.is_reached(scores)).tolist():
            key = tuple(waiting[owner[r]][0].tolist()), int(outcomes[r])
            if key not in self.best or costs[r] < self.best[key].size:
                self.best[key] = _Found(float(costs[r]), key[0], tuple(rows[r].tolist()), key[1])


def _count_picks(counts: Iterable[int], k: int) -> int:
    """Give how many ways there are to pick k columns and one option of each."""
    ways = [1] + [0] * k
    for count in counts:
        for j in range(k, 0, -1):
            ways[j] += ways[j - 1] * count
    return ways[k]


def _thin(options: Ints, n: int) -> Ints:
    if len(options) <= n:
        return options
    return options[np.linspace(0, len(options) - 1, n).round().astype(np.intp)]


# ---- near to the row ----


def _refine(space: _Space, goal: _Goal, found: _Found) -> _Found:
    """Move what was found on a grid as near to the row as it goes."""
    row, size = np.array(found.row), 0.0
    for one in (space.options[c] for c in found.chosen):
        i = one.column
        if one.smooth:
            row[i] = _approach(space, goal, row, i)
        column = space.model.schema.columns[i]
        size += float(_measure(column, float(space.row[i]), row[i : i + 1])[0])
    outcome = int(goal.list_outcomes(space.model.score_rows(row[None, :]))[0])
    return _Found(size, found.chosen, tuple(row.tolist()), outcome)


def _approach(space: _Space, goal: _Goal, row: Floats, i: int) -> float:
    """Give the value of a column nearest to its old one for which the goal stays reached."""
    column = space.model.schema.columns[i]

    def reaches(values: Floats) -> Bools:
        rows = np.repeat(row[None, :], len(values), axis=0)
        rows[:, i] = values
        return goal.is_reached(space.model.score_rows(rows))

    def fits(x: float) -> bool:
        return column.low <= x <= column.high and bool(reaches(np.array([x]))[0])

    old, inside = float(space.row[i]), float(row[i])
    if not math.isnan(old):
        outside = min(max(old, column.low), column.high)
        for _ in range(_ROUNDS):
            x = np.linspace(outside, inside, 17)
            k = int(np.argmax(reaches(x)))
            outside, inside = float(x[max(k - 1, 0)]), float(x[k])
    return _shorten(inside, old, column, fits)


def _make_change(space: _Space, found: _Found) -> Change:
    steps = []
    for i in (space.options[c].column for c in found.chosen):
        column, old, new = space.model.schema.columns[i], float(space.row[i]), found.row[i]
        size = float(_measure(column, old, np.array([new]))[0])
        steps.append(
            Step(column.name, get_value(column, old), get_value(column, new), size, column.unit)
        )
    scores = space.model.score_rows(np.array([found.row]))
    return Change(tuple(steps), found.size, *_predict(space.model, scores))


def _predict(model: Model, scores: Floats) -> tuple[Label, float | None]:
    """Give the class and its probability, or the amount, of a row of scores."""
    output = model.output
    if not isinstance(output, Classes):
        return float(scores[0, 0]), None
    k = int(output.choose(scores)[0])
    return output.labels[k], float(output.predict_proba(scores)[0, k])
