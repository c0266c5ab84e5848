"""``newron fit`` on large files: trained in blocks, measured on rows apart."""

import json

import numpy as np
import pytest

import newron.data
from builders.large_tables import make_frame, shrink_blocks
from newron import NewronClassifier
from newron.command.streaming import describe_reading
from newron.tables.labelled import open_labelled

OPTIONS = ("--processing", "sigmoid", "--hidden", "0", "--drop", "size", "--drop", "level")


@pytest.fixture
def table(tmp_path, monkeypatch):
    shrink_blocks(monkeypatch)
    monkeypatch.setattr("newron.command.streaming.SAMPLE_ROWS", 3_000)
    make_frame().drop(columns="weight").to_parquet(tmp_path / "big.parquet")
    return "big.parquet"


def test_a_large_file_is_trained_in_blocks_and_that_is_said(run, table, tmp_path):
    done = run("fit", table, "-t", "label", *OPTIONS, "--jobs", "1", "-o", "model.json")
    assert done.exit_code == 0, done.output
    words = " ".join(done.stdout.split())
    assert "big.parquet: 15 500 rows, 6 inputs, target label" in words
    assert "93 000 values are trained in blocks, without being read into memory" in words
    assert "Measured on 600 rows apart; the network below is trained on 14 900 rows" in words
    model = newron.load(tmp_path / "model.json")
    new = make_frame(3_000, seed=1)
    assert np.mean(model.predict(new) == new["label"]) > 0.65


def test_without_test_rows_the_model_is_that_of_fit(run, table, tmp_path):
    done = run(
        "fit", table, "-t", "label", *OPTIONS, "--json", "--test", "0", "--points", "0",
        "-o", "model.json",
    )  # fmt: skip
    assert done.exit_code == 0, done.output
    assert json.loads(done.stdout)["rows"] == 15_500
    data = newron.data.open(table, drop=["size", "level"])
    network = NewronClassifier("sigmoid", hidden_layer_sizes=(), max_terms=12, random_state=0)
    expected = network.fit(data, "label").model_
    assert newron.load(tmp_path / "model.json").fingerprint == expected.fingerprint


def test_rows_to_measure_on_are_not_trained_on(table, tmp_path):
    whole = open_labelled(tmp_path / table, "label")
    index = np.array([0, 999, 1_000, 15_499])
    taken = whole.read(index=index)
    left = newron.data.Dataset(whole.source).survey("label")
    left = type(left)(**{**vars(left), "held_out": index})
    assert left.n_used == 15_496
    kept = left.read().X.rows
    assert len(kept) == 15_496
    everything = whole.read().X.rows
    assert np.array_equal(taken.X.rows, everything[index], equal_nan=True)
    assert np.array_equal(kept, np.delete(everything, index, axis=0), equal_nan=True)


def test_progress_is_told_in_rows_and_bytes(table, tmp_path):
    labelled = open_labelled(tmp_path / table, "label")
    size = (tmp_path / table).stat().st_size / 1000
    assert describe_reading(labelled, 15_500) == f"15 500 rows, {size:.3g} kB of {size:.3g} kB"
    labelled.source.done //= 2
    assert describe_reading(labelled, 7_750).startswith(f"7 750 rows, {size / 2:.3g} kB of")
