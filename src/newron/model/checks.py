"""What must hold between the parts of a model."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from newron.errors import ModelError
from newron.model.labels import Labels
from newron.model.network import Layer
from newron.model.output import Classes, Output
from newron.model.survival import Survival

if TYPE_CHECKING:
    from newron.model.model import Model

_MAX_MEASURED = 20


def check_model(model: Model) -> None:
    """Raise an error for parts that do not fit together."""
    if not model.layers:
        raise ModelError("a model needs at least the output layer")
    n_inputs = n_signals = len(model.schema)
    for number, layer in enumerate(model.layers, 1):
        if len(layer.source) and (layer.source.min() < 0 or layer.source.max() >= n_signals):
            raise ModelError(f"layer {number} reads a signal that is not there yet")
        _check_levels(model, number, layer)
        for e in np.flatnonzero(layer.rank):
            source = int(layer.source[e])
            if source >= n_inputs or model.schema.columns[source].rank_scale is None:
                raise ModelError(f"layer {number} reads ranks of what has no rank scale")
        n_signals += layer.n_neurons
    _check_names(model)
    _check_points(model)
    _check_measured(model)
    if isinstance(model.output, Survival) and model.output.time not in model.schema.names:
        raise ModelError(f"survival: expected a column {model.output.time!r}, got none")
    _check_means(model)
    last = model.layers[-1]
    if last.n_neurons != model.output.n_scores:
        raise ModelError(
            f"expected {model.output.n_scores} neurons in the last layer, got {last.n_neurons}"
        )
    if last.activation != "identity":
        raise ModelError(
            f"the last layer gives scores: expected activation identity, got {last.activation}"
        )


def _check_points(model: Model) -> None:
    """Check that scores which are declared whole points are such."""
    if not (isinstance(model.output, Classes) and model.output.in_points):
        return
    last = model.layers[-1]
    numbers = [part for part in (last.alpha, last.centre) if part is not None]
    whole = all(np.array_equal(part, np.rint(part)) for part in numbers)
    if not (model.is_crisp and last.aggregation == "sum" and whole):
        raise ModelError(
            "a unit of points: expected a crisp network whose last layer adds whole numbers, "
            "got another; leave out unit and offset"
        )


def _check_names(model: Model) -> None:
    """Check that no two definitions of one kind share a name: a file has one of each."""
    for kind in ("processing", "aggregation", "activation"):
        known: dict[str, Any] = {}
        for own in (getattr(layer, kind) for layer in model.layers):
            if not isinstance(own, str) and known.setdefault(own.name, own) != own:
                raise ModelError(
                    f"expected functions of one's own that differ in their names, got two "
                    f"called {own}; rename one"
                )


def _check_levels(model: Model, number: int, layer: Layer) -> None:
    kinds = [column.n_categories for column in model.schema.columns]
    for source, levels in zip(layer.source.tolist(), layer.levels, strict=True):
        expected = kinds[source] if source < len(kinds) else 0
        if len(levels) != expected:
            raise ModelError(
                f"layer {number}: expected {expected} levels for signal {source}, got {len(levels)}"
            )


def _check_measured(model: Model) -> None:
    if len(model.measured) > _MAX_MEASURED:
        raise ModelError(
            f"expected at most {_MAX_MEASURED} measurements, got {len(model.measured)}; "
            "make a model without some of them"
        )
    expected = _find_headline(model.output)
    for one in model.measured:
        if one.headline != expected:
            known = "no measurements" if expected is None else f"measurements of {expected}"
            raise ModelError(f"expected {known} of this model, got {one.headline}")


def _find_headline(output: Output) -> str | None:
    """Return the measure that comes first; None where nothing measures several targets."""
    if isinstance(output, Survival):
        return "concordance"
    if isinstance(output, Classes):
        return "accuracy"
    if isinstance(output, Labels):
        return "subset accuracy"
    return "mean absolute error" if output.n_scores == 1 else None


def _check_means(model: Model) -> None:
    names = set(model.schema.names)
    for columns, values in model.means.items():
        if not columns or not names.issuperset(columns) or len(values) != model.output.n_scores:
            raise ModelError(
                f"means: expected columns of the model and {model.output.n_scores} numbers, "
                f"got {' × '.join(columns)} and {len(values)}"
            )
