"""``newron explain``: one row's path through a network."""

from __future__ import annotations

import json
from typing import Annotated, Any

from newron.command.options import DataFile, Missing, ModelFile, NoHeader, option
from newron.command.terminal import Console
from newron.errors import InputError

EXAMPLES = (
    ("newron explain model.json table.csv --row 17", ""),
    ("newron explain model.json table.csv --row 17 --to healthy", "what would lead there"),
    ("newron explain model.json table.csv --row 17 --fix age --fix sex", "what stays as it is"),
)


def run(
    console: Console,
    model: ModelFile,
    data: DataFile,
    row: Annotated[
        int, option("--row -r", "N", "The row, counted from 1 after the header.", min=1)
    ],
    to: Annotated[
        str | None, option("--to", "CLASS", "Where a change shall lead; by default anywhere.")
    ] = None,
    fix: Annotated[
        list[str] | None,
        option("--fix", "COLUMN", "An input that does not change; may be repeated."),
    ] = None,
    changes: Annotated[
        int, option("--changes", "N", "Inputs that change at most; 0 for none.", min=0)
    ] = 3,
    missing: Missing = None,
    no_header: NoHeader = False,
) -> None:
    """Follow one row through a network, and find the smallest change that leads elsewhere."""
    from newron.command.rows import find_label, read_row
    from newron.model import load

    network = load(model)
    explanation = network.explain(
        read_row(data, network, row, missing or (), header=not no_header),
        target=None if to is None else find_label(network, to, "--to"),
        fixed=_check_fixed(network.schema.names, fix or []),
        max_changes=changes,
    )
    if console.as_json:
        console.print_json({"row number": row, **_make_plain(explanation.to_dict())})
        return
    if console.verbose:
        console.print(f"{data}, row {row}")
        console.print()
    console.print_lines(explanation.to_text(width=console.width, unicode=console.unicode))


def _check_fixed(names: tuple[str, ...], fixed: list[str]) -> list[str]:
    for name in fixed:
        if name not in names:
            raise InputError(f"--fix: expected an input of the model, got {name!r}")
    return fixed


def _make_plain(content: Any) -> Any:
    """Return what JSON can hold; where a change has no end there is infinity."""
    return json.loads(json.dumps(content, default=str), parse_constant=lambda _: None)
