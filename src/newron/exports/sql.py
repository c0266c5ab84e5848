"""A model as a query: the class and the probabilities of each row of a table.

The query is built as a tree of sqlglot, which writes it in the words of a database and quotes
every name and text. Layers are common table expressions, so that each neuron is computed once.
"""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction

from newron.errors import InputError
from newron.exports.clause import Clauses, Node, open_sqlglot
from newron.exports.dialects import Dialect, find_dialect
from newron.exports.lowering import Lowering, lower_program
from newron.exports.program import Program
from newron.exports.query import Part, Query, Selected
from newron.exports.rule_program import RuleProgram
from newron.exports.source import write_head
from newron.exports.text import (
    Names,
    has_text,
    label_text,
    quote_line,
    quote_note,
    simplify,
)
from newron.expressions.tree import (
    ONE,
    ZERO,
    AllOf,
    AnyOf,
    Choice,
    Compare,
    Condition,
    Expression,
    Input,
    IsMissing,
    Lookup,
    Number,
    OneOf,
    Parameter,
    Some,
    Step,
    list_parts,
    maximum,
)
from newron.model.output import Classes
from newron.rules.body import find_denominator

_MAX_POINTS = 2**53  # whole numbers that every database adds exactly


def print_sql(
    program: Program,
    name: str,
    rules: RuleProgram | None = None,
    *,
    dialect: str = "duckdb",
    table: str | Sequence[str] = "data",
    keep: Sequence[str] = (),
    exact: bool = True,
) -> str:
    """Return the text of a query; with rules it is made of them, with which of them decides."""
    chosen = find_dialect(dialect)
    parts = table.split(".") if isinstance(table, str) else list(table)
    _check_texts(program, [*parts, *keep])
    writer = _Writer(program, chosen, parts, keep)
    query = writer.make_network(exact=exact) if rules is None else writer.make_rules(rules)
    notes = [f"-- {line}".rstrip() for line in writer.notes]
    text = query.sql(dialect=chosen.name, pretty=True, copy=False)
    return "\n".join([write_head(program, name, "--"), *notes, f"{text};"]) + "\n"


def _check_texts(program: Program, more: Sequence[str]) -> None:
    """Raise an error for texts that no database can hold, or cannot distinguish."""
    schema, output = program.model.schema, program.model.output
    texts = [*schema.names, *more]
    if "" in texts:
        raise InputError("SQL: expected names of tables and columns, got an empty one")
    for column in schema.columns:
        labels = column.categories or ()
        texts += map(str, labels)
        if has_text(labels) and len(set(map(label_text, labels))) < len(labels):
            raise InputError(
                f"column {column.name!r}: expected categories that differ as texts for SQL"
            )
    texts += map(str, output.labels if isinstance(output, Classes) else output.names)
    for text in texts:
        if "\x00" in text:
            raise InputError(f"SQL: expected texts without the character NUL, got {text!r}")
        if any("\ud800" <= c <= "\udfff" for c in text):
            raise InputError(f"SQL: expected texts of Unicode, got {text!r}")


class _Writer:
    """Writes the query of one program."""

    def __init__(
        self, program: Program, dialect: Dialect, table: Sequence[str], keep: Sequence[str]
    ) -> None:
        self._exp = open_sqlglot()
        self._program = program
        self._dialect = dialect
        self._names = Names(["true", "false"])  # SQLite reads them as 1 and 0, quoted or not
        columns = program.model.schema.columns
        self._columns = [
            self._names.take(simplify(column.name) or f"input_{i}")
            for i, column in enumerate(columns, 1)
        ]
        kept = {self._names.take(f"keep_{k}"): name for k, name in enumerate(keep, 1)}
        self._clauses = Clauses(dialect, columns, self._columns)
        self._query = Query(self._clauses, dialect, table, self._columns, kept)
        self.notes: list[str] = []

    # ---- the network ----

    def make_network(self, *, exact: bool) -> Node:
        """Return the query that computes the network."""
        program = self._program
        blocks, lowering = lower_program(program, self._names, self._dialect, exact=exact)
        lowering.exact = False  # the scores decide: probabilities may be rounded
        for first, steps in _group_shares(program.shares):
            blocks += lowering.lower_block(f"shares_{first + 1}", steps)
        ready = [
            (block.name, [self._select(line.name, line.expression) for line in block.lines])
            for block in blocks
        ]
        if program.choice is None:
            return self._query.assemble(ready, self._require(self._list_targets(lowering)))
        return self._query.assemble(
            ready, self._require(self._list_classes(lowering, program.choice))
        )

    def _list_targets(self, lowering: Lowering) -> list[Selected]:
        scores = [lowering.read(step.key) for step in self._program.scores]
        notes = [step.note for step in self._program.scores]
        aliases = ["prediction"] if len(scores) == 1 else self._name_outputs("prediction", notes)
        return [self._select(a, score) for a, score in zip(aliases, scores, strict=True)]

    def _list_classes(self, lowering: Lowering, choice: Expression) -> list[Selected]:
        shares = self._program.probabilities
        aliases = self._name_outputs("probability", [step.note for step in shares])
        return [
            self._select_class(lowering.lower(choice)),
            *(
                self._select(alias, lowering.lower(step.expression))
                for alias, step in zip(aliases, shares, strict=True)
            ),
        ]

    def _name_outputs(self, what: str, labels: Sequence[str]) -> list[str]:
        """Name a column for each class or target: by its label where that is a plain word."""
        words = [simplify(f"{what}_{label}") for label in labels]
        plain = all(word == f"{what}_{label}" for word, label in zip(words, labels, strict=True))
        if plain and len({word.lower() for word in words}) == len(words):
            return words
        names = [f"{what}_{k}" for k in range(1, len(labels) + 1)]
        for name, label in zip(names, labels, strict=True):
            self.notes.append(f"{name}: {quote_note(label)}")
        return names

    def _select(self, name: str, expression: Expression) -> Selected:
        return Selected(name, self._clauses.print_line(expression), self._read(expression))

    def _select_class(self, choice: Expression) -> Selected:
        """Return the label of the class whose number is chosen."""
        output = self._program.model.output
        labels = output.labels if isinstance(output, Classes) else ()
        as_text = has_text(labels)

        def write(chosen: Expression) -> Node:
            number = int(chosen.value) if isinstance(chosen, Number) else 0
            return self._clauses.write_label(labels[number], as_text=as_text)

        node = (
            self._clauses.print_case(choice, write) if isinstance(choice, Choice) else write(choice)
        )
        return Selected("prediction", node, self._read(choice))

    def _read(self, node: Expression | Condition) -> frozenset[str]:
        """Return the columns of the query that an expression reads."""
        if isinstance(node, Parameter):
            return frozenset([node.name])
        if isinstance(node, Input | Lookup | IsMissing | OneOf):
            return frozenset([self._columns[node.column]])
        if isinstance(node, Some):
            return frozenset(self._clauses.counted[part] for part in node.parts)
        return frozenset().union(*map(self._read, list_parts(node)))

    # ---- the rules ----

    def make_rules(self, rules: RuleProgram) -> Node:
        """Return the query that follows the rules."""
        notes = [rules.text, "", rules.proof, "Domain:", rules.ruleset.domain]
        self.notes += map(quote_line, "\n".join(notes).split("\n"))
        blocks = self._count_conditions([rule.condition for rule in rules.rules])
        lines, results = self._make_list(rules) if rules.decides else self._make_points(rules)
        return self._query.assemble([*blocks, *lines], self._require(results))

    def _require(self, results: list[Selected]) -> list[Selected]:
        """Return results that are NULL where a column lacks a value that must be there."""
        columns = self._program.model.schema.columns
        needed = [i for i, column in enumerate(columns) if column.required]
        if not needed:
            return results
        lacking = AnyOf(tuple(map(IsMissing, needed)))
        reads = self._read(lacking)

        def guard(node: Node) -> Node:
            missing = self._clauses.print_condition(lacking)
            null = self._exp.If(this=missing, true=self._exp.Null())
            return self._exp.Case(ifs=[null], default=node)

        return [Selected(r.name, guard(r.node), r.reads | reads) for r in results]

    def _count_conditions(self, conditions: Sequence[Condition]) -> list[Part]:
        """Return columns for the conditions that are counted, the innermost first."""
        depth: dict[Condition, int] = {}

        def visit(node: Condition) -> int:
            parts = [visit(part) for part in node.parts] if hasattr(node, "parts") else []
            if isinstance(node, Some):
                depth.update(zip(node.parts, parts, strict=True))
            return max(parts, default=0) + isinstance(node, Some)

        for condition in conditions:
            visit(condition)
        blocks: list[Part] = []
        for level in range(max(depth.values(), default=-1) + 1):
            lines = []
            for condition in [one for one, own in depth.items() if own == level]:
                name = self._names.take(f"condition_{len(self._clauses.counted) + 1}")
                lines.append(Selected(name, self._clauses.count(condition), self._read(condition)))
                self._clauses.counted[condition] = name
            blocks.append((f"conditions_{level + 1}", lines))
        return blocks

    def _make_list(self, rules: RuleProgram) -> tuple[list[Part], list[Selected]]:
        """Return the number of the first rule that holds, and what follows from it."""
        listed, name = rules.rules, self._names.take("rule")
        node = self._number_rule(len(listed) + 1, "otherwise")
        if listed:
            ifs = [
                self._exp.If(
                    this=self._clauses.print_condition(rule.condition),
                    true=self._number_rule(k, rule.text),
                )
                for k, rule in enumerate(listed, 1)
            ]
            node = self._exp.Case(ifs=ifs, default=node)
        reads = self._read(AllOf(tuple(rule.condition for rule in listed)))
        decided = [
            (Compare("==", Parameter(name), Number(float(k))), Number(float(rule.outcome or 0)))
            for k, rule in enumerate(listed, 1)
        ]
        default = Number(float(rules.default or 0))
        outcome = self._select_class(Choice(tuple(decided), default) if listed else default)
        rule = Selected("rule", self._clauses.name(name), frozenset([name]))
        return [("decided", [Selected(name, node, reads)])], [outcome, rule]

    def _number_rule(self, number: int, text: str) -> Node:
        literal = self._exp.Literal.number(number)
        literal.add_comments([f" {quote_line(text)} "])
        return literal

    def _make_points(self, rules: RuleProgram) -> tuple[list[Part], list[Selected]]:
        """Return the sums of points, as whole numbers, and what follows from them."""
        weights = [weight for rule in rules.rules for weight in rule.points]
        shared = find_denominator([*rules.constants, *weights])
        if shared > 1:
            self.notes.append(f"Points are written as whole numbers: {shared} times as many.")
        n = self._program.model.output.n_scores
        names = [self._names.take(f"points_{j}") for j in range(1, n + 1)]
        output = self._program.model.output
        if isinstance(output, Classes) and output.is_ordered:
            return self._make_bands(rules, names[0], shared)
        sums = [
            self._add_points(rules, name, j, shared, rules.constants[j])
            for j, name in enumerate(names)
        ]
        if not isinstance(output, Classes):
            return [("points", sums)], self._divide_points(names, shared)
        points = [Selected(name, self._clauses.name(name), frozenset([name])) for name in names]
        return [("points", sums)], [self._select_class(_choose(names)), *points]

    def _make_bands(
        self, rules: RuleProgram, name: str, shared: int
    ) -> tuple[list[Part], list[Selected]]:
        """Return the one sum of points of ordered classes, and the class that it reaches."""
        total = self._add_points(rules, name, 0, shared, Fraction(0))
        points = Selected(name, self._clauses.name(name), frozenset([name]))
        branches = [
            (Compare(">=", Parameter(name), Number(float(-constant * shared))), Number(k + 1.0))
            for k, constant in reversed(list(enumerate(rules.constants)))
        ]
        choice = Choice(tuple(branches), ZERO)
        return [("points", [total])], [self._select_class(choice), points]

    def _divide_points(self, names: Sequence[str], shared: int) -> list[Selected]:
        notes = [step.note for step in self._program.scores]
        aliases = ["prediction"] if len(names) == 1 else self._name_outputs("prediction", notes)
        out = []
        for alias, name in zip(aliases, names, strict=True):
            node = self._clauses.cast(self._clauses.name(name))
            if shared > 1:
                divisor = self._exp.Literal.number(shared)
                node = self._exp.Div(this=node, expression=divisor, typed=True)
            out.append(Selected(alias, node, frozenset([name])))
        return out

    def _add_points(
        self, rules: RuleProgram, name: str, j: int, shared: int, constant: Fraction
    ) -> Selected:
        weights = [int(rule.points[j] * shared) for rule in rules.rules]
        start = int(constant * shared)
        if abs(start) + sum(map(abs, weights)) >= _MAX_POINTS:
            raise InputError("SQL: the points of these rules are too fine; export the network")
        total = self._clauses.cast(self._write_whole(start), "bigint")
        used: list[Condition] = []
        for rule, weight in zip(rules.rules, weights, strict=True):
            if weight:
                used.append(rule.condition)
                case_if = self._exp.If(
                    this=self._clauses.print_condition(rule.condition),
                    true=self._write_whole(abs(weight)),
                )
                case_if.args["true"].add_comments([f" {quote_line(rule.text)} "])
                case = self._exp.Case(ifs=[case_if], default=self._write_whole(0))
                kind = self._exp.Sub if weight < 0 else self._exp.Add
                total = kind(this=total, expression=case)
        return Selected(name, total, self._read(AllOf(tuple(used))))

    def _write_whole(self, number: int) -> Node:
        literal = self._exp.Literal.number(abs(number))
        return self._exp.Neg(this=literal) if number < 0 else literal


def _choose(names: Sequence[str]) -> Choice:
    """Return the number of the class that has the points: the first of the highest."""
    points = [Parameter(name) for name in names]
    if len(points) == 1:
        return Choice(((Compare(">=", points[0], ZERO), ONE),), ZERO)
    top = maximum(*points)
    branches = [(Compare(">=", one, top), Number(float(j))) for j, one in enumerate(points[:-1])]
    return Choice(tuple(branches), Number(len(points) - 1.0))


def _group_shares(shares: Sequence[Step]) -> list[tuple[int, tuple[Step, ...]]]:
    """Return what can be computed side by side: the highest score, the powers, their sum."""
    top, powers, total = shares[:1], shares[1:-1], shares[1:][-1:]
    groups = [tuple(group) for group in (top, powers, total) if group]
    return [(group[0].key.number, group) for group in groups]
