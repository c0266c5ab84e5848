"""The figure in words: the line under its title, and what a screen reader tells."""

from __future__ import annotations

from newron.figures.diagram import Diagram
from newron.figures.legend import tell_counts
from newron.figures.parts import (
    SYMBOLS,
    write_limit,
    write_total,
)
from newron.formatting import clean, format_amount, format_percent

__all__ = ["describe", "tell_subtitle"]

_MOST_TOLD = 40


def tell_subtitle(diagram: Diagram, layout: str) -> str:
    """Say how many inputs are used, and how the sum decides."""
    n, used = len(diagram.inputs), len(diagram.inputs) - len(diagram.unused)
    inputs = f"{used} of {n} inputs used." if used < n else f"{n} input{'' if n == 1 else 's'}."
    return f"{inputs} {_tell_decision(diagram, layout)}"


def _tell_decision(diagram: Diagram, layout: str) -> str:
    neuron = diagram.layers[-1][0]
    if diagram.classes is None:
        names = " and ".join(diagram.outputs)
        return f"The last sum{'s give' if len(diagram.outputs) > 1 else ' gives'} {names}."
    if diagram.classes.n_scores > 1:
        return f"The highest of {len(diagram.outputs)} scores decides."
    first, second = diagram.outputs
    if layout == "scorecard" and diagram.is_crisp and neuron.aggregation == "sum":
        add = "Add the points of every condition that holds:"
        return f"{add} {second} from {write_limit(neuron)} on, otherwise {first}."
    what = "the last sum" if neuron.aggregation == "sum" else f"the last {neuron.aggregation}"
    return f"Says {second} where {what} is at least {write_limit(neuron)}, otherwise {first}."


def describe(diagram: Diagram) -> str:
    """Tell the picture in sentences."""
    told = [diagram.subtitle, f"{tell_counts(diagram)}."]
    sentences = [
        f"layer {function.shape.layer}, neuron {function.shape.neuron}: {sentence}."
        for function in diagram.functions
        for sentence in function.sentences
    ]
    told += sentences[:_MOST_TOLD]
    if len(sentences) > _MOST_TOLD:
        told.append(f"And {len(sentences) - _MOST_TOLD} more.")
    return clean(" ".join([*told, *_tell_row(diagram)]))


def _tell_row(diagram: Diagram) -> list[str]:
    outcome = diagram.outcome
    if outcome is None:
        return []
    last = diagram.layers[-1]
    sums = ", ".join(f"{SYMBOLS[neuron.aggregation]} {write_total(neuron)}" for neuron in last)
    if diagram.classes is None:
        amounts = zip(diagram.outputs, outcome.scores, strict=True)
        said = ", ".join(f"{name} {format_amount(score)}" for name, score in amounts)
    else:
        share = format_percent(outcome.probabilities[outcome.chosen])
        said = f"{diagram.outputs[outcome.chosen]}, probability {share}"
    return [f"For {diagram.row_name}: {sums}; {said}."]
