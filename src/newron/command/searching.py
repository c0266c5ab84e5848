"""The search from a file to a file."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from newron.command.files import check_free
from newron.command.fitting import name_folder, read_table
from newron.command.learning import Settings, check_settings, make_estimator, name_model
from newron.command.tables import Wanted, open_table
from newron.command.telling import begin
from newron.command.terminal import Page, bold, count, tell_seconds
from newron.search import NewronSearchCV
from newron.search.choices import list_choices

__all__ = ["Hunt", "search_table"]

_ENDINGS = {"finished": "", "time": " The time was over.", "interrupt": ""}


@dataclass(frozen=True)
class Hunt:
    """How to search."""

    journal: Path | None
    processing: tuple[str, ...]
    folds: int
    patience: int
    max_structures: int
    max_time: float | None
    tie_rule: str
    seed: int
    jobs: int


def search_table(
    page: Page, data: Path, wanted: Wanted, hunt: Hunt, output: Path | None, *, force: bool
) -> None:
    """Read, search, train the best structure on all rows, write it."""
    for name in hunt.processing:
        check_settings(Settings(processing=name))
    list_choices({"processing": hunt.processing}, None)  # refused before the table is read
    path = Path(f"{name_folder(data)}.json") if output is None else output
    check_free([path], force=force)
    source = open_table(data)
    table = read_table(page, source, wanted)
    begin(page, source, table)
    settings = Settings(processing=hunt.processing[0], seed=hunt.seed, jobs=hunt.jobs)
    search = NewronSearchCV(
        make_estimator(table, settings),
        processing=list(hunt.processing) if len(hunt.processing) > 1 else None,
        cv=hunt.folds,
        patience=hunt.patience,
        max_structures=hunt.max_structures,
        max_time=hunt.max_time,
        tie_rule=hunt.tie_rule,
        n_jobs=hunt.jobs,
        random_state=hunt.seed,
        verbose=int(page.talks),
        journal=hunt.journal,
    ).fit(table.rows, table.target.values)
    model = name_model(search.best_estimator_, table)
    check_free([path], force=force)
    model.save(path)
    if page.as_json:
        page.data(_to_dict(search, path))
    elif not page.quiet:
        _tell(page, search, path)


def _tell(page: Page, search: NewronSearchCV, path: Path) -> None:
    page.line()
    page.text(str(search.tree_), "    ")
    page.line()
    judged = count(len(search.tree_.nodes), "structure")
    error = float(search.cv_results_["std_test_score"][search.best_index_])
    spread = error / np.sqrt(search.n_splits_)
    page.line(
        bold(f"  {_tell_structure(search)}: {search.best_score_:.4f} ± {spread:.4f}"),
        f" in {search.n_splits_} folds, of {judged}.{_ENDINGS[search.ending_]}",
    )
    page.line("  The best of many looks better than it is: measure it on rows of its own.")
    page.line(f"  Trained on all rows in {tell_seconds(search.refit_time_)}, written to {path}")


def _tell_structure(search: NewronSearchCV) -> str:
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
    """Give a number as JSON can say it."""
    return None if value != value else float(value)
