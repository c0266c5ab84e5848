"""What things are called in a report, and a model under these names."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any

from newron.errors import InputError, ModelError
from newron.model.model import Model
from newron.model.output import Classes, Output
from newron.model.schema import Schema
from newron.model.survival import Survival
from newron.rules.scorecard import ScoreCard


@dataclass(frozen=True)
class Labels:
    """What things are called in a report.

    - ``title``: The headline; by default the target and how good the model is.
    - ``target``: What is predicted.
    - ``noun``: What a row is: "patient".
    - ``source``: Where the rows come from: the name of a file.
    - ``purpose``: What the model is for, in the words of who made it.
    - ``names``: Other names for columns.
    - ``classes``: Other names for classes.
    """

    title: str | None = None
    target: str = ""
    noun: str = "row"
    source: str = ""
    purpose: str = ""
    names: Mapping[str, str] | None = None
    classes: Mapping[Any, str] | None = None


def rename(model: Model, labels: Labels) -> Model:
    """Return the same network under the names of the page."""
    names = dict(labels.names or {})
    for name in names:
        if name not in model.schema.names:
            raise InputError(f"names: expected names of columns, got {name!r}")
    columns = [replace(c, name=str(names.get(c.name, c.name))) for c in model.schema.columns]
    try:
        means = {tuple(str(names.get(n, n)) for n in key): v for key, v in model.means.items()}
        return Model(
            Schema(tuple(columns)), model.layers, _rename_output(model, labels), means=means
        )
    except ModelError as error:  # two columns or classes of one name
        raise InputError(f"names: {error}") from None


def rename_card(card: ScoreCard, labels: Labels) -> ScoreCard:
    """Return the same card under the names of the page."""
    model = rename(card.model, labels)
    columns = zip(card.axes, model.schema.columns, strict=True)
    return replace(card, model=model, axes=tuple(replace(a, column=c) for a, c in columns))


def _rename_output(model: Model, labels: Labels) -> Output:
    output = model.output
    if not isinstance(output, Classes):
        single = labels.target and output.n_scores == 1
        return replace(output, names=(labels.target,)) if single else output
    if isinstance(output, Survival):
        names = labels.names or {}
        output = replace(output, time=str(names.get(output.time, output.time)))
    given = dict(labels.classes or {})
    for label in given:
        if label not in output.labels:
            raise InputError(f"classes: expected classes of the model, got {label!r}")
    if not given:
        return output
    return replace(output, labels=tuple(str(given.get(label, label)) for label in output.labels))
