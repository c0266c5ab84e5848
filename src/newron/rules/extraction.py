"""From a crisp network to its shortest rules."""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import replace
from fractions import Fraction

import numpy as np

from newron.errors import ModelError
from newron.model.model import Model
from newron.model.output import Classes
from newron.model.survival import Survival
from newron.rules.body import (
    Body,
    Branch,
    DecisionList,
    Points,
    decide,
    drop_dead,
    measure_length,
)
from newron.rules.budget import Budget
from newron.rules.circuit import Circuit, read_circuit
from newron.rules.cover import Candidate, list_candidates, list_counts
from newron.rules.node import Algebra, Node, count_literals
from newron.rules.points import make_points
from newron.rules.ruleset import RuleSet
from newron.rules.table import (
    LevelTable,
    make_cards,
    make_flat_cards,
    make_table,
    merge_levels,
)

FORMS = ("shortest", "rules", "points")
_MAX_LEVELS = 200_000
_MAX_CELLS = 200_000
_LONGEST = 400  # literals of a list that is still worth writing


def extract(model: Model, *, form: str = "shortest", seconds: float = 5.0) -> RuleSet:
    """Return the shortest rules of a crisp network that are found; see :meth:`Model.rules`."""
    if form not in FORMS:
        raise ModelError(f"expected form among {', '.join(FORMS)}, got {form!r}")
    circuit = read_circuit(model)
    points = make_points(circuit)
    if isinstance(model.output, Survival):
        if form == "rules":
            raise ModelError("hazards add up points, their class alone says nothing: use 'points'")
        form = "points"
    if not isinstance(model.output, Classes):
        if form == "rules":
            raise ModelError("a network of regression adds up points: use form='points'")
        return RuleSet(model, circuit.axes, points, "points")
    if not points.terms and form != "points" and circuit.exact:
        sums = np.array([points.constants], dtype=object)
        outcome = int(decide(model.output, sums)[0])
        return RuleSet(model, circuit.axes, DecisionList((), outcome), "list", minimal=True)
    found = [Candidate(points, "points", False)]
    if form != "points" or not circuit.exact:
        found += _list_shorter(model, circuit, points, seconds)
    if form == "points":
        found = [c for c in found if isinstance(c.body, Points)]
    if model.output.in_points:  # whole points are the model: no others stand for them
        found = [c for c in found if c.body is points or isinstance(c.body, DecisionList)]
    if form == "shortest" and model.output.is_ordered:  # one sum with bands keeps the order
        few = len(model.output.labels)
        found = [c for c in found if isinstance(c.body, Points) or len(c.body.branches) < few]
    if not circuit.exact:
        found = _drop_refuted(model, circuit, found, seconds)
    if form == "rules":
        found = [c for c in found if isinstance(c.body, DecisionList)]
        if not found:
            raise ModelError(
                "the network has too many combinations of conditions for if/then rules: "
                "use form='points'"
            )
    least = min(measure_length(candidate.body) for candidate in found)
    made = [
        (RuleSet(model, circuit.axes, c.body, c.form, minimal=c.minimal), c.body)
        for c in found
        if measure_length(c.body) == least
    ]
    # Of points that are as short, those of the network: others keep the class alone.
    own = [one for one in made if one[1] is points]
    made = [one for one in made if not (own and isinstance(one[1], Points))] + own
    return min(made, key=lambda one: _measure_taste(*one))[0]


def _drop_refuted(
    model: Model, circuit: Circuit, found: list[Candidate], seconds: float
) -> list[Candidate]:
    """Keep what equals a network that rounds its sums, as far as that can be found out."""
    each = seconds / len(found)
    equal = [RuleSet(model, circuit.axes, c.body, c.form).prove(each).equal for c in found]
    kept = [c for c, shown in zip(found, equal, strict=True) if shown is not False]
    if not kept:
        raise ModelError(
            "the network rounds its sums, and no points have the same: use form='rules'"
        )
    return kept


def _measure_taste(rules: RuleSet, body: Body) -> tuple[int, int, bool, int]:
    """Return which of equally short rules to prefer.

    Those of the second class, which is what one looks for; a1 = 1, not a1 ≠ 1; at
    least, not at most.
    """
    first = sum(b.outcome == 0 for b in body.branches) if isinstance(body, DecisionList) else 0
    text = rules.to_text()
    odd = sum(text.count(word) for word in ("≠", "<", "at most", "not "))
    return first, odd, not rules.minimal, len(text)


def _list_shorter(
    model: Model, circuit: Circuit, points: Points, seconds: float
) -> Iterator[Candidate]:
    """Return rules from the tables behind the network."""
    assert isinstance(model.output, Classes)  # noqa: S101 - checked by the caller
    algebra = Algebra(circuit.axes)
    budget = Budget(seconds)
    n_classes = len(model.output.labels)
    counted = _make_count(points, algebra, n_classes)
    if counted is not None:
        yield replace(counted, body=drop_dead(algebra, counted.body, model.output))
    nodes = [term.node for term in circuit.terms]
    flat = make_flat_cards(circuit.axes, nodes)
    attempts = [(make_cards(circuit.axes, nodes), _MAX_LEVELS), (flat, _MAX_CELLS)]
    if flat == attempts[0][0] or not circuit.exact:
        del attempts[0]
    for cards, limit in attempts:
        table = make_table(circuit, cards, model, limit, budget.split(2))
        if table is None:
            continue
        small = merge_levels(table, budget.split(4))
        counts = list(list_counts(small, algebra)) if n_classes == 2 else []
        yield from counts
        if any(_is_shortest(one, small) for one in counts):
            return
        for candidate in list_candidates(small, algebra, n_classes, budget):
            body = drop_dead(algebra, candidate.body, model.output)
            # Of many classes even the shortest list has a rule for each.
            if isinstance(body, DecisionList) and measure_length(body) > max(
                _LONGEST, 2 * n_classes
            ):
                continue
            yield replace(candidate, body=body)
            counted = _make_count(body, algebra, n_classes)
            if counted is not None:
                yield counted


def _is_shortest(candidate: Candidate, table: LevelTable) -> bool:
    """Return whether one rule names each thing that matters once: nothing can be shorter."""
    body = candidate.body
    if not isinstance(body, DecisionList) or len(body.branches) != 1:
        return False
    live = sum(1 for n in table.classes.shape if n > 1)
    return count_literals(body.nodes) <= live


def _make_count(body: Body, algebra: Algebra, n_classes: int) -> Candidate | None:
    """Describe points of equal size as "at least so many of"."""
    if not isinstance(body, Points) or n_classes != 2 or not body.terms:
        return None
    sizes = {abs(term.weights[0]) for term in body.terms}
    if len(sizes) != 1:
        return None
    size = sizes.pop()
    children: list[Node] = []
    need = -body.constants[0]
    for term in body.terms:
        up = term.weights[0] > 0
        children.append(term.node if up else algebra.negate(term.node))
        need += Fraction(0) if up else size
    low = math.ceil(need / size)
    node = algebra.count(low, len(children), children)
    listed = DecisionList((Branch(node, 1),), 0)
    return Candidate(listed, "count", False)
