"""Reads the effects of all columns and pairs from a model."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from newron.drawing.printed import Listing
from newron.formatting import clean, format_rounded
from newron.model.aggregation import combine_limits
from newron.model.arithmetic import Floats
from newron.model.condition import Condition
from newron.model.description import name_neurons
from newron.model.model import Model
from newron.model.output import Classes, Label, Output
from newron.model.schema import Column
from newron.model.terms import Term, Terms, split_terms
from newron.rules.axis import Axis, make_axes
from newron.rules.circuit import find_boundaries
from newron.shapes.curve import Curve, Source, SumCurve
from newron.shapes.effect import Effect, Level, Scale
from newron.shapes.shape import Shape, Shapes
from newron.shapes.shape_reader import read_shapes, read_sum
from newron.tables.frames import make_pandas

if TYPE_CHECKING:
    import pandas as pd

_GRID = 41  # positions of each axis of a surface


class Effects(Listing[Effect]):
    """The effects of all columns and pairs on the scores, the largest first.

    Parameters
    ----------
    effects : sequence of Effect
    outputs : sequence of (label, name, intercept)
        The scores, in their order: what they are of, in words, and what every row gets.

    Examples
    --------
    See :func:`read_effects`, which makes them.
    """

    _parts = "_effects"

    def __init__(
        self, effects: Sequence[Effect], outputs: Sequence[tuple[Label, str, float]]
    ) -> None:
        self._effects = tuple(effects)
        self.outputs = tuple(outputs)

    @property
    def intercepts(self) -> dict[Label, float]:
        """What every row gets, by class or target."""
        return {label: intercept for label, _, intercept in self.outputs}

    def of(self, name: str, output: Label | None = None) -> Effect:
        """Return the effect of a column, or of a pair: "age × sex".

        Parameters
        ----------
        name : str
        output : label, optional
            Of several scores, the one that is meant; the first by default.

        Returns
        -------
        Effect

        Raises
        ------
        KeyError
            If nothing in that score reads the column by itself.
        """
        chosen = self.outputs[0][0] if output is None else output
        for effect in self:
            if effect.name == name and effect.output == chosen:
                return effect
        raise KeyError(name)

    def of_output(self, output: Label) -> tuple[Effect, ...]:
        """Return the effects on one score, the largest first.

        Parameters
        ----------
        output : label

        Returns
        -------
        tuple of Effect
        """
        return tuple(effect for effect in self if effect.output == output)

    def __repr__(self) -> str:
        """Return how many there are."""
        return f"<Effects: {len(self)} of {len({e.name for e in self})} columns and pairs>"

    def __str__(self) -> str:
        return "\n".join(
            "\n    ".join([heading, *lines]) for heading, lines in map(self.list_lines, self.labels)
        )

    @property
    def labels(self) -> tuple[Label, ...]:
        """The classes or targets whose scores there are."""
        return tuple(label for label, _, _ in self.outputs)

    def list_lines(self, output: Label) -> tuple[str, list[str]]:
        """Return a heading for one score, and a line for each effect and the intercept.

        Parameters
        ----------
        output : label

        Returns
        -------
        heading : str
        lines : list of str
        """
        name, intercept = next((n, value) for label, n, value in self.outputs if label == output)
        lines = [str(effect) for effect in self.of_output(output)]
        if intercept:
            word = "plus" if intercept > 0.0 else "less"
            lines.append(f"{word} {format_rounded(abs(intercept), 4)}")
        return clean(f"{name} adds up:", directions=False), lines

    def to_frame(self) -> pd.DataFrame:
        """Return a row for each position of each curve and surface, as a data frame of pandas.

        Returns
        -------
        DataFrame
            With the columns name, output, position, second (of pairs), value and deviation.
        """
        records = (record for effect in self for record in _list_records(effect))
        return make_pandas(records, _RECORD, "effects")

    def to_dict(self) -> dict[str, Any]:
        """Return everything as plain data.

        Returns
        -------
        dict
        """
        return {
            "effects": [effect.to_dict() for effect in self],
            "intercepts": [
                {"output": label, "value": intercept} for label, _, intercept in self.outputs
            ],
        }


_RECORD = ("name", "output", "position", "second", "value", "deviation")


def _list_records(effect: Effect) -> Iterator[tuple[Any, ...]]:
    head = effect.name, effect.output
    if effect.kind == "surface":
        first, second = (scale.labels for scale in effect.scales)
        for (i, j), value in np.ndenumerate(effect.values):
            error = None if effect.deviation is None else float(effect.deviation[i, j])
            yield *head, first[i], second[j], float(value), error
        return
    n = len(effect.values)
    spread = [None] * n if effect.deviation is None else effect.deviation.tolist()
    positions = effect.scales[0].labels if effect.scales else ()
    for place, value, error in zip(positions, effect.values.tolist(), spread, strict=True):
        yield *head, place, None, value, error


def read_effects(model: Model) -> Effects:
    """Read what each column and each pair of columns adds to the scores, as curves and surfaces."""
    reader = _EffectReader(model)
    found = [
        effect
        for term in reader.terms.terms
        for k in range(model.output.n_scores)
        if (effect := reader.read(term, k)) is not None
    ]
    labels = list_scores(model.output)
    names = name_neurons(model, len(model.layers))
    intercepts = reader.terms.intercept.tolist()
    found.sort(key=lambda effect: -effect.size)
    return Effects(found, list(zip(labels, names, intercepts, strict=True)))


def list_scores(output: Output) -> tuple[Label, ...]:
    """Return what the scores are of."""
    return output.scored if isinstance(output, Classes) else output.score_names


class _EffectReader:
    def __init__(self, model: Model) -> None:
        self.model = model
        self.terms: Terms = split_terms(model)
        self.shapes: Shapes = read_shapes(model)
        boundaries = find_boundaries(model) if model.is_crisp else [[]] * len(model.schema)
        self.axes = make_axes(model.schema, boundaries)

    def read(self, term: Term, k: int) -> Effect | None:
        """Return the effect of a term on score k; None if nothing of it is in that score."""
        last = self.model.layers[-1]
        edges = [e for e in term.edges if last.target[e] == k]
        if not edges:
            return None
        if len(term.columns) == 1:
            return self._read_column(term, k, edges)
        return self._read_pair(term, k) if len(term.columns) == 2 else self._bound(term, k, edges)

    def _name(self, term: Term, k: int) -> dict[str, Any]:
        names = tuple(self.model.schema.names[i] for i in term.columns)
        return {"columns": names, "output": list_scores(self.model.output)[k]}

    def _trace(self, term: Term, k: int, values: Floats) -> Floats:
        return self.terms.trace(term, values.reshape(len(values), -1), k)

    # ---- one column ----

    def _read_column(self, term: Term, k: int, edges: Sequence[int]) -> Effect:
        i = term.columns[0]
        column, axis = self.model.schema.columns[i], self.axes[i]
        curve = self._make_curve(term, k, edges)
        x = curve.x if curve.missing is None else np.append(curve.x, np.nan)
        y = curve.y if curve.missing is None else np.append(curve.y, curve.missing)
        common: dict[str, Any] = {
            **self._name(term, k),
            "scales": (Scale(column, x),),
            "values": y,
            "least": float(y.min()),
            "greatest": float(y.max()),
        }
        if column.categories is not None:
            return Effect(kind="levels", levels=_group_categories(column, x, y), **common)
        if self.model.is_crisp:
            cells = self._trace(term, k, axis.representatives)
            return Effect(kind="steps", levels=_group_cells(axis, cells), **common)
        shape = self._read_shape(curve, k, edges)
        return Effect(kind="curve", shape=shape, **common)

    def _make_curve(self, term: Term, k: int, edges: Sequence[int]) -> SumCurve:
        """Return the curve of score k, with a position at every turn of a function in it."""
        i = term.columns[0]
        column = self.model.schema.columns[i]
        source = Source(column.name, column.low, column.high, column)
        *hidden, last = self.model.layers
        read = [(layer, int(e)) for layer in hidden for e in np.flatnonzero(layer.source == i)]
        read += [(last, e) for e in edges if last.source[e] == i]
        members = [Curve(self.model.schema, layer, e, source) for layer, e in read]
        return SumCurve(source, members, lambda x: self._trace(term, k, x))

    def _read_shape(self, curve: SumCurve, k: int, edges: Sequence[int]) -> Shape:
        largest = max(
            abs(s.weight or 1.0) * (s.greatest - s.least)
            for s in self.shapes
            if s.layer == len(self.model.layers) and s.neuron == k + 1
        )
        return read_sum(curve, len(self.model.layers), k + 1, edges[0], largest)

    # ---- several columns ----

    def _read_pair(self, term: Term, k: int) -> Effect:
        scales = tuple(_make_scale(self.model.schema.columns[i]) for i in term.columns)
        first, second = (scale.positions for scale in scales)
        grid = np.stack(np.meshgrid(first, second, indexing="ij"), axis=-1).reshape(-1, 2)
        values = self._trace(term, k, grid).reshape(len(first), len(second))
        return Effect(
            kind="surface",
            scales=scales,
            values=values,
            least=float(values.min()),
            greatest=float(values.max()),
            **self._name(term, k),
        )

    def _bound(self, term: Term, k: int, edges: Sequence[int]) -> Effect:
        """Return limits of what functions of many columns add, from those of each function."""
        last = self.model.layers[-1]
        first = sum(len(layer.source) for layer in self.model.layers[:-1])
        shapes = [self.shapes[first + e] for e in edges]
        ends = np.array([(shape.least, shape.greatest) for shape in shapes])
        ends = ends * last.weights[edges, None]
        if last.aggregation == "mean":
            ends = ends / int(last.begin[k + 1] - last.begin[k])
        kind = "sum" if last.aggregation == "mean" else last.aggregation
        low, high = combine_limits(kind, ends.min(axis=1), ends.max(axis=1))
        return Effect(
            kind="joint", scales=(), values=np.zeros(0), least=low, greatest=high,
            **self._name(term, k),
        )  # fmt: skip


def _make_scale(column: Column) -> Scale:
    if column.categories is not None:
        positions = np.arange(float(len(column.categories)))
    elif column.values:
        positions = np.unique(np.array(column.values, np.float64))
    else:
        positions = np.unique(np.linspace(column.low, column.high, _GRID))
    return Scale(column, np.append(positions, np.nan) if column.gaps else positions)


def _group_categories(column: Column, x: Floats, y: Floats) -> tuple[Level, ...]:
    """Return the categories that add the same together."""
    groups: dict[float, list[float]] = {}
    for position, value in zip(x.tolist(), y.tolist(), strict=True):
        groups.setdefault(value, []).append(position)
    n = column.n_categories
    return tuple(
        Level(
            Condition((), tuple(c in own for c in range(n)), any(p != p for p in own)).format(
                column, named=False
            ),
            value,
        )
        for value, own in sorted(groups.items(), reverse=True)
    )


def _group_cells(axis: Axis, values: Floats) -> tuple[Level, ...]:
    """Return the cells that add the same together, in the order of the axis."""
    masks: dict[float, int] = {}
    for c, value in enumerate(values.tolist()):
        masks[value] = masks.get(value, 0) | 1 << c
    return tuple(Level(axis.format(mask, named=False), value) for value, mask in masks.items())
