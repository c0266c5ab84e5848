"""How much inputs and functions matter to a network, on given rows.

Two questions are asked. *Permutation*: how much worse does the network get when the values
of an input are shuffled among the rows? *Drop*: how many decisions change when functions
are held constant? The second is exact for the rows, and asks nothing about what is right.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING, Any, Literal

import numpy as np
from numpy.typing import ArrayLike, NDArray

from newron.drawing.printed import Listing
from newron.errors import InputError
from newron.explanations.conditions import name_functions
from newron.explanations.row import open_layers
from newron.formatting import clean, format_count, format_percent, format_rounded, to_ascii
from newron.model.arithmetic import Floats
from newron.model.labels import Labels
from newron.model.model import Model
from newron.model.network import Layer
from newron.model.output import Classes, Output, read_targets
from newron.model.schema import Column, Schema
from newron.model.survival import refuse_survival
from newron.rules.crisp import score_r2
from newron.tables.frames import make_pandas

if TYPE_CHECKING:
    import pandas as pd

Kind = Literal["permutation", "drop"]

_KINDS = ("permutation", "drop")
_BAR = 24
_INDENT = "    "


@dataclass(frozen=True)
class Influence:
    """How much an input or a function matters.

    - ``name``: The column; of a function its condition, or what it reads.
    - ``value``: The measure that :class:`Importance` names.
    - ``std``: The standard deviation over the repeats; None where nothing is repeated.
    - ``layer``, ``neuron``, ``function``: Of a function, its neuron's numbers from 1 on, and its
      index in its layer.
    """

    name: str
    value: float
    std: float | None = None
    layer: int | None = None
    neuron: int | None = None
    function: int | None = None


@dataclass(frozen=True, repr=False)
class Importance(Listing[Influence]):
    """How much each input matters, the most important first; as text, a table with bars.

    Parameters
    ----------
    inputs : tuple of Influence
        The most important first.
    kind : str
        "permutation" or "drop".
    measure : str
        What the values are, in words.
    n_rows : int
    percent : bool
        Whether values are fractions of rows.
    baseline : float, optional
        Accuracy or R² before anything is shuffled; None for "drop".
    functions : tuple of Influence
        For "drop", the same for every function by itself, in the order of the layers.
    functions_measure : str
        What the values of functions are, in words.

    Examples
    --------
    >>> from newron.explanations.importance import Influence
    >>> found = Importance((Influence("age", 0.25),), "drop", "Changed classes", 4, percent=True)
    >>> print(found)
    Changed classes
        age  25.0 %  ━━━━━━━━━━━━━━━━━━━━━━━━
    """

    _parts = "inputs"

    inputs: tuple[Influence, ...]
    kind: Kind
    measure: str
    n_rows: int
    percent: bool
    baseline: float | None = None
    functions: tuple[Influence, ...] = ()
    functions_measure: str = ""

    def of(self, name: str) -> Influence:
        """Return the input of this name.

        Parameters
        ----------
        name : str

        Returns
        -------
        Influence
        """
        for influence in self:
            if influence.name == name:
                return influence
        raise InputError(f"expected the name of an input, got {name!r}")

    def to_dict(self) -> dict[str, Any]:
        """Return everything as plain data.

        Returns
        -------
        dict
        """
        return {
            "kind": self.kind,
            "measure": self.measure,
            "rows": self.n_rows,
            "baseline": self.baseline,
            "inputs": [{"name": w.name, "value": w.value, "std": w.std} for w in self],
            "functions": [asdict(influence) for influence in self.functions],
        }

    def to_frame(self, *, functions: bool = False) -> pd.DataFrame:
        """Return a data frame of pandas.

        Parameters
        ----------
        functions : bool, default=False
            Whether there is a row for each function, and not for each input.

        Returns
        -------
        DataFrame
        """
        if functions:
            names = ["layer", "neuron", "function", "name", "value"]
            return make_pandas(map(asdict, self.functions), names, "importance")
        names = ["name", "value", "std"] if self.kind == "permutation" else ["name", "value"]
        return make_pandas(map(asdict, self), names, "importance")

    def __repr__(self) -> str:
        return f"<Importance: {self.kind}, {len(self)} inputs, {self.n_rows} rows>"

    def __str__(self) -> str:
        return self.to_text()

    def to_text(self, *, functions: bool = False, unicode: bool = True) -> str:
        """Return a table as text.

        Parameters
        ----------
        functions : bool, default=False
            Whether there is a line for each function, and not for each input.
        unicode : bool, default=True
            False writes all signs in ASCII.

        Returns
        -------
        str
        """
        shown = sorted(self.functions, key=_get_size) if functions else self.inputs
        largest = max((one.value for one in shown), default=0.0)
        rows = [self._format_row(one, largest, unicode) for one in shown]
        widths = [max(map(len, cells)) for cells in zip(*rows, strict=True)]
        lines = [
            f"{_INDENT}{name.ljust(widths[0])}  {value.rjust(widths[1])}  {bar}".rstrip()
            for name, value, bar in rows
        ]
        head = self.functions_measure if functions else self.measure
        text = "\n".join([head, *lines])
        return text if unicode else to_ascii(text)

    def _format_row(
        self, influence: Influence, largest: float, unicode: bool
    ) -> tuple[str, str, str]:
        length = round(_BAR * influence.value / largest) if largest > 0.0 else 0
        cell = self._format_value(influence.value)
        if influence.std is not None:
            cell = f"{cell} ± {self._format_value(influence.std)}"
        name = clean(influence.name, directions=False)
        if influence.layer is not None:
            name = f"{influence.layer}.{influence.neuron}  {name}"
        return name if unicode else to_ascii(name), cell, "━" * max(length, 0)

    def _format_value(self, value: float) -> str:
        return format_percent(value, 1, limits=False) if self.percent else format_rounded(value)


def _get_size(influence: Influence) -> float:
    return -influence.value


# ---- asking ----


def measure_importance(
    model: Model,
    X: ArrayLike,
    y: ArrayLike | None = None,
    *,
    kind: Kind = "permutation",
    n_repeats: int = 5,
    random_state: int | np.random.Generator | None = 0,
) -> Importance:
    """Measure how much each input matters on given rows; see :meth:`Model.importance`."""
    refuse_survival(model, "importance")
    if kind not in _KINDS:
        raise InputError(f"kind: expected 'permutation' or 'drop', got {kind!r}")
    rows = np.ascontiguousarray(model.read(X), np.float64)
    if not len(rows):
        raise InputError("expected rows to measure importance on, got none")
    if kind == "drop":
        return _drop(model, rows)
    if n_repeats < 1:
        raise InputError(f"n_repeats: expected at least 1, got {n_repeats}")
    return _permute(model, rows, y, n_repeats, np.random.default_rng(random_state))


def _find_read(model: Model) -> set[int]:
    """Return the columns that a function reads."""
    return {int(s) for layer in model.layers for s in layer.source if s < len(model.schema)}


# ---- permutation ----


def _permute(
    model: Model, rows: Floats, y: ArrayLike | None, n_repeats: int, rng: np.random.Generator
) -> Importance:
    target = _read_target(model.output, y, model.score_rows(rows))
    baseline = _score(model.output, model.score_rows(rows), target)
    orders = [rng.permutation(len(rows)) for _ in range(n_repeats)]
    read, inputs = _find_read(model), []
    for i, name in enumerate(model.schema.names):
        lost = [0.0]
        if i in read:
            lost = [
                baseline - _score(model.output, model.score_rows(shuffled), target)
                for shuffled in _shuffle(rows, i, orders)
            ]
        with np.errstate(over="ignore", invalid="ignore"):  # R² of numbers beyond all bounds
            inputs.append(Influence(name, float(np.mean(lost)), float(np.std(lost))))
    return Importance(
        tuple(sorted(inputs, key=_get_size)),
        kind="permutation",
        measure=_describe_permutation(model.output, baseline, len(rows), n_repeats, y is None),
        n_rows=len(rows),
        percent=isinstance(model.output, Classes | Labels),
        baseline=baseline,
    )


def _shuffle(rows: Floats, i: int, orders: Sequence[NDArray[np.intp]]) -> Iterator[Floats]:
    """Return the rows with one column in other orders."""
    shuffled = rows.copy()
    for order in orders:
        shuffled[:, i] = rows[order, i]
        yield shuffled


def _read_target(output: Output, y: ArrayLike | None, scores: Floats) -> NDArray[Any]:
    """Return the numbers of the right classes, or the right numbers."""
    if y is not None:
        return read_targets(output, y, len(scores))
    if isinstance(output, Classes | Labels):
        return output.choose(scores)
    return output.transform(scores)


def _score(output: Output, scores: Floats, truth: NDArray[Any]) -> float:
    """Return the accuracy, or the mean R² of the targets."""
    if isinstance(output, Classes | Labels):
        return float(np.mean(output.choose(scores) == truth))
    return score_r2(truth, output.transform(scores))


def _describe_permutation(
    output: Output, baseline: float, n_rows: int, n_repeats: int, own: bool
) -> str:
    times = "once" if n_repeats == 1 else f"{n_repeats} times"
    rows = format_count(n_rows, "row", separator="")
    if isinstance(output, Labels):
        rows = f"the labels of {rows}"
    elif not isinstance(output, Classes):
        of = (
            f"R² of {format_rounded(baseline)}"
            if not own
            else "R² towards the network's own predictions"
        )
        return f"{of} on {rows}: what is lost when an input is shuffled, {times}"
    if own:
        what = "that change" if isinstance(output, Labels) else "whose class changes"
        return f"Share of {rows} {what} when an input is shuffled, {times}"
    right = format_percent(baseline, 1, limits=False)
    return f"{right} of {rows} are right: what is lost when an input is shuffled, {times}"


# ---- drop ----


def _drop(model: Model, rows: Floats) -> Importance:
    positions = [(k, e) for k, layer in enumerate(model.layers) for e in range(len(layer.source))]
    held = _find_constants(model, rows)
    before = model.score_rows(rows)
    wider = np.concatenate([rows, np.zeros((len(rows), 1))], axis=1)

    def compare(constants: Mapping[tuple[int, int], float]) -> float:
        after = hold_functions(model, constants).score_rows(wider)
        return _compare(model.output, before, after)

    names = name_functions(model)
    functions = [
        Influence(
            names[k][e],
            compare({(k, e): held[k, e]}),
            None,
            k + 1,
            int(model.layers[k].target[e]) + 1,
            e,
        )
        for k, e in positions
    ]
    inputs = []
    for i, name in enumerate(model.schema.names):
        mine = {(k, e): held[k, e] for k, e in positions if model.layers[k].source[e] == i}
        inputs.append(Influence(name, compare(mine) if mine else 0.0))
    return Importance(
        tuple(sorted(inputs, key=_get_size)),
        kind="drop",
        measure=_describe_drop(model.output, len(rows), "an input"),
        n_rows=len(rows),
        percent=isinstance(model.output, Classes | Labels),
        functions=tuple(functions),
        functions_measure=_describe_drop(model.output, len(rows), "a function"),
    )


def _find_constants(model: Model, rows: Floats) -> dict[tuple[int, int], float]:
    """Return the value at which each function is held."""
    return {
        (k, e): find_constant(layer, values)
        for k, (layer, h) in enumerate(zip(model.layers, open_layers(model)(rows), strict=True))
        for e, values in enumerate(h.T)
    }


def find_constant(layer: Layer, h: Floats) -> float:
    """Return the mean of a function's values, or of a step the more frequent one."""
    function = layer.function
    mean = float(h.mean())
    if function.crisp:
        return 1.0 if mean >= 0.5 else 0.0
    return min(max(mean, 0.0), 1.0) if function.bounded else mean


def _compare(output: Output, before: Floats, after: Floats) -> float:
    """Return the fraction of rows whose class differs, or the mean difference of the numbers."""
    if isinstance(output, Classes | Labels):
        return float(np.mean(output.choose(before) != output.choose(after)))
    return float(np.abs(output.transform(before) - output.transform(after)).mean())


def hold_functions(model: Model, constants: Mapping[tuple[int, int], float]) -> Model:
    """Return the model with some functions held constant.

    Functions are described by the position of their layer and their own in it, from 0 on. They then
    read one more column, the last: a single category, 0 in all rows. So everything else
    stays as it was, whatever aggregates them.
    """
    name = "constant"
    while name in model.schema.names:
        name += "_"
    schema = Schema((*model.schema.columns, Column(name, 0.0, 0.0, categories=("always",))))
    layers = [
        _hold_layer(layer, len(model.schema), {e: c for (at, e), c in constants.items() if at == k})
        for k, layer in enumerate(model.layers)
    ]
    return Model(schema, layers, model.output)


def _hold_layer(layer: Layer, n: int, constants: Mapping[int, float]) -> Layer:
    edges = list(constants)
    source, rank = np.array(layer.source), np.array(layer.rank)
    source[source >= n] += 1
    missing = np.array(layer.missing)
    levels = list(layer.levels)
    source[edges], rank[edges] = n, False
    for e, constant in constants.items():
        missing[e], levels[e] = constant, np.array([constant])
    return layer.replace(source=source, rank=rank, missing=missing, levels=levels)


def _describe_drop(output: Output, n_rows: int, held: str) -> str:
    rows = format_count(n_rows, "row", separator="")
    if isinstance(output, Labels):
        return f"Share of the labels of {rows} that change when {held} is held constant"
    if isinstance(output, Classes):
        return f"Share of {rows} whose class changes when {held} is held constant"
    what = output.names[0] if output.n_scores == 1 else "the targets"
    return f"Mean change of {what} on {rows} when {held} is held constant"
