"""Training from a file to files: read, measure, train, prove, write, tell."""

from __future__ import annotations

import math
import platform
import time
from collections.abc import Callable
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import TypeVar

import numpy as np

from newron import report
from newron._version import __version__
from newron.command.decoding import decode_rows
from newron.command.learning import (
    Settings,
    align_rows,
    check_settings,
    cover,
    is_crisp,
    keep_known,
    learn,
)
from newron.command.measuring import Measurement, Plan, measure, plan_measurement
from newron.command.outputs import Outputs
from newron.command.progress import show_stage
from newron.command.reading import find_card
from newron.command.tables import Source, Table, Wanted, load_table, open_table
from newron.command.terminal import Page, count
from newron.model import Model
from newron.rules import RuleSet, extract

__all__ = ["Fitted", "fit_table"]

_SECONDS = 3.0  # to look for shorter rules
_MOST_REPORTED = 20_000  # rows that a report speaks of
_T = TypeVar("_T")


@dataclass(frozen=True)
class Fitted:
    """All that ``newron fit`` tells."""

    source: Source
    table: Table
    settings: Settings
    plan: Plan
    measured: Measurement | None
    model: Model
    rules: RuleSet | None
    seconds: float

    @property
    def unused(self) -> list[str]:
        """The columns that no function reads."""
        used = {int(source) for layer in self.model.layers for source in layer.source}
        return [name for i, name in enumerate(self.model.schema.names) if i not in used]

    def count_agreement(self) -> str:
        """Tell on how many rows the rules say the same as the network."""
        assert self.rules is not None  # noqa: S101 - asked of rules alone
        rows = align_rows(self.table, self.model)
        said = self.model.output.predict(self.model.score_rows(rows))
        same = int((self.rules.predict(decode_rows(self.model, rows)) == said).sum())
        return f"agreement on {same} of {count(len(rows), 'row')}"

    def write_report(self, path: Path, command: str) -> None:
        """Write the report: of rows that were held out, or of all rows where none were."""
        held_out = self.measured is not None and not self.measured.n_folds
        index = self.measured.index if self.measured is not None and held_out else None
        shown = keep_known(self.table, self.model, index)[:_MOST_REPORTED]
        rows = align_rows(self.table, self.model, shown)
        labels, truth = self.table.target.labels, self.table.target.values[shown]
        report.write(
            self.model,
            path,
            decode_rows(self.model, rows),
            truth if labels is None else np.array([labels[int(c)] for c in truth], object),
            target=self.table.target.name,
            source=self.source.path.name,
            seen=0 if held_out else len(rows),
            origin=self._tell_origin(command),
            rules=self.rules,
        )

    def _tell_origin(self, command: str) -> report.Origin:
        n_tested = 0 if self.measured is None or self.measured.n_folds else self.measured.n_rows
        settings = asdict(self.settings)
        return report.Origin(
            recipe=settings.pop("recipe"),
            seed=str(settings.pop("seed")),
            settings={name: value for name, value in settings.items() if value is not None},
            versions={"newron": __version__, "Python": platform.python_version()},
            n_rows=len(self.table) - n_tested,
            command=command,
        )


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
    from newron.command.telling import begin, tell

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
        model = _run_stage(page, "final fit", len(table), lambda: learn(table, settings))
    rules = read_rules(table, model) if is_crisp(model) else None
    seconds = time.perf_counter() - begun
    fitted = Fitted(source, table, settings, plan, measured, model, rules, seconds)
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
    page: Page, table: Table, settings: Settings, plan: Plan
) -> tuple[Measurement | None, Model | None]:
    if not plan.measures:
        return None, None
    if plan.share:
        rows = len(table) - math.ceil(len(table) * plan.share)
        work = lambda: measure(table, settings, plan, lambda *_: None)  # noqa: E731
        return _run_stage(page, "training", rows, work)
    with show_stage(page, f"{plan.folds} folds") as stage:
        return measure(table, settings, plan, lambda i, n: stage.update(i, n, f"{i} of {n}"))


def _run_stage(page: Page, name: str, n_rows: int, work: Callable[[], _T]) -> _T:
    """Do work of which nobody knows how much is done."""
    with show_stage(page, name) as stage:
        stage.update(0, 1, count(n_rows, "row"))
        return work()


def read_rules(table: Table, model: Model) -> RuleSet:
    """Give the rules of a crisp network, with the rows of the table that they cover."""
    # A card of many conditions is points anyhow; the search for shorter rules takes seconds.
    form = "shortest" if find_card(model) is None else "points"
    rules = extract(model, form=form, seconds=_SECONDS)
    return rules.with_coverage(cover(table, model))
