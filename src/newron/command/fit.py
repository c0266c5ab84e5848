"""``newron fit``: from a table to a network that can be read."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

from newron.command.options import (
    Categories,
    DataFile,
    Drop,
    Exposure,
    Force,
    Jobs,
    Missing,
    NoHeader,
    Offset,
    Positive,
    Seed,
    Task,
    Units,
    flag,
    list_column_options,
    option,
)
from newron.command.terminal import Console
from newron.errors import InputError

if TYPE_CHECKING:
    from newron.command.fit_options import FitOptions
    from newron.command.fit_survival import SurvivalTask
    from newron.command.outputs import Outputs
    from newron.evaluation.splits import SplitPlan
    from newron.tables import LabelledTable

EXAMPLES = (
    ("newron fit heart.csv --target disease", ""),
    ("newron fit heart.csv -t disease -o model.json", "the model alone"),
    ("newron fit heart.csv -t disease --size 8", "a network of at most eight lines"),
    ("newron fit heart.csv -t disease --hidden 4,2", "allow two hidden layers"),
    ("newron fit heart.csv -t disease --processing smooth", "curves instead of conditions"),
    ("newron fit heart.csv -t disease --drop id --category ward", "what columns are"),
    ("newron fit heart.csv -t disease --unit age=years", "what numbers are in"),
    ("newron fit heart.csv -t disease --test 0.3", "measure on 30 % of the rows"),
    ("newron fit claims.csv -t claims --objective poisson --exposure years", "counts"),
    ("newron fit films.csv --labels funny,sad,loud", "several labels for each row"),
    ("newron fit trial.csv --event died --time months", "survival: when, not whether"),
)


def run(
    console: Console,
    data: DataFile,
    target: Annotated[str | None, option("--target -t", "COLUMN", "The column to predict.")] = None,
    event: Annotated[
        str | None,
        option("--event", "COLUMN", "Of survival: whether the event happened; needs --time."),
    ] = None,
    time: Annotated[
        str | None,
        option("--time", "COLUMN", "Of survival: when it happened, or the last look."),
    ] = None,
    labels: Annotated[
        str | None,
        option("--labels", "A,B,...", "Several columns to predict, each 0 or 1, no or yes."),
    ] = None,
    output: Annotated[
        Path | None,
        option(
            "-o --output",
            "FOLDER|FILE.json",
            "Where to write; a name that ends in .json takes the model alone. By default a folder "
            "named after DATA.",
        ),
    ] = None,
    processing: Annotated[
        str,
        option(
            "--processing",
            "NAME",
            "The function of an input: heaviside (rules), sigmoid, tanh_prod, smooth (the better "
            "one of these two), linear, relu, selu.",
        ),
    ] = "heaviside",
    hidden: Annotated[
        str | None,
        option(
            "--hidden",
            "4,2|auto|0",
            "Neurons of hidden layers that are allowed; auto searches, 0 allows none. By default "
            "4.",
        ),
    ] = None,
    recipe: Annotated[
        str,
        option(
            "--recipe",
            "NAME",
            "default (cross-validated choice), gradient (this very network), grow, paper.",
        ),
    ] = "default",
    size: Annotated[
        str,
        option(
            "--size",
            "auto|best|whole|N",
            "Lines of the network: auto takes the fewest conditions that are within one standard "
            "error of the best on validation rows, or all curves, and more than 15 only where they "
            "are worth it; best the most accurate, N at most so many; whole is all that is "
            "trained.",
        ),
    ] = "auto",
    terms: Annotated[
        int,
        option(
            "--terms",
            "N",
            "Terms of a grown network at most.",
            min=1,
        ),
    ] = 60,
    points: Annotated[
        int,
        option(
            "--points",
            "N",
            "Whole points of a score card at most; 0 keeps its weights as they are.",
            min=0,
        ),
    ] = 5,
    objective: Annotated[
        str | None,
        option(
            "--objective",
            "NAME",
            "What is trained on: ordinal for ordered classes; squared, absolute, huber, "
            "quantile:0.9, poisson, gamma, tweedie:1.5 for numbers. By default the log loss or "
            "the squared error, and ordinal where the file says that classes are ordered.",
        ),
    ] = None,
    order: Annotated[
        str | None,
        option(
            "--order",
            "LOW,...,HIGH",
            "The classes from the lowest to the highest; trains ordered classes.",
        ),
    ] = None,
    offset: Offset = None,
    exposure: Exposure = None,
    prune: Annotated[
        bool, flag("--prune", "Remove what validation rows can spare; takes six times as long.")
    ] = False,
    class_weight: Annotated[
        str | None,
        option("--class-weight", "balanced", "Weigh all classes alike, however rare they are."),
    ] = None,
    test: Annotated[
        float | None,
        option(
            "--test",
            "FRACTION",
            "Measure on a fraction of the rows, train on the others; 0 measures nothing. By "
            "default 0.2 above 2000 rows, and 5 folds below.",
        ),
    ] = None,
    folds: Annotated[
        int | None, option("--folds", "K", "Measure in so many folds instead.", min=0)
    ] = None,
    report: Annotated[
        Path | None,
        option("--report", "FILE.html", "Where to write the report; by default into the folder."),
    ] = None,
    drop: Drop = None,
    category: Categories = None,
    missing: Missing = None,
    no_header: NoHeader = False,
    unit: Units = None,
    task: Task = None,
    positive: Positive = None,
    seed: Seed = 0,
    jobs: Jobs = -1,
    force: Force = False,
) -> None:
    """Train a network on a table, measure it, and print it as rules.

    What the columns are and whether the target is classes or numbers is inferred, and printed.
    The accuracy on new rows is measured on rows that the network was not trained on, beside
    logistic regression and a constant prediction.
    """
    from newron.command.columns import find_offset
    from newron.command.fit_labels import parse_labels
    from newron.command.fit_options import FitOptions, parse_hidden, parse_size, plan_splits
    from newron.command.fit_pipeline import prepare_table
    from newron.command.fit_survival import find_survival
    from newron.command.outputs import Outputs, name_folder

    survival = find_survival(objective, target, event, time)
    if survival is not None:
        objective = None
    options = FitOptions(
        processing=processing,
        hidden=parse_hidden(hidden),
        recipe=recipe,
        size=parse_size(size),
        terms=terms,
        points=points,
        prune=prune,
        class_weight=class_weight,
        offset=find_offset(offset, exposure),
        objective=objective if order is None or objective is not None else "ordinal",
        seed=seed,
        jobs=jobs,
    )
    options.check(has_target=survival is None and labels is None)
    several = parse_labels(labels, (target, event, order), options)
    chosen = _choose_target(several[0] if several else target, event)
    outputs = Outputs(name_folder(data) if output is None else output, report=report, force=force)
    outputs.check()
    task = options.find_task(task)
    columns = list_column_options(drop, category, missing, task, positive, no_header=no_header)
    columns["order"] = None if order is None else [word.strip() for word in order.split(",")]
    stream = options.may_stream and survival is None and not several
    table = prepare_table(console, data, chosen, options, unit, may_stream=stream, **columns)
    plan = plan_splits(table.y, folds, test)
    _fit(console, data, table, survival or several, options, plan, outputs)


def _fit(
    console: Console,
    data: Path,
    table: LabelledTable,
    task: SurvivalTask | list[str],
    options: FitOptions,
    plan: SplitPlan,
    outputs: Outputs,
) -> None:
    """Train for a task: survival, several labels, or one target, where the list is empty."""
    from newron.command.fit_labels import fit_labels
    from newron.command.fit_output import print_result, print_table
    from newron.command.fit_pipeline import fit_table
    from newron.command.fit_survival import fit_survival

    if isinstance(task, list) and task and outputs.report is not None:
        raise InputError(
            f"--report: expected one answer for each row, got {len(task)} labels; write one of "
            f"each: newron report MODEL DATA --target {task[0]}"
        )
    if not isinstance(task, list):
        fit_survival(console, data, table, task, options, plan, outputs)
    elif task:
        fit_labels(console, data, table, task, options, plan, outputs)
    else:
        print_table(console, data, table)
        result, written = fit_table(console, data, table, options, plan, outputs)
        print_result(console, result, outputs, written)


def _choose_target(target: str | None, event: str | None) -> str:
    """Return the column to predict: the target, or whether the event happened."""
    if target is None and event is None:
        raise InputError(
            "expected --target, the column to predict, or --labels, or --event and --time"
        )
    return target or event or ""
