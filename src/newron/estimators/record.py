"""What a fit keeps of its rows: enough to name them and to know them again."""

from __future__ import annotations

import inspect
import platform
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
import sklearn
from numpy.typing import NDArray

from newron._version import __version__
from newron.engine.rows import Rows
from newron.model.arithmetic import Floats
from newron.model.model import Model
from newron.model.output import Classes
from newron.tables.field import Field
from newron.tables.fingerprint import hash_table
from newron.training.large import hash_blocks
from newron.training.training_set import TrainingSet, hash_rows

if TYPE_CHECKING:
    from newron.rules.coverage import Coverage

_MAX_KEPT = 200_000  # training rows that are known again, and whose support is kept

_NO_SETTINGS = ("recipe", "random_state", "n_jobs", "verbose", "warm_start", "callbacks")


def record_training(
    fields: Sequence[Field], X: Floats, y: Floats, weight: Floats | None
) -> dict[str, Any]:
    """Return the number of training rows, their hash, a key of each, and the versions."""
    used = slice(None) if weight is None else weight != 0.0
    X, y = X[used], y[used]
    keys = np.sort(_hash(X, y)) if len(X) <= _MAX_KEPT else None
    return _record(len(X), hash_table([field.name for field in fields], X, y), keys)


def record_large(raw: Rows, fields: Sequence[Field]) -> dict[str, Any]:
    """Return the same of a table in blocks, without keys."""
    return _record(raw.n_rows, hash_blocks(raw, fields), None)


def _record(n_rows: int, fingerprint: str, keys: NDArray[np.uint64] | None) -> dict[str, Any]:
    return {
        "rows": n_rows,
        "fingerprint": fingerprint,
        "keys": keys,
        "versions": {
            "newron": __version__,
            "Python": platform.python_version(),
            "NumPy": np.__version__,
            "scikit-learn": sklearn.__version__,
        },
    }


def count_seen(record: Mapping[str, Any], X: Floats, y: Floats) -> int | None:
    """Count the rows that are rows of training; None if that is not known any more."""
    if record["keys"] is None:
        return None
    return int(np.isin(_hash(X, y), record["keys"]).sum())


def list_settings(estimator: Any) -> dict[str, Any]:
    """Return the settings of an estimator that are not as they are by default."""
    usual = inspect.signature(type(estimator)).parameters
    return {
        name: value
        for name, value in estimator.get_params(deep=False).items()
        if name not in _NO_SETTINGS and repr(value) != repr(usual[name].default)
    }


def _hash(X: Floats, y: Floats) -> NDArray[np.uint64]:
    """Return a key of each row and its target, whatever rows stand beside it."""
    return hash_rows([*X.T, *y.T], len(X))


def cover_training(model: Model, data: TrainingSet) -> Coverage | None:
    """Keep how many training rows have which cells, so that rules can show their support."""
    if not model.is_crisp or len(data) > _MAX_KEPT:
        return None
    from newron.rules.axis import make_axes
    from newron.rules.circuit import find_boundaries
    from newron.rules.coverage import Coverage

    axes = make_axes(model.schema, find_boundaries(model), gaps=True)
    classes, n_classes = np.zeros(len(data), np.intp), 1
    if isinstance(model.output, Classes):
        classes, n_classes = data.y[:, 0].astype(np.intp), len(model.output.labels)
    return Coverage.measure(axes, data.X, classes, n_classes, data.count)
