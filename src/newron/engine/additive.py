"""The additive model on bins: curves of columns, steps, and surfaces of pairs.

It is fitted to the rows and has a posterior; :mod:`newron.engine.compression` makes a network
of few functions of it.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from newron.engine.basis import (
    Group,
    PairBasis,
    list_groups,
    list_lines,
    make_line,
    make_pair_bases,
)
from newron.engine.binning import BinnedTable, TermBins, bin_rows
from newron.engine.design import (
    LEVELS,
    BinnedDesign,
    DenseDesign,
    Design,
    coarsen,
    expand,
    find_tied,
)
from newron.engine.evidence import Coefficients, Settings, solve
from newron.engine.likelihood import Likelihood
from newron.engine.monotone import fix_directions, hold_directions
from newron.engine.pairs import PairScan, coarsen_rows, find_pairs, make_pair_group
from newron.engine.passage import sum_derivatives
from newron.engine.rows import Index, Values
from newron.engine.screening import WIDE, Sums, find_columns, find_partners
from newron.engine.steps import find_steps
from newron.engine.surfaces import AllPairs, make_all_pairs
from newron.model.arithmetic import Floats

Stage = Callable[[str], None]  # called with the name of a stage as it begins

FEW_ROWS = 2_500  # up to which all rows are in the curvature, and all pairs are fitted
_SAMPLE = 12_000  # rows of which the curvature is taken
_MIN_SAMPLE = 4_000  # with many classes
_STEP_ROWS = 1_000  # from which steps are looked for
_STEP_ROUNDS, _MAX_STEPS = 8, 80
_COLUMN_ROUNDS = 4  # of looking for columns that stand out
_PULL, _PULL_ROWS = 5.0, 1_000.0
_STRONG_GAIN, _GAIN = 6.0, 4.0  # of a pair, on few and on many rows
_PARTNER_ROWS = 20_000  # of wide tables, on which columns are looked at for their partners
_PAIR_ROUNDS = 2
_HEREDITY = 0.2  # the smallest importance of a column in pairs, in units of the mean
_MOST_DOUBT = 2.0  # of the logarithm of a prior variance
_FIXED_ROUNDS = 4  # of Newton's steps under prior variances that stay
_MIN_FREE = 0.05  # of a row's own part that it leaves to the others
_PRUNED = 1e-4  # prior variance below which a group is dropped, on many rows


@dataclass
class Additive:
    """Curves, steps and surfaces on bins, with their posterior."""

    table: BinnedTable
    likelihood: Likelihood
    at: Coefficients
    scores: list[Values]  # of each output
    bases: dict[int, PairBasis]
    n_threads: int
    surfaces: AllPairs | None = None
    directions: tuple[int, ...] = field(default_factory=tuple)
    stretch: float = 1.0  # by which the scores were scaled after all was fitted
    last_design: BinnedDesign | None = None  # while it is fitted: the next one begins with it

    @property
    def n_outputs(self) -> int:
        """How many scores there are."""
        return self.likelihood.n_outputs

    @property
    def is_few(self) -> bool:
        """Whether the curvature is that of all rows."""
        return self.table.n_rows <= FEW_ROWS

    def expand_rows(self) -> Floats:
        """Return the matrix of all functions on the training rows, where these are few."""
        groups, codes = self.at.groups, self.table.codes
        has_pairs = any(group.is_pair for group in groups)
        coarse = coarsen_rows(self.table, codes) if has_pairs else codes
        return np.asarray(expand(groups, codes, coarse))

    def leave_out(self) -> Floats:
        """Return what the score of every row, of few, would be had it not been there, once.

        It follows from the posterior, without another fit.
        """
        functions, take = self.expand_rows(), self.table.rows.take
        copies = np.maximum(take(None, self.likelihood.sought.count), 1.0)
        out = np.empty((self.table.n_rows, self.n_outputs))
        for k, (gradient, curvature) in enumerate(self.differentiate(None)):
            variance = self.at.posteriors[k].spread(functions, slice(None)) ** 2
            free = np.maximum(1.0 - variance * curvature / copies, _MIN_FREE)
            out[:, k] = take(None, self.scores[k]) - variance * gradient / (copies * free)
        return out

    def stretch_scores(self, factor: float, means: Floats) -> None:
        """Scale the scores around their means, and all coefficients with them."""
        self.stretch = factor
        self.at.values = self.at.values * factor
        self.at.values[0] += (1.0 - factor) * means
        self.scores = [
            self.table.rows.cut(mean + factor * (self.table.rows.take(None, part) - mean))
            for mean, part in zip(means.tolist(), self.scores, strict=True)
        ]

    def copy(self) -> Additive:
        """Return a model that can be changed, with scores as they were fitted."""
        copied = replace(self, at=self.at.widen(1.0), scores=list(self.scores), stretch=1.0)
        copied.at.posteriors = list(self.at.posteriors)
        if self.stretch != 1.0:
            take, weight = self.table.rows.take, self.table.rows.take(None, self.table.weight)
            means = [weight @ take(None, part) / weight.sum() for part in self.scores]
            copied.stretch_scores(1.0 / self.stretch, np.array(means))
            copied.stretch = 1.0
        return copied

    def design(self) -> Design:
        """Return the design of the groups on the rows."""
        groups, table = self.at.groups, self.table
        if self.is_few:
            return DenseDesign(self.expand_rows(), table.rows, find_tied(groups))
        limit = max(int(_SAMPLE / self.n_outputs**0.5), _MIN_SAMPLE)
        return BinnedDesign(table, groups, table.rows.sample(limit, 1), self.last_design)

    def curve(self, column: int, output: int, *, steps: bool = True) -> Floats:
        """Return the curve of a column by bin; missing values are its last bin."""
        curve = np.zeros(len(self.table.columns[column].mass))
        for g in self.at.by_column.get(column, []):
            group = self.at.groups[g]
            if steps or group.kind != "step":
                curve += group.basis @ self.at.values[self.at.slices[g], output]
        return curve

    def effective(self, column: int, output: int) -> float:
        """Return the effective number of parameters of a column's curve, without steps."""
        return float(sum(self.at.effective[g, output] for g in self._list_smooth(column)))

    @property
    def n_effective(self) -> float:
        """The effective number of all parameters."""
        return float(self.at.effective.sum())

    def penalty(self, column: int, output: int) -> float:
        """Return what the curve of a column, without steps, costs by the prior, in nats."""
        at = self.at
        squares = [
            float(np.sum(at.values[at.slices[g], output] ** 2)) / at.variance[g]
            for g in self._list_smooth(column)
        ]
        return float(sum(squares))

    def _list_smooth(self, column: int) -> list[int]:
        groups = self.at.by_column.get(column, [])
        return [g for g in groups if self.at.groups[g].kind != "step"]

    def importance(self) -> Floats:
        """Return the variance of each column's curves, summed over the outputs."""
        out = np.zeros(len(self.table.columns))
        for c, bins in enumerate(self.table.columns):
            fraction = bins.mass / max(float(bins.mass.sum()), 1e-300)
            for k in range(self.n_outputs):
                curve = self.curve(c, k)
                out[c] += fraction @ (curve - fraction @ curve) ** 2
        return out

    def differentiate(self, index: Index | None) -> list[tuple[NDArray[Any], NDArray[Any]]]:
        """Return gradient and curvature of some rows, or of all, for each output."""
        return self.likelihood.differentiate_at(index, self.scores)

    def sum_derivatives(self) -> Sums:
        """Return gradient and curvature summed over the bins, for each output."""
        return sum_derivatives(self.likelihood, self.scores, range(self.n_outputs))[0]

    def sum_curvature(self, output: int) -> tuple[Floats, float]:
        """Return an output's curvature summed over the bins of all columns, and over all rows."""
        (sums,), (total,) = sum_derivatives(self.likelihood, self.scores, [output])
        return sums[1], total

    def band(self, column: int, output: int) -> tuple[Floats, Floats]:
        """Return a column's curve and its standard deviation, both by bin."""
        groups = self.at.by_column.get(column, [])
        curve = self.curve(column, output)
        if not groups:
            return curve, np.zeros_like(curve)
        positions = [np.arange(self.at.slices[g].start, self.at.slices[g].stop) for g in groups]
        functions = np.concatenate([self.at.groups[g].basis for g in groups], axis=1)
        return curve, self._spread(output, functions, np.concatenate(positions))

    def deviation(self, X: Floats) -> Floats:
        """Return the standard deviation of the scores of new rows, (rows, outputs)."""
        functions = self.expand(X)
        spreads = [self._spread(k, functions, slice(None)) for k in range(self.n_outputs)]
        return np.stack(spreads, axis=1)

    def _spread(self, output: int, functions: Floats, part: NDArray[np.intp] | slice) -> Floats:
        """Return the standard deviation of sums of functions, one for each row.

        The prior variances are estimates. Were they larger by two of their own standard errors,
        the posterior would be wider and lie elsewhere; both count.
        """
        here, values = self.at.posteriors[output], self.at.values[:, output] / self.stretch
        relaxed, moved = here.relax(self._doubt(), values)
        apart = functions @ (moved - values)[part]
        squares = [posterior.spread(functions, part) ** 2 for posterior in (here, relaxed)]
        wider = max(self.stretch, 1.0)  # smaller scores are no surer ones
        return np.asarray(wider * np.sqrt(0.5 * (squares[0] + squares[1]) + apart**2))

    def _doubt(self) -> Floats:
        """Return by how much the prior variance of every coefficient may be larger."""
        known = self.at.effective.sum(axis=1) + _count_pull(self.table.total)
        factor = np.exp(np.minimum(2.0 * np.sqrt(2.0 / known), _MOST_DOUBT))
        return np.concatenate([[1.0], np.repeat(factor, self.at.sizes)])

    def expand(self, X: Floats) -> Floats:
        """Return the matrix of all functions on new rows."""
        codes = bin_rows(self.table.columns, X)
        coarse = np.stack(
            [
                coarsen(bins, LEVELS)[code]
                for bins, code in zip(self.table.columns, codes, strict=True)
            ]
        )
        groups = [
            group
            if self.surfaces is None or group.kind != "all"
            else Group("all", (), self.surfaces.expand(codes))
            for group in self.at.groups
        ]
        return np.asarray(expand(groups, codes, coarse))

    def score(self, X: Floats) -> Floats:
        """Return the scores of new rows, of shape (rows, outputs)."""
        return np.asarray(self.expand(X) @ self.at.values)


def fit_additive(
    table: BinnedTable,
    likelihood: Likelihood,
    *,
    pairs: bool = True,
    steps: bool = True,
    directions: tuple[int, ...] = (),
    n_threads: int = 1,
    stage: Stage | None = None,
) -> Additive:
    """Fit curves, steps, strong pairs and, on few rows, all pairs.

    Columns with a direction keep it, and are in no pair.
    """
    notify = stage if stage is not None else _ignore
    notify("curves")
    is_wide = len(table.columns) > WIDE
    groups = list_lines(table) if is_wide else list_groups(table, rough=table.n_rows <= FEW_ROWS)
    model = _begin(table, likelihood, list(groups), n_threads)
    model.directions = directions
    _solve(model, 12, notify)
    if is_wide:
        _add_columns(model, notify)
    if steps and table.total >= _STEP_ROWS:
        notify("steps")
        _add_steps(model, _STEP_ROUNDS, 6, notify)
    if pairs:
        extend_pairs(model, steps=steps, stage=stage)
    if any(directions):
        notify("directions")
        _hold_directions(model, notify)
    model.last_design = None
    return model


def extend_pairs(model: Additive, *, steps: bool = True, stage: Stage | None = None) -> None:
    """Add strong pairs to a model of curves and, on few rows, all pairs."""
    table, notify = model.table, stage if stage is not None else _ignore
    if len(table.columns) < 2:
        return
    notify("pairs")
    model.bases = make_pair_bases(table, _list_partners(model), many=not model.is_few)
    if _add_pairs(model, notify) and steps and table.total >= _STEP_ROWS:
        _add_steps(model, 2, 5, notify)
    if model.is_few and _add_all_pairs(model):
        notify("all pairs")
        _solve(model, 12, notify)


def _list_free(model: Additive) -> list[int]:
    """Return the columns that have a curve of their own and no direction."""
    single = (group for group in model.at.groups if len(group.columns) == 1)
    return _leave_directed(model, {group.columns[0] for group in single if not group.tied})


def _leave_directed(model: Additive, columns: Iterable[int]) -> list[int]:
    table, directions = model.table, model.directions
    own = [c for c in sorted(columns) if not isinstance(table.columns[c], TermBins)]
    return [c for c in own if not directions or not directions[table.columns[c].source]]


def _list_partners(model: Additive) -> list[int]:
    """Return the columns that may be in pairs; on wide tables those where it is worth a look."""
    table = model.table
    everything = _leave_directed(model, range(len(table.columns)))
    if len(table.columns) <= WIDE:
        return everything
    index = table.rows.sample(_PARTNER_ROWS, 2)
    lines = [make_line(table.columns[c]) for c in everything]
    codes = table.rows.take_codes(index)[everything]
    found = find_partners(lines, codes, model.differentiate(index))
    return sorted({*_list_free(model), *(everything[i] for i in found)})


def widen_priors(model: Additive, factor: float, stage: Stage | None = None) -> Additive:
    """Return a model whose prior variances are larger by a factor, solved anew."""
    wider = replace(model, at=model.at.widen(factor))
    _solve(wider, _FIXED_ROUNDS, stage or _ignore, fixed=True)
    wider.last_design = None
    return wider


def _hold_directions(model: Additive, notify: Stage) -> None:
    """Make curves rise or fall as they must, and let all others move along."""
    table, sums = model.table, model.sum_derivatives()
    model.at = fix_directions(model.at, table.columns, sums, model.directions)
    _solve(model, 4, notify)
    hold_directions(model.at)
    design = model.design()
    model.scores = [design.score(values) for values in model.at.values.T]


def _begin(
    table: BinnedTable, likelihood: Likelihood, groups: Sequence[Group], n_threads: int
) -> Additive:
    start = Coefficients.begin(groups, likelihood.start())
    return Additive(table, likelihood, start, [], {}, n_threads)


def _add_columns(model: Additive, notify: Stage) -> None:
    """Add curves to the columns of a wide table that stand out."""
    groups = list(list_groups(model.table, rough=False))
    n = len(model.table.columns)
    for _ in range(_COLUMN_ROUNDS):
        found = set(find_columns(groups, model.sum_derivatives(), n).tolist())
        if not found:
            return
        chosen = [group for group in groups if group.columns[0] in found]
        groups = [group for group in groups if group.columns[0] not in found]
        model.at = model.at.extend(chosen)
        _solve(model, 6, notify)


def _ignore(stage: str) -> None:
    """Do nothing with a stage's name."""


def _count_pull(total: float) -> float:
    """Return how many effective coefficients the variance of a kind counts for."""
    return float(_PULL * min(1.0, _PULL_ROWS / total) ** 0.5)


def _solve(model: Additive, rounds: int, notify: Stage, *, fixed: bool = False) -> None:
    """Solve for coefficients and variances; on many rows drop groups of no effect."""
    pull = _count_pull(model.table.total)
    few = rounds if model.is_few else min(rounds, 4)
    settings = Settings(few, pull, lambda: notify(""), fixed)
    left = rounds
    while True:
        design = model.design()
        if isinstance(design, BinnedDesign):
            model.last_design = design
        model.scores, is_done = solve(design, model.likelihood, model.at, settings)
        left -= settings.rounds
        if model.is_few or left <= 0:
            return
        used = model.at.effective.sum(axis=1)
        is_pair = np.array([group.is_pair for group in model.at.groups])
        small = (model.at.variance < _PRUNED) | (is_pair & (used < 0.02))
        if small.mean() >= 0.1:
            model.at = model.at.keep(~small)
        elif is_done:
            return


def _add_steps(model: Additive, n_rounds: int, rounds: int, notify: Stage) -> None:
    for _ in range(n_rounds):
        left = _MAX_STEPS - sum(group.kind == "step" for group in model.at.groups)
        found = find_steps(model.table, model.at, model.sum_derivatives())
        if not found[:left]:
            return
        model.at = model.at.extend(found[:left])
        _solve(model, rounds, notify)


def scan_pairs(model: Additive) -> list[PairScan]:
    """Return the pairs of columns that do something together beyond the model, strongest first."""
    table = model.table
    d = len(table.columns)
    bases = model.bases or make_pair_bases(table, _list_partners(model), many=not model.is_few)
    threshold = _GAIN
    if model.is_few or d > WIDE:
        threshold = _STRONG_GAIN + 0.5 * np.log(max(0.5 * d * (d - 1), 1.0))
    return find_pairs(
        table,
        bases,
        model.differentiate,
        model.importance(),
        threshold * model.n_outputs**0.5,
        model.n_threads,
    )


def _add_pairs(model: Additive, notify: Stage) -> bool:
    """Add the pairs that stand out, and those that do so once these are there."""
    for n_round in range(_PAIR_ROUNDS):
        scans = scan_pairs(model)
        if not scans:
            return n_round > 0
        groups: Sequence[Group] = [make_pair_group(model.table, model.bases, s) for s in scans]
        model.at = model.at.extend(groups)
        _solve(model, 12, notify)
    return True


def _add_all_pairs(model: Additive) -> bool:
    free = set(_list_free(model))
    bases = {c: basis for c, basis in model.bases.items() if c in free}
    if len(bases) < 2:
        return False
    importance = model.importance()
    threshold = _HEREDITY if model.n_outputs == 1 else 1e3
    weight = importance + threshold * importance[list(bases)].mean() + 1e-6
    table = model.table
    rows_weight = table.rows.take(None, table.weight)
    made = make_all_pairs(bases, table.codes, rows_weight, weight)
    if made is None:
        return False
    model.surfaces, group = made
    model.at = model.at.extend([group])
    return True
