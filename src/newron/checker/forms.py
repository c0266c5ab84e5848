"""Conditions in one form, by which equal ones have one number, and weighted sums of them.

A column is cut into *cells* within which no condition changes, a missing value among them. A
condition is a *form*: whole numbers for the cells of some columns, and other forms, are added up,
and the total must be among allowed ones.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field

from newron.checker.network import Condition, Count, Test

Vector = tuple[int, ...]


@dataclass(frozen=True)
class Form:
    """Numbers for the cells of columns, and other forms, add up to one of the allowed."""

    vectors: tuple[tuple[int, Vector], ...]
    forms: tuple[tuple[int, int], ...]  # number of a form, how many times
    allowed: tuple[int, ...]

    @property
    def most(self) -> int:
        """The largest total."""
        return sum(max(v) for _, v in self.vectors) + sum(n for _, n in self.forms)

    @property
    def truth(self) -> tuple[int, Vector] | None:
        """The column and the truth in each of its cells, for a form of one column alone."""
        if self.forms or len(self.vectors) != 1:
            return None
        column, vector = self.vectors[0]
        return column, tuple(int(v in self.allowed) for v in vector)


class Forms:
    """Numbers the different forms of conditions; True and False are no forms."""

    def __init__(self, cells: Sequence[Sequence[float | None]]) -> None:
        self.cells = cells
        self.made: list[Form] = []
        self.numbers: dict[Form, int] = {}
        self.known: dict[int, bool | int] = {}
        self.kept: list[Condition] = []  # so that no id is used again

    def read(self, condition: Condition) -> bool | int:
        """Return the number of a condition's form, or its truth where it is always the same."""
        if isinstance(condition, bool):
            return condition
        if id(condition) not in self.known:
            self.kept.append(condition)
            self.known[id(condition)] = self._read(condition)
        return self.known[id(condition)]

    def _read(self, condition: Test | Count) -> bool | int:
        if isinstance(condition, Test):
            vector = tuple(int(condition.holds(x)) for x in self.cells[condition.column])
            return self.add({condition.column: vector}, {}, {1})
        vectors: dict[int, Vector] = {}
        forms: dict[int, int] = {}
        shift = 0
        for part in condition.parts:
            found = self.read(part)
            if isinstance(found, bool):
                shift += found
                continue
            truth = self.made[found].truth
            if truth is None:
                forms[found] = forms.get(found, 0) + 1
            else:
                column, vector = truth
                before = vectors.get(column, (0,) * len(vector))
                vectors[column] = tuple(map(sum, zip(before, vector, strict=True)))
        return self.add(vectors, forms, {k - shift for k in condition.allowed})

    def add(
        self, vectors: Mapping[int, Vector], forms: Mapping[int, int], allowed: Iterable[int]
    ) -> bool | int:
        """Return the number of a form, or its truth where it is always the same."""
        lowest = {c: min(v) for c, v in vectors.items()}
        shift = sum(lowest.values())
        lowered = {c: tuple(x - lowest[c] for x in v) for c, v in vectors.items()}
        kept = tuple(sorted((c, v) for c, v in lowered.items() if any(v)))
        most = sum(max(v) for _, v in kept) + sum(forms.values())
        inside = tuple(sorted(k - shift for k in allowed if 0 <= k - shift <= most))
        if len(inside) in (0, most + 1):
            return bool(inside)
        if not kept and len(forms) == 1:
            ((inner, times),) = forms.items()
            if (0 in inside) == (times in inside):
                return 0 in inside
            return inner if times in inside else self.negate(inner)
        form = Form(kept, tuple(sorted(forms.items())), inside)
        truth = form.truth
        if truth is not None:
            form = Form((truth,), (), (1,))
            if len(set(truth[1])) == 1:
                return bool(truth[1][0])
        return self._number(min(form, _turn(form), key=repr) if truth is None else form)

    def _number(self, form: Form) -> int:
        if form not in self.numbers:
            self.numbers[form] = len(self.made)
            self.made.append(form)
        return self.numbers[form]

    def negate(self, number: int) -> int:
        """Return the number of the form that holds where this one does not."""
        form = self.made[number]
        others = set(range(form.most + 1)) - set(form.allowed)
        found = self.add(dict(form.vectors), dict(form.forms), others)
        assert not isinstance(found, bool)  # noqa: S101 - a form is not always the same
        return found

    def list_columns(self, numbers: Iterable[int]) -> list[int]:
        """Return the columns that some forms read."""
        seen: set[int] = set()
        stack = list(numbers)
        while stack:
            number = stack.pop()
            if number not in seen:
                seen.add(number)
                stack += [k for k, _ in self.made[number].forms]
        return sorted({column for number in seen for column, _ in self.made[number].vectors})

    def holds(self, number: int, at: Mapping[int, int], known: dict[int, bool]) -> bool:
        """Return whether a form holds, for the cells of its columns."""
        if number not in known:
            form = self.made[number]
            total = sum(v[at[c]] for c, v in form.vectors)
            total += sum(n for k, n in form.forms if self.holds(k, at, known))
            known[number] = total in form.allowed
        return known[number]


def _turn(form: Form) -> Form:
    """Return a form that counts opposites: at most 2 of, for at least 3 of the others."""
    if form.forms:
        return form
    turned = tuple((c, _turn_vector(v)) for c, v in form.vectors)
    return Form(turned, (), tuple(sorted(form.most - k for k in form.allowed)))


def _turn_vector(vector: Vector) -> Vector:
    highest = max(vector)
    return tuple(highest - x for x in vector)


@dataclass
class Sum:
    """A weighted sum of forms: what columns add by their cells, compound forms, a constant."""

    vectors: dict[int, list[int]] = field(default_factory=dict)
    forms: dict[int, int] = field(default_factory=dict)
    constant: int = 0

    def add(self, forms: Forms, condition: Condition, weight: int) -> None:
        """Add a weighted condition."""
        found = forms.read(condition)
        if isinstance(found, bool):
            self.constant += weight * found
            return
        truth = forms.made[found].truth
        if truth is not None:
            column, vector = truth
            before = self.vectors.setdefault(column, [0] * len(vector))
            self.vectors[column] = [a + weight * b for a, b in zip(before, vector, strict=True)]
            return
        other = forms.negate(found)
        if other < found:
            self.constant += weight
            found, weight = other, -weight
        self.forms[found] = self.forms.get(found, 0) + weight

    def times(self, factor: int) -> Sum:
        """Return a multiple."""
        vectors = {c: [factor * x for x in vector] for c, vector in self.vectors.items()}
        forms = {form: factor * weight for form, weight in self.forms.items()}
        return Sum(vectors, forms, factor * self.constant)

    def minus(self, other: Sum) -> Sum:
        """Return the difference, without what cancels."""
        out = Sum(constant=self.constant - other.constant)
        for sign, part in ((1, self), (-1, other)):
            for c, vector in part.vectors.items():
                before = out.vectors.setdefault(c, [0] * len(vector))
                out.vectors[c] = [a + sign * b for a, b in zip(before, vector, strict=True)]
            for form, weight in part.forms.items():
                out.forms[form] = out.forms.get(form, 0) + sign * weight
        out.forms = {form: weight for form, weight in out.forms.items() if weight}
        out.vectors = {c: vector for c, vector in out.vectors.items() if any(vector)}
        return out
