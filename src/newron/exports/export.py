"""Models in other languages: one call for every target."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from os import PathLike

from newron._files import write_whole
from newron.errors import InputError, ModelError
from newron.exports.c import print_c
from newron.exports.javascript import print_javascript
from newron.exports.onnx import print_onnx
from newron.exports.program import make_program
from newron.exports.python import print_python
from newron.exports.rule_program import make_rule_program
from newron.exports.sql import print_sql
from newron.model.model import Model
from newron.model.output import Targets
from newron.rules.extraction import extract
from newron.rules.ruleset import RuleSet

_SUFFIXES = {"javascript": ".js", "python": ".py", "c": ".h", "sql": ".sql", "onnx": ".onnx"}
_PRINTERS = {"javascript": print_javascript, "python": print_python, "c": print_c}
TARGETS = tuple(_SUFFIXES)
"""The languages that a model can be exported to."""


@dataclass(frozen=True)
class Export:
    """A model in another language.

    Attributes
    ----------
    content : bytes
        What a file of it holds.
    target : str
        "javascript", "python", "c", "sql" or "onnx".

    Examples
    --------
    >>> Export(b"SELECT 1;", "sql").text
    'SELECT 1;'
    """

    content: bytes
    target: str

    @property
    def suffix(self) -> str:
        """How such files are named: ".js", ".py", ".h", ".sql" or ".onnx"."""
        return _SUFFIXES[self.target]

    @property
    def text(self) -> str:
        """The content as text; an ONNX graph has none."""
        if self.target == "onnx":
            raise InputError("expected a target that is text, got onnx; use content or save(path)")
        return self.content.decode("utf-8")

    def __str__(self) -> str:
        return repr(self) if self.target == "onnx" else self.text

    def __repr__(self) -> str:
        return f"<Export: {self.target}, {len(self.content)} bytes>"

    def save(self, path: str | PathLike[str]) -> None:
        """Write the file; it appears whole or not at all.

        Parameters
        ----------
        path : str or path
        """
        write_whole(self.content, path)


def export(
    model: Model,
    to: str,
    *,
    name: str | None = None,
    rules: bool | RuleSet = False,
    dialect: str | None = None,
    table: str | Sequence[str] | None = None,
    keep: Sequence[str] = (),
    exact: bool = True,
) -> Export:
    """Return a model in another language, which predicts the same; see :meth:`Model.export`."""
    if to not in TARGETS:
        raise InputError(f"expected a target among {', '.join(TARGETS)}, got {to!r}")
    if to != "sql" and (dialect is not None or table is not None or keep or not exact):
        raise InputError(f"dialect, table, keep and exact are for SQL, got them for {to}")
    if to == "sql" and rules is not False:
        _check_sums(model)
    title, rule_program = "model" if name is None else name, None
    if rules is not False:
        found = extract(model) if isinstance(rules, bool) else rules
        rule_program = make_rule_program(model, found)
    program = make_program(model)
    if to == "onnx":
        return Export(print_onnx(program, title, rule_program), to)
    if to != "sql":
        return Export(_PRINTERS[to](program, title, rule_program).encode(), to)
    text = print_sql(
        program,
        title,
        rule_program,
        dialect="duckdb" if dialect is None else dialect,
        table="data" if table is None else table,
        keep=keep,
        exact=exact,
    )
    return Export(text.encode(), to)


def _check_sums(model: Model) -> None:
    """Raise where predictions are not the sums of rules, of which SQL is made."""
    if isinstance(model.output, Targets) and model.output.link != "identity":
        raise ModelError(
            "rules: expected predictions that are the sums of rules, got the link "
            f'"{model.output.link}"; export the network, which applies it'
        )
