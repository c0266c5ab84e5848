"""Models in other languages: one call for every target."""

from __future__ import annotations

from newron.errors import InputError
from newron.exports.file import Export
from newron.exports.javascript import print_javascript
from newron.exports.program import make_program
from newron.exports.python import print_python
from newron.exports.reading import read_rules
from newron.model.model import Model
from newron.rules.extraction import extract
from newron.rules.ruleset import RuleSet

__all__ = ["TARGETS", "export"]

_PRINTERS = {"javascript": (print_javascript, ".js"), "python": (print_python, ".py")}
TARGETS = tuple(_PRINTERS)


def export(
    model: Model, to: str, *, name: str | None = None, rules: bool | RuleSet = False
) -> Export:
    """Give a model in another language.

    Parameters
    ----------
    model : Model
    to : {"javascript"}
    name : str, optional
        What the model is called; "model" by default.
    rules : bool or RuleSet
        Whether the rules of a crisp network come along, so that the export can tell which of
        them decides; rules that are at hand need not be found again.

    Returns
    -------
    Export
        ``export.text``, or ``export.save(path)``.
    """
    if to not in TARGETS:
        raise InputError(f"expected a target among {', '.join(TARGETS)}, got {to!r}")
    called = "model" if name is None else name
    reading = None if rules is False else read_rules(model, _find_rules(model, rules))
    write, suffix = _PRINTERS[to]
    return Export(write(make_program(model), called, reading).encode(), to, suffix)


def _find_rules(model: Model, rules: bool | RuleSet) -> RuleSet:
    return extract(model) if isinstance(rules, bool) else rules
