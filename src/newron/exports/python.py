"""A model as one file of Python that needs the standard library alone."""

from __future__ import annotations

from newron.exports.infix import COMPARE, Printed
from newron.exports.program import Program
from newron.exports.rule_program import RuleProgram
from newron.exports.source import ModuleWriter
from newron.expressions.tree import Condition, Expression, Lookup


def print_python(program: Program, name: str, rules: RuleProgram | None = None) -> str:
    """Return the text of a module; with rules ``explain`` has which of them decides."""
    return _Python(program, name, rules).write()


class _Python(ModuleWriter):
    runtime = "model.py.in"
    comment, end, local = "#", "", "{name} = {value}"
    both, either, truths = "and", "or", ("False", "True")
    choice = "{yes} if {condition} else {no}"
    fold = "\n        "
    array, ranks, top_array = "{name} = [0.0] * {size}", "rank = {}", "share = [0.0]"
    otherwise, no_decision, deciding = "True", "None", "holds.index(True)"
    functions = {"sqrt": "math.sqrt"}  # noqa: RUF012
    results = (
        '"inputs": name_inputs(x)',
        '"functions": functions',
        '"neurons": neurons',
        '"scores": neurons[-1]',
    )
    class_results = (
        '"probabilities": divide(neurons[-1])',
        '"prediction": MODEL["classes"][choose(neurons[-1])]',
    )
    target_results = (
        '"prediction": neurons[-1] if len(neurons[-1]) > 1 else neurons[-1][0]',
    )  # fmt: skip
    rule_results = ('"rules": follow(x)',)
    refuse = "refuse_missing"

    def write(self) -> str:
        """Return the text of the module."""
        functions = [*self._write_definitions(), self._write_compute(), *self._write_decision()]
        rest = [*functions, *self._write_rules(), *self._write_answers(), self._fill("script")]
        return "\n\n\n".join([self._write_model(), *self._write_required(), *rest]) + "\n"

    def _write(self, node: Expression | Condition) -> str:
        """Print an expression, in brackets where it takes several lines."""
        text = self.print(node)
        return f"({text})" if "\n" in text else text

    def print_lookup(self, lookup: Lookup) -> str:
        values = ", ".join(map(repr, lookup.values))
        return f"look(x[{lookup.column}], ({values},), {lookup.otherwise!r})"

    def print_members(self, column: int, categories: tuple[int, ...]) -> Printed:
        return f"x[{column}] in ({', '.join(map(str, categories))},)", COMPARE
