"""Training from a file to files: read, measure, train, prove, write, tell."""

from __future__ import annotations

import math
import time
from pathlib import Path

from newron.command.fitted import Fitted
from newron.command.learning import Settings, check_settings, cover, is_crisp, learn
from newron.command.measuring import Measurement, measure, plan_measurement
from newron.command.outputs import Outputs
from newron.command.progress import show_stage
from newron.command.reading import find_card
from newron.command.tables import Source, Table, Wanted, load_table, open_table
from newron.command.telling import begin, tell
from newron.command.terminal import Page, count
from newron.evaluation import SplitPlan
from newron.model import Model
from newron.rules import RuleSet, extract

__all__ = ["fit_table", "name_folder", "read_table"]

_SECONDS = 3.0  # to look for shorter rules


def fit_table(
    page: Page,
    data: Path,
    wanted: Wanted,
    settings: Settings,
    output: Path | None,
    report_file: Path | None,
    *,
    folds: int | None,
    share: float | None,
    force: bool,
) -> None:
    """Do all of it. What is wrong with the arguments is told before time is spent."""
    check_settings(settings)
    path = name_folder(data) if output is None else output
    outputs = Outputs(path, report=report_file, force=force)
    outputs.check()
    source = open_table(data)
    table = read_table(page, source, wanted)
    plan = plan_measurement(table, folds, share)
    begin(page, source, table)
    begun = time.perf_counter()
    measured, model = _measure(page, table, settings, plan)
    if model is None:
        with show_stage(page, "final fit") as stage:
            stage.update(0, 1, count(len(table), "row"))
            model = learn(table, settings)
    rules = read_rules(table, model) if is_crisp(model) else None
    seconds = time.perf_counter() - begun
    fitted = Fitted(source, table, settings, measured, model, rules, seconds)
    written = outputs.write(model, rules, lambda path: fitted.write_report(path, page.command))
    tell(page, fitted, outputs, written)


def name_folder(data: Path) -> Path:
    """Name the folder for the results of a file: heart-newron for data/heart.csv.gz.

    Examples
    --------
    >>> str(name_folder(Path("data/heart.csv.gz")))
    'heart-newron'
    """
    return Path(f"{data.name.removesuffix('.gz').rpartition('.')[0] or data.name}-newron")


def read_table(page: Page, source: Source, wanted: Wanted) -> Table:
    """Read a table to train on, and show how far that is."""
    with show_stage(page, "reading", stays=False) as stage:
        return load_table(source, wanted, stage.update)


def _measure(
    page: Page, table: Table, settings: Settings, plan: SplitPlan
) -> tuple[Measurement | None, Model | None]:
    if not plan:
        return None, None
    if plan.n_folds:
        with show_stage(page, f"{plan.n_folds} folds") as stage:
            return measure(table, settings, plan, lambda i, n: stage.update(i, n, f"{i} of {n}"))
    rows = count(len(table) - math.ceil(len(table) * plan.test_size), "row")
    with show_stage(page, "training") as stage:
        return measure(table, settings, plan, lambda i, n: stage.update(i, n, rows))


def read_rules(table: Table, model: Model) -> RuleSet:
    """Give the rules of a crisp network, with the rows of the table that they cover."""
    # A card of many conditions is points anyhow; the search for shorter rules takes seconds.
    form = "shortest" if find_card(model) is None else "points"
    rules = extract(model, form=form, seconds=_SECONDS)
    return rules.with_coverage(cover(table, model))
