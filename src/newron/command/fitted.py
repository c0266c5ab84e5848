"""What a fit found: all that is told and reported of it."""

from __future__ import annotations

import platform
from dataclasses import asdict, dataclass
from pathlib import Path

import numpy as np

from newron import report
from newron._version import __version__
from newron.command.decoding import decode_rows
from newron.command.learning import Settings, align_rows, keep_known
from newron.command.measuring import Measurement
from newron.command.tables import Source, Table
from newron.command.terminal import count
from newron.model import Model
from newron.rules import RuleSet

__all__ = ["Fitted"]

_MOST_REPORTED = 20_000  # rows that a report speaks of


@dataclass(frozen=True)
class Fitted:
    """All that ``newron fit`` tells."""

    source: Source
    table: Table
    settings: Settings
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
