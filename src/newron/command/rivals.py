"""Simpler ways to predict, to see what a network is worth."""

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import Any

import numpy as np
from numpy.typing import NDArray

from newron.command.tables import Table

__all__ = ["RIVALS", "Rival"]

Rows = NDArray[np.intp]


class Rival(ABC):
    """A way to predict."""

    name: str
    classes: bool

    def serves(self, table: Table) -> bool:
        """Tell whether it can predict the target of a table."""
        return self.classes == (table.target.labels is not None)

    @abstractmethod
    def predict(self, table: Table, train: Rows, test: Rows) -> NDArray[Any]:
        """Learn from some rows, and give the numbers of classes, or amounts, of others."""


class _Linear(Rival):
    """Logistic or ridge regression on standardized numbers and one column per category."""

    def __init__(self, name: str, *, classes: bool) -> None:
        self.name, self.classes = name, classes

    def predict(self, table: Table, train: Rows, test: Rows) -> NDArray[Any]:
        from sklearn.linear_model import LogisticRegression, RidgeCV
        from sklearn.pipeline import make_pipeline

        last = LogisticRegression(max_iter=1000) if self.classes else RidgeCV()
        pipeline = make_pipeline(_prepare(table), last)
        pipeline.fit(table.rows[train], table.target.values[train])
        return np.asarray(pipeline.predict(table.rows[test]))


def _prepare(table: Table) -> Any:
    """Give the steps before a linear model: medians for gaps, and marks of them."""
    from sklearn.compose import ColumnTransformer
    from sklearn.impute import SimpleImputer
    from sklearn.pipeline import make_pipeline
    from sklearn.preprocessing import OneHotEncoder, StandardScaler

    kinds = table.places_of_categories
    numbers = [i for i in range(len(table.fields)) if i not in kinds]
    fill = SimpleImputer(strategy="median", add_indicator=True, keep_empty_features=True)
    return ColumnTransformer(
        [
            ("numbers", make_pipeline(fill, StandardScaler()), numbers),
            ("categories", OneHotEncoder(handle_unknown="ignore"), kinds),
        ]
    )


class _Constant(Rival):
    """The most frequent class, or the median."""

    name = "constant"

    def __init__(self, *, classes: bool) -> None:
        self.classes = classes

    def predict(self, table: Table, train: Rows, test: Rows) -> NDArray[Any]:
        values = table.target.values[train]
        best = np.bincount(values).argmax() if self.classes else np.median(values)
        return np.full(len(test), best)


RIVALS: tuple[Rival, ...] = (
    _Linear("logistic regression", classes=True),
    _Linear("ridge regression", classes=False),
    _Constant(classes=True),
    _Constant(classes=False),
)
