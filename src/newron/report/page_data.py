"""What the page's script needs: columns, rows to choose, functions in words, values to try."""

from __future__ import annotations

import json
import math
from itertools import pairwise
from typing import Any

import numpy as np

from newron.drawing.markup import Markup
from newron.explanations.space import reads_steps
from newron.figures.diagram import Diagram, Function
from newron.formatting import name_class
from newron.model.arithmetic import Floats
from newron.model.output import Classes
from newron.model.schema import Column
from newron.report.facts import Facts
from newron.report.network_section import describe_count
from newron.report.threshold_section import count_cuts
from newron.rules.axis import Axis
from newron.tables.cells import MISSING_WORDS

_FEW = 6  # values that are buttons; more are a slider or a list
_STEPS = 200  # of a slider
_GRID = 50  # places of a range where a smooth column is tried


def write_data(facts: Facts, literals: list[dict[str, Any]]) -> Markup:
    """Return the data as JSON that stays data inside a script element."""
    data = _describe(facts, literals)
    text = json.dumps(data, ensure_ascii=True, separators=(",", ":"), allow_nan=False)
    for sign in "<>&":
        text = text.replace(sign, f"\\u{ord(sign):04x}")
    return Markup(text)  # noqa: S704 - JSON in ASCII, without what ends an element


def _describe(facts: Facts, literals: list[dict[str, Any]]) -> dict[str, Any]:
    model, used = facts.model, set(facts.used)
    output = model.output
    return {
        "noun": facts.labels.noun,
        "columns": [
            _describe_column(facts, i, column, used)
            for i, column in enumerate(model.schema.columns)
        ],
        "labels": [name_class(label) for label in output.labels]
        if isinstance(output, Classes)
        else list(output.names),
        "binary": facts.is_binary,
        "regression": not isinstance(output, Classes),
        "link": None if isinstance(output, Classes) else output.link,
        "rows": [[_plain(x) for x in facts.rows[k].tolist()] for k in facts.picked],
        "numbers": [int(k) + 1 for k in facts.picked],
        "truth": _list_truth(facts),
        "functions": _describe_functions(facts),
        "literals": literals,
        "crisp": facts.is_crisp,
        "cuts": count_cuts(facts),
        "order": facts.used,
        "limit": float(facts.limit) if facts.is_binary else None,
        "missing": sorted(MISSING_WORDS),
        **_describe_terms(facts),
        "limits": [float(total) for _, total in facts.bands[::-1]] if facts.is_ordered else None,
        "thresholds": list(output.thresholds) if isinstance(output, Classes) else [],
        "weighted": any(layer.alpha is not None for layer in model.layers),
    }


def _describe_terms(facts: Facts) -> dict[str, Any]:
    """Return which functions each column or pair adds up, less its mean over the training rows."""
    if facts.terms is None:
        return {}
    pairs = zip(facts.terms.terms, facts.terms.means.tolist(), strict=True)
    terms = [
        {"name": term.name, "columns": term.columns, "edges": term.edges, "means": means}
        for term, means in pairs
    ]
    return {"terms": terms, "intercepts": facts.terms.intercept.tolist()}


def _plain(value: float) -> float | int | None:
    if not math.isfinite(value):
        return None
    return int(value) if value == int(value) and abs(value) < 2**53 else value


def _list_truth(facts: Facts) -> list[Any] | None:
    if facts.truth is None:
        return None
    return [facts.truth[k].tolist() for k in facts.picked]


# ---- columns ----


def _describe_column(facts: Facts, i: int, column: Column, used: set[int]) -> dict[str, Any]:
    described: dict[str, Any] = {
        "name": column.name,
        "alias": _find_alias(facts, column.name),
        "unit": column.unit or "",
        "gaps": column.gaps,
        "used": i in used,
        "fixed": i in facts.fixed,
    }
    if column.categories is not None:
        return {**described, "options": [[k, str(c)] for k, c in enumerate(column.categories)]}
    low, high = _plain(column.low), _plain(column.high)
    described |= {"low": low, "high": high, "step": _find_step(column, facts.rows[:, i])}
    values = sorted(set(column.values or ()))
    if 0 < len(values) <= _FEW:
        described["options"] = [[_plain(x), None] for x in values]
    elif i in used:
        described["marks"] = _list_marks(facts, i)
        described |= _list_places(facts, i, facts.axes[i])
    return described


def _find_alias(facts: Facts, name: str) -> str:
    """Return what a column is called in the tables of the model."""
    given = facts.labels.names or {}
    return next((old for old, new in given.items() if str(new) == name), name)


def _find_step(column: Column, values: Floats) -> float:
    """Return the step of a slider: a power of ten, whole where all values are."""
    span = column.high - column.low
    if not span > 0.0:
        return 1.0
    known = values[np.isfinite(values)]
    step = 10.0 ** math.floor(math.log10(span / _STEPS))
    return max(step, 1.0) if bool(np.all(known == np.round(known))) else step


def _list_marks(facts: Facts, i: int) -> list[float]:
    places = {
        mark.place for f in _list_functions(facts.diagram) if f.signal == i for mark in f.marks
    }
    column = facts.model.schema.columns[i]
    return sorted(place for place in places if column.low <= place <= column.high)


def _list_functions(diagram: Diagram) -> list[Function]:
    """Return all functions of a diagram that matter, joined ones one by one."""
    return [
        member
        for neuron in diagram.neurons
        for function in (*neuron.functions, *neuron.folded)
        for member in function.members
    ]


def _list_places(facts: Facts, i: int, axis: Axis) -> dict[str, Any]:
    """Return what the page tries in place of a value: every cell, or a grid of a smooth column."""
    column = axis.column
    if axis.values is not None:
        return {"places": [_plain(x) for x in axis.values]}
    if not reads_steps(facts.model, i):
        return {"grid": np.linspace(column.low, column.high, _GRID + 1).tolist()}
    ends = pairwise([-math.inf, *axis.boundaries, math.inf])
    cells = [
        [max(low, column.low), min(math.nextafter(high, -math.inf), column.high)]
        for low, high in ends
    ]
    return {"cells": [cell for cell in cells if cell[0] <= cell[1]]}


# ---- functions ----


def _describe_functions(facts: Facts) -> dict[str, Any]:
    described = {}
    for function in _list_functions(facts.diagram):
        one: dict[str, Any] = {
            "words": str(function.shape),
            "name": function.name,
            "reading": function.reading,
            "head": function.head,
            "counted": describe_count(facts, function) or function.head,
            "influence": round(function.influence, 4),
            "source": function.signal,
        }
        if function.limit is not None and function.signal < len(facts.model.schema):
            one["limit"] = function.limit
        described[function.key] = one
    return described
