"""What ``newron fit`` says where a plain baseline is better, and what to try then."""

from __future__ import annotations

from newron.command.fit_result import NETWORK, FitResult
from newron.evaluation import (
    ClassificationQuality,
    Comparison,
    compare_classifiers,
    compare_errors,
)
from newron.formatting import (
    format_class,
    format_count,
    format_fixed,
    format_integer,
    format_rounded,
)
from newron.model.processing import get_processing

CONSTANT = "constant"  # the baseline
_CHANCE = 0.05  # the p-value from which on chance may explain a difference
_MISSED = 0.15  # of a class: from here on it is worth a note


def list_fit_notes(result: FitResult) -> list[str]:
    """Return what a fit found worth a note, for the terminal and the report."""
    notes = (describe_better(result), _describe_chance(result), _describe_missed(result))
    return [note for note in notes if note]


def describe_better(result: FitResult) -> str:
    """Describe the best baseline where it is ahead of the network; otherwise return nothing."""
    if result.measurement is None or not result.measurement.better:
        return ""
    name = result.measurement.better[0]
    found = _compare(result, name)
    gain, low, high = (_format(result, x) for x in _list_limits(found))
    chance = ", which chance may explain" if low[0] == "−" or found.p_value >= _CHANCE else ""
    what = "percentage points" if result.table.y.labels is not None else "in mean absolute error"
    ahead = f"{name} is better by {gain} {what} on the same rows (95 % interval {low} to {high})"
    return f"{ahead}{chance}. {_advise(result, name)}"


def _describe_chance(result: FitResult) -> str:
    """Describe that the network is hardly better than an answer without inputs, where it is not."""
    measured = result.measurement
    if measured is None or measured.better or CONSTANT not in measured.scores:
        return ""
    found = _compare(result, CONSTANT)
    if found.difference.high < 0.0 and found.p_value < _CHANCE:
        return ""
    return (
        f"the network may be no better than the same answer for every row: chance may explain "
        f"the difference. {_advise(result, CONSTANT)}"
    )


def _compare(result: FitResult, name: str) -> Comparison:
    """Compare a baseline with the network; positive is in the baseline's favour."""
    predictions = result.predictions
    assert predictions is not None  # noqa: S101 - it was measured
    both = predictions.predicted[name], predictions.predicted[NETWORK]
    if predictions.labels is not None:
        return compare_classifiers(predictions.truth, *both)
    return compare_errors(predictions.truth, *both[::-1])


def _list_limits(found: Comparison) -> tuple[float, float, float]:
    return found.difference.value, found.difference.low, found.difference.high


def _format(result: FitResult, value: float) -> str:
    return format_rounded(value) if result.table.y.labels is None else format_fixed(100.0 * value)


def _advise(result: FitResult, name: str) -> str:
    options = result.options
    if name == CONSTANT:
        return f"These inputs may not predict {result.table.y.name}: try more rows or other columns"
    if options.processing != "smooth" and get_processing(options.processing).crisp:
        more = ", or a longer network, --size best" if _has_longer(result) else ""
        return f"Try curves instead of conditions, --processing smooth{more}"
    if options.processing != "linear":
        return "Try --processing linear, a regression that can be read, or take the baseline"
    return "Try --processing smooth, or take the baseline"


def _has_longer(result: FitResult) -> bool:
    """Whether the network may be short for being read, and not because nothing longer is better."""
    path = result.path
    return result.options.size != "best" and (path is None or path.chosen < path.sizes[-1])


def _describe_missed(result: FitResult) -> str:
    """Describe how many rows of the rarer of two classes are missed, if these are many."""
    evaluation = result.evaluation
    if evaluation is None or evaluation.labels is None or len(evaluation.labels) != 2:
        return ""
    quality = evaluation.qualities[NETWORK]
    assert isinstance(quality, ClassificationQuality)  # noqa: S101 - there are labels
    sizes = [sum(row) for row in quality.confusion]
    rare = sizes.index(min(sizes))
    missed = sizes[rare] - quality.confusion[rare][rare]
    if missed < _MISSED * max(sizes[rare], 1) or result.options.class_weight is not None:
        return ""
    rows, name = format_count(sizes[rare], "row"), format_class(evaluation.labels[rare])
    return (
        f"{format_integer(missed)} of {rows} of {name} are missed. To find more of them, at the "
        "price of more false alarms: --class-weight balanced"
    )
