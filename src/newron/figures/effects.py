"""Effects by column for Matplotlib: a curve for each column, a heat map for each pair."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from newron.drawing.palette import LIGHT
from newron.errors import InputError
from newron.figures.charts import escape_text, name_axis, prepare_axes
from newron.formatting import format_rounded
from newron.model.output import Label
from newron.model.predictions import read_model
from newron.shapes.bands import measure_bands
from newron.shapes.effect import Effect, Scale
from newron.shapes.effects import Effects, read_effects

if TYPE_CHECKING:
    from matplotlib.axes import Axes

_MAX_PLOTS = 12  # the largest effects, by default
_MAX_TICKS = 8  # categories that are all named


def plot_effects(
    model: Any,
    *,
    columns: Sequence[str] | None = None,
    output: Label | None = None,
    X: ArrayLike | None = None,
    y: ArrayLike | None = None,
    ax: Any = None,
) -> NDArray[Any]:
    """Plot what each column and each pair of columns adds to a score.

    Parameters
    ----------
    model : Model or fitted estimator
    columns : sequence of str, optional
        Which effects: "age", or "age × sex" for a pair. By default the twelve largest; what
        more than two columns add together has no picture.
    output : label, optional
        Of several classes or targets, the one whose score it is; the first by default.
    X, y : table and array, optional
        Rows and their classes or targets, for bands: two standard deviations on either side, see
        :func:`newron.shapes.measure_bands`.
    ax : Axes or array of Axes, optional
        Where to plot: one axes for each effect. By default a new figure.

    Returns
    -------
    array of Axes
        One for each effect.

    Examples
    --------
    >>> import matplotlib
    >>> matplotlib.use("Agg")  # no window
    >>> from newron.model import Classes, Column, Layer, Model, Schema
    >>> layer = Layer("sigmoid", "sum", "identity", 1, [0], [0], [[1.0]], [[38.0]], alpha=[2.0])
    >>> columns = (Column("temperature", 35.0, 42.0, unit="°C"),)
    >>> model = Model(Schema(columns), [layer], Classes(("well", "ill")))
    >>> [ax.get_xlabel() for ax in plot_effects(model)]
    ['temperature (°C)']
    """
    network = read_model(model)
    found = read_effects(network) if X is None or y is None else measure_bands(network, X, y)
    effects = _choose_effects(found, columns, output)
    axes = prepare_axes(ax, len(effects))
    for one, effect in zip(axes, effects, strict=True):
        draw = _draw_surface if effect.kind == "surface" else _draw_curve
        draw(one, effect)
    return np.asarray(axes)


def _choose_effects(
    effects: Effects, columns: Sequence[str] | None, output: Label | None
) -> tuple[Effect, ...]:
    chosen = effects.labels[0] if output is None else output
    if chosen not in effects.labels:
        raise InputError(f"output: expected one of {list(effects.labels)}, got {output!r}")
    own = {effect.name: effect for effect in effects.of_output(chosen) if effect.kind != "joint"}
    for name in columns or ():
        if name not in own:
            raise InputError(f"columns: expected some of {list(own)}, got {name!r}")
    found = list(own.values())[:_MAX_PLOTS] if columns is None else [own[name] for name in columns]
    if not found:
        raise InputError("expected an effect of one or two columns, got none")
    return tuple(found)


def _draw_curve(ax: Axes, effect: Effect) -> None:
    scale = effect.scales[0]
    n = scale.n_values
    x, y = scale.positions[:n], effect.values[:n]
    missing = (
        f"missing: {format_rounded(float(effect.values[-1]))}" if n < len(scale.labels) else ""
    )
    if scale.column.categories is not None or scale.column.values:
        places = np.arange(float(n)) if scale.column.categories is not None else x
        width = 0.6 * float(np.diff(places).min(initial=1.0))
        spread = None if effect.deviation is None else 2.0 * effect.deviation[:n]
        ax.bar(places, y, width, color=LIGHT["blue"], yerr=spread, ecolor=LIGHT["muted"])
        _name_ticks(ax.set_xticks, scale)
    else:
        ax.plot(x, y, color=LIGHT["blue"])
        if effect.deviation is not None:
            spread = 2.0 * effect.deviation[:n]
            ax.fill_between(x, y - spread, y + spread, color=LIGHT["blue"], alpha=0.18)
    ax.axhline(0.0, color=LIGHT["line"], linewidth=0.8)
    ax.set_xlabel(name_axis(scale.column))
    ax.set_ylabel("adds")
    if missing:
        ax.set_title(missing, fontsize="small", loc="right")


def _draw_surface(ax: Axes, effect: Effect) -> None:
    first, second = effect.scales
    n, m = first.n_values, second.n_values
    values = effect.values[:n, :m].T
    largest = float(np.abs(effect.values).max()) or 1.0
    sides = [_find_sides(scale) for scale in (first, second)]
    mesh = ax.pcolormesh(*sides, values, cmap="PuOr_r", vmin=-largest, vmax=largest)
    ax.figure.colorbar(mesh, ax=ax, label="adds")
    for scale, ticks in ((first, ax.set_xticks), (second, ax.set_yticks)):
        _name_ticks(ticks, scale)
    ax.set_xlabel(name_axis(first.column))
    ax.set_ylabel(name_axis(second.column))


def _find_sides(scale: Scale) -> NDArray[Any]:
    """Return where the cells of a heat map begin and end: half-way between positions."""
    x = scale.positions[: scale.n_values]
    if len(x) == 1:
        return np.array([x[0] - 0.5, x[0] + 0.5])
    middle = 0.5 * (x[1:] + x[:-1])
    return np.concatenate([[2 * x[0] - middle[0]], middle, [2 * x[-1] - middle[-1]]])


def _name_ticks(set_ticks: Any, scale: Scale) -> None:
    if scale.column.categories is None:
        return
    labels = [escape_text(str(label)) for label in scale.column.categories]
    step = -(-len(labels) // _MAX_TICKS)  # not all of many
    set_ticks(np.arange(len(labels))[::step], labels[::step])
