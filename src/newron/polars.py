"""Predictions as Polars expressions, which lazy frames pass batch by batch.

Needs Polars, which is imported when an expression is made.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from newron.errors import InputError
from newron.model.predictions import Predictions

if TYPE_CHECKING:
    import polars as pl

__all__ = ["predict", "predict_proba"]


def predict(model: Any) -> pl.Expr:
    """Return an expression of the model's prediction; it reads the model's columns by name.

    Parameters
    ----------
    model : Model or fitted estimator

    Returns
    -------
    polars.Expr
        Of several regression targets a struct.

    Examples
    --------
    >>> import polars as pl
    >>> from newron import NewronClassifier
    >>> table = pl.DataFrame({"size": [1.0, 2.0, 3.0, 4.0], "kind": ["a", "a", "b", "b"]})
    >>> fitted = NewronClassifier(random_state=0).fit(table[["size"]], table["kind"])
    >>> table.lazy().select(predict(fitted).alias("found")).collect()["found"].to_list()
    ['a', 'a', 'b', 'b']
    """
    return _express(Predictions.make(model))


def predict_proba(model: Any) -> pl.Expr:
    """Return an expression of the classes' probabilities: a struct with a field for each.

    Parameters
    ----------
    model : Model or fitted estimator
        Of classes.

    Returns
    -------
    polars.Expr

    Examples
    --------
    >>> import polars as pl
    >>> from newron import NewronClassifier
    >>> table = pl.DataFrame({"size": [1.0, 2.0, 3.0, 4.0], "kind": ["a", "a", "b", "b"]})
    >>> fitted = NewronClassifier(random_state=0).fit(table[["size"]], table["kind"])
    >>> table.select(predict_proba(fitted).alias("share")).unnest("share").columns
    ['a', 'b']
    """
    return _express(Predictions.make(model, shares=True))


def _express(predictions: Predictions) -> pl.Expr:
    try:
        import polars as pl
    except ImportError:
        raise InputError("expected Polars, got none installed: run pip install polars") from None
    kinds: dict[type, Any] = {str: pl.String, int: pl.Int64, float: pl.Float64, bool: pl.Boolean}
    kind: Any = kinds[predictions.kind]
    names = predictions.names
    if names:
        kind = pl.Struct(dict.fromkeys(names, kind))

    def compute(rows: pl.Series) -> pl.Series:
        found = predictions.predict(rows.struct.unnest())
        if not names:
            return pl.Series(found, dtype=kind)
        return pl.DataFrame(found, schema=list(names)).to_struct()

    columns = pl.struct(*(pl.col(name) for name in predictions.model.schema.names))
    return columns.map_batches(compute, return_dtype=kind, is_elementwise=True)
