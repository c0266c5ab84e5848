"""``newron demo``: a network finds the rule of the MONK-2 problem."""

from __future__ import annotations

import time
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

from newron._version import __version__
from newron.command.files import format_csv
from newron.command.options import Force, option
from newron.command.progress import show_stage
from newron.command.terminal import Console, bold, dim
from newron.formatting import format_class

if TYPE_CHECKING:
    from newron.command.outputs import Outputs
    from newron.model import Model

EXAMPLES = (
    ("newron demo", ""),
    ("newron demo -o somewhere --force", "write there, over what it wrote before"),
)
_ROBOTS = "robots.csv"


def run(
    console: Console,
    output: Annotated[Path, option("-o --output", "FOLDER", "Where to write.")] = Path(
        "newron-demo"
    ),
    force: Force = False,
) -> None:
    """Train on the MONK-2 problem, print the rule that was found, and prove it.

    A robot of MONK-2 is of class 1 if exactly two of its six attributes have their first
    value. The network sees 169 of the 432 possible robots.
    """
    from newron.command.fit_output import print_files
    from newron.command.outputs import RULES, Outputs
    from newron.command.printing import print_model, print_proof
    from newron.demo import RESTARTS, load_training_rows, make_monk2, train_monk2

    outputs = Outputs(output, more=(_ROBOTS,), force=force)
    outputs.check()
    X, y = load_training_rows()
    _print_head(console, len(X))
    begin = time.perf_counter()
    with show_stage(console, f"{RESTARTS} restarts") as stage:
        model = train_monk2(X, y)
        wrong = int((model.predict(X) != y).sum())
        stage.update(1, 1, f"{wrong} errors in {len(X)} rows")
    rules = model.rules().cover(X, y)
    robots, classes = make_monk2()
    n_correct = int((model.predict(robots) == classes).sum())
    written = outputs.write(
        model,
        rules,
        lambda path: model.report(
            path, robots, classes, target="class", noun="robot", seen=len(X), rules=rules
        ),
        {_ROBOTS: _write_csv(X, y)},
    )
    if console.as_json:
        found = {"correct": n_correct, "of": len(robots), "rule": rules.to_text(notes=False)}
        seconds = round(time.perf_counter() - begin, 3)
        files = {"seconds": seconds, "files": outputs.locate(written)}
        console.print_json({**found, "proof": rules.proof.to_dict(), **files})
    if not console.verbose:
        return
    console.print()
    _print_accuracy(console, n_correct, len(robots), len(robots) - len(X))
    console.print()
    print_model(console, model, rules, RULES)
    console.print()
    print_proof(console, rules.proof, "the rule equals")
    console.print()
    row = y.tolist().index(1)
    _print_row(console, rules.to_model(), X[row])
    print_files(console, outputs, written | _describe_files(outputs.model))
    _print_next(console, outputs, row)


def _print_head(console: Console, n_rows: int) -> None:
    if console.verbose:
        head = f"demo · MONK-2: 6 attributes, {n_rows} training rows"
        console.print(bold("newron"), dim(f" {__version__} · {head}"))
        console.print()


def _print_next(console: Console, outputs: Outputs, row: int) -> None:
    console.print()
    console.print(bold("  Next"))
    console.print("    newron fit table.csv --target column       ", dim("your own table"))
    robots = outputs.path / _ROBOTS
    console.print(f"    newron explain {outputs.model} {robots} --row {row + 1}")


def _describe_files(model: Path) -> dict[str, str]:
    from newron.command.outputs import FIGURE, MODEL, REPORT, RULES

    return {
        REPORT: "open it in a browser: the network, live",
        RULES: "the rule above",
        FIGURE: "the figure, for papers and slides",
        MODEL: f'the model: newron.load("{model}")',
        _ROBOTS: "the training rows",
    }


def _write_csv(X: Any, y: Any) -> str:
    names = [*(f"a{i}" for i in range(1, 7)), "class"]
    rows = ([*map(int, row), int(label)] for row, label in zip(X, y, strict=True))
    return format_csv([names, *rows])


def _print_accuracy(console: Console, n_correct: int, n: int, n_new: int) -> None:
    if n_correct == n:
        rest = f" {n_new} of them were never seen in training."
        console.print(bold(f"  Right for all {n} possible inputs."), rest)
    else:
        console.print(bold(f"  Right for {n_correct} of {n} possible inputs."))


def _print_row(console: Console, model: Model, row: Any) -> None:
    """Follow one robot: its values, what holds of it, and what would change its class."""
    console.print(bold("  One row, step by step"))
    path = model.explain(row)
    counted = path.stages[0]
    values = [f"{part.source} = {part.value:g}" for part in counted.parts]
    width = max(map(len, values)) + 4
    indent = " " * 15
    console.print(indent, "".join(value.ljust(width) for value in values).rstrip())
    space = " " * (width - 1)
    marks = [bold(f"●{space}") if part.holds else dim(f"○{space}") for part in counted.parts]
    console.print(indent, *marks)
    console.print(
        f"    {counted.n_holding} of {len(counted.parts)} hold → ",
        bold(f"class {path.prediction}"),
    )
    for change in (path.changes or ())[:1]:
        outcome = format_class(change.prediction)
        console.print(f"    One change would make it {outcome}, for example {change}.")
