"""``newron search``: the paper's search for hidden layers."""

from __future__ import annotations

import math
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

from newron.command.options import (
    Categories,
    DataFile,
    Drop,
    Force,
    Jobs,
    Missing,
    NoHeader,
    Positive,
    Seed,
    TargetColumn,
    Task,
    flag,
    list_column_options,
    option,
)
from newron.command.terminal import Console, bold
from newron.formatting import format_count, format_seconds

if TYPE_CHECKING:
    from newron.search import NewronSearchCV

EXAMPLES = (
    ("newron search monks.csv --target class", ""),
    ("newron search monks.csv -t class --journal monks.jsonl", "can be killed, and resumes"),
    ("newron search monks.csv -t class --processing heaviside --processing relu", "of two"),
    ("newron search monks.csv -t class --max-time 600", "ten minutes at most"),
)


def run(
    console: Console,
    data: DataFile,
    target: TargetColumn,
    output: Annotated[
        Path | None,
        option(
            "-o --output", "FILE.json", "Where to write the model; by default named after DATA."
        ),
    ] = None,
    journal: Annotated[
        Path | None,
        option(
            "--journal", "FILE", "Keep what was found; a search that ended early resumes from it."
        ),
    ] = None,
    processing: Annotated[
        list[str] | None, option("--processing", "NAME", "A function to try; may be repeated.")
    ] = None,
    folds: Annotated[int, option("--folds", "K", "To evaluate a structure by.", min=2)] = 5,
    patience: Annotated[
        int, option("--patience", "N", "Steps without a gain before it ends.", min=1)
    ] = 5,
    max_structures: Annotated[
        int, option("--max-structures", "N", "Structures at most.", min=1)
    ] = 40,
    max_time: Annotated[
        float | None, option("--max-time", "S", "Seconds after which nothing is begun.", min=0.0)
    ] = None,
    best: Annotated[
        bool, flag("--best", "Take the highest score, not the smallest network within its error.")
    ] = False,
    drop: Drop = None,
    category: Categories = None,
    missing: Missing = None,
    no_header: NoHeader = False,
    task: Task = None,
    positive: Positive = None,
    seed: Seed = 0,
    jobs: Jobs = -1,
    force: Force = False,
) -> None:
    """Search for the hidden layers of a network, from none upwards.

    Every structure is evaluated by cross-validation; of those that are alike the smallest is
    trained on all rows and written. Ctrl-C writes no model; what was found stays in the
    journal.
    """
    from newron.command.files import check_free
    from newron.command.fit_options import FitOptions
    from newron.command.fit_output import print_table
    from newron.command.fit_pipeline import read_table
    from newron.command.outputs import name_folder
    from newron.search import NewronSearchCV
    from newron.search.choices import list_choices

    names = processing or ["heaviside"]
    for name in names:
        FitOptions(processing=name).check()
    list_choices({"processing": names}, None)  # raises before the table is read
    path = Path(f"{name_folder(data)}.json") if output is None else output
    check_free([path], force=force)
    columns = list_column_options(drop, category, missing, task, positive, no_header=no_header)
    table = read_table(console, data, target, **columns)
    print_table(console, data, table)
    search = NewronSearchCV(
        FitOptions(processing=names[0], seed=seed, jobs=jobs).make_estimator(table.y),
        processing=names if len(names) > 1 else None,
        cv=folds,
        patience=patience,
        max_structures=max_structures,
        max_time=max_time,
        tie_rule="best" if best else "one_se",
        n_jobs=jobs,
        random_state=seed,
        verbose=int(console.verbose),
        journal=journal,
    ).fit(table.X, table.y)
    check_free([path], force=force)
    search.best_estimator_.model_.save(path)
    if console.as_json:
        console.print_json(_to_dict(search, path))
    elif not console.quiet:
        _print_result(console, search, path)


def _print_result(console: Console, search: NewronSearchCV, path: Path) -> None:
    console.print()
    console.print_lines(str(search.tree_), "    ")
    console.print()
    n_structures = format_count(len(search.tree_.nodes), "structure")
    deviation = float(search.cv_results_["std_test_score"][search.best_index_])
    error = deviation / math.sqrt(search.n_splits_)
    ending = " The time was over." if search.ending_ == "time" else ""
    console.print(
        bold(f"  {_describe_structure(search)}: {search.best_score_:.4f} ± {error:.4f}"),
        f" in {search.n_splits_} folds, of {n_structures}.{ending}",
    )
    console.print("  The best of many looks better than it is: measure it on rows of its own.")
    seconds = format_seconds(search.refit_time_)
    console.print(f"  Trained on all rows in {seconds}, written to {path}")


def _describe_structure(search: NewronSearchCV) -> str:
    chosen = dict(search.best_params_)
    widths = chosen.pop("hidden_layer_sizes")
    chosen.pop("recipe", None)
    layers = f"Hidden layers {', '.join(map(str, widths))}" if widths else "No hidden layer"
    more = ", ".join(f"{name} {value}" for name, value in chosen.items())
    return f"{layers}, {more}" if more else layers


def _to_dict(search: NewronSearchCV, path: Path) -> dict[str, Any]:
    results = search.cv_results_
    keys = ("mean_test_score", "std_test_score", "n_functions")
    return {
        "best": dict(search.best_params_),
        "score": search.best_score_,
        "ending": search.ending_,
        "folds": search.n_splits_,
        "structures": [
            {"params": params, **{key: _to_number(results[key][i]) for key in keys}}
            for i, params in enumerate(results["params"])
        ],
        "files": [str(path)],
    }


def _to_number(value: Any) -> float | None:
    """Return a number as JSON can hold it."""
    return None if value != value else float(value)
