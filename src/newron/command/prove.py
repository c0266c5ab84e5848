"""``newron prove``: whether rules in a text file equal a network."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from newron.command.options import ModelFile, option
from newron.command.terminal import Console
from newron.errors import InputError

EXAMPLES = (
    ("newron prove model.json rules.txt", ""),
    ("newron prove model.json rules.txt && deploy", "only if they are equal, proved"),
)
PROVED, REFUTED, NOT_PROVED = 0, 1, 3


def run(
    console: Console,
    model: ModelFile,
    rules: Annotated[
        Path, typer.Argument(metavar="RULES", help="Rules as newron writes them, or by hand.")
    ],
    seconds: Annotated[float, option("--seconds", "S", "Give up after this time.", min=0.0)] = 60.0,
) -> int:
    """Prove that rules equal a network, or find an input on which they differ.

    Exit code 0: equal on the whole domain. 1: not equal; an input on which they differ is
    printed. 3: neither was shown in the time.
    """
    from newron.model import load
    from newron.rules import prove

    network = load(model)
    try:
        proof = prove(_read_text(rules), network, seconds)
    except InputError as error:
        raise InputError(f"{rules}: {error}") from None
    if console.as_json:
        console.print_json(proof.to_dict())
    else:
        from newron.command.printing import print_proof

        print_proof(console, proof, "the rules equal")
    return {True: PROVED, False: REFUTED, None: NOT_PROVED}[proof.equal]


def _read_text(path: Path) -> str:
    """Read rules; comments become empty lines, so that lines keep their numbers."""
    try:
        lines = path.read_text(encoding="utf-8-sig").splitlines()
        return "\n".join("" if line.lstrip().startswith("#") else line for line in lines)
    except UnicodeDecodeError:
        raise InputError(f"{path}: expected rules as text in UTF-8, got other bytes") from None
