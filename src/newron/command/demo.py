"""``newron demo``: a network finds the rule of the MONK-2 problem."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from newron.command.options import Force
from newron.command.terminal import Page

EXAMPLES = (
    ("newron demo", ""),
    ("newron demo -o somewhere --force", "write there, over what it wrote before"),
)


def run(
    page: Page,
    output: Annotated[
        Path, typer.Option("-o", "--output", metavar="FOLDER", help="Where to write.")
    ] = Path("newron-demo"),
    force: Force = False,
) -> None:
    """Train on the MONK-2 problem, tell the rule that was found, and prove it.

    A robot of MONK-2 is of class 1 if exactly two of its six attributes have their first
    value. The network sees 169 of the 432 possible robots.
    """
    from newron.command.demonstration import demonstrate

    demonstrate(page, output, force=force)
