"""``newron rules``: a network as rules."""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

from newron.command.files import format_csv, open_whole
from newron.command.options import Force, ModelFile, option
from newron.command.terminal import Console
from newron.errors import InputError
from newron.formatting import escape_unprintable

if TYPE_CHECKING:
    from newron.model import Model
    from newron.rules.ruleset import RuleSet
    from newron.shapes import FuzzyRules, Shapes

EXAMPLES = (
    ("newron rules model.json", ""),
    ("newron rules model.json > rules.txt", "to edit, and to prove again"),
    ("newron rules model.json --format markdown", "a table for a document"),
    ("newron rules model.json --form points", "points that are added up"),
)
_FORMATS = ("text", "markdown", "json", "csv")


def run(
    console: Console,
    model: ModelFile,
    format: Annotated[  # noqa: A002 - the name of the option
        str, option("--format -f", "|".join(_FORMATS), "How to write them.")
    ] = "text",
    form: Annotated[
        str,
        option(
            "--form", "shortest|rules|points", "If/then rules, points, or whichever is shorter."
        ),
    ] = "shortest",
    seconds: Annotated[
        float, option("--seconds", "S", "How long to look for shorter ones.", min=0.0)
    ] = 5.0,
    label: Annotated[
        str | None, option("--label", "NAME", "Of several labels, the rules of this one.")
    ] = None,
    output: Annotated[Path | None, option("-o --output", "FILE", "Write to a file.")] = None,
    force: Force = False,
) -> None:
    """Print a network as rules, with proof.

    Of a network that is not crisp (sigmoid and others) the fuzzy rules or the shapes of its
    functions are printed.
    """
    from newron.model import load

    kind = "json" if console.as_json else format
    if kind not in _FORMATS:
        raise InputError(f"--format: expected one of {', '.join(_FORMATS)}, got {format!r}")
    network = load(model)
    if label is not None:
        network = network.label(label)
    if network.is_crisp:
        text = _write_rules(network, kind, form, seconds)
    else:
        text = _write_curves(network, kind)
    if output is None:
        console.write(text)
        return
    with open_whole(output, force=force) as file:
        file.write(text.encode("utf-8"))
    console.note(f"written to {output}")


def _write_rules(model: Model, kind: str, form: str, seconds: float) -> str:
    """Write the rules of a crisp network."""
    rules = model.rules(form=form, seconds=seconds)
    if kind == "markdown":
        return f"{rules.to_markdown()}\n"
    if kind == "json":
        return f"{rules.to_json()}\n"
    if kind == "csv":
        names = ("rule", "prediction", "literals")
        records = rules.to_records()
        return format_csv([names, *([one[name] for name in names] for one in records)])
    return write_text(rules)


def write_text(rules: RuleSet) -> str:
    """Write rules and what was proved; ``newron prove`` reads them, and skips the comment."""
    return f"{rules.to_text()}\n\n# {rules.proof}\n"


def _write_curves(model: Model, kind: str) -> str:
    """Write the fuzzy rules of a smooth network, or its shapes."""
    from newron.errors import ModelError

    if kind not in ("text", "json"):
        raise InputError(
            f"--format: expected text or json for a network that is not crisp, got {kind!r}"
        )
    rules: FuzzyRules | Shapes
    try:
        rules = model.fuzzy()
    except ModelError:
        rules = model.shapes()  # linear and the like are no conditions
    if kind == "text":
        return f"{rules}\n"
    return (
        escape_unprintable(json.dumps(rules.to_dict(), ensure_ascii=False, indent=1, default=str))
        + "\n"
    )
