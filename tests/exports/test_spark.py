"""Predictions of Spark data frames on a local Spark, where pyspark and Java are installed."""

import os
import shutil
import sys

import numpy as np
import pandas as pd
import pytest

import newron.spark
from newron import InputError, NewronClassifier, NewronRegressor

pyspark_missing = "pyspark is not installed (480 MB): uv pip install pyspark"


@pytest.fixture(scope="module")
def spark():
    sql = pytest.importorskip("pyspark.sql", reason=pyspark_missing)
    if shutil.which("java") is None:
        pytest.skip("Java is not installed")
    os.environ["PYSPARK_PYTHON"] = sys.executable
    settings = {
        "spark.ui.enabled": "false",
        "spark.driver.bindAddress": "127.0.0.1",
        "spark.driver.host": "127.0.0.1",
        "spark.sql.execution.arrow.maxRecordsPerBatch": "100",
    }
    builder = sql.SparkSession.builder.master("local[2]")
    for name, value in settings.items():
        builder = builder.config(name, value)
    session = builder.getOrCreate()
    yield session
    session.stop()


@pytest.fixture(scope="module")
def frame():
    random = np.random.default_rng(0)
    kinds = random.choice(["a", "b"], 900).astype(object)
    return pd.DataFrame({"a size": random.normal(size=900), "kind": kinds})


# pyspark 4.3 warns of pandas 3.
@pytest.mark.filterwarnings("ignore")
def test_spark_predicts_what_the_model_predicts(spark, frame):
    y = np.where(frame["a size"] + (frame["kind"] == "a") > 0.5, "high", "low")
    fitted = NewronClassifier("sigmoid", hidden_layer_sizes=(), random_state=0).fit(frame, y)
    new = frame.assign(number=range(900))
    new.loc[::7, "kind"] = None
    new.loc[::9, "kind"] = "never seen"
    rows = [tuple(row) for row in new.itertuples(index=False)]
    found = spark.createDataFrame(rows, list(new.columns)).repartition(3)
    found = found.select(
        "number",
        newron.spark.predict(fitted).alias("label"),
        newron.spark.predict_proba(fitted.model_).alias("share"),
    )
    collected = sorted(found.collect())
    assert [row["label"] for row in collected] == fitted.model_.predict(new).tolist()
    shares = [[row["share"]["high"], row["share"]["low"]] for row in collected]
    assert np.array_equal(shares, fitted.model_.predict_proba(new))


@pytest.mark.filterwarnings("ignore")
def test_numbers_are_predicted_as_numbers(spark, frame):
    model = NewronRegressor("linear", hidden_layer_sizes=()).fit(frame, frame["a size"]).model_
    rows = [tuple(row) for row in frame.itertuples(index=False)]
    found = spark.createDataFrame(rows, list(frame.columns)).coalesce(1)
    found = found.select(newron.spark.predict(model).alias("y"))
    assert dict(found.dtypes) == {"y": "double"}
    assert np.array_equal([row["y"] for row in found.collect()], model.predict(frame))


def test_without_spark_one_line_names_what_is_needed(frame, monkeypatch):
    monkeypatch.setitem(sys.modules, "pyspark", None)
    monkeypatch.setitem(sys.modules, "pyspark.sql", None)
    monkeypatch.setitem(sys.modules, "pyspark.sql.functions", None)
    model = NewronRegressor("linear", recipe="gradient", max_iter=1).fit(frame, frame["a size"])
    with pytest.raises(InputError, match="expected pyspark, pandas and PyArrow, got no pyspark"):
        newron.spark.predict(model)
