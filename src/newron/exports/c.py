"""A model as one C99 header: static functions, no allocation, no library but the compiler's."""

from __future__ import annotations

from collections.abc import Sequence

from newron.errors import InputError
from newron.exports.definitions import Definition, collect_definitions
from newron.exports.expression import Key, Lookup, Step
from newron.exports.labels import has_text, tell_label
from newron.exports.metadata import write_head
from newron.exports.naming import Names, simplify
from newron.exports.printing import COMPARE, OR, Infix, Printed
from newron.exports.program import Program
from newron.exports.quoting import quote_c, quote_line, quote_note
from newron.exports.reading import Reading
from newron.model.output import Classes
from newron.model.schema import Column

__all__ = ["print_c"]

# What a value is called: h1[3] is function 3 of layer 1.
_ARRAYS = {"function": "h", "product": "p", "neuron": "n"}

# Words that are no names in C or in C++, which may include the header.
_KEYWORDS = (
    "alignas", "alignof", "and", "and_eq", "asm", "auto", "bitand", "bitor", "bool", "break",
    "case", "catch", "char", "class", "compl", "const", "constexpr", "const_cast", "continue",
    "decltype", "default", "delete", "do", "double", "dynamic_cast", "else", "enum", "explicit",
    "export", "extern", "false", "float", "for", "friend", "goto", "if", "inline", "int", "long",
    "mutable", "namespace", "new", "noexcept", "not", "not_eq", "nullptr", "operator", "or",
    "or_eq", "private", "protected", "public", "register", "reinterpret_cast", "restrict", "return",
    "short", "signed", "sizeof", "static", "static_assert", "static_cast", "struct", "switch",
    "template", "this", "thread_local", "throw", "true", "try", "typedef", "typeid", "typename",
    "typeof", "union", "unsigned", "using", "virtual", "void", "volatile", "wchar_t", "while",
    "xor", "xor_eq", "linux", "unix", "errno", "stdin", "stdout", "stderr",
)  # fmt: skip


def print_c(program: Program, name: str, reading: Reading | None = None) -> str:
    """Give the text of a header; with rules it tells which of them hold."""
    writer = _Writer(program, name)
    return writer.write(name, reading)


class _C(Infix):
    """Prints expressions of C; x holds the row's numbers and categories."""

    truths = "0", "1"
    fold = "\n        "

    def __init__(self, prefix: str) -> None:
        self._prefix = prefix
        self.tables: dict[tuple[float, ...], str] = {}
        """The numbers of categories, by the name of their array."""

    def print_number(self, value: float) -> str:
        return repr(value)

    def print_input(self, column: int) -> str:
        return f"x[{column}]"

    def print_value(self, key: Key) -> str:
        if key.kind in _ARRAYS:
            return f"v->{_ARRAYS[key.kind]}{key.layer}[{key.number}]"
        return f"{key.kind}[{key.number}]"

    def print_function(self, name: str, arguments: Sequence[str]) -> str:
        if len(arguments) > 2:  # by halves: the least of numbers has no order
            half = len(arguments) // 2
            parts = (arguments[:half], arguments[half:])
            arguments = [self.print_function(name, part) for part in parts]
        if len(arguments) == 1 and name in ("min", "max"):
            return arguments[0]
        return f"{self._prefix}_{name}({', '.join(arguments)})"

    def print_lookup(self, lookup: Lookup) -> str:
        known = self.tables.setdefault(lookup.values, f"{self._prefix}_levels_{len(self.tables)}")
        return f"{self._prefix}_look(x[{lookup.column}], {known}, {lookup.otherwise!r})"

    def print_missing(self, column: int) -> str:
        return f"{self._prefix}_missing(x[{column}])"

    def print_members(self, column: int, categories: tuple[int, ...]) -> Printed:
        asked = [f"x[{column}] == {float(place)!r}" for place in categories]
        return " || ".join(asked), OR if len(asked) > 1 else COMPARE

    def print_count(self, parts: Sequence[str]) -> str:
        return f"({' + '.join(f'({part})' for part in parts)})"


class _Writer:
    """Writes the header of one program."""

    def __init__(self, program: Program, name: str) -> None:
        self._program = program
        self._columns = program.model.schema.columns
        self._prefix = simplify(name).lower() or "model"
        names = Names(_KEYWORDS)
        self._fields = [
            names.take(simplify(column.name) or f"input_{i}")
            for i, column in enumerate(self._columns, 1)
        ]
        self._printer = _C(self._prefix)
        self._check()

    def _check(self) -> None:
        """Refuse texts that would end early in C."""
        for column in self._columns:
            for label in column.categories or ():
                if isinstance(label, str) and "\x00" in label:
                    raise InputError(
                        f"column {column.name!r}: expected categories without the character NUL "
                        f"for C, got {label!r}"
                    )

    def write(self, name: str, reading: Reading | None) -> str:
        """Write the header."""
        program, guard = self._program, f"NEWRON_{self._prefix.upper()}_H"
        bodies = [
            *map(self._print_definition, collect_definitions(program.expressions)),
            self._print_compute(),
            *self._print_answers(),
            *([] if reading is None else self._print_rules(reading)),
        ]
        tables = [
            f"static const double {table}[] = {{{_list(values)}}};"
            for values, table in self._printer.tables.items()
        ]
        parts = [
            f"{write_head(program, name, '//')}\n{self._fill(_USE)}",
            f"#ifndef {guard}\n#define {guard}",
            self._fill(_EXACT),
            self._print_row(),
            self._print_values(),
            self._print_outputs(),
            self._fill(_HELP),
            self._print_read(),
            *(["\n".join(tables)] if tables else []),
            *bodies,
            f"#endif // {guard}",
        ]
        return "\n\n".join(parts) + "\n"

    def _fill(self, text: str) -> str:
        return text.replace("PREFIX", self._prefix.upper()).replace("prefix", self._prefix)

    # ---- rows ----

    def _print_row(self) -> str:
        lines = [
            self._fill(f"#define PREFIX_COLUMNS {len(self._columns)}"),
            "",
            "// A row of the table; NAN and null pointers are missing.",
            "typedef struct {",
        ]
        for column, field in zip(self._columns, self._fields, strict=True):
            kind = "const char *" if _is_text(column) else "double "
            lines.append(f"    {kind}{field}; // {quote_note(column.name)}")
        return "\n".join([*lines, f"}} {self._prefix}_row;"])

    def _print_read(self) -> str:
        """Print how a row becomes numbers: categories by their places."""
        lines = [
            "// A row as numbers: categories by their place in the list, NAN where missing.",
            "// Gives -1 where a number is beyond 1e300, else 0.",
            self._fill("static inline int prefix_read(const prefix_row *row, double *x) {"),
        ]
        for i, (column, field) in enumerate(zip(self._columns, self._fields, strict=True)):
            if column.categories is None:
                lines.append(f"    x[{i}] = row->{field};")
                lines.append(f"    if (x[{i}] > 1e300 || x[{i}] < -1e300) return -1;")
            else:
                lines += self._print_places(i, column, field)
        return "\n".join([*lines, "    return 0;", "}"])

    def _print_places(self, i: int, column: Column, field: str) -> list[str]:
        labels = column.categories or ()
        if not labels:
            return [f"    x[{i}] = {self._prefix}_nan();"]
        if _is_text(column):
            kind, find = "char *const", "find_text"
            quoted = ", ".join(quote_c(tell_label(label)) for label in labels)
        else:
            kind, find = "double", "find_number"
            quoted = _list([float(label) for label in labels])
        called = f"{self._prefix}_{find}(row->{field}, labels_{i}, {len(labels)})"
        return [f"    static const {kind} labels_{i}[] = {{{quoted}}};", f"    x[{i}] = {called};"]

    # ---- outputs ----

    def _print_values(self) -> str:
        """Print the struct that holds the value of every function and neuron."""
        lines = [
            "// The value of every function (h) and neuron (n), layer by layer.",
            "typedef struct {",
        ]
        for number, stage in enumerate(self._program.stages, 1):
            sizes = (len(stage.functions), len(stage.products), len(stage.neurons))
            for letter, size in zip("hpn", sizes, strict=True):
                if size:
                    lines.append(f"    double {letter}{number}[{size}];")
        return "\n".join([*lines, f"}} {self._prefix}_values;"])

    def _print_outputs(self) -> str:
        output = self._program.model.output
        names = output.labels if isinstance(output, Classes) else output.names
        quoted = ", ".join(quote_c(tell_label(name)) for name in names)
        what = f"{self._prefix}_{'classes' if isinstance(output, Classes) else 'targets'}"
        lines = [
            f"#define {what.upper()} {len(names)}",
            f"static const char *const {what}[] = {{{quoted}}};",
        ]
        if isinstance(output, Classes) and not has_text(output.labels):
            values = _list([float(label) for label in output.labels])
            lines.append(f"static const double {self._prefix}_class_values[] = {{{values}}};")
        return "\n".join(lines)

    # ---- functions ----

    def _open(self, head: str) -> str:
        return self._fill(f"PREFIX_EXACT static inline {head} {{")

    def _print_definition(self, one: Definition) -> str:
        lines = [
            f"// {one.about}",
            self._open(f"double prefix_{one.name}(double x)"),
            *(f"    const double {name} = {self._printer.print(p)};" for name, p in one.lines),
            f"    return {self._printer.print(one.result)};",
        ]
        return "\n".join([*lines, "}"])

    def _print_compute(self) -> str:
        """Print the function that computes every value of the network."""
        program = self._program
        lines = [
            "// Every value for a row that has been read.",
            self._open("void prefix_compute(const double *x, prefix_values *v)"),
        ]
        if program.ranks:
            lines.append(f"    double rank[{len(self._columns)}];")
            lines += map(self._print_step, program.ranks)
        for stage in program.stages:
            for steps in (stage.functions, stage.products, stage.neurons):
                lines += map(self._print_step, steps)
        return "\n".join([*lines, "    (void)x;", "}"])

    def _print_step(self, step: Step) -> str:
        note = f" // {quote_note(step.note)}" if step.note else ""
        text = self._printer.print(step.expression)
        return f"    {self._printer.print_value(step.key)} = {text};{note}"

    def _print_answers(self) -> list[str]:
        """Print the functions that a user calls."""
        program = self._program
        n_scores, last = len(program.scores), f"n{len(program.stages)}"
        answers = [self._fill(_SCORES).replace("LAST", last).replace("COUNT", str(n_scores))]
        if program.choice is None:
            return answers
        # The highest score is a step of its own; it decides, too.
        first = program.shares[:1] if n_scores > 1 else ()
        choose = [
            "// The place of the class in the list.",
            self._open("int prefix_choose(const prefix_values *v)"),
            *(["    double share[1];"] if first else []),
            *map(self._print_step, first),
            f"    return (int)({self._printer.print(program.choice)});",
            "}",
        ]
        divide = [
            "// The probability of each class, in the order of the list.",
            self._open("void prefix_divide(const prefix_values *v, double *probability)"),
            f"    double share[{len(program.shares)}];",
            *map(self._print_step, program.shares),
            *map(self._print_step, program.probabilities),
            "}",
        ]
        return [*answers, "\n".join(choose), "\n".join(divide), self._fill(_CLASSES)]

    def _print_rules(self, reading: Reading) -> list[str]:
        """Print the rules, and the functions that tell which hold for a row."""
        notes = [
            f"// {quote_line(line)}" for line in f"{reading.text}\n{reading.proof}".split("\n")
        ]
        names = [
            *notes,
            self._fill(f"#define PREFIX_RULES {len(reading.texts)}"),
            self._fill("static const char *const prefix_rules[] = {"),
            *(f"    {quote_c(text)}," for text in reading.texts),
            "};",
        ]
        decides = reading.default is not None
        conditions = [self._printer.print(rule.condition) for rule in reading.rules]
        conditions += ["1"] if decides else []
        holds = [
            "// Which rules hold for a row that has been read. Gives 1 if it lies in the domain",
            "// for which the rules are told, else 0.",
            self._fill("static inline int prefix_holds(const double *x, int *holds) {"),
            *(f"    holds[{k}] = {text};" for k, text in enumerate(conditions)),
            "    (void)x;",
            f"    return {self._printer.print(reading.inside)};",
            "}",
        ]
        parts = ["\n".join(names), "\n".join(holds)]
        return [*parts, self._fill(_RULE)] if decides else parts


def _is_text(column: Column) -> bool:
    return column.categories is not None and has_text(column.categories)


def _list(values: Sequence[float]) -> str:
    return ", ".join(repr(float(value)) for value in values)


_USE = """\
//
// Fill a prefix_row and call prefix_predict, prefix_predict_proba or prefix_scores. Numbers and
// categories that are numbers are double, NAN where missing; categories that are texts are
// strings in UTF-8, a null pointer where missing. A category that is not listed is missing, too.
// Functions give -1 where a number is beyond 1e300. Nothing is allocated, nothing is kept."""

_EXACT = """\
#include <float.h>
#include <stdint.h>
#include <string.h>

// The same bits as the model: no reordering, no fused multiply-add, no wider registers.
#if defined(__FAST_MATH__)
#error "expected a compiler that keeps the order of operations: drop -ffast-math"
#endif
#if FLT_EVAL_METHOD != 0 && FLT_EVAL_METHOD != 16
#error "expected double arithmetic in double: on 32-bit x86 add -msse2 -mfpmath=sse"
#endif
#if defined(__clang__)
#pragma STDC FP_CONTRACT OFF
#define PREFIX_EXACT
#elif defined(__GNUC__)
#define PREFIX_EXACT __attribute__((optimize("fp-contract=off")))
#else
#define PREFIX_EXACT
#endif"""

_HELP = """\
static inline int prefix_missing(double x) { return x != x; }

static inline double prefix_abs(double x) { return x < 0.0 ? -x : x; }

static inline double prefix_min(double x, double y) { return y < x ? y : x; }

static inline double prefix_max(double x, double y) { return y > x ? y : x; }

static inline double prefix_bits(uint64_t bits) {
    double x;
    memcpy(&x, &bits, sizeof x);
    return x;
}

static inline double prefix_nan(void) { return prefix_bits(UINT64_C(0x7ff8000000000000)); }

// x times two to the power of n, exactly.
static inline double prefix_ldexp(double x, double n) {
    return x * prefix_bits((uint64_t)((int)n + 1023) << 52);
}

static inline double prefix_find_text(const char *text, const char *const *labels, int n) {
    for (int i = 0; text != 0 && i < n; i++) {
        if (strcmp(text, labels[i]) == 0) return i;
    }
    return prefix_nan();
}

static inline double prefix_find_number(double x, const double *labels, int n) {
    for (int i = 0; i < n; i++) {
        if (x == labels[i]) return i;
    }
    return prefix_nan();
}

static inline double prefix_look(double place, const double *values, double otherwise) {
    return place >= 0.0 ? values[(int)place] : otherwise;
}"""

_SCORES = """\
// Every function and neuron of a row. Gives -1 where a number is beyond 1e300, else 0.
static inline int prefix_explain(const prefix_row *row, prefix_values *v) {
    double x[PREFIX_COLUMNS];
    if (prefix_read(row, x) != 0) return -1;
    prefix_compute(x, v);
    return 0;
}

// A score for the second of two classes, or for each of more; of amounts, each of them.
static inline int prefix_scores(const prefix_row *row, double scores[COUNT]) {
    prefix_values v;
    if (prefix_explain(row, &v) != 0) return -1;
    memcpy(scores, v.LAST, sizeof v.LAST);
    return 0;
}"""

_CLASSES = """\
// The place of the class in the list, or -1 where a number is beyond 1e300.
static inline int prefix_predict(const prefix_row *row) {
    prefix_values v;
    return prefix_explain(row, &v) == 0 ? prefix_choose(&v) : -1;
}

// The probability of each class. Gives -1 where a number is beyond 1e300, else 0.
static inline int prefix_predict_proba(const prefix_row *row,
                                       double probability[PREFIX_CLASSES]) {
    prefix_values v;
    if (prefix_explain(row, &v) != 0) return -1;
    prefix_divide(&v, probability);
    return 0;
}"""

_RULE = """\
// The place of the rule that decides, the first that holds; -1 outside the domain.
static inline int prefix_rule(const prefix_row *row) {
    double x[PREFIX_COLUMNS];
    int holds[PREFIX_RULES], k = 0;
    if (prefix_read(row, x) != 0 || !prefix_holds(x, holds)) return -1;
    while (!holds[k]) k++;
    return k;
}"""
