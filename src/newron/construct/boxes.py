"""A step function on boxes, as the Heaviside network that is equal to it.

A hidden neuron counts how many conditions of a box hold, and the last layer has the step
"all of them", weighted by the value of the box. Where a box has one condition, the last
layer reads the input itself.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from collections.abc import Set as AbstractSet
from dataclasses import replace
from itertools import pairwise
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from newron.construct.requirements import BoxCondition, Interval, OneOf, identify, show
from newron.errors import InputError
from newron.model import Classes, Column, Layer, Model, Schema, Targets
from newron.model.condition import ANY_NUMBER, Condition, Edge, make_layer
from newron.tables.field import LARGEST_INPUT, make_names

Floats = NDArray[np.float64]
Output = Classes | Targets

Box = Mapping[int, Condition]
"""The condition on each column, by its number; none on columns that are not named."""


def list_edges(box: Box) -> list[Edge]:
    """Return the functions that all hold where a row is in the box, and only there."""
    edges = [
        (column, requirement)
        for column, requirement in box.items()
        if not requirement.is_everything
    ]
    return [edge for column, requirement in edges for edge in requirement.to_edges(column)]


# ---- from boxes to a network ----


def from_boxes(
    boxes: Iterable[Mapping[str, BoxCondition] | Sequence[BoxCondition | None]],
    values: Sequence[Any] | NDArray[Any],
    schema: Schema | Sequence[str] | None = None,
    *,
    outside: Any = None,
    output: Output | None = None,
    overlap: Literal["refuse", "add"] = "refuse",
) -> Model:
    """Build the Heaviside network equal to a step function on boxes.

    It is equal everywhere, at the ends of the boxes too, in the meaning of float64.

    Parameters
    ----------
    boxes : iterable of mappings or sequences
        A box says of some columns what passes: an :class:`Interval` of numbers, a set of
        labels or :class:`OneOf` for categories, ``MISSING``. A mapping goes from names of
        columns to conditions; a sequence has a condition, or None, for each column.
    values : sequence
        For each box its number, or its numbers for several targets. With classes, its label;
        or its scores, a row for each box, as many as ``output.n_scores``.
    schema : Schema or names of columns, optional
        By default the columns that boxes name, in the order in which they come; those of
        sequences are x1, x2, ... A column that is made here goes from the least to the
        greatest finite end of its intervals (0 to 1 where there is none) and has the labels
        that boxes name.
    outside : optional
        The value where no box is: 0 by default; with labels the first class.
    output : Classes or Targets, optional
        What values mean; by default numbers called y, or y1, y2, ...
    overlap : {"refuse", "add"}
        What to do where boxes overlap: raise an error, or add up their values, in the order
        of the boxes. Boxes with one label may always overlap.

    Returns
    -------
    Model

    Examples
    --------
    >>> from newron.model import Classes
    >>> model = from_boxes(
    ...     [{"age": Interval(54.5), "sex": {"male"}}, {"age": Interval(70), "sex": {"female"}}],
    ...     ["ill", "ill"], output=Classes(("well", "ill")))
    >>> print(model)
    heaviside network 2-2-1, 6 functions, classes 'well', 'ill'
    neuron 1.1 counts how many hold of:
        [age ≥ 54.5]
        [sex in {male}]
    neuron 1.2 counts how many hold of:
        [age ≥ 70]
        [sex in {female}]
    score for 'ill' adds:
        2 × [neuron 1.1 ≥ 1.5]
        2 × [neuron 1.2 ≥ 1.5]
        less 1
    >>> model.predict([[60, "male"], [60, "female"]]).tolist()
    ['ill', 'well']
    """
    if overlap not in ("refuse", "add"):
        raise InputError(f"expected overlap among refuse, add, got {overlap!r}")
    given = list(boxes)
    if len(given) != len(values):
        raise InputError(f"expected a value for each of {len(given)} boxes, got {len(values)}")
    named, names = _name_conditions(given, schema)
    schema = schema if isinstance(schema, Schema) else _make_schema(names, named)
    spans = [_read_box(box, number, schema) for number, box in enumerate(named)]
    if isinstance(output, Classes) and all(np.ndim(value) == 0 for value in values):
        classes = [_find_class(value, output) for value in values]
        default = 0 if outside is None else _find_class(outside, output)
        if overlap == "add":
            raise InputError("labels cannot be added up; give a row of scores for each box")
        _check_overlap(spans, classes)
        return assemble(schema, spans, *score_classes(classes, default, output), output)
    targets, output = _read_values(values, output)
    rest = _read_outside(outside, targets.shape[1])
    if overlap == "refuse":
        _check_overlap(spans)
    return assemble(schema, spans, targets, rest, output, disjoint=overlap == "refuse")


def score_classes(classes: Sequence[int], default: int, output: Classes) -> tuple[Floats, Floats]:
    """Choose scores for boxes of these classes, and outside, so that no two are level."""
    outside = np.zeros(output.n_scores)
    values = np.zeros((len(classes), output.n_scores))
    if output.is_ordered:
        inside = [(a + b) / 2.0 for a, b in pairwise(output.bands)]
        places = np.array([output.bands[0] - 1.0, *inside, output.bands[-1] + 1.0])
        values, rest = places[list(classes)][:, None], places[[default]]
        if not np.array_equal(
            output.choose(np.append(values, [rest], axis=0)), [*classes, default]
        ):
            raise InputError("expected classes that a score leads to, got one without a band")
        return values, rest
    if output.n_scores == 1:
        values[:, 0] = 2.0 * np.array(classes) - 1.0
        return values, outside + (2.0 * default - 1.0)
    outside[default] = 0.5
    values += outside
    for row, chosen in zip(values, classes, strict=True):
        row[chosen] += 1.0 if chosen != default else 0.0
    return values, outside


def assemble(
    schema: Schema,
    boxes: Sequence[Box],
    values: Floats,
    outside: Floats,
    output: Output,
    *,
    disjoint: bool = True,
) -> Model:
    """Build the network that has these values on the boxes: a row and a column for each score."""
    filled = [
        k
        for k, box in enumerate(boxes)
        if not any(requirement.is_empty for requirement in box.values())
    ]
    steps = [list_edges(boxes[k]) for k in filled]
    values = values[filled]
    everywhere = [k for k, conditions in enumerate(steps) if not conditions]
    if everywhere:  # then there is no outside
        outside, centre = np.zeros(output.n_scores), -values[everywhere].sum(axis=0)
    elif disjoint and np.all((values - outside) + outside == values):
        values, outside, centre = values - outside, np.zeros_like(outside), -outside
    else:
        centre = np.zeros_like(outside)
    kept = [bool(row.any() or outside.any()) for row in values]
    chosen = [k for k, conditions in enumerate(steps) if conditions and kept[k]]
    layers = _make_layers(len(schema), [steps[k] for k in chosen], values[chosen], outside, centre)
    return Model(schema, layers, output)


def _make_layers(
    n_inputs: int,
    boxes: list[list[Edge]],
    alpha: Floats,
    outside: Floats,
    centre: Floats,
) -> list[Layer]:
    """Return the layers: conditions counted, boxes counted where one must know, their values."""
    counts = [list(steps) for steps in boxes if len(steps) > 1]
    layers = [make_layer(counts)] if counts else []
    numbers = iter(range(n_inputs, n_inputs + len(counts)))
    gates = [
        steps[0] if len(steps) == 1 else Edge(next(numbers), 1.0, len(steps) - 0.5)
        for steps in boxes
    ]
    if outside.any() and gates:
        layers.append(make_layer([gates]))
        gates = [*gates, Edge(n_inputs + len(counts), -1.0, 0.5)]
        alpha = np.vstack([alpha, outside])
    elif outside.any():
        centre = -outside
    used = [np.flatnonzero(column) for column in alpha.T]
    weights = np.concatenate([column[here] for column, here in zip(alpha.T, used, strict=True)])
    neurons = [[gates[k] for k in here] for here in used]
    return [*layers, make_layer(neurons, weights, centre if centre.any() else None)]


# ---- reading what was given ----

_Named = dict[str, Interval | OneOf]


def _name_conditions(
    boxes: list[Any], schema: Schema | Sequence[str] | None
) -> tuple[list[_Named], tuple[str, ...]]:
    """Return every box as a mapping, and the names of the columns."""
    if schema is not None:
        names = schema.names if isinstance(schema, Schema) else tuple(schema)
    elif all(isinstance(box, Mapping) for box in boxes):
        names = tuple(dict.fromkeys(name for box in boxes for name in box))
    else:
        lengths = [len(box) for box in boxes if not isinstance(box, Mapping)]
        names = make_names(max(lengths))
    return [_name_box(box, number, names) for number, box in enumerate(boxes)], names


def _name_box(box: Any, number: int, names: tuple[str, ...]) -> _Named:
    if not isinstance(box, Mapping):
        if isinstance(box, str | AbstractSet) or not isinstance(box, Sequence):
            raise InputError(f"box {number}: expected a mapping or a list, got {show(box)}")
        if len(box) != len(names):
            raise InputError(
                f"box {number}: expected {len(names)} conditions, one for each column or None, "
                f"got {len(box)}"
            )
        box = {
            name: requirement
            for name, requirement in zip(names, box, strict=True)
            if requirement is not None
        }
    if strangers := [name for name in box if name not in names]:
        raise InputError(f"box {number}: expected columns of the schema, got {strangers[0]!r}")
    return {
        name: _read_condition(requirement, f"box {number}, {name!r}")
        for name, requirement in box.items()
    }


def _read_condition(condition: Any, where: str) -> Interval | OneOf:
    if isinstance(condition, Interval | OneOf):
        return condition
    if isinstance(condition, AbstractSet):
        return OneOf(condition)
    raise InputError(f"{where}: expected an Interval or a set of labels, got {show(condition)}")


def _make_schema(names: tuple[str, ...], boxes: list[_Named]) -> Schema:
    columns = []
    for name in names:
        requirement = [box[name] for box in boxes if name in box]
        columns.append(_make_column(name, requirement))
    return Schema(tuple(columns))


def _make_column(name: str, requirement: Sequence[Interval | OneOf]) -> Column:
    gaps = any(x.missing is not None if isinstance(x, Interval) else x.missing for x in requirement)
    labels = [label for x in requirement if isinstance(x, OneOf) for label in x.labels]
    if labels:
        categories = tuple({identify(label): label for label in labels}.values())
        return Column(name, 0.0, len(categories) - 1.0, categories=categories, gaps=gaps)
    ends = [end for x in requirement if isinstance(x, Interval) for end in (x.low, x.high)]
    return make_number_column(name, ends, gaps)


def make_number_column(name: str, ends: Iterable[float], gaps: bool = False) -> Column:
    """Return a column from the least to the greatest end that a network can take."""
    finite = [end for end in ends if abs(end) <= LARGEST_INPUT]
    return Column(name, min(finite, default=0.0), max(finite, default=1.0), gaps=gaps)


def _read_box(box: _Named, number: int, schema: Schema) -> Box:
    requirement = {
        schema.names.index(name): _read_one(
            one, schema.columns[schema.names.index(name)], f"box {number}, {name!r}"
        )
        for name, one in box.items()
    }
    return dict(sorted(requirement.items()))


def _read_one(requirement: Interval | OneOf, column: Column, where: str) -> Condition:
    if isinstance(requirement, Interval):
        if column.categories is not None:
            raise InputError(f"{where}: expected a set of its categories, got an interval")
        return requirement.condition
    requested = {identify(label): label for label in requirement.labels}
    known = {identify(label) for label in column.categories or ()}
    if strangers := [label for key, label in requested.items() if key not in known]:
        what = f"one of {show(column.categories)}" if column.categories else "an Interval"
        raise InputError(f"{where}: expected {what}, got the label {show(strangers[0])}")
    members = tuple(identify(label) in requested for label in column.categories or ())
    return Condition((), members, requirement.missing)


def _find_class(label: Any, output: Classes) -> int:
    if label not in output.labels:
        raise InputError(f"expected one of the classes {show(output.labels)}, got {show(label)}")
    return output.labels.index(label)


def _read_values(values: Any, output: Output | None) -> tuple[Floats, Output]:
    try:
        targets = np.asarray(values, np.float64)
    except (TypeError, ValueError):
        raise InputError(
            "expected a number for each box, or as many numbers; for labels give output=Classes"
        ) from None
    if targets.ndim == 1:
        targets = targets.reshape(-1, 1)
    if output is None:
        n = targets.shape[1] if targets.ndim == 2 else 1
        output = Targets(("y",) if n == 1 else tuple(f"y{i}" for i in range(1, n + 1)))
    if targets.shape != (len(values), output.n_scores):
        raise InputError(f"expected {output.n_scores} numbers for each box, got {targets.shape}")
    if not np.all(np.isfinite(targets)):
        raise InputError("expected values that are finite numbers, got one that is not")
    return targets, output


def _read_outside(outside: Any, n_scores: int) -> Floats:
    try:
        rest = np.asarray(0.0 if outside is None else outside, np.float64)
        rest = np.broadcast_to(rest, (n_scores,)) + 0.0
    except (TypeError, ValueError):
        rest = np.full(n_scores, np.nan)
    if not np.all(np.isfinite(rest)):
        raise InputError(f"expected outside to be {n_scores} finite numbers, got {show(outside)}")
    return rest


# ---- overlaps ----


def _check_overlap(boxes: Sequence[Box], classes: Sequence[int] | None = None) -> None:
    """Raise an error where two boxes, or two of different classes, have a row in common."""
    pair = _find_overlap(boxes, np.arange(len(boxes)) if classes is None else np.array(classes))
    if pair is not None:
        advice = "say overlap='add' to add their values up" if classes is None else "cut one short"
        raise InputError(
            f"expected boxes that do not overlap, got {pair[0]} and {pair[1]} (counted from 0) "
            f"that do; {advice}"
        )


def _find_overlap(boxes: Sequence[Box], groups: NDArray[Any]) -> tuple[int, int] | None:
    """Return the first two boxes of different groups that have a row in common."""
    filled = np.array(
        [not any(requirement.is_empty for requirement in box.values()) for box in boxes], bool
    )
    columns = sorted({column for box in boxes for column in box})
    tables = [_stack([box.get(column) for box in boxes]) for column in columns]
    for i in np.flatnonzero(filled):
        others = i + 1 + np.flatnonzero((groups[i + 1 :] != groups[i]) & filled[i + 1 :])
        for low, high, members in tables:
            meets = np.maximum(low[i], low[others]) <= np.minimum(high[i], high[others])
            others = others[meets | (members[i] & members[others]).any(axis=1)]
        if len(others):
            return int(i), int(others[0])
    return None


def _stack(column: list[Condition | None]) -> tuple[Floats, Floats, NDArray[np.bool_]]:
    """Return the ends of each box's interval, and its categories with the missing value last."""
    size = max(len(requirement.members) for requirement in column if requirement is not None)
    bounds, members = [], []
    for requirement in column:
        one = replace(ANY_NUMBER, members=(True,) * size) if requirement is None else requirement
        bounds.append(one.intervals[0] if one.has_numbers else (math.inf, -math.inf))
        members.append((*one.members, one.missing))
    low, high = np.array(bounds).reshape(-1, 2).T
    return low, high, np.array(members, bool)
