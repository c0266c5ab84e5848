"""What a user declares of the columns: directions and domains."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from numbers import Integral, Real
from typing import Any

import numpy as np

from newron.errors import InputError
from newron.model.arithmetic import Floats
from newron.model.model import Model
from newron.model.output import Classes, Output
from newron.model.schema import Column, Schema
from newron.tables.field import Field
from newron.training.architecture import Architecture

_KEYS = ("unit", "values", "low", "high", "missing", "period")


def read_directions(
    requested: Any, fields: Sequence[Field], architecture: Architecture, output: Output
) -> tuple[int, ...]:
    """Return the direction of each column: 1 rising, -1 falling, 0 free; () for none."""
    if requested is None:
        return ()
    directions = _list_directions(requested, [field.name for field in fields])
    for direction, field in zip(directions, fields, strict=True):
        if not isinstance(direction, Integral) or direction not in (-1, 0, 1):
            raise InputError(
                f"monotonic_cst of {field.name!r}: expected -1, 0 or 1, got {direction!r}"
            )
        if direction and field.categories is not None:
            raise InputError(
                f"monotonic_cst: column {field.name!r} holds categories, which have no order to "
                "rise along; make it a number or leave it out"
            )
    if not any(directions):
        return ()
    _check_possible(architecture, output)
    return tuple(int(direction) for direction in directions)


def _list_directions(requested: Any, names: list[str]) -> list[Any]:
    if isinstance(requested, Mapping):
        unknown = [name for name in requested if name not in names]
        if unknown:
            raise InputError(
                f"monotonic_cst: expected names of columns, got {unknown[0]!r}, which is none"
            )
        return [requested.get(name, 0) for name in names]
    directions = list(requested)
    if len(directions) != len(names):
        raise InputError(
            f"monotonic_cst: expected one of -1, 0, 1 for each of {len(names)} columns, or a dict "
            f"by name, got {len(directions)} entries"
        )
    return directions


def _check_possible(architecture: Architecture, output: Output) -> None:
    if isinstance(output, Classes) and output.n_scores > 1:
        raise InputError(
            "monotonic_cst: expected two classes or regression targets, got "
            f"{output.n_scores} classes: of several probabilities not all can rise"
        )
    for layer in architecture.layers:
        function = layer.function
        if function.many_factors and layer.n_factors > 1:
            raise InputError(
                f"monotonic_cst: a product of {layer.n_factors} factors rises and falls; choose "
                'n_factors=1, processing="sigmoid" or processing="heaviside"'
            )
        if not (function.monotone or function.many_factors):
            raise InputError(
                f"monotonic_cst: expected functions that never fall, got {function}, of which that "
                'is not proved; choose processing="sigmoid"'
            )
        for own in (layer.aggregation, layer.activation):
            if not isinstance(own, str) and not own.monotone:
                raise InputError(
                    f"monotonic_cst: expected aggregations and activations that never fall, got "
                    f"{own}, of which that is not proved; choose another one"
                )
        if layer.aggregation == "product":
            raise InputError(
                "monotonic_cst: a product changes direction with the signs of its other parts; "
                "choose another aggregation"
            )


def read_periods(
    domains: Any, fields: Sequence[Field], architecture: Architecture
) -> tuple[float, ...]:
    """Return the period of each column, 0 without one; () for none."""
    given = domains if isinstance(domains, Mapping) else {}
    own = [given.get(field.name) for field in fields]
    periods = [domain.get("period") if isinstance(domain, Mapping) else None for domain in own]
    if all(period is None for period in periods):
        return ()
    # Hidden neurons repeat where all that they read does: what reads columns must.
    n_columns = len(fields)
    layers = zip(architecture.layers, architecture.sources(n_columns), strict=True)
    for layer, source in layers:
        if layer.processing != "cosine" and np.any(source < n_columns):
            name = fields[next(i for i, each in enumerate(periods) if each is not None)].name
            raise InputError(
                f"domains of {name!r}: expected functions that repeat for a column with a period, "
                f'got {layer.processing}; choose processing="cosine"'
            )
    return tuple(
        0.0 if period is None else _read_period(period, f"domains of {field.name!r}")
        for period, field in zip(periods, fields, strict=True)
    )


def _read_period(period: Any, where: str) -> float:
    number = _number(period, where)
    if not 1e-300 <= number <= 1e300:
        raise InputError(f"{where}: expected a period above 0, got {number}")
    return number


def join_ends(model: Model) -> Model:
    """Return the model whose functions of columns with a period turn in it as often as they should.

    Training keeps w in single precision and shortens it: a curve would miss its own begin.
    """
    periods = np.array([column.period or 0.0 for column in model.schema.columns])
    if not periods.any():
        return model
    layers = []
    for layer in model.layers:
        own = np.append(periods, 0.0)[np.minimum(layer.source, len(periods))][:, None]
        turn = 2.0 * np.pi / np.where(own > 0.0, own, 1.0)
        exact = np.round(layer.w / turn) * turn
        layers.append(layer.replace(w=np.where(own > 0.0, exact, layer.w)))
    return model.replace(layers=layers)


def declare_domains(schema: Schema, domains: Any, X: Floats) -> Schema:
    """Return the schema with units and domains that a user declares by column."""
    if domains is None:
        return schema
    if not isinstance(domains, Mapping):
        raise InputError(f"domains: expected a dict by column, got {type(domains).__name__}")
    columns = {column.name: column for column in schema.columns}
    for name, domain in domains.items():
        if name not in columns:
            raise InputError(f"domains: expected names of columns, got {name!r}, which is none")
        index = schema.names.index(name)
        columns[name] = _declare(columns[name], domain, X[:, index])
    return Schema(tuple(columns.values()))


def _declare(column: Column, domain: Any, x: Floats) -> Column:
    where = f"domains of {column.name!r}"
    if isinstance(domain, str):
        domain = {"unit": domain}
    if not isinstance(domain, Mapping) or not set(domain) <= set(_KEYS):
        raise InputError(f"{where}: expected a unit, or a dict with {', '.join(_KEYS)}")
    unit = domain.get("unit")
    if unit is not None and not isinstance(unit, str):
        raise InputError(f"{where}: expected a unit that is text, got {unit!r}")
    if domain.get("missing", "allowed") not in ("allowed", "never"):
        raise InputError(f'{where}: expected missing "allowed" or "never"')
    required = domain.get("missing") == "never"
    if required and column.gaps:
        raise InputError(f"{where}: expected no missing values, got some in training")
    if column.categories is not None:
        if set(domain) - {"unit", "missing"}:
            raise InputError(f"{where}: categories have no range; give a unit or missing")
        return replace(column, unit=unit, required=required)
    values = domain.get("values")
    if values is not None:
        values = _read_values(values, where)
    low = _number(domain.get("low", values[0] if values else column.low), where)
    high = _number(domain.get("high", values[-1] if values else column.high), where)
    if low > high:
        raise InputError(f"{where}: expected low <= high, got {low} and {high}")
    _check_inside(x, low, high, values, where)
    values = column.values if values is None else values
    period = domain.get("period")
    period = None if period is None else _read_period(period, where)
    return replace(
        column, unit=unit, low=low, high=high, values=values, required=required, period=period
    )


def _read_values(values: Any, where: str) -> tuple[float, ...]:
    if isinstance(values, str) or not np.iterable(values):
        raise InputError(f"{where}: expected a list of values, got {values!r}")
    numbers = tuple(sorted({_number(value, where) for value in values}))
    if not numbers:
        raise InputError(f"{where}: expected at least one value")
    return numbers


def _number(value: Any, where: str) -> float:
    if not isinstance(value, Real) or not np.isfinite(float(value)):
        raise InputError(f"{where}: expected finite numbers, got {value!r}")
    return float(value)


def _check_inside(
    x: Floats, low: float, high: float, values: tuple[float, ...] | None, where: str
) -> None:
    outside = (x < low) | (x > high)
    if values is not None:
        outside |= ~np.isin(x, values) & ~np.isnan(x)
    if outside.any():
        row = int(np.flatnonzero(outside)[0])
        raise InputError(f"{where}: row {row} (counted from 0) has {x[row]}, which is outside")
