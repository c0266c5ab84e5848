"""What the writers of Python, C and JavaScript share: statements, sections and metadata.

The parts of a file that are the same for every model are sections of a template in ``runtime/``;
a writer fills in what depends on the model.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Sequence
from functools import cache
from importlib.resources import files
from string import Template
from typing import Any

from newron._version import __version__
from newron.exports.infix import Infix
from newron.exports.program import Program
from newron.exports.rule_program import RuleProgram
from newron.exports.text import quote_note
from newron.expressions.definitions import Definition
from newron.expressions.tree import Condition, Expression, Step
from newron.model.network import Layer
from newron.model.output import Classes
from newron.model.schema import Column

_WIDTH = 96  # of data


class _Section(Template):
    delimiter = "@"


@cache
def _read_sections(name: str) -> dict[str, str]:
    text = files("newron.exports").joinpath("runtime", name).read_text("utf-8")
    parts = re.split(r"^@@ (\w+)\n", text, flags=re.MULTILINE)
    return {title: part.rstrip("\n") for title, part in zip(parts[1::2], parts[2::2], strict=True)}


class SourceWriter(Infix):
    """Writes a program as the source of a language."""

    runtime: str
    """The file of sections."""
    indent, comment, end = "    ", "//", ";"
    local = "const {name} = {value};"
    """How a name of a definition is declared."""
    top_array: str
    """How the array of one value is declared that the choice among several classes reads."""
    otherwise: str
    """The condition of the last rule of a list."""

    def __init__(self, program: Program, name: str, rules: RuleProgram | None) -> None:
        self._program = program
        self._name = name
        self._rules = rules

    def _fill(self, section: str, **values: object) -> str:
        return _Section(self._read_section(section)).substitute(values)

    def _read_section(self, section: str) -> str:
        return _read_sections(self.runtime)[section]

    def _write(self, node: Expression | Condition) -> str:
        return self.print(node)

    def _write_step(self, step: Step) -> str:
        margin = "  " if self.comment == "#" else " "
        note = f"{margin}{self.comment} {quote_note(step.note)}" if step.note else ""
        value = self._write(step.expression)
        return f"{self.indent}{self.print_value(step.key)} = {value}{self.end}{note}"

    def _write_steps(self, steps: Iterable[Step]) -> str:
        return "\n".join(map(self._write_step, steps))

    # ---- sections ----

    argument_separator = ", "
    """What stands between the arguments of a definition."""

    def _write_definitions(self) -> list[str]:
        """Write the functions that the program uses."""
        return list(map(self._write_definition, self._program.definitions))

    def _write_definition(self, one: Definition) -> str:
        lines = [
            f"{self.indent}{self.local.format(name=name, value=self._write(part))}\n"
            for name, part in one.lines
        ]
        result = self._write(one.result)
        return self._fill(
            "definition",
            name=one.name,
            arguments=self.argument_separator.join(one.arguments),
            about=one.about,
            lines="".join(lines),
            result=result,
        )

    def _write_decision(self) -> list[str]:
        """Write how scores become probabilities and a class."""
        program = self._program
        if program.choice is None:
            return []
        # The highest score is a step of its own; it decides, too.
        several = len(program.scores) > 1
        top = [self.indent + self.top_array, self._write_step(program.shares[0])]
        section = self._fill(
            "decision",
            last=f"n{len(program.stages)}",
            n_shares=len(program.shares),
            shares=self._write_steps(program.shares),
            n_probabilities=len(program.probabilities),
            probabilities=self._write_steps(program.probabilities),
            top="".join(f"{line}\n" for line in top) if several else "",
            choice=self._write(program.choice),
        )
        return [section]

    def _write_holds(self, rules: RuleProgram) -> list[str]:
        """Write the condition of each rule, the last one's too."""
        conditions = [self.print(rule.condition) for rule in rules.rules]
        return [*conditions, self.otherwise] if rules.decides else conditions


class ModuleWriter(SourceWriter):
    """Writes a module of a language that has lists and dictionaries."""

    array: str
    """How an array of values is declared."""
    ranks: str
    """How the ranks are declared."""
    no_decision: str
    deciding: str
    """Where rules add points, and the position of the first rule that holds."""
    results: Sequence[str]
    class_results: Sequence[str]
    target_results: Sequence[str]
    rule_results: Sequence[str]
    """What ``explain`` returns."""

    refuse: str
    """The function that refuses rows without a value that must be there."""

    @staticmethod
    def write_atom(value: Any) -> str:
        """Write a constant."""
        return repr(value)

    def _write_model(self) -> str:
        head = write_head(self._program, self._name, self.comment)
        model = write_data(describe_model(self._program, self._name), self.write_atom)
        names = [c.name for c in self._program.model.schema.columns if c.required]
        wrap = (f"{self.refuse}(", ")") if names else ("", "")
        return self._fill("module", head=head, model=model, open=wrap[0], close=wrap[1])

    def _write_required(self) -> list[str]:
        """Write what refuses rows without a value that must be there."""
        names = [c.name for c in self._program.model.schema.columns if c.required]
        listed = f"[{', '.join(map(self.write_atom, names))}]"
        return [self._fill("required", names=listed)] if names else []

    def _write_compute(self) -> str:
        """Write the function that computes every value of the network."""
        program, lines = self._program, []
        if program.ranks:
            lines += [self.indent + self.ranks, *map(self._write_step, program.ranks)]
        for number, stage in enumerate(program.stages, 1):
            lines.append(f"{self.indent}{self.comment} layer {number}")
            for letter, steps in stage.arrays:
                if steps or letter == "h":
                    array = self.array.format(name=f"{letter}{number}", size=len(steps))
                    lines += [self.indent + array, *map(self._write_step, steps)]
        count = range(1, len(program.stages) + 1)
        return self._fill(
            "compute",
            body="\n".join(lines),
            functions=", ".join(f"h{number}" for number in count),
            neurons=", ".join(f"n{number}" for number in count),
        )

    def _write_rules(self) -> list[str]:
        """Write the rules, and the function that returns which hold for a row."""
        rules = self._rules
        if rules is None:
            return []
        section = self._fill(
            "rules",
            rules=write_data(describe_rules(rules), self.write_atom),
            holds="".join(f"{2 * self.indent}{line}\n" for line in self._write_items(rules)),
            inside=self._write(rules.inside),
            deciding=self.deciding if rules.decides else self.no_decision,
        )
        return [section]

    def _write_items(self, rules: RuleProgram) -> list[str]:
        items = [f"{condition}," for condition in self._write_holds(rules)]
        if rules.decides:
            items[-1] += f"{'  ' if self.comment == '#' else ' '}{self.comment} otherwise"
        return items

    def _write_answers(self) -> list[str]:
        """Write the functions that a user calls."""
        classes = self._program.choice is not None
        results = [*self.results, *(self.class_results if classes else self.target_results)]
        results += self.rule_results if self._rules is not None else ()
        explain = self._fill(
            "explain",
            results="\n".join(f"{2 * self.indent}{result}," for result in results),
            more="" if self._rules is None else ", and which rules hold",
        )
        return [self._fill("scores"), self._fill("classes" if classes else "targets"), explain]


# ---- metadata ----


def write_head(program: Program, name: str, mark: str) -> str:
    """Write which model this is, and what made it, as comments."""
    return (
        f"{mark} {quote_note(name)}: a network of newron {__version__},\n"
        f"{mark} fingerprint {program.model.fingerprint}; made by a program, edits are lost."
    )


def describe_model(program: Program, name: str) -> dict[str, Any]:
    """Return what comes with a model beside its code: enough to draw it."""
    model, output = program.model, program.model.output
    return {
        "name": name,
        "newron": __version__,
        "fingerprint": model.fingerprint,
        "columns": [_describe_column(column) for column in model.schema.columns],
        "layers": [
            _describe_layer(layer, [step.note for step in stage.neurons])
            for layer, stage in zip(model.layers, program.stages, strict=True)
        ],
        "classes": list(output.labels) if isinstance(output, Classes) else None,
        "targets": None if isinstance(output, Classes) else list(output.names),
    }


def _describe_column(column: Column) -> dict[str, Any]:
    return {
        "name": column.name,
        "unit": column.unit,
        "low": column.low,
        "high": column.high,
        "values": None if column.values is None else list(column.values),
        "categories": None if column.categories is None else list(column.categories),
        "gaps": column.gaps,
    }


def _describe_layer(layer: Layer, names: Sequence[str]) -> dict[str, Any]:
    """Describe a layer; a source is the number of a column, or of a neuron after all columns."""
    return {
        "processing": f"{layer.processing}",
        "aggregation": f"{layer.aggregation}",
        "activation": f"{layer.activation}",
        "neurons": [
            {"name": name, "centre": float(layer.offsets[j])} for j, name in enumerate(names)
        ],
        "functions": [
            {
                "neuron": int(layer.target[e]),
                "source": int(layer.source[e]),
                "weight": None if layer.alpha is None else float(layer.alpha[e]),
            }
            for e in range(len(layer.source))
        ],
    }


def describe_rules(rules: RuleProgram) -> dict[str, Any]:
    """Return what comes with the rules of a model beside their code."""
    return {
        "form": rules.ruleset.form,
        "text": rules.text,
        "proof": rules.proof,
        "rules": [
            {"text": rule.condition, "prediction": rule.to_dict()["prediction"]}
            for rule in rules.ruleset.rules
        ],
    }


def write_data(value: Any, write_atom: Callable[[Any], str], indent: str = "") -> str:
    """Write plain data with one line for whatever fits into one."""
    flat = _write_flat(value, write_atom)
    if len(flat) + len(indent) <= _WIDTH or not isinstance(value, dict | list):
        return flat
    deeper = indent + "  "
    if isinstance(value, dict):
        inner = [
            f"{write_atom(key)}: {write_data(part, write_atom, deeper)}"
            for key, part in value.items()
        ]
        opening, closing = "{", "}"
    else:
        inner = [write_data(part, write_atom, deeper) for part in value]
        opening, closing = "[", "]"
    lines = "".join(f"{deeper}{part},\n" for part in inner)
    return f"{opening}\n{lines}{indent}{closing}"


def _write_flat(value: Any, write_atom: Callable[[Any], str]) -> str:
    if isinstance(value, dict):
        parts = (f"{write_atom(k)}: {_write_flat(v, write_atom)}" for k, v in value.items())
        return f"{{{', '.join(parts)}}}"
    if isinstance(value, list):
        return f"[{', '.join(_write_flat(part, write_atom) for part in value)}]"
    return write_atom(value)
