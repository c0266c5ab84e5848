"""Predictions of Spark data frames, by pandas UDFs that need the model alone.

Needs pyspark, pandas and PyArrow, which are imported when a column is made, and newron on the
workers. To train, write Parquet and open it with :func:`newron.data.open`, or use newron.dask.
"""

from importlib import import_module
from typing import TYPE_CHECKING, Any

from newron.errors import InputError
from newron.model.predictions import Predictions

if TYPE_CHECKING:
    from pyspark.sql import Column

__all__ = ["predict", "predict_proba"]

_KINDS = {str: "string", int: "bigint", float: "double", bool: "boolean"}


def predict(model: Any) -> "Column":
    """Return a column of the model's prediction; it reads the model's columns by name.

    Parameters
    ----------
    model : Model or fitted estimator

    Returns
    -------
    pyspark.sql.Column
        Of several regression targets a struct.

    Examples
    --------
    >>> import newron.spark
    >>> frame.withColumn("found", newron.spark.predict(model))  # doctest: +SKIP
    """
    return _express(Predictions.make(model))


def predict_proba(model: Any) -> "Column":
    """Return a column of the classes' probabilities: a struct with a field for each.

    Parameters
    ----------
    model : Model or fitted estimator
        Of classes.

    Returns
    -------
    pyspark.sql.Column

    Examples
    --------
    >>> import newron.spark
    >>> frame.select("id", newron.spark.predict_proba(model).alias("p"))  # doctest: +SKIP
    """
    return _express(Predictions.make(model, shares=True))


def _express(predictions: Predictions) -> "Column":
    try:
        import pandas as pd

        functions: Any = import_module("pyspark.sql.functions")
        from pyspark.sql.types import StructField, StructType, _parse_datatype_string
    except ImportError as error:
        raise InputError(
            f"expected pyspark, pandas and PyArrow, got no {error.name} installed: run pip install "
            "pyspark pandas pyarrow"
        ) from None
    kind: Any = _KINDS[predictions.kind]
    if predictions.names:
        one = _parse_datatype_string(kind)
        kind = StructType([StructField(name, one) for name in predictions.names])
    names = [f"`{name.replace('`', '``')}`" for name in predictions.model.schema.names]

    def compute(rows: pd.DataFrame) -> pd.Series:
        return pd.Series(predictions.predict(rows))

    def compute_several(rows: pd.DataFrame) -> pd.DataFrame:
        return pd.DataFrame(predictions.predict(rows), columns=list(predictions.names))

    made: Any = functions.pandas_udf(compute_several if predictions.names else compute, kind)
    column: Column = made(functions.struct(*map(functions.col, names)))
    return column
