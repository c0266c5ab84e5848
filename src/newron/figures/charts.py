"""Plots for Matplotlib users: they draw on axes, return them, and never call ``show``.

Matplotlib is imported when one of them is called; the extra ``plot`` brings it.
"""

from __future__ import annotations

import math
import textwrap
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from newron._extras import import_extra
from newron.drawing.palette import LIGHT
from newron.errors import InputError
from newron.explanations.importance import Importance, Kind, measure_importance
from newron.figures.diagram import Diagram, Function
from newron.figures.diagram_reader import read_diagram
from newron.formatting import clean, format_rounded
from newron.model.model import Model
from newron.model.output import Classes
from newron.model.predictions import read_model
from newron.model.schema import Column

if TYPE_CHECKING:
    from matplotlib.axes import Axes

# In this order everyone can distinguish the colours; lines differ in their dashes too.
_COLOURS = (LIGHT["blue"], LIGHT["red"], LIGHT["green"], LIGHT["muted"], LIGHT["rug"])
_DASHES = ("-", "--", "-.", ":")
_LIGHT = ("#C7DAEC", "#F3C4B2", "#C6E6D5", "#E3E7EB", "#E9DDF0")  # of classes
_MARKERS = "osD^v"
_GRID = 201  # points of a boundary, along each side
_PER_LINE = 3
_LABELS = 36  # characters of all labels of categories, side by side


def plot_functions(
    model: Any, X: ArrayLike | None = None, *, columns: Sequence[str] | None = None, ax: Any = None
) -> Axes | NDArray[Any]:
    """Plot what every function adds to its neuron, one axes for each input.

    Parameters
    ----------
    model : Model or fitted estimator
    X : table, optional
        Rows whose values are marked below the curves.
    columns : sequence of str, optional
        The inputs to plot; by default all that a function reads to some effect.
    ax : Axes or array of Axes, optional
        Where to plot: one axes for each input. By default a new figure.

    Returns
    -------
    Axes or array of Axes
        One axes where ``ax`` was one, otherwise an array of one for each input.

    Examples
    --------
    >>> import matplotlib
    >>> matplotlib.use("Agg")  # no window
    >>> from newron.model import Classes, Column, Layer, Model, Schema
    >>> columns = Column("temperature", 35.0, 42.0, unit="°C"), Column("days", 0.0, 9.0)
    >>> layer = Layer("heaviside", "sum", "identity", 1, [0, 0], [0, 1], [[1.0], [1.0]],
    ...               [[38.0], [3.0]], alpha=[2.0, 1.0], centre=[2.0])
    >>> model = Model(Schema(columns), [layer], Classes(("well", "ill")))
    >>> [ax.get_xlabel() for ax in plot_functions(model)]
    ['temperature (°C)', 'days']
    """
    network = read_model(model)
    rows = None if X is None else np.asarray(network.read(X), np.float64)
    diagram = read_diagram(network, rows)
    groups = _group_functions(diagram, columns)
    axes = prepare_axes(ax, len(groups))
    for one, (column, functions) in zip(axes, groups, strict=True):
        _plot_input(one, column, functions, diagram)
    return axes[0] if ax is not None and not _is_many(ax) else axes


def _group_functions(
    diagram: Diagram, columns: Sequence[str] | None
) -> list[tuple[Column, list[Function]]]:
    schema = diagram.model.schema
    for name in columns or ():
        if name not in schema.names:
            raise InputError(f"columns: expected names of inputs, got {name!r}")
    groups: dict[int, list[Function]] = {}
    for function in diagram.functions:
        if function.signal < len(schema):
            groups.setdefault(function.signal, []).append(function)
    chosen = sorted(groups) if columns is None else [schema.names.index(n) for n in columns]
    if not chosen:
        raise InputError("expected a network with a function of an input, got none that matters")
    return [(schema.columns[i], groups.get(i, [])) for i in chosen]


def _plot_input(ax: Axes, column: Column, functions: Sequence[Function], diagram: Diagram) -> None:
    names = {neuron.key: neuron.name for neuron in diagram.neurons}
    for k, function in enumerate(functions):
        name = names[f"{function.shape.layer}:{function.shape.neuron}"]
        missing = (
            "" if function.missing is None else f", missing: {format_rounded(function.missing)}"
        )
        colour, label = _COLOURS[k % len(_COLOURS)], escape_text(f"{name}{missing}")
        style: dict[str, Any] = {"color": colour, "label": label}
        if function.axis.labels:
            width = 0.8 / len(functions)
            ax.bar(function.x + (k + 0.5) * width - 0.4, function.y, width, **style)
        else:
            ax.plot(function.x, function.y, _DASHES[k % len(_DASHES)], **style)
            for mark in function.marks:
                ax.axvline(mark.place, color=LIGHT["line"], linewidth=0.8, linestyle=":")
    ax.set_xlabel(name_axis(column))
    ax.set_ylabel("adds")
    if functions:
        _mark_rows(ax, functions[0])
        ax.legend(frameon=False, fontsize="small")


def _mark_rows(ax: Axes, function: Function) -> None:
    axis = function.axis
    if axis.labels:
        n = len(axis.labels)
        ax.set_xticks(range(n), [_wrap(label, max(_LABELS // n, 4), 2) for label in axis.labels])
    if not axis.density or axis.labels:
        return
    places = axis.values
    if not places:
        step = (axis.high - axis.low) / len(axis.density)
        places = tuple(axis.low + (k + 0.5) * step for k in range(len(axis.density)))
    largest = max(axis.density) or 1
    sizes = [60.0 * n / largest for n in axis.density]
    at = ax.get_xaxis_transform()
    zero, colour = [0.0] * len(places), LIGHT["rug"]
    ax.scatter(places, zero, s=sizes, c=colour, marker="|", transform=at, clip_on=False)


def plot_importance(
    importance: Any,
    X: ArrayLike | None = None,
    y: ArrayLike | None = None,
    *,
    kind: Kind = "permutation",
    n_repeats: int = 5,
    random_state: int | np.random.Generator | None = 0,
    max_inputs: int | None = 20,
    ax: Axes | None = None,
) -> Axes:
    """Plot how much each input matters, the most important at the top.

    Parameters
    ----------
    importance : Importance, Model or fitted estimator
        Of a model it is measured on ``X`` and ``y``.
    X : table, optional
        Rows to measure on; needed unless an ``Importance`` is given.
    y : array, optional
        What is true of them.
    kind, n_repeats, random_state
        As in :func:`newron.explanations.importance.measure_importance`.
    max_inputs : int or None, default=20
        How many inputs to plot; the label of the axis names how many are not.
    ax : Axes, optional
        Where to plot; by default a new figure.

    Returns
    -------
    Axes

    Examples
    --------
    >>> import matplotlib
    >>> matplotlib.use("Agg")  # no window
    >>> from newron.model import Classes, Column, Layer, Model, Schema
    >>> columns = Column("temperature", 35.0, 42.0, unit="°C"), Column("days", 0.0, 9.0)
    >>> layer = Layer("heaviside", "sum", "identity", 1, [0, 0], [0, 1], [[1.0], [1.0]],
    ...               [[38.0], [3.0]], alpha=[2.0, 1.0], centre=[2.0])
    >>> model = Model(Schema(columns), [layer], Classes(("well", "ill")))
    >>> ax = plot_importance(model, [[39.0, 1], [36.5, 4], [38.5, 0]], kind="drop")
    >>> [label.get_text() for label in ax.get_yticklabels()]
    ['temperature', 'days']
    """
    if not isinstance(importance, Importance):
        if X is None:
            raise InputError("expected rows X to measure importance on, or an Importance, got none")
        importance = measure_importance(
            read_model(importance), X, y, kind=kind, n_repeats=n_repeats, random_state=random_state
        )
    ax = _get_axes(ax)
    shown = importance[:max_inputs] if max_inputs is not None else tuple(importance)
    values = [one.value for one in shown]
    errors = None if shown[0].std is None else [one.std or 0.0 for one in shown]
    ax.barh(range(len(shown)), values, xerr=errors, color=LIGHT["blue"], ecolor=LIGHT["ink"])
    ax.set_yticks(range(len(shown)), [escape_text(one.name) for one in shown])
    ax.invert_yaxis()
    rest = len(importance) - len(shown)
    more = f" ({rest} more inputs)" if rest else ""
    ax.set_xlabel(_wrap(importance.measure + more, 60, 3))
    return ax


def plot_tradeoff(path: Any, *, ax: Axes | None = None) -> Axes:
    """Plot how good shorter networks are, on validation rows.

    Parameters
    ----------
    path : ModelPath or fitted estimator
        What ``estimator.path_`` holds.
    ax : Axes, optional
        Where to plot; by default a new figure.

    Returns
    -------
    Axes

    Examples
    --------
    >>> import matplotlib
    >>> matplotlib.use("Agg")  # no window
    >>> from newron import NewronClassifier
    >>> X, y = [[k / 10.0, k % 3] for k in range(40)], [0] * 20 + [1] * 20
    >>> network = NewronClassifier(size="auto", random_state=0)
    >>> plot_tradeoff(network.fit(X, y)).get_xlabel()
    'conditions'
    """
    path = getattr(path, "path_", path)
    if path is None or not hasattr(path, "pair_error"):
        raise InputError(
            "expected a fitted estimator with a path, or its path_, got none; fit with "
            'size="auto" or pruning=True'
        )
    ax = _get_axes(ax)
    sizes, score, error = np.array(path.sizes), path.score, path.error
    ax.fill_between(sizes, score - error, score + error, color=LIGHT["blue-tint"], linewidth=0)
    ax.plot(sizes, score, "-o", color=LIGHT["blue"], markersize=4, label="± 1 standard error")
    at = path.sizes.index(path.chosen)
    ax.plot(sizes[at], score[at], "D", color=LIGHT["red"], markersize=8, label="chosen")
    ax.set_xlabel(path.unit)
    ax.set_ylabel(
        {"accuracy": "accuracy on validation rows"}.get(path.metric, "R² on validation rows")
    )
    ax.legend(frameon=False)
    return ax


def plot_training(estimator: Any, *, ax: Axes | None = None) -> Axes:
    """Plot the loss of training, step by step.

    Parameters
    ----------
    estimator : fitted estimator
        Steps are epochs, or the terms of a grown network.
    ax : Axes, optional
        Where to plot; by default a new figure.

    Returns
    -------
    Axes

    Examples
    --------
    >>> import matplotlib
    >>> matplotlib.use("Agg")  # no window
    >>> from newron import NewronClassifier
    >>> X, y = [[k / 10.0, k % 3] for k in range(40)], [0] * 20 + [1] * 20
    >>> network = NewronClassifier(recipe="grow", max_terms=2, random_state=0)
    >>> plot_training(network.fit(X, y)).get_xlabel()
    'step of training'
    """
    curve = getattr(estimator, "loss_curve_", None)
    if curve is None:
        raise InputError("expected a fitted estimator with loss_curve_, got none; call fit first")
    ax = _get_axes(ax)
    ax.plot(np.arange(1, len(curve) + 1), curve, color=LIGHT["blue"], label="training rows")
    ax.set_xlabel("step of training")
    ax.set_ylabel("loss")
    ax.legend(frameon=False)
    return ax


def plot_boundary(
    model: Any, X: ArrayLike | None = None, y: ArrayLike | None = None, *, ax: Axes | None = None
) -> Axes:
    """Plot what a network of two inputs predicts everywhere, and where that changes.

    Parameters
    ----------
    model : Model or fitted estimator
        With two inputs, both numbers.
    X : table, optional
        Rows to plot on it.
    y : array, optional
        Their classes, distinguished by marker and colour.
    ax : Axes, optional
        Where to plot; by default a new figure.

    Returns
    -------
    Axes

    Examples
    --------
    >>> import matplotlib
    >>> matplotlib.use("Agg")  # no window
    >>> from newron.model import Classes, Column, Layer, Model, Schema
    >>> columns = Column("temperature", 35.0, 42.0, unit="°C"), Column("days", 0.0, 9.0)
    >>> layer = Layer("heaviside", "sum", "identity", 1, [0, 0], [0, 1], [[1.0], [1.0]],
    ...               [[38.0], [3.0]], alpha=[2.0, 1.0], centre=[2.0])
    >>> model = Model(Schema(columns), [layer], Classes(("well", "ill")))
    >>> plot_boundary(model, [[39.0, 1], [36.5, 4]], ["ill", "well"]).get_ylabel()
    'days'
    """
    network = read_model(model)
    columns = network.schema.columns
    if len(columns) != 2 or any(column.categories is not None for column in columns):
        names = ", ".join(repr(column.name) for column in columns[:5])
        raise InputError(f"expected a network of two inputs that are numbers, got {names}")
    ax = _get_axes(ax)
    sides = [np.linspace(column.low, column.high, _GRID) for column in columns]
    grid = np.stack([side.ravel() for side in np.meshgrid(*sides)], axis=1)
    scores = network.score_rows(grid)
    shape = _GRID, _GRID
    if isinstance(network.output, Classes):
        _fill_classes(ax, sides, scores.reshape(*shape, -1), network.output)
    else:
        filled = ax.contourf(*sides, scores[:, 0].reshape(shape), levels=12, cmap="cividis")
        ax.figure.colorbar(filled, ax=ax, label=escape_text(network.output.names[0]))
    if X is not None:
        _scatter(ax, network, X, y)
    ax.set_xlabel(name_axis(columns[0]))
    ax.set_ylabel(name_axis(columns[1]))
    return ax


def name_axis(column: Column) -> str:
    """Return the name of a column with its unit."""
    return escape_text(f"{column.name} ({column.unit})" if column.unit else column.name)


def _fill_classes(
    ax: Axes, sides: Sequence[NDArray[Any]], scores: NDArray[Any], output: Classes
) -> None:
    from matplotlib.colors import ListedColormap
    from matplotlib.patches import Patch

    n = len(output.labels)
    chosen = output.choose(scores.reshape(-1, scores.shape[2])).reshape(scores.shape[:2])
    colours = [_LIGHT[k % len(_LIGHT)] for k in range(n)]
    ax.pcolormesh(*sides, chosen, cmap=ListedColormap(colours), vmin=-0.5, vmax=n - 0.5)
    for k in range(n):
        if 0 < np.sum(chosen == k) < chosen.size:
            ax.contour(*sides, chosen == k, levels=[0.5], colors=LIGHT["ink"], linewidths=1.2)
    patches = [
        Patch(facecolor=colour, edgecolor=LIGHT["line"], label=escape_text(str(label)))
        for colour, label in zip(colours, output.labels, strict=True)
    ]
    ax.legend(handles=patches, loc="upper right", framealpha=0.9, fontsize="small")


def _scatter(ax: Axes, network: Model, X: ArrayLike, y: ArrayLike | None) -> None:
    rows = network.read(X)
    if y is None or not isinstance(network.output, Classes):
        ax.scatter(rows[:, 0], rows[:, 1], s=10, c=LIGHT["ink"], marker=".")
        return
    labels = np.asarray(y)
    for k, label in enumerate(network.output.labels):
        mine = rows[labels == label]
        colour, marker = _COLOURS[k % len(_COLOURS)], _MARKERS[k % len(_MARKERS)]
        style: dict[str, Any] = {"c": colour, "marker": marker, "edgecolors": "white"}
        ax.scatter(mine[:, 0], mine[:, 1], s=14, linewidths=0.4, **style)


# ---- axes ----


def _is_many(ax: Any) -> bool:
    return isinstance(ax, list | tuple | np.ndarray)


def prepare_axes(ax: Any, n: int) -> NDArray[Any]:
    """Return n axes: the given ones, or those of a new figure."""
    if ax is not None:
        given = np.array(list(ax) if _is_many(ax) else [ax], dtype=object).ravel()
        if len(given) != n:
            raise InputError(f"ax: expected {n} axes, one for each input, got {len(given)}")
        return given
    plt = _import_pyplot()
    n_columns = min(n, _PER_LINE)
    n_lines = math.ceil(n / n_columns)
    size = 3.6 * n_columns, 2.6 * n_lines
    figure, grid = plt.subplots(
        n_lines, n_columns, figsize=size, squeeze=False, layout="constrained"
    )
    axes: NDArray[Any] = grid.ravel()
    for unused in axes[n:]:
        figure.delaxes(unused)
    return axes[:n]


def _get_axes(ax: Axes | None) -> Axes:
    if ax is not None:
        return ax
    made: Axes = _import_pyplot().subplots(layout="constrained")[1]
    return made


def _import_pyplot() -> Any:
    return import_extra("matplotlib.pyplot", "to plot with", "plot")


def _wrap(text: str, width: int, limit: int) -> str:
    """Return a text on a few short lines."""
    lines = textwrap.wrap(clean(text), width, max_lines=limit, placeholder="…")
    return escape_text("\n".join(lines))


def escape_text(text: str) -> str:
    """Keep a name from being read as a formula."""
    return "\n".join(map(clean, text.split("\n"))).replace("$", r"\$")
