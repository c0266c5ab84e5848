"""A model as one file of Python that needs the standard library alone."""

from __future__ import annotations

from collections.abc import Sequence

from newron.exports.definitions import Definition, collect_definitions
from newron.exports.expression import Condition, Expression, Key, Lookup, Step
from newron.exports.metadata import describe_model, describe_rules, write_head
from newron.exports.printing import COMPARE, Infix, Printed
from newron.exports.program import Program
from newron.exports.quoting import quote_note, write_data
from newron.exports.reading import Reading

__all__ = ["print_python"]

# What a value is called: h1[3] is function 3 of layer 1.
_ARRAYS = {"function": "h", "product": "p", "neuron": "n"}


def print_python(program: Program, name: str, reading: Reading | None = None) -> str:
    """Give the text of a module; with rules ``explain`` tells which of them decided."""
    parts = [
        f"{write_head(program, name, '#')}\n{_HEAD}",
        f"MODEL = {write_data(describe_model(program, name), repr)}",
        _READ,
        *(_print_definition(one) for one in collect_definitions(program.expressions)),
        _print_compute(program),
        *_print_decision(program),
        *([] if reading is None else _print_rules(reading)),
        *_print_answers(program, rules=reading is not None),
        _SCRIPT,
    ]
    return "\n\n\n".join(parts) + "\n"


class _Python(Infix):
    """Prints expressions of Python; x holds the row's numbers and categories."""

    also, either = "and", "or"
    truths = "False", "True"
    fold = "\n        "

    def print_number(self, value: float) -> str:
        return repr(value)

    def print_input(self, column: int) -> str:
        return f"x[{column}]"

    def print_value(self, key: Key) -> str:
        if key.kind in _ARRAYS:
            return f"{_ARRAYS[key.kind]}{key.layer}[{key.number}]"
        return f"{key.kind}[{key.number}]"

    def print_function(self, name: str, arguments: Sequence[str]) -> str:
        return f"{name}({', '.join(arguments)})"

    def print_lookup(self, lookup: Lookup) -> str:
        values = ", ".join(map(repr, lookup.values))
        return f"look(x[{lookup.column}], ({values},), {lookup.otherwise!r})"

    def print_missing(self, column: int) -> str:
        return f"isnan(x[{column}])"

    def print_members(self, column: int, categories: tuple[int, ...]) -> Printed:
        return f"x[{column}] in ({', '.join(map(str, categories))},)", COMPARE

    def print_count(self, parts: Sequence[str]) -> str:
        return f"({' + '.join(f'({part})' for part in parts)})"

    def print_choice(self, condition: str, yes: str, no: str) -> str:
        return f"{yes} if {condition} else {no}"


_PRINTER = _Python()


def _print_definition(one: Definition) -> str:
    lines = [f"def {one.name}(x):", f'    """Give {one.about}."""']
    lines += [f"    {name} = {_print(part)}" for name, part in one.lines]
    return "\n".join([*lines, f"    return {_print(one.result)}"])


def _print(node: Expression | Condition) -> str:
    """Print an expression, in brackets where it takes several lines."""
    text = _PRINTER.print(node)
    return f"({text})" if "\n" in text else text


def _print_compute(program: Program) -> str:
    """Print the function that computes every value of the network."""
    lines = ["def compute(x):", '    """Give the value of every function and neuron, by layer."""']
    if program.ranks:
        lines += ["    rank = {}", *map(_print_step, program.ranks)]
    for number, stage in enumerate(program.stages, 1):
        lines.append(f"    # layer {number}")
        for letter, steps in zip(
            "hpn", (stage.functions, stage.products, stage.neurons), strict=True
        ):
            if steps or letter == "h":
                lines += [f"    {letter}{number} = [0.0] * {len(steps)}", *map(_print_step, steps)]
    count = range(1, len(program.stages) + 1)
    functions = ", ".join(f"h{number}" for number in count)
    neurons = ", ".join(f"n{number}" for number in count)
    return "\n".join([*lines, f"    return [{functions}], [{neurons}]"])


def _print_decision(program: Program) -> list[str]:
    if program.choice is None:
        return []
    last = f"n{len(program.stages)}"
    # The highest score is a step of its own; it decides, too.
    first = program.shares[:1] if len(program.scores) > 1 else ()
    share = [
        f"def divide({last}):",
        '    """Give the probability of each class."""',
        f"    share = [0.0] * {len(program.shares)}",
        *map(_print_step, program.shares),
        f"    probability = [0.0] * {len(program.probabilities)}",
        *map(_print_step, program.probabilities),
        "    return probability",
    ]
    choose = [
        f"def choose({last}):",
        '    """Give the place of the class in the list."""',
        *(["    share = [0.0]"] if first else []),
        *map(_print_step, first),
        f"    return int({_print(program.choice)})",
    ]
    return ["\n".join(share), "\n".join(choose)]


def _print_step(step: Step) -> str:
    note = f"  # {quote_note(step.note)}" if step.note else ""
    return f"    {_PRINTER.print_value(step.key)} = {_print(step.expression)}{note}"


def _print_rules(reading: Reading) -> list[str]:
    """Print the rules, and the function that tells which hold for a row."""
    decides = reading.default is not None
    follow = [
        "def follow(x):",
        '    """Tell which rules hold, and the place of the one that decides.',
        "",
        "    Where rules add points none does. inside tells whether the row lies in the domain",
        "    for which the rules are told.",
        '    """',
        "    holds = [",
        *(f"        {_PRINTER.print(rule.condition)}," for rule in reading.rules),
        *(["        True,  # otherwise"] if decides else []),
        "    ]",
        f"    inside = {_print(reading.inside)}",
        f"    deciding = {'holds.index(True)' if decides else None}",
        '    return {"inside": inside, "holds": holds, "deciding": deciding}',
    ]
    return [f"RULES = {write_data(describe_rules(reading), repr)}", "\n".join(follow)]


def _print_answers(program: Program, *, rules: bool) -> list[str]:
    """Print the functions that a user calls."""
    classes = program.choice is not None
    told = {
        "inputs": "tell(x)",
        "functions": "functions",
        "neurons": "neurons",
        "scores": "neurons[-1]",
    }
    if classes:
        told["probabilities"] = "divide(neurons[-1])"
        told["prediction"] = 'MODEL["classes"][choose(neurons[-1])]'
    else:
        told["prediction"] = "neurons[-1] if len(neurons[-1]) > 1 else neurons[-1][0]"
    if rules:
        told["rules"] = "follow(x)"
    explain = [
        "def explain(row):",
        '    """Give the row as read, every function and neuron by layer, and what follows."""',
        "    x = read(row)",
        "    functions, neurons = compute(x)",
        "    return {",
        *(f'        "{key}": {value},' for key, value in told.items()),
        "    }",
    ]
    return [_SCORES, _CLASSES if classes else _AMOUNTS, "\n".join(explain)]


_HEAD = '''\
"""A network as one file that needs the standard library of Python alone.

predict(row), predict_proba(row), scores(row) and explain(row) take a mapping with a value for
each column, or a sequence in the order of the columns. None and NaN are missing; so is a
category that is not listed. As a script it reads rows and writes what it predicts:

    python model.py rows.csv
    python model.py rows.json    (a list of rows, or one on each line)
"""

import csv
import json
import math
import sys
from collections.abc import Mapping
from math import isnan'''

_READ = '''\
MIXED = [
    any(isinstance(label, str) for label in column["categories"] or [])
    for column in MODEL["columns"]
]


def mark(value, i):
    """Give what a category is looked up by: beside text True is not 1, as among numbers."""
    return ("flag", value) if MIXED[i] and isinstance(value, bool) else value


PLACES = [
    {mark(label, i): k for k, label in enumerate(column["categories"] or [])}
    for i, column in enumerate(MODEL["columns"])
]


def read(row):
    """Give a row as numbers: categories by their place in the list, NaN where missing."""
    names = [column["name"] for column in MODEL["columns"]]
    if isinstance(row, Mapping):
        for name in names:
            if name not in row:
                raise ValueError(f"expected a value of {name!r}, got none; None if it is unknown")
        row = [row[name] for name in names]
    if len(row) != len(names):
        raise ValueError(f"expected {len(names)} values, got {len(row)}")
    return [read_value(value, i) for i, value in enumerate(row)]


def read_value(value, i):
    """Give one value as a number."""
    name, categories = MODEL["columns"][i]["name"], MODEL["columns"][i]["categories"]
    if value is None or value != value:
        return math.nan
    if categories is not None:
        return PLACES[i].get(mark(value, i), math.nan)
    try:
        number = math.inf if isinstance(value, str) else float(value)
    except (TypeError, OverflowError):
        number = math.inf
    if not abs(number) <= 1e300:
        raise ValueError(f"expected a number within 1e300 for {name!r}, got {value!r}")
    return number


def tell(x):
    """Give a row as people know it: labels of categories, None for what is missing."""
    labels = [column["categories"] for column in MODEL["columns"]]
    return [
        None if isnan(value) else value if labels[i] is None else labels[i][value]
        for i, value in enumerate(x)
    ]


def look(place, values, otherwise):
    """Give the number of a category, or another one where it is missing."""
    return otherwise if isnan(place) else values[place]


def ldexp(x, n):
    """Give x times two to the power of n."""
    return math.ldexp(x, int(n))'''

_SCORES = '''\
def scores(row):
    """Give a score for the second of two classes, or for each of more; of amounts, each."""
    return compute(read(row))[1][-1]'''

_CLASSES = '''\
def predict_proba(row):
    """Give the probability of each class, in the order of the list."""
    return divide(scores(row))


def predict(row):
    """Give the class."""
    return MODEL["classes"][choose(scores(row))]'''

_AMOUNTS = '''\
def predict(row):
    """Give the amount; of several, a list."""
    amounts = scores(row)
    return amounts if len(amounts) > 1 else amounts[0]'''

_SCRIPT = '''\
# ---- as a script ----


# Labels that are no text, by what a CSV file may call them.
WORDS = [
    {str(x).lower(): x for x in column["categories"] or [] if not isinstance(x, str)}
    for column in MODEL["columns"]
]


def parse(text, i):
    """Give the value that a cell of a CSV file means."""
    if MODEL["columns"][i]["categories"] is None:
        try:
            return float(text) if text.strip() else None
        except ValueError:
            return text
    if text in PLACES[i] or not WORDS[i]:
        return text
    try:
        # A number may be written in many ways.
        return WORDS[i][text.lower()] if text.lower() in WORDS[i] else float(text)
    except ValueError:
        return text


def read_csv(file):
    """Give the rows of a CSV file whose first line names its columns; others are left out."""
    for line, row in enumerate(csv.DictReader(file), 2):
        for i, column in enumerate(MODEL["columns"]):
            if row.get(column["name"]) is None:
                raise ValueError(f"line {line}: expected a value of {column['name']!r}, got none")
            row[column["name"]] = parse(row[column["name"]], i)
        yield row


def read_json(file):
    """Give the rows of a JSON file: a list, or one on each line."""
    text = file.read()
    if text.lstrip().startswith("["):
        return json.loads(text)
    return (json.loads(line) for line in text.splitlines() if line.strip())


def write(rows, out):
    """Write what is predicted of each row, and the probabilities, as CSV."""
    writer = csv.writer(out, lineterminator="\\n")
    classes = MODEL["classes"]
    if classes is None:
        writer.writerow(MODEL["targets"])
    else:
        writer.writerow(["prediction", *(f"probability of {label}" for label in classes)])
    for row in rows:
        if classes is None:
            writer.writerow(scores(row))
        else:
            told = explain(row)
            writer.writerow([told["prediction"], *told["probabilities"]])


def main(arguments):
    """Read the file that is named, or standard input as CSV."""
    if len(arguments) > 1 or arguments[:1] in (["-h"], ["--help"]):
        print(__doc__)
        return 0 if len(arguments) == 1 else 2
    try:
        if not arguments:
            write(read_csv(sys.stdin), sys.stdout)
            return 0
        with open(arguments[0], newline="", encoding="utf-8-sig") as file:
            as_json = arguments[0].lower().endswith((".json", ".jsonl", ".ndjson"))
            write(read_json(file) if as_json else read_csv(file), sys.stdout)
        return 0
    except (OSError, ValueError) as error:
        print(f"error: {error}", file=sys.stderr)
        return 2


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))'''
