"""Whether rules equal a network, on its whole domain.

What is compared is the text of the rules, read again, with the raw weights of the
network. Of these ways the first that can decide is taken:

- *enumeration*: every combination of cells goes through the network itself;
- *columns*: points and network add the same, column by column and group by group;
- *sweep*: all inputs are followed column by column, as far as the counts distinguish them;
- *sums* and *states*: the same two ideas, as the second checker has them;
- *SAT*: a solver looks for an input on which they differ (python-sat, the extra "proof").

Equality is called proved only where :mod:`newron.checker`, which shares no code with this
package, has accepted a certificate of it. A proof names what it covers: rules may keep the
class alone, or be the same sums, and then scores and probabilities are equal too.
"""

from __future__ import annotations

import math
import time
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import Any

import numpy as np
from numpy.typing import NDArray

from newron.checker import CertificateError, check
from newron.checker.check import evaluate, make_certificate
from newron.checker.comparison import CLASS, SCORE, TARGET
from newron.model.model import Model
from newron.model.output import Classes, Output
from newron.rules.axis import Axis
from newron.rules.body import (
    Body,
    Points,
    choose_classes,
    decide,
    predict_sums,
    sum_points,
)
from newron.rules.budget import Budget
from newron.rules.circuit import Circuit, Term, find_boundaries, measure_rounding, read_circuit
from newron.rules.node import CellRows, Node, read_columns
from newron.rules.parsing import parse_rules
from newron.rules.points import make_points
from newron.rules.proof import Proof
from newron.rules.table import (
    Card,
    Levels,
    make_cards,
    make_flat_cards,
    make_rows,
    place_levels,
    sweep,
)

_MAX_ENUMERATED = 1_000_000
_CHUNK = 200_000  # scores of inputs that are compared at once
_MAX_JOINT = 200_000  # combinations of cells of one group of columns
_MAX_SWEPT = 300_000
_FAR = np.int8(2)
_MIN_CHECKED = 300_000  # steps of the checker that are always allowed
_FEW_CHECKED = 1_000_000  # steps before a solver looks for a difference


def prove(text: str, model: Model, seconds: float = 60.0) -> Proof:
    r"""Compare the text of rules with a network, on its whole domain.

    Parameters
    ----------
    text : str
        Rules as :class:`newron.rules.RuleSet` prints them, or written by hand.
    model : Model
        A crisp network.
    seconds : float, default=60
        How long to try: so much work at a fixed rate, so that the result does not depend
        on the clock.

    Returns
    -------
    Proof

    Raises
    ------
    InputError
        If the text cannot be read.

    Examples
    --------
    >>> from newron.construct import from_rules
    >>> from newron.model import Classes, Column, Schema
    >>> schema, output = Schema((Column("age", 0.0, 100.0),)), Classes(("well", "ill"))
    >>> model = from_rules("If age ≥ 50, then ill\nOtherwise well", schema, output)
    >>> prove("If age > 50, then ill\nOtherwise well", model).counterexample
    {'age': 50}
    """
    begin = time.monotonic()
    axes, body = parse_rules(text, model.schema, model.output, find_boundaries(model), gaps=True)
    circuit = read_circuit(model, axes)
    prover = _Prover(text, model, circuit, body, begin, Budget(seconds))
    return prover.run()


@dataclass
class _Prover:
    text: str
    model: Model
    circuit: Circuit
    body: Body
    begin: float
    budget: Budget

    def run(self) -> Proof:
        nodes = [*(term.node for term in self.circuit.terms), *self.body.nodes]
        cards = make_flat_cards(self.axes, nodes, join_gaps=True)
        self.size = math.prod(len(card.levels) for card in cards)
        # Unused columns have inputs too, where their values are listed.
        self.finite = all(axis.listed for axis in self.axes)
        if self.finite:
            columns = self.model.schema.columns
            self.size = math.prod(
                axis.n_values + column.gaps for axis, column in zip(self.axes, columns, strict=True)
            )
        if math.prod(len(card.levels) for card in cards) <= _MAX_ENUMERATED:
            return self._enumerate(cards)
        if isinstance(self.body, Points) and self._compare_columns():
            return self._accept("columns")
        if not isinstance(self.output, Classes):
            return self._make_proof(
                None, "columns", note="the sums could not be compared by columns"
            )
        if isinstance(self.body, Points) and (summed := self._ask_checker("sums")):
            return summed
        swept = self._sweep(nodes)
        if swept is not None:
            return swept
        return self._ask_checker("states", max_work=_FEW_CHECKED) or self._run_solver()

    @property
    def axes(self) -> tuple[Axis, ...]:
        return self.circuit.axes

    @property
    def output(self) -> Output:
        return self.model.output

    def _make_proof(self, equal: bool | None, method: str, **more: Any) -> Proof:
        spent = time.monotonic() - self.begin
        return Proof(equal, method, self.size, spent, finite=self.finite, **more)

    def _accept(self, method: str) -> Proof:
        """Return the proof of equality; of a network that rounds its sums it shows less."""
        if self.circuit.exact:
            return self._certify(method)
        if not isinstance(self.output, Classes):
            return self._certify_rounded(method)
        if found := self._ask_checker("states", method):
            return found
        note = "equal in exact arithmetic, but the network rounds its sums to 16 digits"
        return self._make_proof(None, method, note=note)

    def _certify(self, method: str) -> Proof:
        """Return the proof of equality, if the second checker accepts its certificate."""
        arguments = ("sums", "states") if isinstance(self.body, Points) else ("states",)
        for argument in arguments:
            if found := self._ask_checker(argument, method):
                return found
        note = f"{method} found no difference, but that could not be certified"
        return self._make_proof(None, method, note=note)

    def _certify_rounded(self, method: str) -> Proof:
        """Return the proof that targets are equal but for what the network rounds."""
        within = float(measure_rounding(self.model.layers[-1]).max())
        for argument in ("sums", "states"):
            if found := self._ask_checker(argument, method, within=within):
                return found
        note = f"the sums agree but for the rounding of the network's own, up to {within:.2g}"
        return self._make_proof(None, method, note=note)

    def _ask_checker(
        self, argument: str, method: str = "", max_work: int | None = None, within: float = 0.0
    ) -> Proof | None:
        work = min(self._checked_work, max_work or self._checked_work)
        document = self.model.to_dict()
        for covers in self._list_coverages(argument):
            order = range(len(self.axes))
            certificate = make_certificate(self.text, document, argument, order, covers, within)
            try:
                check(self.text, document, certificate, max_work=work)
            except CertificateError:
                continue
            found = {"certificate": certificate, "covers": covers, "within": within}
            return self._make_proof(True, method or argument, **found)
        return None

    def _list_coverages(self, argument: str) -> tuple[tuple[str, ...], ...]:
        """Return what an argument may show, the most first."""
        if not isinstance(self.output, Classes):
            return (TARGET,)
        return (SCORE, CLASS) if argument == "sums" else (CLASS,)

    @property
    def _checked_work(self) -> int:
        """How many steps the checker may take: its are slower, and some are always allowed."""
        return max(self.budget.left // 100, _MIN_CHECKED)

    def _refute(self, cells: Sequence[int], method: str) -> Proof:
        """Return the counterexample, as the network itself and the rules see it."""
        row = make_rows(self.axes, np.array([cells]))
        rules, network = self._predict_both(row, CellRows(self.axes, np.array([cells])))
        found = {
            axis.column.name: _get_label(axis, value)
            for axis, value in zip(self.axes, row[0], strict=True)
        }
        if isinstance(self.output, Classes) and rules == network:
            # They differ in exact arithmetic alone: the network rounds its sums.
            note = f"for {found} the exact sum is a tie that the network rounds"
            return self._make_proof(None, method, note=note)
        values = [None if math.isnan(value) else float(value) for value in row[0]]
        checked = evaluate(self.text, self.model.to_dict(), values)
        if checked[0] == checked[1]:
            note = f"a difference for {found} was not confirmed by the second checker"
            return self._make_proof(None, method, note=note)
        return self._make_proof(False, method, counterexample=found, predicted=(rules, network))

    def _predict_both(self, row: NDArray[np.float64], cells: CellRows) -> tuple[Any, Any]:
        """Return what rules and network predict for one row."""
        scores = self.model.score_rows(row)
        if isinstance(self.output, Classes):
            rules = self.output.array[choose_classes(self.body, self.output, cells)][0]
            return rules, self.output.predict(scores)[0]
        assert isinstance(self.body, Points)  # noqa: S101 - regression has points alone
        sums = predict_sums(self.body, cells)
        rules, network = self.output.predict(sums)[0], self.output.predict(scores)[0]
        # Labels and sorted quantiles may be the same where the sums are not: then the sums tell.
        return (sums[0], scores[0]) if np.array_equal(rules, network) else (rules, network)

    # ---- enumeration ----

    def _enumerate(self, cards: Sequence[Card]) -> Proof:
        total = math.prod(len(card.levels) for card in cards)
        rounded: list[int] | None = None  # an input on which they differ, by rounding alone
        for first, cells in self._list_cells(cards):
            far = self._compare(cells)
            if far.max() == _FAR:
                return self._refute(cells[int(np.argmax(far))].tolist(), "enumeration")
            if rounded is None and far.any():
                rounded = cells[int(np.argmax(far))].tolist()
            work = len(cells) * (self.model.n_functions + len(self.body.nodes) + len(self.axes))
            if not self.budget.spend(2 * work) and first + len(cells) < total:
                return self._make_proof(None, "enumeration", note=self._describe_timeout())
        if rounded is None:
            return self._certify("enumeration")
        found = self._certify_rounded("enumeration")
        if found or not any(
            self._differ_exactly(cells).any() for _, cells in self._list_cells(cards)
        ):
            return found
        return self._refute(rounded, "enumeration")  # rounding excuses equal sums alone

    def _list_cells(self, cards: Sequence[Card]) -> Iterator[tuple[int, NDArray[np.intp]]]:
        """Return all combinations of levels as cells, part by part, with the first one's number."""
        shape = [len(card.levels) for card in cards]
        total, step = math.prod(shape), max(_CHUNK // max(self.output.n_scores, 1), 1000)
        for first in range(0, total, step):
            levels = np.unravel_index(np.arange(first, min(first + step, total)), shape or [1])
            yield first, place_levels(self.axes, cards, np.stack(levels, axis=1))

    def _compare(self, cells: NDArray[np.intp]) -> NDArray[np.int8]:
        """Return where network and rules differ: not, by the rounding of a sum, or further."""
        scores = self.model.score_rows(make_rows(self.axes, cells))
        rows = CellRows(self.axes, cells)
        if isinstance(self.output, Classes):
            predicted = choose_classes(self.body, self.output, rows)
            return np.asarray(_FAR * (self.output.choose(scores) != predicted), np.int8)
        assert isinstance(self.body, Points)  # noqa: S101 - regression has points alone
        differ = (predict_sums(self.body, rows) != scores).any(axis=1)
        if self.circuit.exact:
            return np.asarray(_FAR * differ, np.int8)
        out = np.asarray(differ, np.int8)
        out[differ] += self._differ_exactly(cells[differ])
        return out

    def _differ_exactly(self, cells: NDArray[np.intp]) -> NDArray[np.bool_]:
        """Return where the sums of points and network differ, whatever float64 makes of them."""
        assert isinstance(self.body, Points)  # noqa: S101 - regression has points alone
        rows = CellRows(self.axes, cells)
        a, shared_a = sum_points(self.circuit.terms, self.circuit.constants, rows)
        b, shared_b = sum_points(self.body.terms, self.body.constants, rows)
        differ = a.astype(object) * shared_b != b.astype(object) * shared_a
        return np.asarray(differ.any(axis=1), np.bool_)

    def _describe_timeout(self) -> str:
        return f"the check did not finish with the work of {self.budget.seconds:g} s"

    # ---- columns ----

    def _compare_columns(self) -> bool:
        """Return whether points and network add the same, group of columns by group."""
        assert isinstance(self.body, Points)  # noqa: S101 - asked of points alone
        taken = [Term(term.node, tuple(-w for w in term.weights)) for term in self.body.terms]
        pairs = zip(self.circuit.constants, self.body.constants, strict=True)
        constants = tuple(a - b for a, b in pairs)
        # What merging cancels needs no grid; nothing is proved that the checker does not accept.
        left = make_points(
            replace(self.circuit, terms=(*self.circuit.terms, *taken), constants=constants)
        )
        grids: dict[tuple[int, ...], NDArray[Any]] = {}
        for term in left.terms:
            columns = tuple(sorted(read_columns(term.node)))
            grid = self._make_grid(term.node, columns)
            if grid is None:
                return False
            part = np.where(grid[..., None], np.array(term.weights), np.array(Fraction(0)))
            grids[columns] = grids[columns] + part if columns in grids else part
        return self._cancel(grids, np.array(left.constants))

    def _make_grid(self, node: Node, columns: tuple[int, ...]) -> NDArray[np.bool_] | None:
        """Return where a node holds, over all cells of its columns."""
        shape = [self.axes[c].n_cells for c in columns]
        size = math.prod(shape)
        if size > _MAX_JOINT or not self.budget.spend(100 * size * len(self.circuit.constants)):
            return None
        at = np.unravel_index(np.arange(math.prod(shape)), shape or [1])
        cells = np.zeros((len(at[0]), len(self.axes)), np.intp)
        for c, cell in zip(columns, at, strict=False):
            cells[:, c] = cell
        return CellRows(self.axes, cells).holds(node).reshape(shape)

    def _cancel(self, grids: dict[tuple[int, ...], NDArray[Any]], constants: NDArray[Any]) -> bool:
        """Return whether sums over groups of columns are zero everywhere."""
        for size in range(max(map(len, grids), default=0), 0, -1):
            for columns in [key for key in grids if len(key) == size]:
                grid = grids.pop(columns)
                for a in range(size):
                    if (grid == grid.take([0], axis=a)).all():  # does not matter: one less
                        rest = columns[:a] + columns[a + 1 :]
                        part = grid.take(0, axis=a)
                        grids[rest] = grids[rest] + part if rest in grids else part
                        break
                else:
                    return False
        left = grids.get((), np.full(len(constants), Fraction(0)))
        return not any(constants + left)

    # ---- sweep ----

    def _sweep(self, nodes: Iterable[Node]) -> Proof | None:
        cards = make_cards(self.axes, nodes)
        swept = sweep(self.axes, cards, _MAX_SWEPT, self.budget)
        if swept is None:
            return None
        levels = Levels(cards, swept.levels)
        sums, _ = sum_points(self.circuit.terms, self.circuit.constants, levels)
        wrong = decide(self.output, sums) != choose_classes(self.body, self.output, levels)
        if wrong.any():
            return self._refute(swept.trace(int(np.argmax(wrong)), len(self.axes)), "sweep")
        return self._accept("sweep")

    # ---- SAT ----

    def _run_solver(self) -> Proof:
        try:
            from newron.rules.solver import TooLargeError, find_difference
        except ImportError:
            note = "the network is too large to enumerate; pip install 'newron-ian[proof]'"
            return self._ask_checker("states") or self._make_proof(None, "SAT", note=note)
        try:
            cells = find_difference(self.circuit, self.body, self.output, self.budget)
        except TooLargeError as error:
            return self._make_proof(None, "SAT", note=str(error))
        except TimeoutError:
            return self._make_proof(None, "SAT", note=self._describe_timeout())
        if cells is None:
            note = "a solver found no difference, but that could not be certified"
            return self._ask_checker("states") or self._make_proof(None, "SAT", note=note)
        return self._refute(cells, "SAT")


def _get_label(axis: Axis, value: float) -> Any:
    if axis.column.categories is not None:
        known = 0 <= value < len(axis.column.categories)
        return axis.column.categories[int(value)] if known else None
    if math.isnan(value):
        return None
    return int(value) if value == int(value) and abs(value) < 1e15 else float(value)
