"""Rules in words: plain text, which :mod:`newron.rules.parsing` reads again.

Lines are described as people would: "If exactly 2 of ... then ill". Nothing that is printed
after a dash is part of a rule.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction

from newron.formatting import format_class, format_fraction, format_label, quote
from newron.model.output import Classes, Output
from newron.rules.axis import Axis
from newron.rules.body import Body, Branch, Points
from newron.rules.node import Const, Count, Literal, Node, list_literals
from newron.rules.points import lower_constants

WIDTH = 88
_INDENT = "    "
_MAX_WRITTEN = 10_000  # literals of a text in which pairs of conditions have no names
HIGHEST = "The highest sum wins, the first of equals"
LABELS = "A label is there where its sum is 0 or more."
MISSING = "Missing values count as:"


def write_outcome(output: Output, outcome: int) -> str:
    """Write a class as the end of a sentence."""
    assert isinstance(output, Classes)  # noqa: S101 - regression has no outcomes
    return format_class(output.labels[outcome])


def name_groups(nodes: Sequence[Node]) -> dict[tuple[Node, ...], str]:
    """Name the groups of conditions that are counted more than once: A, B, ..."""
    times: dict[tuple[Node, ...], int] = {}

    def visit(node: Node) -> None:
        if not isinstance(node, Count):
            return
        if times.get(node.children):
            times[node.children] += 1
            return  # what is inside is printed once
        for child in node.children:
            visit(child)
        # After what is inside, so that a group is named before it is used.
        times[node.children] = 1

    for node in nodes:
        visit(node)
    # Pairs are repeated, unless that would make a text without end.
    least = 2 if _measure_written(nodes) <= _MAX_WRITTEN else 1
    shared = [group for group, n in times.items() if n > 1 and len(group) > least]
    return {group: _make_name(k) for k, group in enumerate(shared)}


def _measure_written(nodes: Sequence[Node]) -> int:
    """Return how many literals there are, groups that are used again counted again."""
    sizes: dict[Node, int] = {}

    def measure(node: Node) -> int:
        if not isinstance(node, Count):
            return 1
        if node not in sizes:
            sizes[node] = sum(map(measure, node.children))
        return sizes[node]

    return sum(map(measure, nodes))


def _make_name(k: int) -> str:
    letter = chr(ord("A") + k % 26)
    return letter if k < 26 else _make_name(k // 26 - 1) + letter


@dataclass(frozen=True)
class Writer:
    """Writes conditions over some axes."""

    axes: tuple[Axis, ...]
    names: Mapping[tuple[Node, ...], str]

    # ---- conditions ----

    def write(self, node: Node, *, inside: bool = False) -> str:
        """Write a condition on one line; ``inside`` another one, with brackets."""
        if isinstance(node, Const):
            return "always" if node.value else "never"
        if isinstance(node, Literal):
            described = self.axes[node.column].format(node.mask)
            return f"({described})" if inside and " or " in described else described
        if len(node.children) == 1:
            child = self.write(node.children[0], inside=True)
            return f"not {child}" if node.high == 0 else child
        if node.children not in self.names and (node.is_all or node.is_any):
            word = " and " if node.is_all else " or "
            described = word.join(self.write(child, inside=True) for child in node.children)
            return f"({described})" if inside else described
        return f"{format_quantifier(node)} of {self._write_members(node.children)}"

    def _write_members(self, children: tuple[Node, ...]) -> str:
        if children in self.names:
            return self.names[children]
        return f"[{'; '.join(self.write(child) for child in children)}]"

    def write_block(self, node: Node, indent: str) -> list[str]:
        """Write a condition on several lines, one for each part."""
        if not isinstance(node, Count) or len(node.children) == 1 or node.children in self.names:
            return [indent + self.write(node)]
        lines = [f"{indent}{format_quantifier(node)} of"]
        for child in node.children:
            one = self.write(child)
            fits = len(indent) + len(_INDENT) + len(one) <= WIDTH or not isinstance(child, Count)
            deeper = indent + _INDENT
            lines += [deeper + one] if fits else self.write_block(child, deeper)
        return lines

    def write_groups(self) -> list[str]:
        """Write the groups that have names."""
        lines: list[str] = []
        for children, name in self.names.items():
            lines.append(f"Let {name} be")
            # Named groups inside are written by their names; this one by its members.
            inner = Writer(self.axes, {k: v for k, v in self.names.items() if k != children})
            lines += [_INDENT + inner.write(child) for child in children]
        return [*lines, ""] if lines else []

    # ---- bodies ----

    def write_body(
        self, body: Body, output: Output, notes: Sequence[str] | None = None
    ) -> list[str]:
        """Write all rules; ``notes`` has one for each rule, and for the rest."""
        if isinstance(body, Points):
            return self.write_groups() + self._write_points(body, output, notes)
        lines = self.write_groups()
        described = notes if notes is not None else [""] * (len(body.branches) + 1)
        for branch, note in zip(body.branches, described, strict=False):
            lines += self._write_branch(branch, output, note)
        word = "Otherwise" if body.branches else "Always"
        return [*lines, _join_note(f"{word} {write_outcome(output, body.default)}", described[-1])]

    def _write_branch(self, branch: Branch, output: Output, note: str) -> list[str]:
        end = f"then {write_outcome(output, branch.outcome)}"
        one = f"If {self.write(branch.node)}, {end}"
        if len(_join_note(one, note)) <= WIDTH:
            return [_join_note(one, note)]
        block = self.write_block(branch.node, "")
        return [f"If {block[0]}", *block[1:], _join_note(end, note)]

    def _write_points(self, body: Points, output: Output, notes: Sequence[str] | None) -> list[str]:
        single = isinstance(output, Classes) and output.n_scores == 1
        terms = body.terms
        described = notes if notes is not None else [""] * len(terms)
        rows = [[format_fraction(w, signed=True) for w in term.weights] for term in terms]
        start = [] if single else [[format_fraction(c) for c in body.constants]]
        widths = [max(map(len, column)) for column in zip(*rows, *start, strict=True)]

        def line_up(row: Sequence[str]) -> str:
            cells = [cell.rjust(width) for cell, width in zip(row, widths, strict=True)]
            return _INDENT + "  ".join(cells)

        lines = [write_head(output)]
        for term, row, note in zip(terms, rows, described, strict=False):
            lines.append(_join_note(f"{line_up(row)}  {self.write(term.node)}", note))
        lines += [f"{line_up(row)}  to start with" for row in start]
        return lines + write_decision(output, body)


def write_missing(axes: Sequence[Axis], nodes: Sequence[Node]) -> list[str]:
    """Write what missing values count as, where some condition holds of them."""
    held = {lit.column for lit in list_literals(nodes) if lit.mask & axes[lit.column].missing_cell}
    held = {i for i in held if axes[i].absent is not None}
    described = [axes[i].format_absent() for i in sorted(held)]
    return [f"{MISSING} {', '.join(described)}"] if described else []


def format_quantifier(node: Count) -> str:
    """Return how many of the children must hold.

    >>> six = (Literal(0, 1),) * 6
    >>> format_quantifier(Count(2, 2, six)), format_quantifier(Count(0, 3, six))
    ('exactly 2', 'at most 3')
    """
    n = len(node.children)
    if node.high == 0:
        return "none"
    if node.is_all:
        return "all"
    if node.is_any:
        return "any"
    if node.low == node.high:
        return f"exactly {node.low}"
    if node.high == n:
        return f"at least {node.low}"
    return f"at most {node.high}" if node.low == 0 else f"between {node.low} and {node.high}"


def _join_note(line: str, note: str) -> str:
    return f"{line} — {note}" if note else line


def write_head(output: Output) -> str:
    """Write what points are for."""
    if not isinstance(output, Classes):
        return "Add up for " + ", ".join(quote(name, value=True) for name in output.score_names)
    if output.is_ordered:
        lowest, highest = format_label(output.labels[0]), format_label(output.labels[-1])
        return f"Points from {lowest} to {highest}"
    shown = output.labels[1:] if output.n_scores == 1 else output.labels
    return "Points for " + ", ".join(format_label(label) for label in shown)


def write_decision(output: Output, body: Points) -> list[str]:
    """Write what the sums decide."""
    if not isinstance(output, Classes):
        return []
    if output.n_scores > 1:
        return [HIGHEST]
    described = list_bands(body)
    lines = [f"Sum ≥ {format_fraction(t)}: {write_outcome(output, k)}" for k, t in described]
    return [*lines, f"Otherwise: {write_outcome(output, 0)}"]


def list_bands(body: Points) -> list[tuple[int, Fraction]]:
    """Return the classes above the first and from which sum on they follow, the highest first.

    Of ordered classes those are left out that no sum leads to.
    """
    bands: list[tuple[int, Fraction]] = []
    constants = lower_constants(body.terms, body.constants)
    for k in range(len(constants), 0, -1):
        threshold = -constants[k - 1]
        if not bands or threshold < bands[-1][1]:
            bands.append((k, threshold))
    return bands
