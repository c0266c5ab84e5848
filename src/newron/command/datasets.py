"""``newron datasets``: the tables that come with newron."""

from __future__ import annotations

import textwrap
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from newron.command.files import format_csv, open_whole
from newron.command.options import Force, option
from newron.command.terminal import Console, bold, dim
from newron.errors import InputError
from newron.formatting import format_count

if TYPE_CHECKING:
    from newron.datasets.catalogue import Entry

EXAMPLES = (
    ("newron datasets", "their names"),
    ("newron datasets heart", "what it is and where it comes from"),
    ("newron datasets heart -o heart.csv", "write it to a file"),
    ("newron datasets monks-2 --part train -o monks.csv", ""),
)


def run(
    console: Console,
    name: Annotated[
        str | None, typer.Argument(metavar="[NAME]", help="One of them.", show_default=False)
    ] = None,
    output: Annotated[Path | None, option("-o --output", "FILE", "Write it as CSV.")] = None,
    part: Annotated[
        str | None, option("--part", "train|test", "Only its training or its test part.")
    ] = None,
    seed: Annotated[int, option("--seed", "N", "Of bisector, xor, parabola, circle.", min=0)] = 0,
    force: Force = False,
) -> None:
    """List the tables that come with newron, or write one to a file."""
    from newron.datasets.catalogue import find_entry

    if name is None:
        if output is not None:
            raise InputError("-o: expected the name of a data set to write, got none")
        _list_all(console)
        return
    entry = find_entry(name)
    if output is None:
        _print_one(console, entry, part, seed)
        return
    rows = _read(name, part, seed)
    with open_whole(output, force=force) as file:
        file.write(format_csv(rows).encode("utf-8"))
    console.note(
        f"{format_count(len(rows) - 1, 'row')}, target {rows[0][-1]!r}, written to {output}"
    )


def _read(name: str, part: str | None, seed: int) -> list[list[str]]:
    from newron.datasets.text import read_text

    return read_text(name, part=part, seed=seed)


def _list_all(console: Console) -> None:
    from newron.datasets.catalogue import find_entry, names

    titles = {name: find_entry(name).source.title for name in names()}
    if console.as_json:
        console.print_json([{"name": name, "title": title} for name, title in titles.items()])
        return
    width = max(map(len, titles))
    for name, title in titles.items():
        console.print(f"{name:{width}}  ", dim(title))


def _print_one(console: Console, entry: Entry, part: str | None, seed: int) -> None:
    names, *rows = _read(entry.name, part, seed)
    facts: dict[str, Any] = {
        "name": entry.name,
        "rows": len(rows),
        "columns": names[:-1],
        "target": names[-1],
        "note": entry.note,
        **asdict(entry.source),
    }
    if console.as_json:
        console.print_json(facts)
        return
    inputs = format_count(len(names) - 1, "input")
    console.print(
        bold(entry.source.title),
        dim(f" · {format_count(len(rows), 'row')}, {inputs}, target {names[-1]}"),
    )
    lines = [
        entry.note,
        f"{', '.join(entry.source.donors)}. {entry.source.licence}. {entry.source.page}",
    ]
    for line in lines:
        console.print_lines(textwrap.fill(line, console.width - 2, break_long_words=False), "  ")
