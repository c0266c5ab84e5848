"""Score cards: one curve for each input."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from newron.figures.captions import caption_joint
from newron.figures.diagram import Diagram, Function
from newron.figures.influence import FULL, measure_together
from newron.model.arithmetic import Floats
from newron.model.model import Model


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
