"""What a search for changes finds: steps of single inputs, changes of several, in words."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, overload

from newron.formatting import format_class, format_value
from newron.model.output import Label

__all__ = ["Change", "Changes", "InputChange"]

_NUMBERS = {1: "One change", 2: "Two changes together", 3: "Three changes together"}


@dataclass(frozen=True)
class InputChange:
    """One input that changes: from ``old`` to ``new``; None is a gap."""

    column: str
    old: Label | None
    new: Label | None
    size: float
    unit: str | None = None

    def __str__(self) -> str:
        unit = f" {self.unit}" if self.unit else ""
        return f"{self.column}: {format_value(self.old)} → {format_value(self.new)}{unit}"


@dataclass(frozen=True)
class Change:
    """Inputs that change together, and what the network says then.

    Parameters
    ----------
    steps : tuple of InputChange
    size : float
        The sum of the steps: of a number, how far it moves in units of the column's
        observed range; of a category, and of what was missing, 1.
    prediction : label or float
        The class, or the amount.
    probability : float, optional
        Of that class.
    """

    steps: tuple[InputChange, ...]
    size: float
    prediction: Label
    probability: float | None = None

    def __str__(self) -> str:
        return " and ".join(map(str, self.steps))

    def to_dict(self) -> dict[str, Any]:
        """Give the change as plain data."""
        steps = [
            {"column": s.column, "old": s.old, "new": s.new, "unit": s.unit, "size": s.size}
            for s in self.steps
        ]
        said = {"prediction": self.prediction, "probability": self.probability}
        return {"steps": steps, "size": self.size, **said, "text": str(self)}


class Changes(Sequence[Change]):
    """The changes that were found, the smallest first; as text, a few sentences.

    They all change as few inputs as possible. There is one for each set of inputs and
    each class that it leads to.

    Attributes
    ----------
    goal : str
        What the changes do, in words: "make it class 0".
    exact : bool
        Whether all values that the network tells apart were looked at, and not a grid.
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
    """

    def __init__(
        self,
        changes: Sequence[Change],
        *,
        goal: str,
        exact: bool,
        complete: bool,
        max_changes: int,
        fixed: Sequence[str] = (),
        n_evaluated: int = 0,
    ) -> None:
        self._changes = tuple(changes)
        self.goal = goal
        self.exact = exact
        self.complete = complete
        self.max_changes = max_changes
        self.fixed = tuple(fixed)
        self.n_evaluated = n_evaluated

    @overload
    def __getitem__(self, index: int) -> Change: ...
    @overload
    def __getitem__(self, index: slice) -> tuple[Change, ...]: ...
    def __getitem__(self, index: int | slice) -> Change | tuple[Change, ...]:
        """Give one change, or some."""
        return self._changes[index]

    def __len__(self) -> int:
        """Count the changes that were found."""
        return len(self._changes)

    def __repr__(self) -> str:
        return f"<Changes: {len(self)} found, exact={self.exact}, complete={self.complete}>"

    def __str__(self) -> str:
        lines = [self._tell_found(), self._tell_certainty()] if self else [self._tell_none()]
        if len(self) > 1:
            lines.insert(1, f"Also: {'; '.join(map(self._tell_other, self[1:]))}.")
        if self.fixed:
            lines.append(f"Held fixed: {', '.join(self.fixed)}.")
        return "\n".join(lines)

    def _tell_found(self) -> str:
        first, n = self[0], len(self[0].steps)
        of_class = first.probability is not None
        goal = f"make it {format_class(first.prediction)}" if of_class else self.goal
        head = _NUMBERS.get(n, f"{n} changes together")
        return f"{head} would {goal}, for example {first}."

    def _tell_none(self) -> str:
        inputs = "one input" if self.max_changes == 1 else f"up to {self.max_changes} inputs"
        if self.exact and self.complete:
            return f"No change of {inputs} within the observed ranges would {self.goal}."
        why = "approximate" if self.complete else "not exhaustive"
        return f"No change of {inputs} was found that would {self.goal}; the search was {why}."

    def _tell_other(self, change: Change) -> str:
        same = change.probability is None or change.prediction == self[0].prediction
        return str(change) if same else f"{change} ({format_class(change.prediction)})"

    def _tell_certainty(self) -> str:
        if self.exact and self.complete:
            return "No smaller change exists."
        why = "approximate, over places of each range" if self.complete else "not exhaustive"
        return f"The search was {why}: a smaller change may exist."

    def to_dict(self) -> dict[str, Any]:
        """Give all changes as plain data, and how they were searched."""
        return {
            "goal": self.goal,
            "changes": [change.to_dict() for change in self],
            "exact": self.exact,
            "complete": self.complete,
            "max_changes": self.max_changes,
            "fixed": list(self.fixed),
            "evaluated": self.n_evaluated,
            "text": str(self),
        }
