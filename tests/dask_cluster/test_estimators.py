"""Fits on worker processes of Dask: the model of the table in memory, to the last bit."""

import os
import platform
import resource
import signal
from itertools import pairwise

import numpy as np
import pytest

from builders.large_tables import make_frame, shrink_blocks
from newron import (
    Callback,
    InputError,
    NewronClassifier,
    NewronRegressor,
    NewronSurvival,
    NewronWarning,
)

distributed = pytest.importorskip("distributed")
dask = pytest.importorskip("dask")
dd = pytest.importorskip("dask.dataframe")
da = pytest.importorskip("dask.array")

from newron.dask import DaskNewronClassifier, DaskNewronRegressor  # noqa: E402
from newron.dask.memory import keep_freed_memory  # noqa: E402

INPUTS = ["a", "b", "c", "d", "kind", "whole"]
HOW = {"processing": "sigmoid", "hidden_layer_sizes": ()}


@pytest.fixture(scope="module")
def client():
    """Two worker processes, which are started again where they die."""
    patience = {f"distributed.comm.timeouts.{name}": "300s" for name in ("connect", "tcp")}
    with dask.config.set(patience):
        cluster = distributed.LocalCluster(
            n_workers=2, threads_per_worker=1, processes=True, dashboard_address=":0",
            memory_limit=0, death_timeout=300,
        )  # fmt: skip
        with cluster, distributed.Client(cluster, timeout=300) as client:
            yield client


@pytest.fixture(scope="module")
def frame():
    return make_frame(10_500)


@pytest.fixture(autouse=True)
def _small_blocks(monkeypatch):
    shrink_blocks(monkeypatch)
    monkeypatch.setattr("newron.training.large.BLOCK_ROWS", 5_000)


def cut(frame, *bounds):
    """Return a collection whose partitions have odd sizes, one of them none."""
    ends = [0, *bounds, len(frame)]
    parts = [frame.iloc[a:b] for a, b in pairwise(ends)]
    return dd.from_map(lambda i: parts[i], range(len(parts)), meta=frame.iloc[:0])


def test_workers_and_partitions_change_no_bit(client, frame):
    expected = NewronClassifier(**HOW).fit(frame[INPUTS], frame["label"], frame["level"] + 1).model_
    whole = frame[[*INPUTS, "label"]].assign(weight=frame["level"] + 1)
    for bounds in [(7_000,), (1, 1, 1_700, 9_001)]:
        found = DaskNewronClassifier(**HOW).fit(cut(whole, *bounds), "label", "weight")
        assert found.model_.fingerprint == expected.fingerprint
        assert found.classes_.tolist() == ["no", "yes"]


@pytest.mark.parametrize(("n_workers", "n_threads"), [(1, 3), (4, 1)])
def test_the_numbers_of_workers_and_threads_change_no_bit(frame, n_workers, n_threads, monkeypatch):
    monkeypatch.setattr("newron.training.large.BLOCK_ROWS", 500)
    expected = NewronClassifier(**HOW).fit(frame[INPUTS], frame["level"]).model_
    with (
        distributed.LocalCluster(
            n_workers=n_workers, threads_per_worker=n_threads, processes=False, memory_limit=0,
            dashboard_address=":0",
        ) as cluster,
        distributed.Client(cluster),
    ):  # fmt: skip
        data = cut(frame[[*INPUTS, "level"]], 0, 10, 4_444, 4_444)
        found = DaskNewronClassifier(**HOW).fit(data, "level")
    assert found.model_.fingerprint == expected.fingerprint
    assert len(found.rows_per_worker_) == n_workers
    assert sum(found.rows_per_worker_.values()) == len(frame)


def count_new_pages():
    """Return how many pages a worker asks for while it makes and frees arrays of a block."""
    keep_freed_memory()
    before = resource.getrusage(resource.RUSAGE_SELF).ru_minflt
    for _ in range(200):
        np.ones(65_536)
    return resource.getrusage(resource.RUSAGE_SELF).ru_minflt - before


@pytest.mark.skipif(platform.libc_ver()[0] != "glibc", reason="another C library keeps memory")
def test_workers_keep_the_memory_that_tasks_have_freed(client):
    assert max(client.run(count_new_pages).values()) < 200 * 128 / 4


def test_a_worker_that_is_killed_half_way_changes_nothing(client, frame):
    expected = NewronRegressor(**HOW).fit(frame[INPUTS], frame["size"]).model_
    killed = []

    class Kill(Callback):
        def on_progress(self, progress):
            if progress.stage == "steps" and not killed:
                killed.append(next(iter(client.run(os.getpid).values())))
                os.kill(killed[0], signal.SIGKILL)

    found = DaskNewronRegressor(**HOW, callbacks=Kill()).fit(
        cut(frame[[*INPUTS, "size"]], 5_000, 11_000), "size"
    )
    assert killed
    assert found.model_.fingerprint == expected.fingerprint
    client.wait_for_workers(2)


def test_arrays_with_separate_targets_are_trained_and_predicted_lazily(client, frame):
    X, y = frame[["a", "b", "d", "whole"]].to_numpy(float), frame["level"].to_numpy()
    expected = NewronClassifier(**HOW).fit(X, y)
    rows, labels = da.from_array(X, chunks=(4_321, 3)), da.from_array(y, chunks=4_321)
    found = DaskNewronClassifier(**HOW).fit(rows, labels)
    predicted, odds = found.predict(rows), found.predict_proba(rows)
    assert isinstance(predicted, da.Array)
    assert odds.shape == (len(X), 3)
    assert np.array_equal(predicted.compute(), expected.predict(X))
    assert np.array_equal(odds.compute(), expected.predict_proba(X))


def test_frames_are_predicted_with_their_index_and_meta(client, frame):
    data = cut(frame, 6_000)
    found = DaskNewronClassifier(**HOW).fit(data[[*INPUTS, "label"]], "label")
    predicted, odds = found.predict(data[INPUTS]), found.predict_proba(data[INPUTS])
    assert list(odds.columns) == ["no", "yes"]
    computed = predicted.compute()
    assert computed.index.tolist() == frame.index.tolist()
    assert computed.tolist() == found.predict(frame[INPUTS]).tolist()
    assert np.allclose(odds.compute().sum(axis=1), 1.0)


def test_rows_are_dealt_out_to_all_workers_wherever_the_partitions_were(client, frame, capsys):
    whole = frame[[*INPUTS, "size"]]
    with pytest.warns(NewronWarning, match="one partition"):
        found = DaskNewronRegressor(**HOW, verbose=1).fit(cut(whole), "size")
    held = found.rows_per_worker_
    assert sorted(held.values()) == [500, 10_000]  # of three blocks, two lie together
    assert "rows per worker: " in capsys.readouterr().out


def test_groups_of_blocks_change_no_bit(client, frame, monkeypatch):
    monkeypatch.setattr("newron.training.large.BLOCK_ROWS", 500)
    found = DaskNewronRegressor(**HOW).fit(cut(frame[[*INPUTS, "size"]], 3_333), "size")
    expected = NewronRegressor(**HOW).fit(frame[INPUTS], frame["size"])
    assert found.model_.fingerprint == expected.model_.fingerprint
    assert sorted(found.rows_per_worker_.values()) == [4_500, 6_000]  # in groups of four blocks


def test_a_partition_that_cannot_be_read_ends_a_fit_with_its_own_error(client, frame):
    def read(i):
        if i == 1:
            raise FileNotFoundError("part-1.parquet")
        return frame[[*INPUTS, "size"]]

    data = dd.from_map(read, range(2), meta=frame[[*INPUTS, "size"]].iloc[:0])
    with pytest.raises(FileNotFoundError, match=r"part-1\.parquet"):
        DaskNewronRegressor(**HOW).fit(data, "size")


def test_a_cluster_that_has_lost_all_workers_ends_a_fit_with_one_line(frame, monkeypatch):
    monkeypatch.setattr("newron.dask.tasks._PATIENCE", 0.2)
    with (
        distributed.LocalCluster(n_workers=0, processes=False, dashboard_address=":0") as cluster,
        distributed.Client(cluster),
        pytest.raises(InputError, match="expected a worker on the Dask cluster, got none for"),
    ):
        DaskNewronRegressor(**HOW).fit(cut(frame[[*INPUTS, "size"]], 5_000), "size")


def test_a_small_table_is_trained_by_the_client_as_in_memory(client, frame, monkeypatch):
    monkeypatch.setattr("newron.training.large.LARGE_CELLS", 10**9)
    small = frame.iloc[:900]
    expected = NewronRegressor(**HOW).fit(small[INPUTS], small["size"]).model_
    data = cut(small, 300)
    found = DaskNewronRegressor(**HOW).fit(data[INPUTS], data["size"])
    assert found.model_.fingerprint == expected.fingerprint


def test_wrong_calls_are_said_in_one_line(client, frame):
    data = cut(frame, 6_000)
    with pytest.raises(InputError, match="X: expected a Dask data frame or array"):
        DaskNewronClassifier().fit(frame, "label")
    with pytest.raises(InputError, match="y: expected a Dask collection or the name of a column"):
        DaskNewronClassifier().fit(data, frame["label"])
    with pytest.raises(InputError, match="y: expected one column, got a collection of several"):
        DaskNewronClassifier().fit(data[INPUTS], data[["label", "level"]])
    with pytest.raises(InputError, match='objective: expected "auto"'):
        DaskNewronClassifier(objective="squared").fit(data, "label")
    with pytest.raises(InputError, match="did you mean 'label'"):
        DaskNewronClassifier().fit(data, "lable")
    with pytest.raises(InputError, match='objective: expected another one than "ordinal"'):
        DaskNewronClassifier(objective="ordinal").fit(data, "level")
    with pytest.raises(InputError, match="X: expected a table in memory, of whose subjects"):
        NewronSurvival().fit(data[["a", "b"]], data[["label", "whole"]])
    with pytest.raises(InputError, match="expected a data frame in memory"):
        DaskNewronClassifier().partial_fit(data[["a", "b"]], data["label"])
    with pytest.raises(InputError, match='expected recipe="default"'):
        DaskNewronClassifier(recipe="gradient").fit(data[[*INPUTS, "label"]], "label")
    with pytest.warns(NewronWarning, match="one partition"):
        DaskNewronRegressor(**HOW).fit(cut(frame.iloc[:500][[*INPUTS, "size"]]), "size")
