"""Objectives by name: what users write, and what a model's output says."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace

from newron.errors import InputError
from newron.model.labels import Labels
from newron.model.output import Classes, Output
from newron.neurons.loss import Loss
from newron.objectives.base import Objective
from newron.objectives.binary import Binary
from newron.objectives.categorical import Categorical
from newron.objectives.formula import Formula, FormulaClasses
from newron.objectives.huber import Huber
from newron.objectives.labels import LabelLoss
from newron.objectives.ordinal import Ordinal
from newron.objectives.quantile import Absolute, Quantile
from newron.objectives.regression import Regression
from newron.objectives.squared import Squared
from newron.objectives.tweedie import Gamma, Poisson, Tweedie

OBJECTIVES: dict[str, type[Objective]] = {
    each.name: each
    for each in (
        Binary, Categorical, Ordinal, LabelLoss,
        Squared, Absolute, Huber, Quantile, Poisson, Gamma, Tweedie,
    )
}  # fmt: skip
REGRESSION = ("squared", "absolute", "huber", "quantile", "poisson", "gamma", "tweedie")

_PARAMETERS: Mapping[str, Callable[[tuple[float, ...]], Objective]] = {
    "quantile": lambda given: Quantile(len(given), levels=given),
    "huber": lambda given: Huber(epsilon=_take_one("huber", given)),
    "tweedie": lambda given: Tweedie(power=_take_one("tweedie", given)),
}


def read_objective(objective: str | Objective | Loss, n_targets: int = 1) -> Objective:
    """Return the objective of regression that a user names.

    - ``objective``: A loss of one's own, or a name, with a number where it has one: "quantile:0.9",
      "quantile:0.1,0.5,0.9", "tweedie:1.7", "huber:1.5".
    - ``n_targets``: Columns of y.

    >>> read_objective("poisson")
    Poisson(n_scores=1, unit=1.0, power=1.0)
    >>> read_objective("quantile:0.1,0.9").n_scores
    2
    """
    if isinstance(objective, Loss):
        return Formula(n_targets, definition=objective)
    made = _parse(objective) if isinstance(objective, str) else objective
    if not isinstance(made, Regression | Squared):
        known = ", ".join(REGRESSION)
        raise InputError(f"objective: expected one of {known}, got {objective!r}")
    if isinstance(made, Quantile) and len(made.levels) > 1:
        if n_targets > 1:
            raise InputError(
                f"objective {made.text}: expected one target for several levels, got {n_targets}; "
                "fit one network for each target"
            )
        return replace(made, n_scores=len(made.levels))
    return replace(made, n_scores=n_targets)


def _parse(text: str) -> Objective:
    name, colon, rest = text.partition(":")
    if name not in REGRESSION or (colon and name not in _PARAMETERS):
        known = ", ".join(REGRESSION)
        raise InputError(
            f'objective: expected one of {known}, or one with its number as "quantile:0.9", '
            f"got {text!r}"
        )
    if not colon:
        return OBJECTIVES[name](1)
    try:
        numbers = tuple(float(part) for part in rest.split(","))
    except ValueError:
        raise InputError(f"objective {name}: expected numbers after the colon, got {rest!r}") from (
            None
        )
    return _PARAMETERS[name](numbers)


def _take_one(name: str, given: tuple[float, ...]) -> float:
    if len(given) != 1:
        raise InputError(f"objective {name}: expected one number, got {len(given)}")
    return given[0]


def choose_objective(output: Output) -> Objective:
    """Return the objective of what a network predicts.

    - ``output``: The classes or labels, or the regression targets, which name their objective.

    >>> from newron.model import Classes, Targets
    >>> choose_objective(Classes(("no", "yes")))
    Binary(n_scores=1)
    >>> choose_objective(Targets(("price", "weight")))
    Squared(n_scores=2)
    """
    if isinstance(output, Classes):
        if output.loss is not None:
            return FormulaClasses(definition=output.loss)
        if output.is_ordered:
            return Ordinal(1, output.limits)
        return Binary(1) if output.n_scores == 1 else Categorical(output.n_scores)
    if isinstance(output, Labels):
        return LabelLoss(output.n_scores)
    if output.loss is not None:
        return Formula(output.n_scores, definition=output.loss)
    return replace(_parse(output.objective), n_scores=output.n_scores)
