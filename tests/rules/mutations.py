"""Changes of rules by hand: five kinds, each made in the text itself."""

import re
from fractions import Fraction

import numpy as np

from newron.formatting import format_fraction, format_label
from newron.model import Classes

from . import reader
from .reader import Condition, Constant, Number


def mutate(text, model, seed) -> dict[str, str]:
    """Give the text with one change of each kind that it allows."""
    rng = np.random.default_rng([seed, 7])
    reading = reader.read(text, model)
    nodes = reader.list_nodes(reading)
    made = {
        "shift": _shift(rng, text, model, nodes),
        "negate": _negate(rng, text, nodes),
        "count": _change_count(rng, text, model, reading, nodes),
        "drop": _drop(rng, text, reading, nodes),
        "outcome": _change_outcome(rng, text, model, reading),
    }
    return {kind: changed for kind, changed in made.items() if changed is not None}


def _choose(rng, items):
    return items[rng.integers(len(items))] if items else None


def _put(text, span, new):
    return text[: span[0]] + new + text[span[1] :]


def _shift(rng, text, model, nodes):
    """Another threshold, value or category."""
    conditions = [n for n in nodes if isinstance(n, Condition) and n.values]
    condition = _choose(rng, conditions)
    if condition is None:
        return None
    span, value = _choose(rng, condition.values)
    column = model.schema.columns[condition.column]
    if column.categories is not None:
        others = [c for c in range(column.n_categories) if c != value]
        if not others:
            return None
        return _put(text, span, format_label(column.categories[_choose(rng, others)]))
    if column.values is not None:
        shifted = float(_choose(rng, [v for v in column.values if v != value] or [value + 1]))
    else:
        beside = [np.nextafter(value, 9e9), np.nextafter(value, -9e9)]
        shifted = float(_choose(rng, [value + 0.25, value - 1.0, *beside]))
    return _put(text, span, repr(shifted))


def _negate(rng, text, nodes):
    condition = _choose(rng, [n for n in nodes if isinstance(n, Condition)])
    if condition is None:
        return None
    return _put(text, condition.span, f"not ({text[slice(*condition.span)]})")


def _change_count(rng, text, model, reading, nodes):
    """Another number of conditions, "or" for "and", or another threshold of a sum."""
    counts = [n for n in nodes if isinstance(n, Number) and (n.head or n.joins)]
    count = _choose(rng, counts)
    if count is None and reading.constant_spans:
        return _change_constant(rng, text, model, reading.constant_spans)
    if count is None:
        return None
    if count.head is None:
        span = _choose(rng, count.joins)
        return _put(text, span, "or" if text[slice(*span)] == "and" else "and")
    n = len(count.children)
    low, high = count.low, count.high
    ends = [(low - 1, high), (low + 1, high), (low, high - 1), (low, high + 1)]
    low, high = _choose(rng, [(a, b) for a, b in ends if 0 <= a <= b <= n])
    return _put(text, count.head, f"between {low} and {high}")


def _drop(rng, text, reading, nodes):
    """Take out a condition: of a group, of the points, or a whole rule."""
    choices = [
        (child, "always" if node.low == len(node.children) and node.joins else "never")
        for node in nodes
        if isinstance(node, Number) and not node.named and len(node.children) > 1
        for child in node.children
        if isinstance(child, Condition | Constant)
    ]
    chosen = _choose(rng, choices)
    if chosen is not None:
        return _put(text, chosen[0].span, chosen[1])
    if reading.terms:
        _, _, _, span = _choose(rng, reading.terms)
        return re.sub(r"\n +(?=\n)", "", _put(text, span, ""))
    if reading.branches:
        *_, span = _choose(rng, reading.branches)
        rest = _put(text, span, "")
        return rest if len(reading.branches) > 1 else rest.replace("Otherwise", "Always")
    return None


def _change_outcome(rng, text, model, reading):
    if reading.terms:
        _, weights, spans, _ = _choose(rng, reading.terms)
        k = rng.integers(len(weights))
        return _put(text, spans[k], _add(text[slice(*spans[k])], rng))
    if not isinstance(model.output, Classes) or reading.default is None:
        return _change_constant(rng, text, model, reading.constant_spans)
    places = [reading.default, *((c, span) for _, c, span, _ in reading.branches)]
    c, span = _choose(rng, places)
    other = _choose(rng, [k for k in range(len(model.output.labels)) if k != c])
    label = model.output.labels[other]
    told = format_label(label)
    return _put(text, span, told if isinstance(label, str) else f"class {told}")


def _change_constant(rng, text, model, spans):
    """Another constant; bands of ordered classes go on falling."""
    ordered = isinstance(model.output, Classes) and model.output.is_ordered
    span = _choose(rng, [spans[0], spans[-1]] if ordered else spans)
    steps = [1, 2] if span == spans[0] else [-1, -2]
    return _put(text, span, _add(text[slice(*span)], rng, steps if ordered else None))


def _add(number, rng, steps=None):
    halves = int(rng.choice(steps or [-2, -1, 1, 2]))
    return format_fraction(Fraction(number.replace("−", "-")) + Fraction(halves, 2))
