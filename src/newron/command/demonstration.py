"""The demonstration on the terminal."""

from __future__ import annotations

import csv
import io
import time
from pathlib import Path

import numpy as np

from newron import report
from newron._version import __version__
from newron.command.outputs import FIGURE, MODEL, REPORT, RULES, Outputs
from newron.command.progress import show_stage
from newron.command.prove import to_dict
from newron.command.reading import show_model, show_proof
from newron.command.telling import tell_files
from newron.command.terminal import Page, bold, dim
from newron.demo import RESTARTS, load_training_rows, make_monk2, train_monk2
from newron.explanations.explanation import Explanation
from newron.model.model import Model

__all__ = ["demonstrate"]

_ROBOTS = "robots.csv"


def demonstrate(page: Page, folder: Path, *, force: bool) -> None:
    """Train, tell, prove, write."""
    outputs = Outputs(folder, more=(_ROBOTS,), force=force)
    outputs.check()
    X, y = load_training_rows()
    if page.talks:
        head = f"demo · MONK-2: 6 attributes, {len(X)} training rows"
        page.line(bold("newron"), dim(f" {__version__} · {head}"))
        page.line()
    begun = time.perf_counter()
    with show_stage(page, f"{RESTARTS} restarts") as stage:
        model = train_monk2(X, y)
        wrong = int((model.predict(X) != y).sum())
        stage.update(1, 1, f"{wrong} errors in {len(X)} rows")
    rules = model.rules().cover(X, y)
    robots, classes = make_monk2()
    right = int((model.predict(robots) == classes).sum())
    written = outputs.write(
        model,
        rules,
        lambda path: report.write(
            model, path, robots, classes, target="class", noun="robot", seen=len(X), rules=rules
        ),
        {_ROBOTS: _write_csv(X, y)},
    )
    if page.as_json:
        found = {"right": right, "of": len(robots), "rule": rules.to_text(notes=False)}
        files = outputs.locate(written)
        seconds = round(time.perf_counter() - begun, 3)
        page.data({**found, "proof": to_dict(rules.proof), "seconds": seconds, "files": files})
    if not page.talks:
        return
    page.line()
    _tell_right(page, right, len(robots), len(robots) - len(X))
    page.line()
    show_model(page, model, rules, RULES)
    page.line()
    show_proof(page, rules.proof, "the rule", "")
    page.line()
    shown = int(np.argmax(y == 1))
    _tell_row(page, rules.to_model(), X[shown])
    told = _describe_files(outputs)
    tell_files(page, outputs, {name: told.get(name, what) for name, what in written.items()})
    page.line()
    page.line(bold("  Next"))
    page.line("    newron fit table.csv --target column       ", dim("your own table"))
    page.line(f"    newron explain {outputs.model} {folder / _ROBOTS} --row {shown + 1}")


def _describe_files(outputs: Outputs) -> dict[str, str]:
    """Tell what each file is, in the words of the demonstration."""
    return {
        REPORT: "open it in a browser: the network, live",
        RULES: "the rule above",
        FIGURE: "the figure, for papers and slides",
        MODEL: f'the model: newron.load("{outputs.model}")',
        _ROBOTS: "the training rows",
    }


def _write_csv(X: np.ndarray, y: np.ndarray) -> str:
    text = io.StringIO(newline="")
    writer = csv.writer(text, lineterminator="\n")
    writer.writerow([*(f"a{i}" for i in range(1, 7)), "class"])
    writer.writerows(np.column_stack([X, y]).astype(int).tolist())
    return text.getvalue()


def _tell_right(page: Page, right: int, n: int, unseen: int) -> None:
    if right == n:
        page.line(
            bold(f"  Right for all {n} possible inputs."),
            f" {unseen} of them were never seen in training.",
        )
    else:
        page.line(bold(f"  Right for {right} of {n} possible inputs."))


def _tell_row(page: Page, model: Model, row: np.ndarray) -> None:
    """Follow one robot: its values, what holds of it, and what would change its class."""
    page.line(bold("  One row, step by step"))
    path = model.explain(row)
    counted = path.stages[0]
    values = [f"{part.source} = {part.value:g}" for part in counted.parts]
    width = max(map(len, values)) + 4
    indent = " " * 15
    page.line(indent, "".join(value.ljust(width) for value in values).rstrip())
    gap = " " * (width - 1)
    marks = [bold(f"●{gap}") if part.holds else dim(f"○{gap}") for part in counted.parts]
    page.line(indent, *marks)
    page.line(
        f"    {counted.n_holding} of {len(counted.parts)} hold → ",
        bold(f"class {path.prediction}"),
    )
    page.line(f"    {_tell_change(path)}")


def _tell_change(path: Explanation) -> str:
    """Tell the smallest change in one sentence."""
    assert path.changes is not None  # noqa: S101 - explain looks for some
    return str(path.changes).splitlines()[0]
