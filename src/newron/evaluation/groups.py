"""How predictions differ between groups of rows: selection, sensitivity, calibration, errors."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from newron.errors import InputError
from newron.evaluation.intervals import estimate_difference, estimate_mean, estimate_proportion
from newron.evaluation.survival import estimate_concordance, estimate_happened
from newron.evaluation.times import Times
from newron.model.arithmetic import Floats
from newron.model.model import Model
from newron.model.output import Targets, add_offset
from newron.model.result import Estimate, Result
from newron.model.survival import Survival, accumulate, find_hazards, find_risk, make_curves

_MIN_ROWS = 10  # rows of a group that is compared
_MAX_GROUPS = 50  # groups
MISSING = "missing"


@dataclass(frozen=True)
class GroupQuality(Result):
    """How rows of one group are predicted.

    Attributes
    ----------
    name : str
    n_rows : int
    measures : dict of str to Estimate
        By name, see :func:`compare_groups`; what a group has no rows for is not there.
    differences : dict of str to Estimate
        Those of the group less those of the reference, with 95 % intervals; empty for the
        reference itself.

    Examples
    --------
    >>> found = compare_groups(["f"] * 20 + ["m"] * 20, [1, 0] * 20, [1] * 20 + [0] * 20)
    >>> found.groups[1].differences["selection rate"].value
    -1.0
    """

    name: str
    n_rows: int
    measures: Mapping[str, Estimate] = field(hash=False)
    differences: Mapping[str, Estimate] = field(hash=False)

    @property
    def sure(self) -> tuple[str, ...]:
        """The measures whose difference from the reference chance does not explain."""
        return tuple(
            name for name, one in self.differences.items() if one.low > 0.0 or one.high < 0.0
        )


@dataclass(frozen=True)
class GroupComparison(Result):
    """How predictions differ between groups.

    Attributes
    ----------
    column : str
        What the groups are of.
    groups : tuple of GroupQuality
        The reference, which is the largest, first.
    left_out : tuple of str
        Groups of fewer than ten rows.

    Examples
    --------
    >>> found = compare_groups(["f"] * 20 + ["m"] * 30, [1, 0] * 25, [1, 0] * 25, column="sex")
    >>> found.reference, [group.name for group in found.groups]
    ('m', ['m', 'f'])
    """

    column: str
    groups: tuple[GroupQuality, ...]
    left_out: tuple[str, ...] = ()

    @property
    def reference(self) -> str:
        """The group that others are compared with."""
        return self.groups[0].name


def compare_groups(
    groups: ArrayLike,
    truth: ArrayLike,
    predicted: ArrayLike,
    probability: ArrayLike | None = None,
    *,
    classification: bool | None = None,
    column: str = "group",
) -> GroupComparison:
    """Compare how rows of different groups are predicted.

    Of two classes, numbered 0 and 1, there are the *selection rate* (predicted 1), *sensitivity*
    (of those that are 1, predicted 1), *specificity* (of those that are 0, predicted 0),
    *accuracy*, and with probabilities the *calibration* (how often it is 1, less the mean
    probability). Of more classes there is the accuracy; of regression the *mean error*
    (prediction less truth) and the *mean absolute error*.

    Parameters
    ----------
    groups : array-like of shape (n_rows,)
        The group of each row: text, numbers or booleans; None and NaN are a group of their own.
    truth, predicted : array-like of shape (n_rows,)
        Numbers of classes, or values.
    probability : array-like of shape (n_rows,), optional
        Of the class 1.
    classification : bool, optional
        By default whether truth and prediction are whole numbers or booleans.
    column : str
        What the groups are of.

    Returns
    -------
    GroupComparison

    Examples
    --------
    >>> sex = ["f"] * 50 + ["m"] * 50
    >>> truth = [1] * 25 + [0] * 25 + [1] * 25 + [0] * 25
    >>> predicted = [1] * 25 + [0] * 25 + [1] * 10 + [0] * 40
    >>> found = compare_groups(sex, truth, predicted, column="sex")
    >>> gap = found.groups[1].differences["sensitivity"]
    >>> f"{gap.value:.2f}, {gap.low:.2f} to {gap.high:.2f}"
    '-0.60, -0.77 to -0.37'
    """
    true, chosen = np.asarray(truth), np.asarray(predicted)
    names = _name_groups(groups)
    soft = None if probability is None else np.asarray(probability, np.float64)
    for each in (chosen, names, *(() if soft is None else (soft,))):
        if each.shape != true.shape or true.ndim != 1:
            raise InputError(f"expected one value for each of {len(true)} rows, got {each.shape}")
    if classification is None:
        classification = all(each.dtype.kind in "biu" for each in (true, chosen))
    hard = bool(classification)

    def measure(own: NDArray[np.bool_]) -> dict[str, Estimate]:
        rows = true[own], chosen[own], None if soft is None else soft[own]
        return _measure_classes(*rows) if hard else _measure_values(*rows[:2])

    return _compare(names, column, measure)


def _compare(
    names: NDArray[Any], column: str, measure: Callable[[NDArray[np.bool_]], dict[str, Estimate]]
) -> GroupComparison:
    """Measure the rows of each group, and subtract what the largest has."""
    kinds, counts = np.unique(names, return_counts=True)
    order = np.argsort(-counts, kind="stable")
    kept = [str(kinds[k]) for k in order if counts[k] >= _MIN_ROWS]
    if len(kept) < 2:
        raise InputError(
            f"{column}: expected at least two groups of {_MIN_ROWS} rows, got {len(kept)} among "
            f"{len(kinds)}"
        )
    if len(kept) > _MAX_GROUPS:
        raise InputError(f"{column}: expected at most {_MAX_GROUPS} groups, got {len(kept)}")
    parts = {name: measure(names == name) for name in kept}
    first = parts[kept[0]]
    found = tuple(
        GroupQuality(
            name,
            int((names == name).sum()),
            parts[name],
            {} if name == kept[0] else _subtract(parts[name], first),
        )
        for name in kept
    )
    small = tuple(str(kinds[k]) for k in order if counts[k] < _MIN_ROWS)
    return GroupComparison(column, found, small)


def compare_survival_groups(
    groups: ArrayLike,
    times: Times,
    risk: Floats,
    curves: Sequence[Callable[[Floats], Floats]],
    column: str,
) -> GroupComparison:
    """Compare groups of rows by concordance, and by how often the event happened.

    The *calibration* is the probability of the event until the median time of the events, by
    Kaplan and Meier's estimate, less the mean predicted one.
    """
    names = _name_groups(groups)
    middle = float(np.median(times.time[times.event])) if times.event.any() else 0.0
    soft = 1.0 - np.array([float(curve(np.array([middle]))[0]) for curve in curves])

    def measure(own: NDArray[np.bool_]) -> dict[str, Estimate]:
        event, time = times.event[own], times.time[own]
        happened = estimate_happened(event, time, middle)
        gap = float(soft[own].mean())
        found = {"event by then": happened}
        found["calibration"] = Estimate(
            *(x - gap for x in (happened.value, happened.low, happened.high))
        )
        if event.any() and (time > time[event].min()).any():
            found = {"concordance": estimate_concordance(event, time, risk[own]), **found}
        return found

    return _compare(names, column, measure)


def is_fraction(measure: str) -> bool:
    """Return whether a measure of groups is a fraction of rows, which is shown in per cent."""
    return not measure.startswith("mean") and measure != "concordance"


def compare_model_groups(
    model: Model,
    rows: Floats,
    truth: NDArray[Any],
    groups: ArrayLike,
    column: str,
    offset: ArrayLike | None = None,
) -> GroupComparison:
    """Compare groups of encoded rows; ``truth`` as :func:`.measurement.read_truth` returns it."""
    output = model.output
    if isinstance(output, Survival):
        hazards = accumulate(find_hazards(model, rows))
        times, curves = Times(truth[:, 0] > 0.0, truth[:, 1]), make_curves(output, hazards)
        return compare_survival_groups(groups, times, find_risk(hazards), list(curves), column)
    scores = model.score_rows(rows)
    if isinstance(output, Targets):
        if output.n_scores > 1:
            raise InputError(
                f"groups: expected a model of one target or label, got {output.n_scores}; of "
                "several labels take one"
            )
        shifted = scores if offset is None else add_offset(scores, offset)
        predicted = output.transform(shifted)[:, 0]
        return compare_groups(
            groups, truth.reshape(-1), predicted, classification=False, column=column
        )
    probability = output.predict_proba(scores)[:, 1] if len(output.labels) == 2 else None
    return compare_groups(groups, truth, output.choose(scores), probability, column=column)


def _name_groups(groups: ArrayLike) -> NDArray[Any]:
    """Return the groups as text.

    >>> _name_groups([1.0, None, float("nan"), 2.5, "a"]).tolist()
    ['1', 'missing', 'missing', '2.5', 'a']
    """
    return np.array([_name(value) for value in np.asarray(groups, object).ravel().tolist()], str)


def _name(value: Any) -> str:
    if value is None or value != value:
        return MISSING
    whole = isinstance(value, float) and value.is_integer()
    return str(int(value)) if whole else str(value)


def _measure_classes(
    truth: NDArray[Any], predicted: NDArray[Any], probability: NDArray[np.float64] | None
) -> dict[str, Estimate]:
    n = len(truth)
    right = estimate_proportion(int((truth == predicted).sum()), n)
    if not np.isin(truth, (0, 1)).all() or not np.isin(predicted, (0, 1)).all():
        return {"accuracy": right}
    is_one, chosen = truth.astype(bool), predicted.astype(bool)
    found = {"selection rate": estimate_proportion(int(chosen.sum()), n)}
    if is_one.any():
        found["sensitivity"] = estimate_proportion(int((is_one & chosen).sum()), int(is_one.sum()))
    if not is_one.all():
        spared = int((~is_one & ~chosen).sum())
        found["specificity"] = estimate_proportion(spared, int((~is_one).sum()))
    found["accuracy"] = right
    if probability is not None:
        found["calibration"] = estimate_mean(is_one - probability, low=-1.0, high=1.0)
    return found


def _measure_values(truth: NDArray[Any], predicted: NDArray[Any]) -> dict[str, Estimate]:
    error = predicted.astype(np.float64) - truth.astype(np.float64)
    return {
        "mean error": estimate_mean(error),
        "mean absolute error": estimate_mean(np.abs(error), low=0.0),
    }


def _subtract(
    group: Mapping[str, Estimate], reference: Mapping[str, Estimate]
) -> dict[str, Estimate]:
    return {
        name: estimate_difference(one, reference[name])
        for name, one in group.items()
        if name in reference
    }
