"""What a change shall reach: another class, or a number within a range."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from newron.errors import InputError
from newron.formatting import format_class, format_number, format_value
from newron.model.arithmetic import Floats
from newron.model.labels import refuse_labels
from newron.model.model import Model
from newron.model.output import Classes, Label, Targets

MAX_AIMS = 50  # classes that a change may lead to, those of the highest scores where there are more

Ints = NDArray[np.intp]
Bools = NDArray[np.bool_]


@dataclass(frozen=True)
class Demands:
    """Demands that all hold where the objective is reached: factors · scores ≥ bounds.

    Of very many classes only those of the highest scores are compared with the one that is sought.
    """

    factors: Floats  # (demands, scores)
    bounds: Floats


@dataclass(frozen=True)
class SearchObjective:
    """What the scores shall be."""

    model: Model
    text: str
    alternatives: tuple[Demands, ...]
    classes: tuple[int, ...] = ()
    low: float = -math.inf
    high: float = math.inf

    @property
    def complete(self) -> bool:
        """Whether every class that the objective allows is sought."""
        output = self.model.output
        many = isinstance(output, Classes) and output.n_scores - 1 > MAX_AIMS
        return not many or len(self.classes) == 1

    def is_reached(self, scores: Floats) -> Bools:
        """Return for which rows of scores it is reached."""
        output = self.model.output
        if isinstance(output, Classes):
            return np.isin(output.choose(scores), self.classes)
        return (scores[:, 0] >= self.low) & (scores[:, 0] <= self.high)

    def list_outcomes(self, scores: Floats) -> Ints:
        """Return the number of what each row leads to, where several things are distinguished."""
        output = self.model.output
        if isinstance(output, Classes):
            return output.choose(scores)
        return np.zeros(len(scores), np.intp)


def make_objective(model: Model, scores: Floats, target: Any) -> SearchObjective:
    """Return the objective that a target means for a row with these scores."""
    output = model.output
    refuse_labels(output, "target")
    if isinstance(output, Classes):
        objective = _aim_at_class(model, output, scores[0], target)
    else:
        objective = _aim_at_number(model, output, target)
    if objective.is_reached(scores)[0]:
        predicted = format_value(predict_one(model, scores)[0])
        raise InputError(f"target: expected what the row does not have yet, but it has {predicted}")
    return objective


def _aim_at_class(model: Model, output: Classes, scores: Floats, target: Any) -> SearchObjective:
    now = int(output.choose(scores[None])[0])
    chosen = [k for k in range(len(output.labels)) if k != now]
    if len(chosen) > MAX_AIMS and output.n_scores > 1:
        chosen = sorted(sorted(chosen, key=lambda k: -float(scores[k]))[:MAX_AIMS])
    compared = sorted([now, *chosen])
    if target is not None:
        if target not in output.labels:
            known = ", ".join(map(repr, output.labels))
            raise InputError(f"target: expected one of the classes {known}, got {target!r}")
        chosen = [output.labels.index(target)]
    one = len(chosen) == 1
    text = f"make it {format_class(output.labels[chosen[0]])}" if one else "change the class"
    alternatives = tuple(_win(output, k, [j for j in compared if j != k]) for k in chosen)
    return SearchObjective(model, text, alternatives, tuple(chosen))


def _win(output: Classes, k: int, others: Sequence[int]) -> Demands:
    """Demand that a class has a higher score than others, or one between its limits."""
    if output.is_ordered:
        ends = [(1.0, limit) for limit in output.bands[max(k - 1, 0) : k]]
        ends += [(-1.0, -limit) for limit in output.bands[k : k + 1]]
        return Demands(np.array([[sign] for sign, _ in ends]), np.array([end for _, end in ends]))
    if output.n_scores == 1:
        return Demands(np.array([[1.0 if k else -1.0]]), np.zeros(1))
    ahead = np.zeros((len(others), output.n_scores))
    ahead[np.arange(len(others)), others] = -1.0
    ahead[:, k] = 1.0
    return Demands(ahead, np.zeros(len(others)))


def _aim_at_number(model: Model, output: Targets, target: Any) -> SearchObjective:
    if output.n_scores != 1:
        raise InputError(
            f"expected a network of classes or of one target to find changes, "
            f"got {output.n_scores} targets"
        )
    low, high = _read_range(target)
    text = _describe_range(output.names[0], low, high)
    if output.link in ("log", "formula"):  # the scores that predictions stand for
        low, high = output.find_score(low), output.find_score(high)
        if low == high == -math.inf or not (math.isfinite(low) or math.isfinite(high)):
            raise InputError(f"target: expected an end that can be predicted, got {target!r}")
    demands = [(1.0, low), (-1.0, -high)]
    factors, bounds = np.array([one for one in demands if math.isfinite(one[1])]).T
    return SearchObjective(model, text, (Demands(factors[:, None], bounds),), (), low, high)


def _read_range(target: Any) -> tuple[float, float]:
    try:
        low, high = target
        ends = (-math.inf if low is None else float(low), math.inf if high is None else float(high))
    except (TypeError, ValueError):
        ends = math.nan, math.nan
    if not ends[0] <= ends[1] or not any(map(math.isfinite, ends)):
        raise InputError(
            f"target: expected (low, high) for a target, None for an open end, got {target!r}"
        )
    return ends


def _describe_range(name: str, low: float, high: float) -> str:
    if not math.isfinite(high):
        return f"bring {name} to {format_number(low)} or more"
    if not math.isfinite(low):
        return f"bring {name} to {format_number(high)} or less"
    return f"bring {name} between {format_number(low)} and {format_number(high)}"


def predict_one(model: Model, scores: Floats) -> tuple[Label, float | None]:
    """Return the class and its probability, or the number, of a row of scores."""
    output = model.output
    if not isinstance(output, Classes):
        return float(output.transform(scores)[0, 0]), None
    k = int(output.choose(scores)[0])
    return output.labels[k], float(output.predict_proba(scores)[0, k])
