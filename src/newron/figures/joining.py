"""Score cards: one curve for each input, and points for weights."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from newron.figures.captions import caption_joint
from newron.figures.diagram import Diagram, Function
from newron.figures.influence import FULL, measure_together
from newron.model.arithmetic import Floats, sigmoid
from newron.model.model import Model
from newron.rules.scorecard import ScoreCard

__all__ = ["join_inputs", "make_point_model", "use_points"]


def join_inputs(diagram: Diagram) -> Diagram:
    """Make one curve of the functions of one input, where a single layer adds them up."""
    (neuron,) = diagram.layers[0]
    if neuron.aggregation not in ("sum", "mean"):
        return diagram
    groups: dict[int, list[Function]] = {}
    for function in neuron.functions:
        groups.setdefault(function.signal, []).append(function)
    joined = [
        members[0] if len(members) == 1 else _join(diagram.model, members, diagram.sample)
        for members in groups.values()
    ]
    return replace(diagram, layers=((replace(neuron, functions=tuple(joined)),),))


def _join(model: Model, members: Sequence[Function], rows: Floats | None) -> Function:
    first = members[0]
    x = np.unique(np.concatenate([member.x for member in members]))
    y = np.sum([np.interp(x, member.x, member.y) for member in members], axis=0)
    missing = [member.missing for member in members if member.missing is not None]
    ends = [0.0, float(y.min()), float(y.max()), sum(missing)]
    marks = sorted({mark for member in members for mark in member.marks}, key=lambda m: m.place)
    influence = max(member.influence for member in members)
    if rows is not None:
        influence = measure_together(model, rows, [m.shape.function for m in members])
    return Function(
        first.shape,
        first.signal,
        first.axis,
        first.name,
        caption_joint(marks, [m.reading for m in members], first.axis.unit, crisp=first.crisp),
        tuple(marks),
        x,
        y,
        min(ends),
        max(ends),
        influence,
        min(influence / FULL, 1.0),
        crisp=False,
        bounded=False,
        part=first.part,
        place=first.place,
        joined=tuple(members),
    )


# ---- points ----


def make_point_model(card: ScoreCard) -> Model:
    """Return the network that a score card tells, with points for weights: the same decisions."""
    network = card.rules.to_model()
    last = network.layers[-1]
    alpha = np.ones(len(last.source)) if last.alpha is None else last.alpha
    centre = np.zeros(last.n_neurons) if last.centre is None else last.centre
    unit = float(card.unit)
    points = last.replace(alpha=np.round(alpha / unit, 9), centre=np.round(centre / unit, 9))
    return Model(network.schema, [*network.layers[:-1], points], network.output)


def use_points(diagram: Diagram, unit: float) -> Diagram:
    """Return the diagram of a network with points for weights, which weigh so much in log odds."""
    last = tuple(
        replace(neuron, whole=all(f.whole for f in (*neuron.functions, *neuron.folded)))
        for neuron in diagram.layers[-1]
    )
    outcome = diagram.outcome
    if outcome is not None:
        probability = float(sigmoid(np.array(unit * outcome.scores[0])))
        outcome = replace(outcome, probabilities=(1.0 - probability, probability))
    return replace(diagram, layers=(*diagram.layers[:-1], last), unit=unit, outcome=outcome)
