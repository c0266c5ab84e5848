"""A model as plain data, as its file has it."""

from __future__ import annotations

from typing import Any

from newron.model.labels import Labels
from newron.model.model import Model
from newron.model.network import Layer
from newron.model.output import Classes, Output
from newron.model.schema import Column
from newron.model.survival import Survival
from newron.neurons.loss import Loss
from newron.neurons.processing import Processing

FORMAT, VERSION = "newron model", 1

Json = dict[str, Any]


def to_dict(model: Model) -> Json:
    """Return a model as plain data."""
    names = list(model.schema.names)
    layers = []
    for number, layer in enumerate(model.layers, 1):
        layers.append(_layer_to_dict(layer, names, len(model.schema)))
        names += [f"{number}.{j}" for j in range(1, layer.n_neurons + 1)]
    own = _list_definitions(model)
    return {
        "format": FORMAT,
        "version": VERSION,
        **({"definitions": {name: own[name].to_dict() for name in own}} if own else {}),
        **_curves_to_dict(model),
        "inputs": [_column_to_dict(column) for column in model.schema.columns],
        "layers": layers,
        "output": _output_to_dict(model.output),
        **_means_to_dict(model),
        **({"measured": [one.to_dict() for one in model.measured]} if model.measured else {}),
        **({} if model.conformal is None else {"conformal": model.conformal.to_dict()}),
    }


def _means_to_dict(model: Model) -> Json:
    means = [{"inputs": list(own), "values": list(v)} for own, v in model.means.items()]
    return {"means": means} if means else {}


def _list_definitions(model: Model) -> dict[str, Processing]:
    """Return the functions of a model that newron does not come with."""
    own = [layer.processing for layer in model.layers if isinstance(layer.processing, Processing)]
    return {function.name: function for function in own}


def _curves_to_dict(model: Model) -> Json:
    """Return the aggregations and activations that newron does not come with."""
    out: Json = {}
    for layer in model.layers:
        for kind, own in (("aggregations", layer.aggregation), ("activations", layer.activation)):
            if not isinstance(own, str):
                out.setdefault(kind, {})[own.name] = own.to_dict()
    return out


def _column_to_dict(column: Column) -> Json:
    out: Json = {"name": column.name, "low": column.low, "high": column.high}
    if column.values is not None:
        out["values"] = list(column.values)
    if column.rank_scale is not None:
        scale = column.rank_scale
        out["rank scale"] = {"knots": list(scale.knots), "ranks": list(scale.ranks)}
    if column.categories is not None:
        out = {"name": column.name, "categories": list(column.categories)}
    if column.gaps:
        out["gaps"] = True
    if column.period is not None:
        out["period"] = column.period
    if column.unit is not None:
        out["unit"] = column.unit
    if column.required:
        out["required"] = True
    return out


def _layer_to_dict(layer: Layer, names: list[str], n_inputs: int) -> Json:
    neurons: list[Json] = []
    for j in range(layer.n_neurons):
        neuron: Json = {}
        if layer.centre is not None:
            neuron["centre"] = float(layer.centre[j])
        neuron["functions"] = [
            _function_to_dict(layer, e, names, n_inputs) for e in layer.list_edges(j)
        ]
        neurons.append(neuron)
    return {
        "processing": f"{layer.processing}",
        "aggregation": f"{layer.aggregation}",
        "activation": f"{layer.activation}",
        "neurons": neurons,
    }


def _function_to_dict(layer: Layer, e: int, names: list[str], n_inputs: int) -> Json:
    source = int(layer.source[e])
    out: Json = {"input" if source < n_inputs else "neuron": names[source]}
    if layer.rank[e]:
        out["scale"] = "rank"
    many = layer.function.many_factors
    if len(layer.levels[e]):
        out["levels"] = layer.levels[e].tolist()
    else:
        out["w"] = layer.w[e].tolist() if many else float(layer.w[e, 0])
        out["b"] = layer.b[e].tolist() if many else float(layer.b[e, 0])
        if layer.parameters.shape[1]:
            out["parameters"] = layer.parameters[e].tolist()
    if source < n_inputs and layer.missing[e] != 0.0:
        out["missing"] = float(layer.missing[e])
    if layer.alpha is not None:
        out["alpha"] = float(layer.alpha[e])
    return out


def _output_to_dict(output: Output) -> Json:
    if isinstance(output, Classes):
        parts: Json = {"unit": output.unit, "offset": output.offset} if output.in_points else {}
        if isinstance(output, Survival):
            parts |= {"time": output.time, "ends": list(output.ends)}
        if output.is_ordered:
            parts |= {"limits": list(output.limits), "bands": list(output.bands)}
        return {"classes": list(output.labels), **parts, **_loss_to_dict(output.loss)}
    if isinstance(output, Labels):
        return {"labels": list(output.names)}
    out: Json = {"targets": list(output.names)} | _loss_to_dict(output.loss)
    if output.loss is not None:
        return out
    if output.objective != "squared":
        out["objective"] = output.objective
    if output.link != "identity":
        out["link"] = output.link
    return out


def _loss_to_dict(loss: Loss | None) -> Json:
    return {} if loss is None else {"loss": loss.to_dict()}
