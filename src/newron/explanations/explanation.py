"""One row's way through a network: what holds, how many, by how much, and what it leads to.

Everything is read from the model's arrays. Conditions on columns are described as rules print
them; functions that are not crisp are described by their value.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import asdict, dataclass
from typing import Any

from newron.drawing.printed import Printed
from newron.explanations.counterfactual import Changes, search_changes
from newron.explanations.path import Contribution, Reader, Stage, list_contributions
from newron.explanations.row import get_value, read_row
from newron.explanations.text import format_explanation
from newron.formatting import clean_lines, format_number, format_unit
from newron.model.arithmetic import Floats
from newron.model.labels import Labels
from newron.model.model import Model
from newron.model.output import Classes, Label
from newron.rules.text import WIDTH

_MAX_SHOWN = 8  # functions of a neuron that are described, by default


@dataclass(frozen=True)
class Explanation(Printed):
    """The way of a row through a network; as text, step by step.

    Parameters
    ----------
    row : dict
        The row by columns; None is a missing value.
    stages : tuple of Stage
        All neurons in the order of the layers, the scores last.
    prediction : label, float, or dict of numbers by target
    probabilities : tuple of (label, probability)
        Empty for regression.
    changes : Changes, optional
        The smallest changes that lead elsewhere, if they were requested.
    notes : tuple of str
        What else should be known, such as values outside the observed range.
    contributions : tuple of Contribution
        Of a smooth network what each column and each pair adds, the most first; empty where it
        reads more than two columns together, and of crisp networks.
    intercepts : tuple of float
        What every row gets, of each score, where there are contributions.
    limits : tuple of float
        The scores from which on each class but the first is predicted; empty where the highest
        of several scores decides, and for regression.

    Examples
    --------
    See :func:`explain`, which makes them.

    >>> Explanation({"age": 50.0}, (), "ill", (("well", 0.3), ("ill", 0.7))).probability
    0.7
    """

    row: dict[str, Label | None]
    stages: tuple[Stage, ...]
    prediction: Any
    probabilities: tuple[tuple[Label, float], ...] = ()
    changes: Changes | None = None
    notes: tuple[str, ...] = ()
    contributions: tuple[Contribution, ...] = ()
    intercepts: tuple[float, ...] = ()
    limits: tuple[float, ...] = ()

    @property
    def scores(self) -> tuple[Stage, ...]:
        """The stages of the last layer."""
        last = self.stages[-1].layer
        return tuple(stage for stage in self.stages if stage.layer == last)

    @property
    def probability(self) -> float | None:
        """The probability of the class that is predicted."""
        return dict(self.probabilities).get(self.prediction) if self.probabilities else None

    def to_dict(self) -> dict[str, Any]:
        """Return everything as plain data, ready for JSON.

        Returns
        -------
        dict
        """
        return {
            "row": dict(self.row),
            "prediction": self.prediction,
            "probabilities": [
                {"class": label, "probability": share} for label, share in self.probabilities
            ],
            "contributions": [asdict(one) for one in self.contributions],
            "intercepts": list(self.intercepts),
            "neurons": [stage.to_dict() for stage in self.stages],
            "changes": None if self.changes is None else self.changes.to_dict(),
            "notes": list(self.notes),
        }

    def to_text(
        self, *, max_functions: int = _MAX_SHOWN, width: int = WIDTH, unicode: bool = True
    ) -> str:
        """Describe the way in words.

        Parameters
        ----------
        max_functions : int, default=8
            How many functions of a neuron to print; of the others their number.
        width : int, default=88
            How many columns there are: for short conditions side by side, and sentences.
        unicode : bool, default=True
            False says all signs in ASCII: ``*`` and ``o`` for what holds and what does not.

        Returns
        -------
        str
        """
        return clean_lines(format_explanation(self, max_functions, width, unicode))

    def __str__(self) -> str:
        return self.to_text()


def explain(
    model: Model,
    row: Any,
    *,
    target: Any = None,
    max_changes: int = 3,
    fixed: str | Iterable[str] = (),
    limit: int = 5,
    max_evaluations: int = 500_000,
) -> Explanation:
    """Follow one row through a network; see :meth:`Model.explain`."""
    values = read_row(model, row)
    is_regression = not isinstance(model.output, Classes)
    changes = None
    if max_changes > 0 and not (is_regression and target is None):
        changes = search_changes(model, values, target, max_changes, fixed, limit, max_evaluations)
    scores = model.score_rows(values)
    described = {
        column.name: get_value(column, float(x))
        for column, x in zip(model.schema.columns, values[0], strict=True)
    }
    contributions, intercepts = list_contributions(model, values)
    return Explanation(
        described,
        tuple(Reader(model, values).read_stages()),
        _get_prediction(model, scores),
        _list_probabilities(model, scores),
        changes,
        tuple(_list_notes(model, values[0])),
        tuple(sorted(contributions, key=lambda one: -max(map(abs, one.added)))),
        intercepts,
        model.output.thresholds if isinstance(model.output, Classes) else (),
    )


def _get_prediction(model: Model, scores: Floats) -> Any:
    output = model.output
    if isinstance(output, Classes):
        return output.labels[int(output.choose(scores)[0])]
    find = output.predict if isinstance(output, Labels) else output.transform
    values = find(scores)[0].tolist()
    return values[0] if len(values) == 1 else dict(zip(output.names, values, strict=True))


def _list_probabilities(model: Model, scores: Floats) -> tuple[tuple[Label, float], ...]:
    output = model.output
    if isinstance(output, Labels):
        return tuple(zip(output.names, output.transform(scores)[0].tolist(), strict=True))
    if not isinstance(output, Classes):
        return ()
    return tuple(zip(output.labels, output.predict_proba(scores)[0].tolist(), strict=True))


def _list_notes(model: Model, row: Floats) -> Iterator[str]:
    """Describe what training has not seen, of the columns that are read."""
    read = {int(s) for layer in model.layers for s in layer.source}
    for i, column in enumerate(model.schema.columns):
        if i not in read:
            continue
        value = get_value(column, float(row[i]))
        if value is None and not column.gaps:
            yield f"{column.name} is missing, which training did not see."
        elif isinstance(value, float) and not column.low <= value <= column.high:
            ends = f"{format_number(column.low)} to {format_number(column.high)}"
            ends += format_unit(column.unit)
            yield f"{column.name} lies outside the observed range, {ends}."
