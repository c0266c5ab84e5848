"""A model as one C99 header: static functions, no allocation, no library but the compiler's."""

from __future__ import annotations

import re
from collections.abc import Sequence

from newron.errors import InputError
from newron.exports.infix import COMPARE, OR, Printed
from newron.exports.program import Program
from newron.exports.rule_program import RuleProgram
from newron.exports.source import SourceWriter, write_head
from newron.exports.text import (
    Names,
    has_text,
    label_text,
    quote_c,
    quote_line,
    quote_note,
    simplify,
)
from newron.expressions.tree import Lookup
from newron.model.output import Classes
from newron.model.schema import Column

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

# Macros that stand for something else wherever their name is written: those of the headers of the
# standard, of compilers (linux) and of Windows (near). A column of such a name gets an underscore.
_MACROS = re.compile(
    r"NULL|EOF|NAN|INFINITY|I|TRUE|FALSE|NDEBUG|BUFSIZ|DECIMAL_DIG|P_tmpdir|RAND_MAX|TIME_UTC|EDOM|"
    r"ERANGE|EILSEQ|MAXFLOAT|DOMAIN|SING|OVERFLOW|UNDERFLOW|PLOSS|TLOSS|HUGE|SIG(?:ABRT|FPE|ILL|INT|"
    r"SEGV|TERM)|(?:FLT|DBL|LDBL|DEC32|DEC64|DEC128|HUGE|FP|M|L|LC|MATH|SEEK|EXIT|CLOCKS|SIG|SNAN)_\w+|"
    r"\w+_(?:MAX|MIN|BIT|WIDTH)|complex|imaginary|math_errhandling|i386|near|far|small|interface"
)


def print_c(program: Program, name: str, rules: RuleProgram | None = None) -> str:
    """Return the text of a header; with rules it has which of them hold."""
    return _C(program, name, rules).write()


class _C(SourceWriter):
    runtime = "model.h.in"
    truths = "0", "1"
    values = "v->"
    fold = "\n        "
    local, top_array, otherwise = "const double {name} = {value};", "double share[1];", "1"

    def __init__(self, program: Program, name: str, rules: RuleProgram | None) -> None:
        super().__init__(program, name, rules)
        self._prefix = simplify(name).lower() or "model"
        self.missing = f"{self._prefix}_missing(x[{{column}}])"
        self._columns = program.model.schema.columns
        names = Names(_KEYWORDS)
        self._fields = [
            names.take(self._name_field(column.name) or f"input_{i}")
            for i, column in enumerate(self._columns, 1)
        ]
        self._tables: dict[tuple[float, ...], str] = {}  # the names of arrays of numbers
        self._check_labels()

    def _name_field(self, column: str) -> str:
        """Return the name of a column as a field's, if it has letters."""
        name, prefix = simplify(column), self._prefix.upper()
        own = name.startswith(f"{prefix}_") or name == f"NEWRON_{prefix}_H"
        return f"{name}_" if own or _MACROS.fullmatch(name) else name

    def _check_labels(self) -> None:
        """Raise an error for texts that would end early in C."""
        for column in self._columns:
            for label in column.categories or ():
                if isinstance(label, str) and "\x00" in label:
                    raise InputError(
                        f"column {column.name!r}: expected categories without the character NUL "
                        f"for C, got {label!r}"
                    )

    def _read_section(self, section: str) -> str:
        text = super()._read_section(section)
        return text.replace("PREFIX", self._prefix.upper()).replace("prefix", self._prefix)

    def write(self) -> str:
        """Return the text of the header."""
        program = self._program
        functions = [*self._write_definitions(), self._write_compute(), self._write_scores()]
        functions += [*self._write_decision(), *self._write_rules()]
        tables = [
            f"static const double {table}[] = {{{_list(values)}}};"
            for values, table in self._tables.items()
        ]
        parts = [
            self._fill(
                "header",
                head=write_head(program, self._name, "//"),
                math="#include <math.h>\n" if any("sqrt(" in text for text in functions) else "",
                n_columns=len(self._columns),
                fields="\n".join(self._write_fields()),
                arrays="\n".join(self._write_arrays()),
                outputs=self._write_outputs(),
                read="\n".join(self._write_read()),
            ),
            *(["\n".join(tables)] if tables else []),
            *functions,
            f"#endif // NEWRON_{self._prefix.upper()}_H",
        ]
        return "\n\n".join(parts) + "\n"

    # ---- expressions ----

    argument_separator = ", double "

    def print_function(self, name: str, arguments: Sequence[str]) -> str:
        if name == "sqrt":
            return f"sqrt({arguments[0]})"
        if len(arguments) > 2 and name in ("min", "max"):  # by halves: a minimum has no order
            half = len(arguments) // 2
            parts = (arguments[:half], arguments[half:])
            arguments = [self.print_function(name, part) for part in parts]
        if len(arguments) == 1 and name in ("min", "max"):
            return arguments[0]
        return f"{self._prefix}_{name}({', '.join(arguments)})"

    def print_lookup(self, lookup: Lookup) -> str:
        table = self._tables.setdefault(lookup.values, f"{self._prefix}_levels_{len(self._tables)}")
        return f"{self._prefix}_look(x[{lookup.column}], {table}, {lookup.otherwise!r})"

    def print_members(self, column: int, categories: tuple[int, ...]) -> Printed:
        parts = [f"x[{column}] == {float(k)!r}" for k in categories]
        return " || ".join(parts), OR if len(parts) > 1 else COMPARE

    # ---- rows ----

    def _write_fields(self) -> list[str]:
        return [
            f"    {'const char *' if _is_text(column) else 'double '}{field}; "
            f"// {quote_note(column.name)}"
            for column, field in zip(self._columns, self._fields, strict=True)
        ]

    def _write_read(self) -> list[str]:
        """Write how a row becomes numbers: categories by their numbers."""
        lines = []
        for i, (column, field) in enumerate(zip(self._columns, self._fields, strict=True)):
            if column.categories is None:
                lines.append(f"    x[{i}] = row->{field};")
                lines.append(f"    if (x[{i}] >= 1e300 || x[{i}] <= -1e300) return -1;")
            else:
                lines += self._write_categories(i, column, field)
            if column.required:
                lines.append(f"    if ({self.missing.format(column=i)}) return -1;  // required")
        return lines

    def _write_categories(self, i: int, column: Column, field: str) -> list[str]:
        labels = column.categories or ()
        if not labels:
            return [f"    x[{i}] = {self._prefix}_nan();"]
        if _is_text(column):
            kind, find = "char *const", "find_text"
            quoted = ", ".join(quote_c(label_text(label)) for label in labels)
        else:
            kind, find = "double", "find_number"
            quoted = _list([float(label) for label in labels])
        called = f"{self._prefix}_{find}(row->{field}, labels_{i}, {len(labels)})"
        return [f"    static const {kind} labels_{i}[] = {{{quoted}}};", f"    x[{i}] = {called};"]

    # ---- values ----

    def _write_arrays(self) -> list[str]:
        """Write the members of the struct that holds the value of every function and neuron."""
        return [
            f"    double {letter}{number}[{len(steps)}];"
            for number, stage in enumerate(self._program.stages, 1)
            for letter, steps in stage.arrays
            if steps
        ]

    def _write_outputs(self) -> str:
        output = self._program.model.output
        names = output.labels if isinstance(output, Classes) else output.names
        quoted = ", ".join(quote_c(label_text(name)) for name in names)
        what = f"{self._prefix}_{'classes' if isinstance(output, Classes) else 'targets'}"
        lines = [
            f"#define {what.upper()} {len(names)}",
            f"static const char *const {what}[] = {{{quoted}}};",
        ]
        if isinstance(output, Classes) and not has_text(output.labels):
            values = _list([float(label) for label in output.labels])
            lines.append(f"static const double {self._prefix}_class_values[] = {{{values}}};")
        return "\n".join(lines)

    def _write_compute(self) -> str:
        """Write the function that computes every value of the network."""
        program, lines = self._program, []
        if program.ranks:
            lines.append(f"    double rank[{len(self._columns)}];")
        steps = [*program.ranks, *(step for stage in program.stages for step in stage.steps)]
        return self._fill("compute", body="\n".join([*lines, *map(self._write_step, steps)]))

    def _write_scores(self) -> str:
        program = self._program
        return self._fill("scores", last=f"n{len(program.stages)}", n_scores=len(program.scores))

    def _write_rules(self) -> list[str]:
        """Write the rules, and the functions that return which hold for a row."""
        rules = self._rules
        if rules is None:
            return []
        notes = f"{rules.text}\n{rules.proof}".split("\n")
        holds = enumerate(self._write_holds(rules))
        section = self._fill(
            "rules",
            notes="\n".join(f"// {quote_line(line)}" for line in notes),
            n_rules=len(rules.texts),
            texts="".join(f"    {quote_c(text)},\n" for text in rules.texts),
            holds="".join(f"    holds[{k}] = {condition};\n" for k, condition in holds),
            inside=self.print(rules.inside),
        )
        return [section, self._fill("deciding")] if rules.decides else [section]


def _is_text(column: Column) -> bool:
    return column.categories is not None and has_text(column.categories)


def _list(values: Sequence[float]) -> str:
    return ", ".join(repr(float(value)) for value in values)
