"""``newron compare``: two models on the same rows, or the rows of two tables."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from newron.command.options import Missing, NoHeader, option
from newron.command.terminal import Console, bold

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from newron.evaluation import Comparison, Estimate
    from newron.evaluation.disagreement import Disagreement
    from newron.model import Model
    from newron.tables import Target

EXAMPLES = (
    ("newron compare old.json new.json table.csv --target disease", ""),
    ("newron compare old.json new.json table.csv", "where they differ, without the truth"),
    ("newron compare old.csv new.csv --model model.json", "have the rows changed since?"),
)
_CLOSE = 1e-9  # of the range of predictions: nearer ones are the same


def run(
    console: Console,
    first: Annotated[
        Path, typer.Argument(metavar="FIRST", help="A model's JSON file, or a table.")
    ],
    second: Annotated[
        Path, typer.Argument(metavar="OTHER", help="The other model's file, or the other table.")
    ],
    data: Annotated[
        Path | None, typer.Argument(metavar="[DATA]", help="Of two models: a table to compare on.")
    ] = None,
    target: Annotated[
        str | None, option("--target -t", "COLUMN", "The truth; without it none can be better.")
    ] = None,
    model: Annotated[
        Path | None,
        option("--model", "FILE", "Of two tables: a model whose columns and scores are compared."),
    ] = None,
    missing: Missing = None,
    no_header: NoHeader = False,
) -> None:
    """Compare two models on the same rows, or the rows of two tables.

    Of two models: which is better, and where they differ. Take rows that neither was trained on:
    a model looks better on its own. Of two tables, old and new: the population stability index
    (PSI) of each column, and with --model of its score; what chance may explain is called stable.
    """
    if data is None:
        from newron.command.drift import compare_tables

        compare_tables(console, first, second, model, missing or (), header=not no_header)
        return
    from newron.command.rows import read_rows
    from newron.errors import InputError
    from newron.evaluation.disagreement import find_disagreement
    from newron.model import load

    models = load(first), load(second)
    _check_outputs(*models)
    read = [
        read_rows(console, data, one, missing or (), target, header=not no_header) for one in models
    ]
    (X, y), (other, _) = read
    if len(X) != len(other):
        raise InputError(f"{data}: expected classes that both models know, got others")
    predicted = models[0].predict(X), models[1].predict(other)
    found = find_disagreement(X, _find_differences(*predicted))
    comparison = None if y is None else _compare(y, *predicted)
    if console.as_json:
        result = None if comparison is None else comparison.to_dict()
        console.print_json({**found.to_dict(), "comparison": result})
    elif not console.quiet:
        _print(console, (first, second), found, comparison, classes=_has_classes(models[0]))


def _has_classes(model: Model) -> bool:
    from newron.model import Classes

    return isinstance(model.output, Classes)


def _check_outputs(first: Model, second: Model) -> None:
    from newron.errors import InputError
    from newron.model import Classes
    from newron.model.survival import refuse_survival

    for one in (first, second):
        refuse_survival(one, "compare")
    kinds = [
        sorted(map(str, one.output.labels)) if isinstance(one.output, Classes) else "regression"
        for one in (first, second)
    ]
    if kinds[0] != kinds[1] or first.output.n_scores != second.output.n_scores:
        raise InputError(
            f"expected two models of the same classes, or of one number, got {kinds[0]} and "
            f"{kinds[1]}"
        )
    if kinds[0] == "regression" and first.output.n_scores > 1:
        raise InputError("expected models of one target, got several")


def _find_differences(first: NDArray[Any], second: NDArray[Any]) -> NDArray[np.bool_]:
    import numpy as np

    if first.dtype.kind != "f" or second.dtype.kind != "f":
        return np.asarray(first.astype(str) != second.astype(str))
    spread = float(np.ptp(first) + np.ptp(second)) or 1.0
    return np.asarray(np.abs(first - second) > _CLOSE * spread)


def _compare(y: Target, first: NDArray[Any], second: NDArray[Any]) -> Comparison:
    import numpy as np

    from newron.evaluation import compare_classifiers, compare_errors

    if y.labels is None:
        return compare_errors(y.values, first, second)
    return compare_classifiers(np.asarray(y), first, second)


def _print(
    console: Console,
    paths: tuple[Path, Path],
    found: Disagreement,
    comparison: Comparison | None,
    *,
    classes: bool,
) -> None:
    from newron.formatting import format_count

    if comparison is not None:
        for line in console.wrap(_describe(paths, comparison, classes=classes)):
            console.print(bold(f"  {line}"))
    rows = format_count(found.n_rows, "row")
    if not found.n_differ:
        console.print(f"  They predict the same for all {rows}.")
        return
    console.print(f"  They differ in {found.n_differ} of {rows}.")
    if found.region:
        outside = found.n_rows - found.n_region
        console.print(
            f"  Most where {found.region}: in {found.n_differ_region} of "
            f"{format_count(found.n_region, 'row')}, elsewhere in "
            f"{found.n_differ - found.n_differ_region} of {outside}."
        )


def _describe(paths: tuple[Path, Path], found: Comparison, *, classes: bool) -> str:
    """Describe which model is better, by how much, and whether chance explains it."""
    from newron.formatting import format_fixed, format_rounded

    write = (lambda x: format_fixed(100.0 * x)) if classes else format_rounded
    gain = _orient(found.difference, flip=not classes)  # in favour of the first
    ahead, behind = paths if gain[1] >= 0.0 else paths[::-1]
    if gain[1] == 0.0:
        return f"{ahead} and {behind} are equally good."
    low, value, high = gain if gain[1] > 0.0 else [-limit for limit in gain[::-1]]
    what = "percentage points of accuracy" if classes else "in mean absolute error"
    chance = "" if found.sign else ", which chance may explain"
    return (
        f"{ahead} is better than {behind} by {write(value)} {what}, 95 % interval {write(low)} to "
        f"{write(high)}{chance}."
    )


def _orient(difference: Estimate, *, flip: bool) -> list[float]:
    limits = [difference.low, difference.value, difference.high]
    return [-limit for limit in limits[::-1]] if flip else limits
