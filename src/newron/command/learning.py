"""From a table to a network with the names and labels of the table."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from newron.command.tables import Table
from newron.errors import InputError
from newron.estimators import NewronClassifier, NewronRegressor
from newron.model import Classes, Column, Model, Schema, Targets, get_processing, processing_names
from newron.model.arithmetic import Floats
from newron.model.frame import Field
from newron.rules.axis import make_axes
from newron.rules.circuit import find_boundaries
from newron.rules.coverage import Coverage
from newron.rules.rounding import round_card
from newron.rules.scorecard import read_card
from newron.training.recipe import RECIPES

__all__ = [
    "Settings",
    "align_rows",
    "check_settings",
    "cover",
    "is_card",
    "is_crisp",
    "keep_known",
    "learn",
    "make_estimator",
    "name_model",
    "read_hidden",
]


@dataclass(frozen=True)
class Settings:
    """How a network is trained; None leaves a choice to newron."""

    processing: str = "heaviside"
    hidden: tuple[int, ...] | str | None = None
    recipe: str = "default"
    terms: int = 12
    points: int = 5
    prune: bool = False
    class_weight: str | None = None
    seed: int = 0
    jobs: int = -1


def read_hidden(text: str | None) -> tuple[int, ...] | str | None:
    """Read what somebody writes for hidden layers.

    Examples
    --------
    >>> read_hidden("4,2"), read_hidden("0"), read_hidden("auto")
    ((4, 2), (), 'auto')
    """
    if text is None or text == "auto":
        return text
    try:
        widths = tuple(int(word) for word in text.split(","))
    except ValueError:
        widths = (-1,)
    if widths == (0,):
        return ()
    if min(widths) < 1:
        raise InputError(f"--hidden: expected numbers such as 4,2, or auto, or 0, got {text!r}")
    return widths


def check_settings(settings: Settings) -> None:
    """Refuse names that do not exist, in the words of the command line."""
    for option, value, known in (
        ("--processing", settings.processing, (*processing_names(), "smooth")),
        ("--recipe", settings.recipe, tuple(RECIPES)),
        ("--class-weight", settings.class_weight, (None, "balanced")),
    ):
        if value not in known:
            names = ", ".join(name for name in known if name is not None)
            raise InputError(f"{option}: expected {names}, got {value!r}")
    chosen = settings.recipe == "default" and settings.hidden != "auto"
    if settings.processing == "smooth" and not chosen:
        raise InputError(
            "--processing smooth: expected the default recipe and not --hidden auto, got others; "
            "name sigmoid or tanh_prod"
        )


def make_estimator(table: Table, settings: Settings) -> Any:
    """Give the estimator for a table, not fitted yet."""
    how: dict[str, Any] = {
        "recipe": settings.recipe,
        "max_terms": settings.terms,
        "pruning": settings.prune,
        "random_state": settings.seed,
        "n_jobs": settings.jobs,
        "categorical_features": table.places_of_categories or "from_dtype",
    }
    if settings.hidden is not None:
        how["hidden_layer_sizes"] = settings.hidden
    if table.target.labels is None:
        return NewronRegressor(settings.processing, **how)
    return NewronClassifier(settings.processing, class_weight=settings.class_weight, **how)


def learn(table: Table, settings: Settings, index: NDArray[np.intp] | None = None) -> Model:
    """Train on some rows of a table, by default on all of them.

    The rows of a score card of two classes then get whole points, if ``settings.points``
    is not 0.
    """
    chosen = np.arange(len(table)) if index is None else index
    estimator = make_estimator(table, settings)
    estimator.fit(table.rows[chosen], table.target.values[chosen])
    model = name_model(estimator, table)
    if settings.points and is_card(model):
        model = _round_points(model, table, chosen, settings.points)
    return model


def name_model(estimator: Any, table: Table) -> Model:
    """Give the network with the names of the table: it was trained on numbers alone."""
    model: Model = estimator.model_
    used = {int(source) for layer in model.layers for source in layer.source}
    columns = tuple(
        _name_column(column, field, i in used)
        for i, (column, field) in enumerate(zip(model.schema.columns, table.fields, strict=True))
    )
    labels = table.target.labels
    if labels is None:
        return Model(Schema(columns), model.layers, Targets((table.target.name,)))
    known = tuple(labels[int(number)] for number in estimator.classes_)
    return Model(Schema(columns), model.layers, Classes(known))


def _name_column(column: Column, field: Field, used: bool) -> Column:
    if field.categories is None:
        return replace(column, name=field.name)
    if column.categories is None and not used:
        # These rows had nothing but gaps, which look like numbers.
        return Column(field.name, 0.0, 0.0, categories=(), gaps=True)
    labels = tuple(field.categories[int(place)] for place in column.categories or ())
    return replace(column, name=field.name, categories=labels)


def align_rows(table: Table, model: Model, index: NDArray[np.intp] | None = None) -> Floats:
    """Give rows of a table as a model reads them.

    A model that has not seen all categories numbers them in another way; those that it has
    not seen are missing to it.
    """
    rows = table.rows if index is None else table.rows[index]
    pairs = zip(table.fields, model.schema.columns, strict=True)
    changed = [
        (i, field.categories, column.categories)
        for i, (field, column) in enumerate(pairs)
        if field.categories != column.categories
    ]
    if changed:
        rows = rows.copy()
    for i, ours, theirs in changed:
        places = {label: float(place) for place, label in enumerate(theirs or ())}
        codes = np.array([*(places.get(label, np.nan) for label in ours or ()), np.nan])
        at = np.where(np.isnan(rows[:, i]), len(codes) - 1, rows[:, i]).astype(np.intp)
        rows[:, i] = codes[at]
    return rows


def is_crisp(model: Model) -> bool:
    """Tell whether all functions of a network are steps."""
    return all(get_processing(layer.processing).crisp for layer in model.layers)


def is_card(model: Model) -> bool:
    """Tell whether a network is a score card: steps without hidden layer, for two classes."""
    two = isinstance(model.output, Classes) and model.output.n_scores == 1
    used = len(model.layers[0].source) > 0
    return two and used and len(model.layers) == 1 and is_crisp(model)


def cover(table: Table, model: Model, index: NDArray[np.intp] | None = None) -> Coverage:
    """Count rows by the cells and classes that a crisp model tells apart."""
    axes = make_axes(model.schema, find_boundaries(model))
    if not isinstance(model.output, Classes):
        rows = align_rows(table, model, index)
        return Coverage.measure(axes, rows, np.zeros(len(rows), np.intp), 1)
    known = keep_known(table, model, index)
    numbers = number_classes(table, model)[table.target.values[known]]
    rows = align_rows(table, model, known)
    return Coverage.measure(axes, rows, numbers, len(model.output.labels))


def number_classes(table: Table, model: Model) -> NDArray[np.intp]:
    """Give the number that a model has for each class of a table; -1 if it knows none."""
    known = list(model.output.labels) if isinstance(model.output, Classes) else []
    return np.array(
        [known.index(x) if x in known else -1 for x in table.target.labels or ()], np.intp
    )


def keep_known(table: Table, model: Model, index: NDArray[np.intp] | None) -> NDArray[np.intp]:
    """Give the rows whose class a model knows: those held out may have others."""
    chosen = np.arange(len(table)) if index is None else index
    if table.target.labels is None:
        return chosen
    known = number_classes(table, model)[table.target.values[chosen]] >= 0
    return np.asarray(chosen[known])


def _round_points(model: Model, table: Table, index: NDArray[np.intp], most: int) -> Model:
    if not read_card(model).points.terms:
        return model  # the steps cancel out
    # Without time for improvements: these end when time is over, not when they are the same.
    return round_card(model, most, cover(table, model, index), seconds=0.0).model
