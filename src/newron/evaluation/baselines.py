"""Simple models to see what a network is worth: a constant, and a linear one."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from typing import Any

import numpy as np
from numpy.typing import NDArray

from newron.tables.field import Field
from newron.tables.table import encode_rows, learn_fields


def make_baselines(
    X: Any,
    *,
    classification: bool,
    categorical_features: str | Sequence[Any] | None = "from_dtype",
) -> dict[str, Any]:
    """Return unfitted baselines for a table.

    - ``X``: Its columns are read for their kind; categories and missing values are handled.
    - ``categorical_features``: Which columns are categories; by default those of text, booleans,
      categorical dtypes.

    Returned: "logistic regression" or "ridge regression" (standardised numbers with medians and an
    indicator for missing values, one column for each category), and "constant", the most frequent
    class or the median.

    >>> X, y = [["red", 1.0], ["blue", None], ["red", 3.0], ["blue", 4.0]], ["a", "b", "a", "b"]
    >>> for name, model in make_baselines(X, classification=True).items():
    ...     print(name, model.fit(X, y).predict(X))
    logistic regression ['a' 'b' 'a' 'b']
    constant ['a' 'a' 'a' 'a']
    """
    from sklearn.dummy import DummyClassifier, DummyRegressor
    from sklearn.linear_model import LogisticRegression, RidgeCV

    fields = learn_fields(X, categorical_features)
    if classification:
        linear = _make_linear(fields, LogisticRegression(max_iter=1000))
        return {"logistic regression": linear, "constant": DummyClassifier(strategy="prior")}
    linear = _make_linear(fields, RidgeCV())
    return {"ridge regression": linear, "constant": DummyRegressor(strategy="median")}


def _make_linear(fields: tuple[Field, ...], last: Any) -> Any:
    from sklearn.compose import ColumnTransformer
    from sklearn.impute import SimpleImputer
    from sklearn.pipeline import make_pipeline
    from sklearn.preprocessing import FunctionTransformer, OneHotEncoder, StandardScaler

    categories = [i for i, field in enumerate(fields) if field.categories is not None]
    numbers = [i for i in range(len(fields)) if i not in categories]
    impute = SimpleImputer(strategy="median", add_indicator=True, keep_empty_features=True)
    columns = ColumnTransformer(
        [
            ("numbers", make_pipeline(impute, StandardScaler()), numbers),
            ("categories", OneHotEncoder(handle_unknown="ignore"), categories),
        ]
    )
    return make_pipeline(FunctionTransformer(partial(_encode, fields=fields)), columns, last)


def _encode(X: Any, fields: tuple[Field, ...]) -> NDArray[np.float64]:
    return encode_rows(X, fields)
