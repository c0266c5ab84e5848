"""A model as a list of steps: ranks, functions, neurons, probabilities.

A step computes one number from columns and from earlier steps. This is all that a target
needs to know of a network.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from functools import cached_property
from itertools import pairwise

from newron.exports.functions import (
    activate,
    finish,
    list_definitions,
    make_function,
    predict,
    transform,
)
from newron.expressions.definitions import Definition, collect_definitions
from newron.expressions.tree import (
    ONE,
    ZERO,
    AnyOf,
    Choice,
    Compare,
    Expression,
    Input,
    IsMissing,
    Key,
    Lookup,
    Number,
    Step,
    Value,
    add,
    call,
    divide,
    maximum,
    minimum,
    multiply,
    subtract,
)
from newron.model.aggregation import get_reduction
from newron.model.model import Model
from newron.model.network import Layer, rank_edges
from newron.model.output import Classes, Targets
from newron.model.schema import RankScale


@dataclass(frozen=True)
class Stage:
    """One layer: the values of its functions, and of its neurons."""

    functions: tuple[Step, ...]
    products: tuple[Step, ...]
    """The way to neurons that multiply, factor by factor, or aggregate in a way of their own."""
    neurons: tuple[Step, ...]

    @property
    def arrays(self) -> tuple[tuple[str, tuple[Step, ...]], ...]:
        """The steps by the letter of the array that holds their values."""
        return ("h", self.functions), ("p", self.products), ("n", self.neurons)

    @property
    def steps(self) -> tuple[Step, ...]:
        """All steps in order."""
        return (*self.functions, *self.products, *self.neurons)


@dataclass(frozen=True)
class Program:
    """All steps of a model, in an order in which they can be computed."""

    model: Model
    ranks: tuple[Step, ...]
    stages: tuple[Stage, ...]
    shares: tuple[Step, ...]
    """What probabilities need besides the scores."""
    probabilities: tuple[Step, ...]
    """One for each class; none for regression."""
    choice: Expression | None
    """The number of the class, from 0 on; None for regression."""

    @cached_property
    def own(self) -> dict[str, Definition]:
        """The formulas of the model's own functions, by name."""
        return list_definitions(self.model)

    @property
    def definitions(self) -> list[Definition]:
        """The definitions that are used, each after those it uses itself."""
        return collect_definitions(self.expressions, self.own)

    @property
    def scores(self) -> tuple[Step, ...]:
        """The outputs of the last layer."""
        return self.stages[-1].neurons

    @property
    def steps(self) -> Iterator[Step]:
        """All steps in order."""
        yield from self.ranks
        for stage in self.stages:
            yield from stage.steps
        yield from self.shares
        yield from self.probabilities

    @property
    def expressions(self) -> Iterator[Expression]:
        """All expressions."""
        yield from (step.expression for step in self.steps)
        if self.choice is not None:
            yield self.choice


def make_program(model: Model) -> Program:
    """Return the steps of a model."""
    signals: list[Expression] = [Input(i) for i in range(len(model.schema))]
    names = list(model.schema.names)
    ranks = _make_ranks(model)
    stages = []
    for number, layer in enumerate(model.layers, 1):
        reader = _LayerReader(model, number, tuple(signals), tuple(names))
        stages.append(reader.read(layer, last=number == len(model.layers)))
        signals += [Value(step.key) for step in stages[-1].neurons]
        names += [step.note for step in stages[-1].neurons]
    scores = [Value(step.key) for step in stages[-1].neurons]
    if not isinstance(model.output, Classes):
        return Program(model, ranks, tuple(stages), (), (), None)
    return Program(model, ranks, tuple(stages), *_decide(model.output, scores))


# ---- ranks ----


def _make_ranks(model: Model) -> tuple[Step, ...]:
    used = sorted({int(s) for layer in model.layers for s in layer.source[layer.rank]})
    steps = []
    for i in used:
        column = model.schema.columns[i]
        if column.rank_scale is not None:  # checked by the model
            rank = _interpolate(Input(i), column.rank_scale)
            steps.append(Step(Key("rank", 0, i), rank, f"rank of {column.name}"))
    return tuple(steps)


def _interpolate(x: Expression, scale: RankScale) -> Expression:
    """Return the rank of x: a straight line between each two knots."""
    lines = [
        add(Number(rank), call("*", Number(slope), subtract(x, Number(start))))
        for start, rank, slope in zip(*(part.tolist() for part in scale.segments), strict=True)
    ]
    branches = [
        (Compare("<", x, Number(knot)), line)
        for knot, line in zip(scale.knots, lines, strict=False)
    ]
    return Choice(tuple(branches), lines[-1])


# ---- layers ----


@dataclass(frozen=True)
class _LayerReader:
    """Reads one layer, given what the earlier ones compute."""

    model: Model
    number: int
    signals: tuple[Expression, ...]
    names: tuple[str, ...]

    def read(self, layer: Layer, *, last: bool) -> Stage:
        # The last layer may add whole numbers and divide at the end, see Layer.divisors.
        divisors = layer.divisors if last else None
        part = layer if divisors is None else layer.scaled
        b = rank_edges(part, self.model.schema).tolist()
        functions = tuple(
            Step(
                Key("function", self.number, e),
                self._make_function(part, e, b[e]),
                self.names[int(part.source[e])],
            )
            for e in range(len(part.source))
        )
        products: list[Step] = []
        neurons = []
        for j in range(part.n_neurons):
            total = self._aggregate(part, j, products)
            if divisors is not None and part.begin[j] == part.begin[j + 1]:
                # A constant: some databases divide whole numbers as such.
                total = Number(0.0 - float(layer.offsets[j]))
            elif divisors is not None:
                total = divide(total, Number(float(divisors[j])))
            key = Key("neuron", self.number, j)
            neurons.append(Step(key, total, self._name_neuron(j, last=last)))
        if last and isinstance(self.model.output, Targets):
            neurons = self._link(self.model.output, neurons, products)
        return Stage(functions, tuple(products), tuple(neurons))

    def _link(self, output: Targets, neurons: list[Step], products: list[Step]) -> list[Step]:
        """Return the predictions instead of the scores."""
        link, loss = output.link, output.loss
        if link in ("log", "sigmoid"):
            name = "exp" if link == "log" else link
            return [replace(step, expression=call(name, step.expression)) for step in neurons]
        if link == "formula" and loss is not None:
            scores = [self._keep(step.expression, products) for step in neurons]
            pairs = zip(neurons, scores, strict=True)
            return [replace(step, expression=predict(loss, score)) for step, score in pairs]
        if link != "sorted":
            return neurons

        values = [self._keep(step.expression, products) for step in neurons]
        for end in range(len(values) - 1, 0, -1):  # the greatest of the first ones moves up
            for i in range(end):
                low, high = minimum(*values[i : i + 2]), maximum(*values[i : i + 2])
                values[i : i + 2] = [self._keep(low, products), self._keep(high, products)]
        pairs = zip(neurons, values, strict=True)
        return [replace(step, expression=value) for step, value in pairs]

    def _make_function(self, layer: Layer, e: int, b: list[float]) -> Expression:
        source, missing = int(layer.source[e]), float(layer.missing[e])
        if len(layer.levels[e]):
            return Lookup(source, tuple(layer.levels[e].tolist()), missing)
        x = Value(Key("rank", 0, source)) if layer.rank[e] else self.signals[source]
        h = make_function(layer, e, x, b)
        return _handle_missing(source, h, missing) if source < len(self.model.schema) else h

    def _aggregate(self, layer: Layer, j: int, products: list[Step]) -> Expression:
        parts: list[Expression] = []
        for e in layer.list_edges(j):
            h = Value(Key("function", self.number, e))
            parts.append(h if layer.alpha is None else multiply(Number(float(layer.alpha[e])), h))
        own = not isinstance(layer.aggregation, str)
        if own:
            made = [transform(layer.aggregation, part) for part in parts]
            parts = [self._keep(part, products) for part in made]
        reduction = get_reduction(layer.aggregation)
        if reduction == "product":
            total = self._multiply(parts, products)
        else:
            total = _combine(reduction, parts)
        if own:
            total = self._keep(finish(layer.aggregation, total), products)
        if layer.centre is not None:
            total = subtract(total, Number(float(layer.centre[j])))
        return activate(layer.activation, total)

    def _multiply(self, parts: list[Expression], products: list[Step]) -> Expression:
        """Return the product; each factor but the first is a step."""
        total = parts[0] if parts else ONE
        for part in parts[1:]:
            total = self._keep(call("bounded", call("*", total, part)), products)
        return total

    def _keep(self, expression: Expression, products: list[Step]) -> Expression:
        """Return the value of a step of its own."""
        key = Key("product", self.number, len(products))
        products.append(Step(key, expression))
        return Value(key)

    def _name_neuron(self, j: int, *, last: bool) -> str:
        output = self.model.output
        if not last:
            return f"neuron {self.number}.{j + 1}"
        if not isinstance(output, Classes):
            return output.names[j]
        if output.is_ordered:
            return f"score from {output.labels[0]} to {output.labels[-1]}"
        return f"score for {output.scored[j]}"


def _handle_missing(column: int, h: Expression, missing: float) -> Expression:
    """Return a function with its value where its column is missing."""
    is_missing = IsMissing(column)
    if isinstance(h, Choice) and h.otherwise == ZERO:  # a step: a missing value fails it
        (held, one), *_ = h.branches
        return Choice(((AnyOf((held, is_missing)), one),), ZERO) if missing == 1.0 else h
    return h if h == Number(missing) else Choice(((is_missing, Number(missing)),), h)


def _combine(aggregation: str, parts: list[Expression]) -> Expression:
    if not parts:
        return ZERO
    if aggregation == "sum":
        return add(*parts)
    if aggregation == "mean":
        return divide(add(*parts), Number(float(len(parts))))
    return minimum(*parts) if aggregation == "min" else maximum(*parts)


# ---- classes ----


def _weigh(output: Classes, score: Expression, top: Expression) -> Expression:
    """Return how far a score is below the highest one, in log-odds."""
    if output.unit == 1.0:
        return call("-", score, top)
    unit = Number(output.unit)
    return call("-", multiply(unit, score), multiply(unit, top))


def _place(output: Classes, score: Value) -> tuple[list[Step], list[Expression], Choice]:
    """Return the probabilities to reach each limit of ordered classes, and what follows."""
    shares: list[Step] = []
    for k, limit in enumerate(output.limits):
        distance = call("-", score, Number(limit))
        odds = distance if output.unit == 1.0 else multiply(Number(output.unit), distance)
        note = f"{output.labels[k + 1]} or more"
        shares.append(Step(Key("share", 0, k), call("sigmoid", odds), note))
    reached = [Value(step.key) for step in shares]
    middle = [maximum(call("-", a, b), ZERO) for a, b in pairwise(reached)]
    parts = [call("-", ONE, reached[0]), *middle, reached[-1]]
    branches = [
        (Compare(">=", score, Number(limit)), Number(k + 1.0))
        for k, limit in reversed(list(enumerate(output.bands)))
    ]
    return shares, parts, Choice(tuple(branches), ZERO)


def _decide(
    output: Classes, scores: list[Value]
) -> tuple[tuple[Step, ...], tuple[Step, ...], Expression]:
    """Return what probabilities need, the probabilities, and the number of the class."""
    if output.is_ordered:
        shares, parts, choice = _place(output, scores[0])
    elif output.n_scores == 1:
        log_odds = multiply(Number(output.unit), scores[0])
        if output.offset:
            log_odds = add(log_odds, Number(output.offset))
        second = Step(Key("share", 0, 0), call("sigmoid", log_odds))
        shares = [second]
        parts = [call("-", ONE, Value(second.key)), Value(second.key)]
        choice = Choice(((Compare(">=", scores[0], ZERO), ONE),), ZERO)
    else:
        top = Value(Key("share", 0, 0))
        shares = [Step(top.key, maximum(*scores), "the highest score")]
        for k, score in enumerate(scores, 1):
            shares.append(Step(Key("share", 0, k), call("exp", _weigh(output, score, top))))
        powers = [Value(step.key) for step in shares[1:]]
        total = Step(Key("share", 0, len(shares)), add(*powers), "the sum of these")
        shares.append(total)
        parts = [call("/", power, Value(total.key)) for power in powers]
        branches = [
            (Compare(">=", score, top), Number(float(k))) for k, score in enumerate(scores[:-1])
        ]
        choice = Choice(tuple(branches), Number(len(scores) - 1.0))
    probabilities = tuple(
        Step(Key("probability", 0, k), part, f"{label}")
        for k, (part, label) in enumerate(zip(parts, output.labels, strict=True))
    )
    return tuple(shares), probabilities, choice
