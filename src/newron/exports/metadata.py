"""What is told of a model beside its code: enough to name it and to draw it."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from newron._version import __version__
from newron.exports.program import Program
from newron.exports.quoting import quote_note
from newron.exports.reading import Reading
from newron.model.network import Layer
from newron.model.output import Classes
from newron.model.schema import Column

__all__ = ["describe_model", "describe_rules", "write_head"]


def write_head(program: Program, name: str, mark: str) -> str:
    """Write which model this is, and what made it, as comments."""
    mine = program.model.fingerprint
    lines = [
        f"{mark} {quote_note(name)}: a network of newron {__version__},",
        f"{mark} fingerprint {mine}; made by a program, edits are lost.",
    ]
    return "\n".join(lines)


def describe_model(program: Program, name: str) -> dict[str, Any]:
    """Give what is told of a model beside its code: enough to draw it."""
    model, output = program.model, program.model.output
    return {
        "name": name,
        "newron": __version__,
        "fingerprint": model.fingerprint,
        "columns": [_describe_column(column) for column in model.schema.columns],
        "layers": [
            _describe_layer(layer, [step.note for step in stage.neurons])
            for layer, stage in zip(model.layers, program.stages, strict=True)
        ],
        "classes": list(output.labels) if isinstance(output, Classes) else None,
        "targets": None if isinstance(output, Classes) else list(output.names),
    }


def _describe_column(column: Column) -> dict[str, Any]:
    return {
        "name": column.name,
        "unit": column.unit,
        "low": column.low,
        "high": column.high,
        "values": None if column.values is None else list(column.values),
        "categories": None if column.categories is None else list(column.categories),
        "gaps": column.gaps,
    }


def _describe_layer(layer: Layer, names: Sequence[str]) -> dict[str, Any]:
    """Tell a layer; a source is the number of a column, or of a neuron after all columns."""
    return {
        "processing": layer.processing,
        "aggregation": layer.aggregation,
        "activation": layer.activation,
        "neurons": [
            {"name": name, "centre": 0.0 if layer.centre is None else float(layer.centre[j])}
            for j, name in enumerate(names)
        ],
        "functions": [
            {
                "neuron": int(layer.target[e]),
                "source": int(layer.source[e]),
                "weight": None if layer.alpha is None else float(layer.alpha[e]),
            }
            for e in range(len(layer.source))
        ],
    }


def describe_rules(reading: Reading) -> dict[str, Any]:
    """Give what is told of the rules of a model beside their code."""
    return {
        "form": reading.ruleset.form,
        "text": reading.text,
        "proof": reading.proof,
        "rules": [
            {"text": record["rule"], "prediction": record["prediction"]}
            for record in reading.ruleset.to_records()
        ],
    }
