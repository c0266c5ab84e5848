"""``newron evaluate``: how good a model is on a table of one's own."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

from newron.command.options import (
    DataFile,
    Exposure,
    Missing,
    ModelFile,
    NoHeader,
    Offset,
    flag,
    option,
)
from newron.command.terminal import Console, bold

if TYPE_CHECKING:
    from newron.command.truth import TrueRows
    from newron.evaluation import GroupComparison, ThresholdQuality
    from newron.model import Measurement, Model

EXAMPLES = (
    ("newron evaluate model.json new.csv --target disease", ""),
    ("newron evaluate model.json new.csv -t disease --attach", "keep it in the model's file"),
    ("newron evaluate model.json new.csv -t disease --sensitivity 0.9", "where to draw the line"),
    ("newron evaluate model.json new.csv -t disease --cost 10:1", "where that costs least"),
    ("newron evaluate model.json new.csv -t disease --groups sex", "how groups differ"),
    ("newron evaluate model.json new.csv -t claims --exposure years", "rates"),
    (
        "newron evaluate model.json new.csv",
        "survival, or several labels: the model has their names",
    ),
)


def run(
    console: Console,
    model: ModelFile,
    data: DataFile,
    target: Annotated[
        str | None,
        option(
            "--target -t",
            "COLUMN",
            "The column to predict; of survival the event, of several labels one of them, by "
            "default as they are called in the model.",
        ),
    ] = None,
    attach: Annotated[
        bool,
        flag("--attach", "Write it into the model's file: it then heads report and inspect."),
    ] = False,
    threshold: Annotated[
        float | None,
        option("--threshold", "P", "Where the line between two classes is.", min=0.0, max=1.0),
    ] = None,
    sensitivity: Annotated[
        float | None,
        option(
            "--sensitivity", "S", "Draw the line so that this fraction is found.", min=0.0, max=1.0
        ),
    ] = None,
    cost: Annotated[
        str | None,
        option(
            "--cost", "MISSED:ALARM", "Draw the line where missed rows and false alarms cost least."
        ),
    ] = None,
    groups: Annotated[
        str | None,
        option("--groups", "COLUMN", "Compare the groups of a column: is the model fair?"),
    ] = None,
    offset: Offset = None,
    exposure: Exposure = None,
    missing: Missing = None,
    no_header: NoHeader = False,
) -> None:
    """Measure a model on rows that it was not trained on, beside a constant prediction.

    The table of its training is refused, where the model's file knows it.
    """
    from newron.command.columns import find_offset
    from newron.command.printing import print_measurement
    from newron.command.truth import read_true_rows
    from newron.errors import InputError
    from newron.evaluation import measure_model
    from newron.model import load

    words, header, network = missing or (), not no_header, load(model)
    added = find_offset(offset, exposure)
    rows = read_true_rows(console, data, network, words, target, added, header=header)
    if attach and rows.model is not network:
        raise InputError("--attach: expected all labels to be measured; leave --target out")
    try:
        found = measure_model(rows.model, rows.X, rows.y, source=data.name, offset=rows.offset)
    except InputError as error:
        raise InputError(f"{data}: {error}") from None
    compared = None if groups is None else _compare_groups(data, rows, groups, words, header)
    line = _draw_line(rows.model, rows, threshold, sensitivity, cost)
    if console.as_json:
        console.print_json(_to_dict(found, line, compared))
    elif not console.quiet:
        print_measurement(console, found)
        _print_further(console, found)
        _print_labels(console, rows)
        if line is not None:
            _print_line(console, rows.model, line, chosen=threshold is None)
        _print_groups(console, compared)
    if attach:
        network.attach(found).save(model)
        console.note(f"attached to {model}")


def _compare_groups(
    data: Path, rows: TrueRows, column: str, missing: Sequence[str], header: bool
) -> GroupComparison:
    from newron.command.groups import read_groups
    from newron.evaluation.groups import compare_model_groups
    from newron.evaluation.measurement import read_rows

    names = read_groups(data, column, missing, rows.known, header=header)
    X, truth = read_rows(rows.model, rows.X, rows.y)
    return compare_model_groups(rows.model, X, truth, names, column, rows.offset)


def _print_groups(console: Console, found: GroupComparison | None) -> None:
    from newron.command.groups import print_groups

    if found is not None:
        print_groups(console, found)


def _print_labels(console: Console, rows: TrueRows) -> None:
    """Print how often each of several labels is right."""
    from newron.evaluation import measure_labels
    from newron.model import Labels
    from newron.model.measurement import describe_score

    output = rows.model.output
    if not isinstance(output, Labels):
        return
    probability = rows.model.predict_proba(rows.X)
    found = measure_labels(rows.y.values, probability, output.names).labels
    console.print()
    console.print(bold("  Accuracy of each label"))
    width = max(map(len, found))
    for name, quality in found.items():
        text = describe_score("accuracy", quality.accuracy)
        usual = describe_score("accuracy", quality.majority_accuracy).partition(",")[0]
        console.print(f"    {name:{width}}  {text}; always the same {usual}")


def _print_further(console: Console, found: Measurement) -> None:
    from newron.model.measurement import MODEL, describe_score

    further = [name for name in found.scores[MODEL] if name != found.headline]
    if further:
        console.print()
        console.print(bold("  Further measures"))
    width = max(map(len, further), default=0)
    for name in further:
        text = describe_score(name, found.scores[MODEL][name])
        console.print(f"    {name:{width}}  {text}")


def _draw_line(
    model: Model,
    rows: TrueRows,
    threshold: float | None,
    sensitivity: float | None,
    cost: str | None,
) -> ThresholdQuality | None:
    """Measure a threshold, or choose one first; None where none is requested."""
    from newron.command.rows import check_two_classes
    from newron.errors import InputError
    from newron.evaluation import choose_threshold, measure_threshold

    requested = {"--threshold": threshold, "--sensitivity": sensitivity, "--cost": cost}
    names = [name for name, value in requested.items() if value is not None]
    if not names:
        return None
    if len(names) > 1:
        raise InputError(f"expected one of --threshold, --sensitivity and --cost, got {len(names)}")
    check_two_classes(model, names[0])
    probability = model.predict_proba(rows.X)[:, 1]
    if threshold is None:
        costs = None if cost is None else _parse_costs(cost)
        threshold = choose_threshold(
            rows.y.values, probability, sensitivity=sensitivity, costs=costs
        )
    return measure_threshold(rows.y.values, probability, threshold)


def _parse_costs(text: str) -> tuple[float, float]:
    """Parse what a missed row and a false alarm cost.

    >>> _parse_costs("10:1")
    (10.0, 1.0)
    """
    from newron.errors import InputError

    try:
        missed, alarm = map(float, text.split(":"))
    except ValueError:
        raise InputError(f"--cost: expected two numbers such as 10:1, got {text!r}") from None
    return missed, alarm


def _print_line(console: Console, model: Model, line: ThresholdQuality, *, chosen: bool) -> None:
    from newron.formatting import format_number, format_percent
    from newron.model import Classes

    assert isinstance(model.output, Classes)  # noqa: S101 - of two classes
    first, second = map(str, model.output.labels)
    console.print()
    head = f"  “{second}” from a probability of {format_number(line.threshold)} on"
    console.print(bold(head + (", chosen on these very rows" if chosen else "")))
    rows = (
        (f"sensitivity: of “{second}”, found", line.sensitivity, line.found + line.missed),
        (f"specificity: of “{first}”, left alone", line.specificity, line.spared + line.alarms),
        (f"of those called “{second}”, right", line.positive_value, line.found + line.alarms),
        (f"of those called “{first}”, right", line.negative_value, line.spared + line.missed),
    )
    width = max(len(name) for name, _, _ in rows)
    for name, estimate, n in rows:
        text = "no rows"
        if estimate is not None:
            value, low, high = map(format_percent, (estimate.value, estimate.low, estimate.high))
            text = f"{value} of {n}, 95 % interval {low} to {high}"
        console.print(f"    {name:{width}}  {text}")
    console.note(f"predict so: newron predict MODEL DATA --threshold {line.threshold:g}")


def _to_dict(
    found: Measurement, line: ThresholdQuality | None, groups: GroupComparison | None
) -> dict[str, Any]:
    content = {**found.to_dict(), "better": list(found.better)}
    if groups is not None:
        content["groups"] = groups.to_dict()
    return content if line is None else {**content, "threshold": line.to_dict()}
