"""What a fit of the engine gives: a model, bands, and the path to shorter models."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np

from newron.engine.additive import Additive
from newron.engine.assembly import assemble
from newron.engine.binning import NumberBins, RawWeights, take_raw
from newron.engine.blas import use_one_thread
from newron.engine.compression import Compression, compress
from newron.engine.crisp import assemble_steps, cut_score
from newron.engine.network import Network
from newron.engine.refitting import refit_weights
from newron.engine.rows import Index, Rows
from newron.engine.terms import TermColumns
from newron.errors import InputError
from newron.model.arithmetic import Floats
from newron.model.model import Model
from newron.model.output import Output
from newron.model.schema import Schema
from newron.objectives import TargetScale


@dataclass(frozen=True, eq=False)
class Sample:
    """Some of the training rows, and where they are among all."""

    rows: Floats
    index: Index | None  # None where they are all

    @classmethod
    def take(cls, raw: Rows, weights: RawWeights, limit: int, seed: int) -> Sample:
        """Take all rows, or so many of them."""
        index = raw.sample(limit, seed)
        return cls(take_raw(raw, index, weights)[0], index)


@dataclass(frozen=True, eq=False)
class Band:
    """A column's curve with its standard deviation, at each of its values.

    ``values`` are means of bins, or the codes of categories; ``missing`` is the curve at a
    missing value and its deviation, or None where training had none.
    """

    values: Floats
    curve: Floats
    deviation: Floats
    missing: tuple[float, float] | None


@dataclass(frozen=True, eq=False)
class EngineFit:
    """A fit of the engine.

    Parameters
    ----------
    parts : tuple of Additive
        The additive model on bins: one for all classes, or one for each target.
    schema : Schema
    output : Classes or Targets
    scale : TargetScale
        Of the targets.
    sample : Sample
    processing : str
        Of which functions the model consists.
    tolerance : float
        Of the network that is made by default.
    terms : TermColumns, optional
        Terms of several columns beside curves and pairs.
    """

    parts: tuple[Additive, ...]
    schema: Schema
    output: Output
    scale: TargetScale
    sample: Sample
    processing: str
    tolerance: float
    terms: TermColumns | None = None

    # ---- networks ----

    @cached_property
    def model(self) -> Model:
        """The network, made when it is first read."""
        with use_one_thread():
            return self.compress(self.tolerance)

    def score(self, X: Floats) -> Floats:
        """Return the scores of rows by the curves themselves, in units of the target.

        Parameters
        ----------
        X : ndarray of shape (rows, columns)
            Encoded as the training rows.

        Returns
        -------
        ndarray of shape (rows, outputs)
        """
        X = np.ascontiguousarray(X, np.float64)
        with use_one_thread():
            scores = np.concatenate([part.score(X) for part in self.parts], axis=1)
        return self.scale.undo(scores)

    def compress(self, tolerance: float, *, pairs: bool = True) -> Model:
        """Return the network of this tolerance: a larger one has fewer functions.

        Parameters
        ----------
        tolerance : float
            How near the network comes to the curves, in parts of their own uncertainty.
        pairs : bool, default True
            Whether a network of steps has neurons of pairs of columns.

        Returns
        -------
        Model
        """
        if self.processing == "heaviside":
            made = self._make_steps(tolerance, pairs)
        else:
            made = self._make_smooth(tolerance)
        index = self.sample.index
        scores = np.stack(
            [part.table.rows.take(index, own) for part in self.parts for own in part.scores]
        )
        curvature = [bent for part in self.parts for _, bent in part.differentiate(index)]
        directions = self.parts[0].directions
        targets = self.scale.undo(scores.T).T
        rows = self.sample.rows[:, : len(self.schema)]
        return refit_weights(made, rows, targets, np.stack(curvature), self.scale.scale, directions)

    def _make_smooth(self, tolerance: float) -> Model:
        bumps = self.processing != "sigmoid" and not self.parts[0].directions
        settings = Compression(tolerance, bumps)
        networks = [network for part in self.parts for network in compress(part, settings)]
        scaled = [self._scale(network, k) for k, network in enumerate(networks)]
        if self.terms is not None:
            scaled = [self.terms.replace(network) for network in scaled]
        directions = self.parts[0].directions
        return assemble(scaled, self.schema, self.output, self.processing, directions)

    def _scale(self, network: Network, output: int) -> Network:
        """Return a network in the units of its target."""
        shift, scale = float(self.scale.shift[output]), float(self.scale.scale[output])
        return Network(
            network.constant * scale + shift,
            [replace(f, weight=f.weight * scale) for f in network.functions],
            [replace(n, weight=n.weight * scale) for n in network.neurons],
        )

    def _make_steps(self, tolerance: float, pairs: bool) -> Model:
        found = [
            cut_score(part, tolerance, k, pairs)
            for part in self.parts
            for k in range(part.n_outputs)
        ]
        units = zip(self.scale.shift.tolist(), self.scale.scale.tolist(), strict=True)
        scaled = [
            score.scale(k, *unit) for k, (score, unit) in enumerate(zip(found, units, strict=True))
        ]
        return assemble_steps(scaled, self.schema, self.output)

    def path(self, tolerances: Sequence[float] = (2.0, 1.0, 0.5, 0.2, 0.1, 0.05)) -> list[Model]:
        """Return networks from the shortest to the nearest, each longer than the one before.

        Parameters
        ----------
        tolerances : sequence of float
            From large to small.

        Returns
        -------
        list of Model
        """
        models: list[Model] = []
        for tolerance in tolerances:
            model = self.compress(tolerance)
            if not models or model.n_functions > models[-1].n_functions:
                models.append(model)
        return models

    # ---- uncertainty ----

    def expect(self, losses: Floats) -> Floats:
        """Return what losses of training rows are expected to be on new rows.

        A parameter that rows support as a whole costs one nat, summed over all rows; squared
        errors, whose scale is fitted too, grow by a factor.

        Parameters
        ----------
        losses : ndarray of shape (rows,)
            In the units of the objective.

        Returns
        -------
        ndarray of shape (rows,)
        """
        fraction = sum(part.n_effective / part.table.total for part in self.parts)
        if self.parts[0].likelihood.objective.has_dispersion:
            mean = min(fraction / len(self.parts), 0.9)
            return np.asarray(losses * (1.0 + mean) / (1.0 - mean))
        return np.asarray(losses + fraction)

    def band(self, column: int, output: int = 0) -> Band:
        """Return the curve of a column with its posterior standard deviation.

        Parameters
        ----------
        column : int
            Of the inputs.
        output : int, default 0

        Returns
        -------
        Band
            In units of the score, or of the target.
        """
        part, k = self._find(output)
        scale = float(self.scale.scale[output])
        codes = [c for c, bins in enumerate(part.table.columns) if bins.source == column]
        if len(codes) != 1:
            raise InputError(
                f"column {self.schema.names[column]!r}: expected a column with a curve of its own"
            )
        bins = part.table.columns[codes[0]]
        curve, deviation = part.band(codes[0], k)
        values = bins.centers if isinstance(bins, NumberBins) else np.arange(float(bins.n_bins))
        missing = None
        if bins.missing_mass > 0.0:
            missing = (scale * float(curve[-1]), scale * float(deviation[-1]))
        return Band(values, scale * curve[:-1], scale * deviation[:-1], missing)

    def deviation(self, X: Floats) -> Floats:
        """Return the posterior standard deviation of the scores of rows.

        Parameters
        ----------
        X : ndarray of shape (rows, columns)
            Encoded as the training rows.

        Returns
        -------
        ndarray of shape (rows, outputs)
        """
        X = X if self.terms is None else self.terms.add(X)
        spread = np.concatenate([part.deviation(X) for part in self.parts], axis=1)
        return np.asarray(spread * self.scale.scale)

    def _find(self, output: int) -> tuple[Additive, int]:
        if len(self.parts) > 1:
            return self.parts[output], 0
        return self.parts[0], output
