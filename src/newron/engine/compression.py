"""From curves and surfaces on bins to a network of few functions.

A curve needs as many functions as bring it within a part of its own uncertainty. A surface
of two columns becomes hidden neurons that read both; what a neuron adds for either column
alone leaves that column's curve.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from newron import _core
from newron.engine.additive import Additive
from newron.engine.binning import Bins, LevelBins, NumberBins
from newron.engine.functions import make_levels, make_step, place_missing, write_curve
from newron.engine.network import Function, Network, drop_last_digits
from newron.engine.neurons import Side, find_neuron
from newron.engine.scales import Scale, make_scales
from newron.engine.shapes import Surface, list_surfaces
from newron.model.arithmetic import Floats

_MAX_FUNCTIONS = 6  # of one curve
_MAX_LINES = 100  # of the columns of a wide table that have no curve of their own
_MAX_NEURONS = 8  # of one surface
_NOTHING = 0.02  # nats, below which a curve is left out
_RIDGE = 0.02
_FLOOR = 0.03  # curvature of a row that is sure: new rows may not be
_MAX_POSITIONS = 96  # of a curve, beyond which neighbouring bins are joined


@dataclass(frozen=True)
class Compression:
    """How a network is made: of which functions, and how near to the curves."""

    tolerance: float = 0.05  # of a curve's effective number of parameters, in nats
    bumps: bool = True  # products of two tanh, beside sigmoids


def compress(model: Additive, settings: Compression) -> list[Network]:
    """Return the network of each output."""
    scales = {
        c: make_scales(bins)
        for c, bins in enumerate(model.table.columns)
        if isinstance(bins, NumberBins) and bins.n_bins > 1
    }
    return [_Compressor(model, settings, scales, k).run() for k in range(model.n_outputs)]


class _Compressor:
    """Makes the network of one output."""

    def __init__(
        self,
        model: Additive,
        settings: Compression,
        scales: dict[int, list[Scale]],
        output: int,
    ) -> None:
        self.model, self.settings, self.scales, self.output = model, settings, scales, output
        self.columns = model.table.columns
        self.curvature, total = model.sum_curvature(output)
        self.total_curvature = max(total, 1e-300)
        self.curves = [model.curve(c, output, steps=False) for c in range(len(self.columns))]
        self.network = Network(float(model.at.values[0, output]))
        self.levels: dict[int, list[tuple[LevelBins, Floats]]] = {}

    def run(self) -> Network:
        """Return the network."""
        self._add_steps()
        for surface in list_surfaces(self.model, self.output, self.total_curvature):
            self._add_neurons(surface)
        for c in self._choose_columns():
            self._add_curve(c, self.columns[c])
        for parts in self.levels.values():
            function, constant = make_levels(parts)
            self.network.functions.append(function)
            self.network.constant += constant
        return self.network

    def _choose_columns(self) -> list[int]:
        """Return the columns whose curves are written: of very many lines the steepest."""
        groups = [group for group in self.model.at.groups if len(group.columns) == 1]
        own = {group.columns[0] for group in groups if not group.tied}
        weak = [c for c in range(len(self.columns)) if c not in own]
        size = {c: float(np.sum(self.columns[c].mass * self.curves[c] ** 2)) for c in weak}
        kept = sorted(weak, key=lambda c: (-size[c], c))[:_MAX_LINES]
        return sorted(own | set(kept))

    def _add_steps(self) -> None:
        """Write steps as functions; where values are missing the curve takes their part."""
        heights: dict[tuple[int, int], float] = {}
        for group, part in zip(self.model.at.groups, self.model.at.slices, strict=True):
            if group.kind != "step":
                continue
            (c,), height = group.columns, float(self.model.at.values[part.start, self.output])
            heights[c, group.cut] = heights.get((c, group.cut), 0.0) + height
            self.network.constant += float(group.basis[0, 0]) * height
            if self.columns[c].missing_mass > 0.0:
                self.curves[c][-1] += float(group.basis[-1, 0] - group.basis[0, 0]) * height
        for (c, cut), height in sorted(heights.items()):
            bins = self.columns[c]
            if isinstance(bins, NumberBins):
                self.network.functions.append(make_step(bins, cut, height))

    def _add_neurons(self, surface: Surface) -> None:
        """Write a surface as neurons, and subtract what they add for one column from its curve."""
        first, second = (Side.make(self.columns[c], self.scales.get(c, [])) for c in surface.pair)
        values = np.ascontiguousarray(surface.values[np.ix_(first.there, second.there)])
        threshold = 2.0 * self.settings.tolerance * surface.effective / self.total_curvature
        for _ in range(_MAX_NEURONS):
            found = find_neuron(values, first, second, surface.variance, self.settings.bumps)
            self.network.neurons.append(found.neuron)
            self.network.constant -= found.mean
            for c, alone in zip(surface.pair, found.alone, strict=True):
                self.curves[c] = self.curves[c] - alone
            values = found.left
            if first.mass @ values**2 @ second.mass < min(0.06 * surface.variance, threshold):
                break

    def _add_curve(self, c: int, bins: Bins) -> None:
        curve, curvature = self.curves[c], self.curvature[c, : len(bins.mass)]
        if not np.any(curve):
            return
        mean = float(curvature @ curve / max(curvature.sum(), 1e-300))
        nats = 0.5 * float(curvature @ (curve - mean) ** 2)
        if nats + self.model.penalty(c, self.output) < _NOTHING:
            self.network.constant += mean
            return
        if isinstance(bins, LevelBins):
            self.levels.setdefault(bins.source, []).append((bins, curve))
        elif isinstance(bins, NumberBins):
            self._add_numbers(c, bins, curve, curvature)

    def _add_numbers(self, c: int, bins: NumberBins, curve: Floats, curvature: Floats) -> None:
        functions, constant = [], float(curve[0])
        if bins.n_bins == 2:
            functions = [make_step(bins, 1, float(curve[1] - curve[0]))]
        elif bins.n_bins > 2:
            functions, constant = self._fit_curve(c, bins, curve[:-1], curvature)
        self.network.constant += constant
        value = float(curve[-1]) - constant if bins.missing_mass > 0.0 else None
        self.network.functions += place_missing(bins, functions, value)

    def _fit_curve(
        self, c: int, bins: NumberBins, curve: Floats, curvature: Floats
    ) -> tuple[list[Function], float]:
        scales = self.scales[c]
        mass = curvature[:-1] + _FLOOR * bins.mass[:-1] + 1e-3 * curvature.sum() / bins.n_bins
        mean = float(curvature[:-1] @ curve / max(float(curvature[:-1].sum()), 1e-300))
        nats = 0.5 * float(curvature[:-1] @ (curve - mean) ** 2)
        uncertainty = self.settings.tolerance * self.model.effective(c, self.output)
        tolerance = max(uncertainty, min(_NOTHING, 0.3 * nats))
        positions = np.stack([scale.bins for scale in scales])
        if len(curve) > _MAX_POSITIONS:
            positions, curve, mass = _join_bins(positions, curve, mass)
        directions = self.model.directions
        found, constant, _ = _core.fit_curve(
            drop_last_digits(positions),
            drop_last_digits(curve),
            drop_last_digits(mass),
            float(np.round(tolerance, 9)),
            _RIDGE,
            _MAX_FUNCTIONS,
            self.settings.bumps,
            directions[bins.source] if directions else 0,
        )
        return [write_curve(bins, scales, row) for row in found], constant


def _join_bins(positions: Floats, curve: Floats, mass: Floats) -> tuple[Floats, Floats, Floats]:
    """Average neighbouring bins: curves without steps are smooth."""
    part = (np.arange(len(curve)) * _MAX_POSITIONS) // len(curve)
    total = np.bincount(part, mass).astype(np.float64)
    joined = [np.bincount(part, mass * values) / total for values in (*positions, curve)]
    return np.stack(joined[:-1]), joined[-1], total
