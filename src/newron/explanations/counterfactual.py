"""The smallest change of a few inputs that changes what a network predicts of a row.

A column that steps alone read has finitely many cells, so that all changes can be looked
at: the search is exact. Other columns are looked at on a grid, and what is found is then
moved as near to the row as it goes: that is approximate, and the text notes it.

Sets of columns are ruled out by bounds before any row is evaluated.
"""

from __future__ import annotations

import math
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from newron.drawing.printed import Listing
from newron.errors import InputError
from newron.explanations.objective import SearchObjective, make_objective, predict_one
from newron.explanations.row import get_value
from newron.explanations.search import Found, Search
from newron.explanations.space import Space, find_decimal, make_space, measure_steps
from newron.formatting import clean, format_class, format_unit, format_value
from newron.model.arithmetic import Floats
from newron.model.model import Model
from newron.model.output import Label

Bools = NDArray[np.bool_]

_ROUNDS = 6  # of looking nearer to the row, by a sixteenth each


_NUMBERS = {1: "One change", 2: "Two changes together", 3: "Three changes together"}


@dataclass(frozen=True)
class InputChange:
    """One input that changes: from ``old`` to ``new``; None is a missing value."""

    column: str
    old: Label | None
    new: Label | None
    size: float
    unit: str | None = None

    def __str__(self) -> str:
        new = format_value(self.new) + format_unit(self.unit)
        name = clean(self.column, directions=False)
        return f"{name}: {format_value(self.old)} → {new}"


@dataclass(frozen=True)
class Change:
    """Inputs that change together, and what the network predicts then.

    Parameters
    ----------
    steps : tuple of InputChange
    size : float
        The sum of the steps: of a number, how far it moves in units of the column's
        observed range; of a category, and of what was missing, 1.
    prediction : label or float
        The class, or the number.
    probability : float, optional
        Of that class.

    Examples
    --------
    >>> from newron.explanations.counterfactual import InputChange
    >>> print(Change((InputChange("age", 50.0, 55.0, 0.1, "y"),), 0.1, "ill", 0.7))
    age: 50 → 55 y
    """

    steps: tuple[InputChange, ...]
    size: float
    prediction: Label
    probability: float | None = None

    def __str__(self) -> str:
        return " and ".join(map(str, self.steps))

    def to_dict(self) -> dict[str, Any]:
        """Return the change as plain data.

        Returns
        -------
        dict
        """
        steps = [
            {"column": s.column, "old": s.old, "new": s.new, "unit": s.unit, "size": s.size}
            for s in self.steps
        ]
        predicted = {"prediction": self.prediction, "probability": self.probability}
        return {"steps": steps, "size": self.size, **predicted, "text": str(self)}


@dataclass(frozen=True, repr=False)
class Changes(Listing[Change]):
    """The changes that were found, the smallest first; as text, a few sentences.

    They all change as few inputs as possible. There is one for each set of inputs and
    each class that it leads to.

    Parameters
    ----------
    changes : tuple of Change
    objective : str
        What the changes do, in words: "make it class 0".
    exact : bool
        Whether all values that the network distinguishes were looked at, and not a grid.
    complete : bool
        Whether nothing was left out. Where ``exact`` and ``complete`` hold there is no
        smaller change: none of fewer inputs, and none of as many whose size is less, but
        for the rounding of numbers to short decimals, a fortieth of a range at most.
    max_changes : int
        Up to how many inputs were changed.
    fixed : tuple of str
        The columns that were held fixed.
    n_evaluated : int
        How many rows were evaluated.

    Examples
    --------
    >>> print(Changes((), "make it ill", exact=True, complete=True, max_changes=1))
    No change of one input within the observed ranges would make it ill.
    """

    _parts = "changes"

    changes: tuple[Change, ...]
    objective: str
    exact: bool
    complete: bool
    max_changes: int
    fixed: tuple[str, ...] = ()
    n_evaluated: int = 0

    def __repr__(self) -> str:
        return f"<Changes: {len(self)} found, exact={self.exact}, complete={self.complete}>"

    def __str__(self) -> str:
        lines = (
            [self._describe_found(), self._describe_certainty()]
            if self
            else [self._describe_none()]
        )
        if len(self) > 1:
            lines.insert(1, f"Also: {'; '.join(map(self._describe_other, self[1:]))}.")
        if self.fixed:
            lines.append(clean(f"Held fixed: {', '.join(self.fixed)}.", directions=False))
        return "\n".join(lines)

    def _describe_found(self) -> str:
        first, n = self[0], len(self[0].steps)
        of_class = first.probability is not None
        objective = f"make it {format_class(first.prediction)}" if of_class else self.objective
        head = _NUMBERS.get(n, f"{n} changes together")
        return f"{head} would {objective}, for example {first}."

    def _describe_none(self) -> str:
        inputs = "one input" if self.max_changes == 1 else f"up to {self.max_changes} inputs"
        if self.exact and self.complete:
            return f"No change of {inputs} within the observed ranges would {self.objective}."
        why = "approximate" if self.complete else "not exhaustive"
        return f"No change of {inputs} was found that would {self.objective}; the search was {why}."

    def _describe_other(self, change: Change) -> str:
        same = change.probability is None or change.prediction == self[0].prediction
        return str(change) if same else f"{change} ({format_class(change.prediction)})"

    def _describe_certainty(self) -> str:
        if self.exact and self.complete:
            return "No smaller change exists."
        why = "approximate, over places of each range" if self.complete else "not exhaustive"
        return f"The search was {why}: a smaller change may exist."

    def to_dict(self) -> dict[str, Any]:
        """Return all changes as plain data, and how they were searched.

        Returns
        -------
        dict
        """
        return {
            "goal": self.objective,
            "changes": [change.to_dict() for change in self],
            "exact": self.exact,
            "complete": self.complete,
            "max_changes": self.max_changes,
            "fixed": list(self.fixed),
            "evaluated": self.n_evaluated,
            "text": str(self),
        }


# ---- searching ----


def search_changes(
    model: Model,
    values: Floats,
    target: Any,
    max_changes: int,
    fixed: str | Iterable[str],
    limit: int,
    max_evaluations: int,
) -> Changes:
    """Find the smallest changes of a few inputs that change the class of a row, read already.

    Fewest inputs first, then the smallest total; see :class:`Change` for its measure.
    Numbers stay within the observed range and become short decimals; nothing is changed
    into a missing value. The parameters are those of :meth:`Model.explain`.
    """
    if min(max_changes, limit, max_evaluations) < 1:
        raise InputError("expected max_changes, limit and max_evaluations of at least 1")
    scores = model.score_rows(values)
    objective = make_objective(model, scores, target)
    held = _read_fixed(model, fixed)
    space = make_space(model, values[0], held)
    search = Search(space, objective, scores[0], max_evaluations)
    found = search.run(max_changes, limit)
    if not space.exact:
        found = sorted((_refine(space, objective, one) for one in found), key=lambda one: one.size)
    changes = [_make_change(space, one) for one in found]
    return Changes(
        tuple({change.steps: change for change in changes}.values()),  # refined, two may meet
        objective=objective.text,
        exact=space.exact,
        complete=search.complete and objective.complete,
        max_changes=max_changes,
        fixed=tuple(model.schema.names[i] for i in sorted(held)),
        n_evaluated=search.n_evaluated,
    )


def _read_fixed(model: Model, fixed: str | Iterable[str]) -> set[int]:
    names = [fixed] if isinstance(fixed, str) else list(fixed)
    for name in names:
        if name not in model.schema.names:
            raise InputError(f"fixed: expected names of columns, got {name!r}")
    return {model.schema.names.index(name) for name in names}


# ---- near to the row ----


def _refine(space: Space, objective: SearchObjective, found: Found) -> Found:
    """Move what was found on a grid as near to the row as it goes."""
    row, size = np.array(found.row), 0.0
    for one in (space.options[c] for c in found.chosen):
        i = one.column
        if one.smooth:
            row[i] = _approach(space, objective, row, i)
        column = space.model.schema.columns[i]
        size += float(measure_steps(column, float(space.row[i]), row[i : i + 1])[0])
    outcome = int(objective.list_outcomes(space.model.score_rows(row[None, :]))[0])
    return Found(size, found.chosen, tuple(row.tolist()), outcome)


def _approach(space: Space, objective: SearchObjective, row: Floats, i: int) -> float:
    """Return the value of a column nearest to its old one for which the objective stays reached."""
    column = space.model.schema.columns[i]

    def reaches(values: Floats) -> Bools:
        rows = np.repeat(row[None, :], len(values), axis=0)
        rows[:, i] = values
        return objective.is_reached(space.model.score_rows(rows))

    def fits(x: float) -> bool:
        return column.low <= x <= column.high and bool(reaches(np.array([x]))[0])

    old, inside = float(space.row[i]), float(row[i])
    if not math.isnan(old):
        outside = min(max(old, column.low), column.high)
        for _ in range(_ROUNDS):
            x = np.linspace(outside, inside, 17)
            k = int(np.argmax(reaches(x)))
            outside, inside = float(x[max(k - 1, 0)]), float(x[k])
    return find_decimal(inside, old, column, fits)


def _make_change(space: Space, found: Found) -> Change:
    steps = []
    for i in (space.options[c].column for c in found.chosen):
        column, old, new = space.model.schema.columns[i], float(space.row[i]), found.row[i]
        size = float(measure_steps(column, old, np.array([new]))[0])
        steps.append(
            InputChange(
                column.name, get_value(column, old), get_value(column, new), size, column.unit
            )
        )
    scores = space.model.score_rows(np.array([found.row]))
    return Change(tuple(steps), found.size, *predict_one(space.model, scores))
