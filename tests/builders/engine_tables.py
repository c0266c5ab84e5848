"""Tables for the engine, with the numbers of classes that belong to them."""

from __future__ import annotations

import numpy as np

from newron.model import Classes, Targets
from newron.tables import Field

__all__ = ["measure_loss", "name_columns", "number_classes", "one_target", "sum_of_curves"]


def name_columns(n: int) -> tuple[Field, ...]:
    return tuple(Field(f"x{i + 1}") for i in range(n))


def number_classes(n: int = 2) -> Classes:
    return Classes(tuple(range(n)))


def one_target() -> Targets:
    return Targets(("y",))


def sum_of_curves(n: int = 600, seed: int = 0):
    """Two curves, and a column of noise."""
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, 3))
    z = 2.0 * X[:, 0] + 1.5 * np.sin(2.0 * X[:, 1])
    return X, (rng.random(n) < 1.0 / (1.0 + np.exp(-z))).astype(float), z


def measure_loss(model, X, y) -> float:
    odds = model.predict_proba(X)
    return float(-np.log(odds[np.arange(len(y)), y.astype(int)]).mean())
