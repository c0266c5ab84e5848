"""Makes models of plain data.

Nothing of it is executed or sized by a number that it declares: what is not there is not
allocated, and every part is checked before a model is made of it.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from typing import Any, TypeVar

import numpy as np

from newron.errors import DefinitionError, ModelFileError
from newron.model.aggregation import ACTIVATIONS, AGGREGATIONS
from newron.model.arithmetic import Floats
from newron.model.conformal import read_conformal
from newron.model.document import FORMAT, VERSION, Json
from newron.model.labels import Labels
from newron.model.measurement import read_measurement
from newron.model.model import Model
from newron.model.network import Layer
from newron.model.output import Classes, Output, Targets
from newron.model.parts import (
    check_keys,
    read_flag,
    read_label,
    read_list,
    read_number,
    read_numbers,
    read_one,
    read_some,
    read_text,
    read_whole,
)
from newron.model.processing import get_processing, processing_names
from newron.model.schema import Column, RankScale, Schema
from newron.model.survival import Survival
from newron.neurons.activation import Activation
from newron.neurons.aggregation import Aggregation
from newron.neurons.loss import Loss
from newron.neurons.processing import Processing

_MOST_DEFINITIONS = 100

_Formula = TypeVar("_Formula")


def from_dict(document: Any) -> Model:
    """Make a model from plain data, checking every part of it."""
    if not isinstance(document, dict) or document.get("format") != FORMAT:
        raise ModelFileError(f'expected a file whose "format" is {FORMAT!r}')
    version = read_whole(document.get("version"), "version")
    if version != VERSION:
        raise ModelFileError(
            f"expected version {VERSION}, got {version}: "
            + ("update newron" if version > VERSION else "this version was never written")
        )
    formulas = {"definitions", "aggregations", "activations"}
    needed = {"format", "version", "inputs", "layers", "output"}
    further = {"made by", "means", "measured", "conformal"}
    check_keys(document, needed | formulas | further, needed, "the model")
    own = _Definitions(
        _read_formulas(document, "definitions", processing_names(), Processing.from_dict),
        _read_formulas(document, "aggregations", AGGREGATIONS, Aggregation.from_dict),
        _read_formulas(document, "activations", ACTIVATIONS, Activation.from_dict),
    )
    columns = [_column_from(item) for item in read_list(document["inputs"], "inputs")]
    schema = Schema(tuple(columns))
    signals = {("input", name): i for i, name in enumerate(schema.names)}
    layers = []
    for number, item in enumerate(read_list(document["layers"], "layers"), 1):
        layer = _layer_from(item, f"layer {number}", signals, own)
        for j in range(layer.n_neurons):
            signals["neuron", f"{number}.{j + 1}"] = len(signals)
        layers.append(layer)
    measured = read_list(document.get("measured", []), "measured")
    conformal = read_conformal(document["conformal"]) if "conformal" in document else None
    means = dict(map(_mean_from, read_list(document.get("means", []), "means")))
    output = _output_from(document["output"])
    return Model(schema, layers, output, map(read_measurement, measured), conformal, means)


def _mean_from(item: Any) -> tuple[tuple[str, ...], tuple[float, ...]]:
    keys = {"inputs", "values"}
    check_keys(item, keys, keys, "means")
    names = tuple(read_text(name, "means") for name in read_list(item["inputs"], "means"))
    return names, read_numbers(item["values"], "means")


@dataclass(frozen=True)
class _Definitions:
    """What a file defines itself, by name."""

    processing: dict[str, Processing]
    aggregation: dict[str, Aggregation]
    activation: dict[str, Activation]


def _read_formulas(
    document: Json, kind: str, known: Iterable[str], read: Callable[[str, Any], _Formula]
) -> dict[str, _Formula]:
    """Return the formulas of one kind that a file has."""
    item = document.get(kind, {})
    if not isinstance(item, dict) or len(item) > _MOST_DEFINITIONS:
        raise ModelFileError(f"{kind}: expected an object of at most {_MOST_DEFINITIONS} functions")
    for name in sorted(item.keys() & set(known)):
        raise ModelFileError(f"{kind}: expected a name of its own, got {name}")
    try:
        return {name: read(name, data) for name, data in item.items()}
    except DefinitionError as error:
        raise ModelFileError(str(error)) from None


def _find(own: Mapping[str, _Formula], name: Any) -> _Formula | Any:
    """Return a formula of the file, or the name as it is."""
    return own.get(name, name) if isinstance(name, str) else name


def _column_from(item: Any) -> Column:
    numbers = {"low", "high", "values", "rank scale", "period"}
    known = {"name", "categories", "gaps", "unit", "required"} | numbers
    check_keys(item, known, {"name"}, "an input")
    name = read_text(item["name"], "the name of an input")
    gaps = read_flag(item.get("gaps", False), f"gaps of {name!r}")
    unit = read_text(item["unit"], f"unit of {name!r}") if "unit" in item else None
    required = read_flag(item.get("required", False), f"required of {name!r}")
    if "categories" in item:
        check_keys(item, known - numbers, set(), f"input {name!r}")
        where = f"categories of {name!r}"
        labels = tuple(read_label(x, where) for x in read_some(item["categories"], where))
        return Column(
            name,
            0.0,
            len(labels) - 1.0,
            None,
            None,
            labels,
            gaps=gaps,
            unit=unit,
            required=required,
        )
    check_keys(item, known, {"low", "high"}, f"input {name!r}")
    values, scale = None, None
    if "values" in item:
        where = f"values of {name!r}"
        values = read_numbers(read_some(item["values"], where), where)
    if "rank scale" in item:
        where = f"rank scale of {name!r}"
        check_keys(item["rank scale"], {"knots", "ranks"}, {"knots", "ranks"}, where)
        parts = (read_numbers(item["rank scale"][key], where) for key in ("knots", "ranks"))
        scale = RankScale(*parts)
    low, high = (read_number(item[key], f"{key} of {name!r}") for key in ("low", "high"))
    period = read_number(item["period"], f"period of {name!r}") if "period" in item else None
    return Column(
        name, low, high, values, scale, gaps=gaps, unit=unit, required=required, period=period
    )


def _layer_from(
    item: Any,
    where: str,
    signals: dict[tuple[str, str], int],
    own: _Definitions,
) -> Layer:
    known = {"processing", "aggregation", "activation", "neurons"}
    check_keys(item, known, known, where)
    name = item["processing"]
    function = get_processing(_find(own.processing, name))
    rows: list[Json] = []
    target: list[int] = []
    centres: list[float | None] = []
    neurons = read_list(item["neurons"], f"neurons of {where}")
    for j, neuron in enumerate(neurons):
        here = f"{where}, neuron {j + 1}"
        check_keys(neuron, {"centre", "functions"}, {"functions"}, here)
        centres.append(read_number(neuron["centre"], here) if "centre" in neuron else None)
        for part in read_list(neuron["functions"], f"functions of {here}"):
            rows.append(_function_from(part, here, function.many_factors, signals))
            target.append(j)
    n_factors = _count_factors(rows)
    for row in rows:
        if len(row["levels"]):  # categories have levels in place of w and b
            row["w"] = row["b"] = (0.0,) * n_factors
            row["parameters"] = tuple(start for _, start in function.parameters)
    if n_factors < 1:
        raise ModelFileError(f"{where}: expected at least one w and b in every function")
    if any(len(row[key]) != n_factors for row in rows for key in ("w", "b")):
        raise ModelFileError(f"{where}: expected as many w and b in every function")
    if any(len(row["parameters"]) != len(function.parameters) for row in rows):
        raise ModelFileError(f"{where}: expected {len(function.parameters)} further parameters")
    if name in own.processing and n_factors != len(function.factors):
        raise ModelFileError(f"{where}: expected {len(function.factors)} factors, got {n_factors}")
    return Layer(
        function if name in own.processing else name,
        _find(own.aggregation, item["aggregation"]),
        _find(own.activation, item["activation"]),
        len(neurons),
        np.array(target, np.int32),
        np.array([row["source"] for row in rows], np.int32),
        np.array([row["w"] for row in rows], np.float64).reshape(-1, n_factors),
        np.array([row["b"] for row in rows], np.float64).reshape(-1, n_factors),
        np.array([row["rank"] for row in rows], bool),
        _all_or_none([row["alpha"] for row in rows], f"{where}: alpha"),
        _all_or_none(centres, f"{where}: centre"),
        np.array([row["missing"] for row in rows], np.float64),
        [row["levels"] for row in rows],
        np.array([row["parameters"] for row in rows]).reshape(len(rows), len(function.parameters)),
    )


def _count_factors(rows: list[Json]) -> int:
    return next((len(row["w"]) for row in rows if not len(row["levels"])), 1)


def _function_from(
    item: Any, where: str, many: bool, signals: dict[tuple[str, str], int]
) -> dict[str, Any]:
    known = {"input", "neuron", "scale", "w", "b", "alpha", "missing", "levels", "parameters"}
    check_keys(item, known, set(), where)
    if "levels" in item:
        check_keys(item, {"input", "levels", "missing", "alpha"}, {"input"}, where)
    else:
        check_keys(item, known, {"w", "b"}, where)
    kinds = [kind for kind in ("input", "neuron") if kind in item]
    if len(kinds) != 1:
        raise ModelFileError(f'{where}: a function reads one "input" or one "neuron"')
    key = (kinds[0], read_text(item[kinds[0]], where))
    if key not in signals:
        raise ModelFileError(f"{where}: there is no {key[0]} {key[1]!r} before it")
    if item.get("scale", "own") not in ("own", "rank"):
        raise ModelFileError(f'{where}: expected scale "own" or "rank", got {item["scale"]!r}')
    read: Callable[[Any, str], tuple[float, ...]] = read_numbers if many else read_one
    return {
        "source": signals[key],
        "rank": item.get("scale") == "rank",
        "w": read(item["w"], f"w in {where}") if "w" in item else (),
        "b": read(item["b"], f"b in {where}") if "b" in item else (),
        "parameters": read_numbers(item.get("parameters", []), f"parameters in {where}"),
        "missing": read_number(item.get("missing", 0.0), f"missing in {where}"),
        "levels": np.array(read_numbers(item.get("levels", []), f"levels in {where}")),
        "alpha": read_number(item["alpha"], f"alpha in {where}") if "alpha" in item else None,
    }


def _loss_from(item: Any) -> Loss:
    try:
        return Loss.from_dict(item)
    except DefinitionError as error:
        raise ModelFileError(str(error)) from None


_TARGET_KEYS = {"targets", "objective", "link"}
_CLASS_KEYS = {"classes", "unit", "offset", "limits", "bands", "time", "ends"}


def _output_from(item: Any) -> Output:
    check_keys(item, {"loss", "labels", *_CLASS_KEYS, *_TARGET_KEYS}, set(), "the output")
    loss = _loss_from(item["loss"]) if "loss" in item else None
    if "classes" in item and not _TARGET_KEYS & item.keys():
        parts = (
            tuple(read_label(x, "classes") for x in read_list(item["classes"], "classes")),
            read_number(item.get("unit", 1.0), "the unit"),
            read_number(item.get("offset", 0.0), "the offset"),
            loss,
            read_numbers(item.get("limits", []), "the limits"),
            read_numbers(item.get("bands", []), "the bands"),
        )
        if not {"time", "ends"} & item.keys():
            return Classes(*parts)
        check_keys(item, _CLASS_KEYS, {"time", "ends"}, "survival")
        time, ends = read_text(item["time"], "the time"), read_numbers(item["ends"], "ends")
        return Survival(*parts, time, ends)
    if "targets" in item and not _CLASS_KEYS & item.keys():
        read = read_list(item["targets"], "targets")
        names = tuple(read_text(x, "the name of a target") for x in read)
        if loss is not None:
            return Targets(names, loss.link, loss.text, loss)
        return Targets(
            names,
            read_text(item.get("link", "identity"), "the link"),
            read_text(item.get("objective", "squared"), "the objective"),
        )
    if item.keys() == {"labels"}:
        read = read_list(item["labels"], "labels")
        return Labels(tuple(read_text(x, "the name of a label") for x in read))
    raise ModelFileError('the output needs either "classes", "targets" or "labels"')


def _all_or_none(values: list[float | None], where: str) -> Floats | None:
    given = [value for value in values if value is not None]
    if not given:
        return None
    if len(given) != len(values):
        raise ModelFileError(f"{where} is given for some and not for all")
    return np.array(given, np.float64)
