"""``newron inspect``: what a model file holds."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from newron.command.options import ModelFile
from newron.command.terminal import Console, bold, dim
from newron.formatting import format_count, format_number, list_some

if TYPE_CHECKING:
    from newron.model import Column, Layer, Model

EXAMPLES = (
    ("newron inspect model.json", ""),
    ("newron inspect model.json --json", "for machines"),
)
_MAX_SHOWN = 6  # values or categories of a column


def run(console: Console, model: ModelFile) -> None:
    """Print how good a model was on new rows, what it reads, how it is built, what it predicts."""
    from newron.command.printing import print_measurement
    from newron.model import load

    network = load(model)
    if console.as_json:
        console.print_json(_to_dict(network))
        return
    console.print(bold(str(model)), dim(f" · {network.fingerprint}"))
    console.print()
    if not network.measured:
        console.print("  Not measured on new rows: newron evaluate does that.")
    for found in reversed(network.measured):  # the newest first
        print_measurement(console, found)
    if network.conformal is not None:
        console.print(f"  {network.conformal.describe()}.")
    console.print()
    console.print(bold("  Inputs"))
    uses = [_describe_use(network, i) for i in range(len(network.schema))]
    columns = zip(network.schema.columns, uses, strict=True)
    _print_rows(console, [(c.name, _describe_column(c), use) for c, use in columns])
    console.print()
    console.print(bold("  Network"))
    _print_rows(console, [_describe_layer(network, i) for i in range(len(network.layers))])
    console.print()
    console.print(bold("  Output"))
    console.print(f"    {_describe_output(network)}")


def _print_rows(console: Console, rows: list[tuple[str, str, str]]) -> None:
    widths = [max(len(row[i]) for row in rows) for i in range(2)]
    for name, what, more in rows:
        console.print(f"    {name:{widths[0]}}  {what:{widths[1]}}  ", dim(more))


def _describe_column(column: Column) -> str:
    missing = ", or missing" if column.gaps else ""
    if column.categories is not None:
        labels = [str(label) for label in column.categories]
        kind = format_count(len(labels), "category")
        return f"{kind}: {list_some(labels, _MAX_SHOWN)}{missing}"
    unit = f" {column.unit}" if column.unit else ""
    if column.values is not None:
        return f"{list_some(list(map(format_number, column.values)), _MAX_SHOWN)}{unit}{missing}"
    return f"{format_number(column.low)} to {format_number(column.high)}{unit}{missing}"


def _describe_use(model: Model, index: int) -> str:
    uses = sum(int((layer.source == index).sum()) for layer in model.layers)
    return format_count(uses, "function") if uses else "not used"


def _describe_layer(model: Model, number: int) -> tuple[str, str, str]:
    layer: Layer = model.layers[number]
    last = number == len(model.layers) - 1
    name = "output" if last else f"layer {number + 1}"
    size = format_count(layer.n_neurons, "neuron"), format_count(len(layer.source), "function")
    return name, ", ".join(size), f"{layer.processing}, {layer.aggregation}, {layer.activation}"


def _describe_output(model: Model) -> str:
    from newron.model import Classes

    if isinstance(model.output, Classes):
        labels = [str(label) for label in model.output.labels]
        return f"{format_count(len(labels), 'class', 'classes')}: {list_some(labels, _MAX_SHOWN)}"
    names = list(model.output.names)
    return f"{format_count(len(names), 'number')}: {list_some(names, _MAX_SHOWN)}"


def _to_dict(model: Model) -> dict[str, Any]:
    content = model.to_dict()
    return {
        "fingerprint": model.fingerprint,
        "inputs": [
            {**column, "functions": sum(int((x.source == i).sum()) for x in model.layers)}
            for i, column in enumerate(content["inputs"])
        ],
        "layers": [
            {
                "neurons": layer.n_neurons,
                "functions": len(layer.source),
                "processing": layer.processing,
                "aggregation": f"{layer.aggregation}",
                "activation": f"{layer.activation}",
            }
            for layer in model.layers
        ],
        "output": content["output"],
        "measured": content.get("measured", []),
        "conformal": content.get("conformal"),
    }
