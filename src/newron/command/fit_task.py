"""What fits of tasks with several columns to predict share: their result, written and shown."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from newron.command.outputs import Outputs
from newron.command.terminal import Console
from newron.evaluation.measurement import fingerprint_rows, make_measurement, read_rows
from newron.evaluation.splits import SplitPlan
from newron.tables import EncodedTable


@dataclass(frozen=True)
class TaskResult:
    """What a fit found.

    - ``estimator``: The fitted one.
    - ``measured``: What was measured on rows that a network was not trained on, as plain data.
    - ``measures``: The same in lines.
    - ``text``: The network.
    - ``file``: Where the text goes in a folder; its name is also that of the text in JSON.
    - ``write_report``: Writes the report to a path, of a task that has one.
    """

    estimator: Any
    measured: dict[str, Any] | None
    measures: Sequence[str]
    text: str
    file: str
    write_report: Callable[[Path], None] | None = None


def attach_quality(
    estimator: Any, X: EncodedTable, y: Any, quality: Any, plan: SplitPlan, source: str, seed: int
) -> None:
    """Keep in the fitted model how good networks of the same kind were on rows apart."""
    model = estimator.model_
    rows, truth = read_rows(model, X, y)
    estimator.model_ = model.attach(
        make_measurement(
            quality,
            protocol="cross-validation" if plan.n_folds else "test rows",
            n_folds=plan.n_folds or 0,
            n_trained=len(rows),
            seed=seed,
            source=source,
            fingerprint=fingerprint_rows(model, rows, truth),
        )
    )


def finish_task(console: Console, outputs: Outputs, result: TaskResult) -> None:
    """Write the model, or a folder with its text, and print both."""
    written = outputs.write_text(
        result.estimator.save, result.file, result.text, result.write_report
    )
    if console.as_json:
        name, lines = result.file.partition(".")[0], result.text.splitlines()
        console.print_json({"measured": result.measured, name: lines, "files": list(written)})
        return
    if not console.quiet:
        for line in result.measures or ("Not measured on new rows.",):
            console.print(f"  {line}")
        console.print()
    for line in result.text.splitlines():
        console.print(f"  {line}".rstrip())
    for name, what in written.items():
        console.note(f"{name}: {what}")
