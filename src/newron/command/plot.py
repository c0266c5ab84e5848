"""``newron plot``: a network as a picture."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any

from newron.command.options import Force, Missing, ModelFile, NoHeader, option
from newron.command.terminal import Console
from newron.errors import InputError

EXAMPLES = (
    ("newron plot model.json -o network.svg", ""),
    ("newron plot model.json -o network.pdf --data table.csv", "with the rows below the axes"),
    ("newron plot model.json -o row.png --data table.csv --row 17", "one row's path"),
)
_LAYOUTS, _THEMES = ("auto", "layered", "scorecard", "folded"), ("auto", "light", "dark")


def run(
    console: Console,
    model: ModelFile,
    output: Annotated[
        Path, option("-o --output", "FILE", "The picture: its name ends in .svg, .png or .pdf.")
    ] = Path("network.svg"),
    data: Annotated[
        Path | None, option("--data", "DATA", "A table whose rows are drawn too.")
    ] = None,
    row: Annotated[
        int | None, option("--row -r", "N", "Draw this row of DATA, from 1 on.", min=1)
    ] = None,
    title: Annotated[str | None, option("--title", "TEXT", "A heading.")] = None,
    layout: Annotated[str, option("--layout", "|".join(_LAYOUTS), "How it is laid out.")] = "auto",
    theme: Annotated[str, option("--theme", "|".join(_THEMES), "Its colours.")] = "auto",
    missing: Missing = None,
    no_header: NoHeader = False,
    force: Force = False,
) -> None:
    """Draw a network so that every function can be read.

    PNG and PDF need the extra figures: pip install "newron-ian[figures]".
    """
    from newron.command.files import check_free
    from newron.figures import draw
    from newron.model import load

    check_free([output], force=force)
    network = load(model)
    rows: Any = None
    shown: Any = None
    if data is not None:
        from newron.command.rows import read_row, read_rows

        rows, _ = read_rows(console, data, network, missing or (), header=not no_header)
        shown = (
            None
            if row is None
            else read_row(data, network, row, missing or (), header=not no_header)
        )
    elif row is not None:
        raise InputError("--row: expected --data beside it, got none")
    figure = draw(network, rows, row=shown, title=title, layout=layout, theme=theme)  # type: ignore[arg-type]
    figure.save(output)
    if console.as_json:
        sizes = {"width": figure.width, "height": figure.height, "layout": figure.layout}
        console.print_json({"file": str(output), **sizes, "functions": figure.n_drawn})
    console.note(f"written to {output}")
