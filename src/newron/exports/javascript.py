"""A model as one ES module: no imports, no state, safe to put into a page."""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import Any

from newron.exports.definitions import Definition, collect_definitions
from newron.exports.expression import Key, Lookup, Step
from newron.exports.metadata import describe_model, describe_rules, write_head
from newron.exports.printing import ATOM, Infix, Printed
from newron.exports.program import Program
from newron.exports.quoting import quote_json, quote_note, write_data
from newron.exports.reading import Reading
from newron.model.description import format_number

__all__ = ["print_javascript"]

_SAFE = 2**53 - 1  # the largest whole number that JavaScript tells from its neighbours

# What a value is called: h1[3] is function 3 of layer 1.
_ARRAYS = {"function": "h", "product": "p", "neuron": "n"}
_SINGLE = {"rank": "rank", "share": "share", "probability": "probability"}
_FUNCTIONS = {"abs": "Math.abs", "min": "Math.min", "max": "Math.max"}


def print_javascript(program: Program, name: str, reading: Reading | None = None) -> str:
    """Give the text of an ES module; with rules ``explain`` tells which of them decided."""
    parts = [
        f"{write_head(program, name, '//')}\n{_USE}",
        f"export const model = {write_data(describe_model(program, name), _write_atom)};",
        _READ,
        *(_print_definition(one) for one in collect_definitions(program.expressions)),
        _print_compute(program),
        *([] if reading is None else _print_rules(reading)),
        _TELL,
        *_print_answers(program, rules=reading is not None),
    ]
    if any("ldexp(" in part for part in parts):
        parts.insert(3, _LDEXP)
    return "\n\n".join(parts) + "\n"


def _write_atom(value: Any) -> str:
    if isinstance(value, str):
        return quote_json(value)
    if isinstance(value, int) and not isinstance(value, bool) and abs(value) > _SAFE:
        return f"{value}n"
    return json.dumps(value)


class _JavaScript(Infix):
    """Prints expressions of JavaScript; x holds the row's numbers and categories."""

    def print_number(self, value: float) -> str:
        return format_number(value)

    def print_input(self, column: int) -> str:
        return f"x[{column}]"

    def print_value(self, key: Key) -> str:
        if key.kind in _ARRAYS:
            return f"{_ARRAYS[key.kind]}{key.layer}[{key.number}]"
        return f"{_SINGLE[key.kind]}[{key.number}]"

    def print_function(self, name: str, arguments: Sequence[str]) -> str:
        return f"{_FUNCTIONS.get(name, name)}({', '.join(arguments)})"

    def print_lookup(self, lookup: Lookup) -> str:
        values = ", ".join(map(format_number, lookup.values))
        otherwise = format_number(lookup.otherwise)
        return f"look(x[{lookup.column}], [{values}], {otherwise})"

    def print_missing(self, column: int) -> str:
        return f"Number.isNaN(x[{column}])"

    def print_members(self, column: int, categories: tuple[int, ...]) -> Printed:
        return f"[{', '.join(map(str, categories))}].includes(x[{column}])", ATOM

    def print_count(self, parts: Sequence[str]) -> str:
        return f"({' + '.join(f'({part})' for part in parts)})"


_PRINTER = _JavaScript()


def _print_definition(one: Definition) -> str:
    lines = [f"// {one.about}", f"function {one.name}(x) {{"]
    lines += [f"  const {name} = {_PRINTER.print(part)};" for name, part in one.lines]
    return "\n".join([*lines, f"  return {_PRINTER.print(one.result)};", "}"])


def _print_compute(program: Program) -> str:
    """Print the function that computes every value of the network."""
    lines = ["// The value of every function and neuron, layer by layer.", "function compute(x) {"]
    if program.ranks:
        lines += ["  const rank = [];", *map(_print_step, program.ranks)]
    for number, stage in enumerate(program.stages, 1):
        lines.append(f"  // layer {number}")
        for letter, steps in zip(
            "hpn", (stage.functions, stage.products, stage.neurons), strict=True
        ):
            if steps or letter == "h":
                lines += [f"  const {letter}{number} = [];", *map(_print_step, steps)]
    count = range(1, len(program.stages) + 1)
    functions = ", ".join(f"h{number}" for number in count)
    neurons = ", ".join(f"n{number}" for number in count)
    lines.append(f"  return {{ functions: [{functions}], neurons: [{neurons}] }};")
    return "\n".join([*lines, "}", *_print_decision(program)])


def _print_decision(program: Program) -> list[str]:
    if program.choice is None:
        return []
    last = f"n{len(program.stages)}"
    shares = [_print_step(step) for step in program.shares]
    top = [_print_step(step) for step in program.shares[:1]] if len(program.scores) > 1 else []
    return [
        "",
        f"function share({last}) {{",
        "  const share = [], probability = [];",
        *shares,
        *map(_print_step, program.probabilities),
        "  return probability;",
        "}",
        "",
        "// The place of the class among model.classes.",
        f"function choose({last}) {{",
        *(["  const share = [];", *top] if top else []),
        f"  return {_PRINTER.print(program.choice)};",
        "}",
    ]


def _print_step(step: Step) -> str:
    note = f" // {quote_note(step.note)}" if step.note else ""
    return f"  {_PRINTER.print_value(step.key)} = {_PRINTER.print(step.expression)};{note}"


_USE = """\
//
// predict(row), predictProba(row), scores(row) and explain(row) take an object with a
// value for each column, or an array in the order of the columns. null, undefined and
// NaN are missing; so is a category that is not listed."""

_READ = """\
// A row as numbers: categories by their place in the list, NaN for what is missing.
const mixed = model.columns.map(({ categories }) =>
  categories !== null && categories.some((label) => typeof label === "string"));
const places = model.columns.map(({ categories }, i) =>
  categories === null ? null : new Map(categories.map((label, k) => [key(label, i), k])));

function key(value, i) {
  if (typeof value === "bigint" && BigInt(Number(value)) === value) return Number(value);
  // Beside text true is not 1, as it is among numbers.
  return typeof value === "boolean" && !mixed[i] ? Number(value) : value;
}

function read(row) {
  if (Array.isArray(row) && row.length !== model.columns.length) {
    throw new TypeError(`expected ${model.columns.length} values, got ${row.length}`);
  }
  return model.columns.map(({ name }, i) => {
    if (Array.isArray(row)) return readValue(row[i], i);
    if (Object.prototype.hasOwnProperty.call(row, name)) return readValue(row[name], i);
    const where = JSON.stringify(name);
    throw new TypeError(`expected a value of ${where}, got none; give null if it is unknown`);
  });
}

function readValue(value, i) {
  const { name, categories } = model.columns[i];
  if (value === null || value === undefined || Number.isNaN(value)) return NaN;
  if (categories !== null) return places[i].get(key(value, i)) ?? NaN;
  const known = ["number", "boolean", "bigint"].includes(typeof value);
  if (known && Math.abs(Number(value)) <= 1e300) return Number(value);
  const where = JSON.stringify(name);
  throw new TypeError(`expected a number within 1e300 for ${where}, got ${value}`);
}

function look(place, values, otherwise) {
  return place >= 0 ? values[place] : otherwise;
}"""

_LDEXP = """\
// x times two to the power of n, exactly.
const bits = new DataView(new ArrayBuffer(8));
function ldexp(x, n) {
  bits.setUint32(0, (n + 1023) << 20);
  return x * bits.getFloat64(0);
}"""

_TELL = """\
// A row as people know it: labels of categories, null for what is missing.
function tell(x) {
  return x.map((value, i) => {
    if (Number.isNaN(value)) return null;
    return model.columns[i].categories === null ? value : model.columns[i].categories[value];
  });
}"""

_SCORES = """\
// A score for the second of two classes, or for each of more; of amounts, each of them.
export function scores(row) {
  return compute(read(row)).neurons.at(-1);
}"""

_CLASSES = """\
// A probability for each of model.classes.
export function predictProba(row) {
  return share(scores(row));
}

// The class.
export function predict(row) {
  return model.classes[choose(scores(row))];
}"""

_AMOUNTS = """\
// The amount; of several, an array.
export function predict(row) {
  const amounts = scores(row);
  return amounts.length === 1 ? amounts[0] : amounts;
}"""


def _print_answers(program: Program, *, rules: bool) -> list[str]:
    """Print the functions that a user calls."""
    classes = program.choice is not None
    told = ["inputs: tell(x)", "functions", "neurons", "scores: last"]
    if classes:
        told += ["probabilities: share(last)", "prediction: model.classes[choose(last)]"]
    else:
        told += ["prediction: last.length === 1 ? last[0] : last"]
    told += ["rules: follow(x)"] if rules else []
    explain = [
        "// The row as read, the value of every function and neuron by layer, what follows from",
        "// them" + (", and which rules hold." if rules else "."),
        "export function explain(row) {",
        "  const x = read(row);",
        "  const { functions, neurons } = compute(x);",
        "  const last = neurons.at(-1);",
        "  return {",
        *(f"    {part}," for part in told),
        "  };",
        "}",
    ]
    return [_SCORES, _CLASSES if classes else _AMOUNTS, "\n".join(explain)]


def _print_rules(reading: Reading) -> list[str]:
    """Print the rules, and the function that tells which hold for a row."""
    decides = reading.default is not None
    deciding = "holds.indexOf(true)" if decides else "null"
    follow = [
        "// Which rules hold, and the place of the one that decides; where rules add points none",
        "// does. inside tells whether the row lies in the domain for which the rules are told.",
        "function follow(x) {",
        "  const holds = [",
        *(f"    {_PRINTER.print(rule.condition)}," for rule in reading.rules),
        *(["    true, // otherwise"] if decides else []),
        "  ];",
        f"  const inside = {_PRINTER.print(reading.inside)};",
        f"  return {{ inside, holds, deciding: {deciding} }};",
        "}",
    ]
    told = write_data(describe_rules(reading), _write_atom)
    return [f"export const rules = {told};", "\n".join(follow)]
