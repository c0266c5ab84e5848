"""A model as one ES module: no imports, no state, safe to put into a page."""

from __future__ import annotations

import json
from typing import Any

from newron.exports.infix import ATOM, Printed
from newron.exports.program import Program
from newron.exports.rule_program import RuleProgram
from newron.exports.source import ModuleWriter
from newron.exports.text import quote_json
from newron.expressions.tree import Lookup
from newron.formatting import format_number

_MAX_INTEGER = 2**53 - 1  # the largest that JavaScript distinguishes from its neighbours


def print_javascript(program: Program, name: str, rules: RuleProgram | None = None) -> str:
    """Return the text of an ES module; with rules ``explain`` has which of them decides."""
    return _JavaScript(program, name, rules).write()


class _JavaScript(ModuleWriter):
    runtime = "model.js.in"
    indent = "  "
    missing = "Number.isNaN(x[{column}])"
    functions = {"abs": "Math.abs", "min": "Math.min", "max": "Math.max", "sqrt": "Math.sqrt"}  # noqa: RUF012
    array, ranks, top_array = "const {name} = [];", "const rank = [];", "const share = [];"
    otherwise, no_decision, deciding = "true", "null", "holds.indexOf(true)"
    results = ("inputs: nameInputs(x)", "functions", "neurons", "scores: last")
    class_results = ("probabilities: share(last)", "prediction: model.classes[choose(last)]")
    target_results = ("prediction: last.length === 1 ? last[0] : last",)
    rule_results = ("rules: follow(x)",)
    refuse = "refuseMissing"

    def write(self) -> str:
        """Return the text of the module."""
        functions = [*self._write_definitions(), self._write_compute(), *self._write_decision()]
        rest = [*functions, *self._write_rules(), *self._write_answers()]
        ldexp = [self._fill("ldexp")] if any("ldexp(" in part for part in rest) else []
        required = self._write_required()
        return "\n\n".join([self._write_model(), *required, *ldexp, *rest]) + "\n"

    @staticmethod
    def write_atom(value: Any) -> str:
        if isinstance(value, str):
            return quote_json(value)
        if isinstance(value, int) and not isinstance(value, bool) and abs(value) > _MAX_INTEGER:
            return f"{value}n"
        return json.dumps(value)

    def print_number(self, value: float) -> str:
        return format_number(value)

    def print_lookup(self, lookup: Lookup) -> str:
        values = ", ".join(map(format_number, lookup.values))
        return f"look(x[{lookup.column}], [{values}], {format_number(lookup.otherwise)})"

    def print_members(self, column: int, categories: tuple[int, ...]) -> Printed:
        return f"[{', '.join(map(str, categories))}].includes(x[{column}])", ATOM
