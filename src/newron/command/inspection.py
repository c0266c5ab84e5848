"""``newron inspect``: what a model file holds."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from newron.command.options import ModelFile
from newron.command.terminal import Page, bold, count, dim

if TYPE_CHECKING:
    from newron.model import Column, Layer, Model

EXAMPLES = (
    ("newron inspect model.json", ""),
    ("newron inspect model.json --json", "for machines"),
)
_MOST_SHOWN = 6  # values or categories of a column


def run(page: Page, model: ModelFile) -> None:
    """Tell what a model reads, how it is built, and what it predicts."""
    from newron.model import load

    network = load(model)
    if page.as_json:
        page.data(_to_dict(network))
        return
    page.line(bold(str(model)), dim(f" · {network.fingerprint}"))
    page.line()
    page.line(bold("  Inputs"))
    _tell_rows(
        page,
        [(c.name, _tell_column(c), _tell_use(network, c.name)) for c in network.schema.columns],
    )
    page.line()
    page.line(bold("  Network"))
    _tell_rows(page, [_tell_layer(network, i) for i in range(len(network.layers))])
    page.line()
    page.line(bold("  Output"))
    page.line(f"    {_tell_output(network)}")


def _tell_rows(page: Page, rows: list[tuple[str, str, str]]) -> None:
    widths = [max(len(row[i]) for row in rows) for i in range(2)]
    for name, what, more in rows:
        page.line(f"    {name:{widths[0]}}  {what:{widths[1]}}  ", dim(more))


def _tell_column(column: Column) -> str:
    from newron.model.description import format_number

    gaps = ", or missing" if column.gaps else ""
    if column.categories is not None:
        told = [str(label) for label in column.categories]
        kind = count(len(told), "category", "categories")
        return f"{kind}: {_shorten(told)}{gaps}"
    unit = f" {column.unit}" if column.unit else ""
    if column.values is not None:
        return f"{_shorten(list(map(format_number, column.values)))}{unit}{gaps}"
    return f"{format_number(column.low)} to {format_number(column.high)}{unit}{gaps}"


def _shorten(words: list[str]) -> str:
    shown = words if len(words) <= _MOST_SHOWN else [*words[: _MOST_SHOWN - 1], "…"]
    return ", ".join(shown)


def _tell_use(model: Model, name: str) -> str:
    place = model.schema.names.index(name)
    uses = sum(int((layer.source == place).sum()) for layer in model.layers)
    return count(uses, "function") if uses else "not used"


def _tell_layer(model: Model, number: int) -> tuple[str, str, str]:
    layer: Layer = model.layers[number]
    last = number == len(model.layers) - 1
    name = "output" if last else f"layer {number + 1}"
    what = f"{count(layer.n_neurons, 'neuron')}, {count(len(layer.source), 'function')}"
    return name, what, f"{layer.processing}, {layer.aggregation}, {layer.activation}"


def _tell_output(model: Model) -> str:
    from newron.model import Classes

    if isinstance(model.output, Classes):
        labels = [str(label) for label in model.output.labels]
        return f"{count(len(labels), 'class', 'classes')}: {_shorten(labels)}"
    return f"{count(len(model.output.names), 'amount')}: {_shorten(list(model.output.names))}"


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
                "aggregation": layer.aggregation,
                "activation": layer.activation,
            }
            for layer in model.layers
        ],
        "output": content["output"],
    }
