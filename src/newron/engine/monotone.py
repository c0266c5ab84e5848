"""Columns in which scores may only rise or fall."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from sklearn.isotonic import isotonic_regression

from newron.engine.basis import Group
from newron.engine.binning import Bins
from newron.engine.evidence import Coefficients
from newron.engine.screening import Sums
from newron.model.arithmetic import Floats

_VARIANCE = 1.0


def fix_directions(
    at: Coefficients, columns: Sequence[Bins], sums: Sums, directions: Sequence[int]
) -> Coefficients:
    """Replace the curves of columns by the nearest ones that keep their direction.

    ``directions`` are those of the sources: 1 for rising, -1 for falling, 0 for free. Each
    curve becomes one function with a coefficient of 1.
    """
    kept = np.ones(len(at.groups), bool)
    groups: list[Group] = []
    for c, bins in enumerate(columns):
        direction = directions[bins.source]
        own = [g for g in at.by_column.get(c, []) if at.groups[g].kind != "missing"]
        if not direction or not own:
            continue
        kept[own] = False
        functions = []
        for k, (_, curvature) in enumerate(sums):
            curve = sum(at.groups[g].basis @ at.values[at.slices[g], k] for g in own)
            mass = curvature[c, : bins.n_bins] + 1e-9 * bins.mass.sum()
            functions.append(_project(np.asarray(curve)[:-1], mass, bins, direction))
        groups.append(Group("monotone", (c,), np.stack(functions, axis=1), _VARIANCE))
    found = at.keep(kept).extend(groups)
    for group, part in zip(found.groups, found.slices, strict=True):
        if group.kind == "monotone":
            found.values[part] = np.eye(group.size)
    return found


def _project(curve: Floats, mass: Floats, bins: Bins, direction: int) -> Floats:
    nearest = isotonic_regression(curve, sample_weight=mass, increasing=direction > 0)
    return np.append(nearest - bins.fraction @ nearest, 0.0)


def hold_directions(at: Coefficients) -> None:
    """Take out what would turn a direction round, in place."""
    for group, part in zip(at.groups, at.slices, strict=True):
        if group.kind == "monotone":
            at.values[part] = np.maximum(at.values[part], 0.0)
