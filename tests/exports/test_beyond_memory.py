"""Tables larger than memory, predicted by databases and lazy frames."""

import duckdb
import numpy as np
import polars as pl
import pytest

import newron.polars
from newron import InputError, NewronClassifier, NewronRegressor
from newron.model import Column, Labels, Model
from rules.networks import make_score, make_step

ROWS = 600_000
LIMIT = "30MB"  # of the database; the table has 43 MB


@pytest.fixture(scope="module")
def table():
    random = np.random.default_rng(0)
    numbers = {f"x{i}": random.normal(size=ROWS) for i in range(8)}
    numbers["x1"][random.random(ROWS) < 0.1] = np.nan
    kind = random.choice(["a", "b", "new"], ROWS, p=[0.5, 0.4, 0.1])
    frame = pl.DataFrame({"id": np.arange(ROWS), **numbers, "kind": kind})
    return frame.with_columns(pl.col("x1").fill_nan(None))


@pytest.fixture(scope="module")
def path(table, tmp_path_factory):
    file = tmp_path_factory.mktemp("large") / "rows.parquet"
    table.write_parquet(file, compression="uncompressed", row_group_size=20_000)
    return file


@pytest.fixture(scope="module")
def fitted(table):
    rows = table.filter(pl.col("kind") != "new")[:1_500].drop("id")
    score = np.nan_to_num(rows["x1"].to_numpy()) + (rows["kind"] == "a").to_numpy()
    labels = np.where(score > 0.5, "high", "low")
    return NewronClassifier("sigmoid", hidden_layer_sizes=(), random_state=0).fit(rows, labels)


def open_database(path):
    """Open a database of little memory, which may not write to disk, on the file."""
    settings = {"threads": 1, "memory_limit": LIMIT, "temp_directory": ""}
    database = duckdb.connect(config=settings)
    database.execute(f"CREATE VIEW rows AS SELECT * FROM '{path}'")
    return database


@pytest.mark.filterwarnings("ignore:.*are read as missing")
def test_a_database_passes_parquet_larger_than_its_memory(fitted, table, path, tmp_path):
    with open_database(path) as database, pytest.raises(duckdb.OutOfMemoryException):
        database.execute("CREATE TABLE whole AS SELECT * FROM rows")
    query = fitted.export("sql", dialect="duckdb", table="rows", keep=["id"]).text
    query = query.rstrip().removesuffix(";")
    with open_database(path) as database:
        database.execute("SET preserve_insertion_order = false")
        database.execute(f"COPY ({query}) TO '{tmp_path / 'out.parquet'}' (ROW_GROUP_SIZE 20000)")
    found = pl.read_parquet(tmp_path / "out.parquet").sort("id")
    assert np.array_equal(found["prediction"].to_numpy(), fitted.model_.predict(table))
    share = found["probability_high"].to_numpy()
    assert np.allclose(share, fitted.model_.predict_proba(table)[:, 0], atol=1e-9, rtol=0.0)


@pytest.mark.filterwarnings("ignore:.*are read as missing")
def test_lazy_frames_are_predicted_batch_by_batch(fitted, table, path, monkeypatch, tmp_path):
    sizes = []
    predict = type(fitted.model_).predict

    def watch(model, rows):
        sizes.append(len(rows))
        return predict(model, rows)

    monkeypatch.setattr(type(fitted.model_), "predict", watch)
    columns = newron.polars.predict(fitted).alias("label"), newron.polars.predict_proba(fitted)
    pl.scan_parquet(path).select("id", columns[0], columns[1].alias("share")).sink_parquet(
        tmp_path / "out.parquet"
    )
    found = pl.read_parquet(tmp_path / "out.parquet").sort("id")
    assert max(sizes) < ROWS
    assert sum(sizes) >= ROWS
    assert np.array_equal(found["label"].to_numpy(), predict(fitted.model_, table))
    shares = found["share"].struct.unnest()
    assert shares.columns == ["high", "low"]
    assert np.array_equal(shares.to_numpy(), fitted.model_.predict_proba(table))


def test_several_targets_are_a_struct_and_classes_keep_their_type(table):
    rows = table[:300].select("x0", "x2")
    two = NewronRegressor("linear", hidden_layer_sizes=(), recipe="gradient", max_iter=2)
    model = two.fit(rows, rows.to_numpy()).model_
    found = rows.select(newron.polars.predict(model).alias("y")).unnest("y")
    assert tuple(found.columns) == model.output.names
    assert np.array_equal(found.to_numpy(), model.predict(rows))
    for labels in ([1, 5], [False, True]):
        y = np.array(labels)[(rows["x0"] > 0).to_numpy().astype(int)]
        model = NewronClassifier(recipe="gradient", max_iter=2).fit(rows, y).model_
        found = rows.select(newron.polars.predict(model))
        assert found.to_series().to_list() == model.predict(rows).tolist()


def test_what_is_no_model_of_classes_is_said_in_one_line(table):
    with pytest.raises(InputError, match="expected a model or a fitted estimator, got str"):
        newron.polars.predict("model.json")
    rows = table[:50].select("x0")
    model = NewronRegressor("linear", recipe="gradient", max_iter=2).fit(rows, rows["x0"])
    with pytest.raises(InputError, match="expected a model of classes, got a regression"):
        newron.polars.predict_proba(model)


@pytest.mark.parametrize("names", [("funny",), ("funny", "sad")])
def test_several_labels_are_columns_of_whole_numbers_and_of_probabilities(names):
    model = make_score(2, [2.0, 1.0], 1.5)
    last = model.layers[-1]
    if len(names) > 1:
        last = last.replace(n_neurons=2, target=[0, 1], centre=[1.5, 0.5])
    model = Model(model.schema, [last], Labels(names))
    rows = pl.DataFrame({"x1": [0.0, 2.0, None], "x2": [2.0, 0.0, 2.0]}).lazy()
    found = rows.select(newron.polars.predict(model).alias("y")).unnest("y").collect()
    assert found.schema == dict.fromkeys(names, pl.Int64)
    assert np.array_equal(found.to_numpy(), model.predict(rows.collect()))
    shares = rows.select(newron.polars.predict_proba(model).alias("p")).unnest("p").collect()
    assert np.array_equal(shares.to_numpy(), model.predict_proba(rows.collect()))


def test_classes_of_whole_and_other_numbers_are_numbers():
    model = make_step(Column("t", 35.0, 42.0), 38.0, (1, 1.5))
    rows = pl.DataFrame({"t": [37.0, 39.0]})
    assert rows.select(newron.polars.predict(model).alias("y"))["y"].to_list() == [1.0, 1.5]


def test_classes_that_are_the_same_text_are_no_columns():
    model = make_step(Column("t", 35.0, 42.0), 38.0, (1, "1"))
    for express in (newron.polars.predict, newron.polars.predict_proba):
        with pytest.raises(InputError, match="classes that differ as texts"):
            express(model)
