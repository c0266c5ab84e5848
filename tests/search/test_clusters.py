"""More than one process: the same result as on threads."""

import pytest
from joblib import parallel_config, register_parallel_backend

from newron.search import NewronSearchCV
from search.tables import make_corner, make_network, tell


def run_search(**settings):
    X, y = make_corner()
    how = {"cv": 3, "patience": 2, "max_structures": 4, "random_state": 0, **settings}
    return NewronSearchCV(make_network(), **how).fit(X, y)


@pytest.mark.filterwarnings("ignore")
def test_two_workers_of_dask_find_the_same(tmp_path):
    distributed = pytest.importorskip("distributed", reason="dask.distributed is not installed")
    cluster = distributed.LocalCluster(
        n_workers=2, threads_per_worker=1, processes=True, dashboard_address=None,
        local_directory=str(tmp_path),
    )  # fmt: skip
    with cluster, distributed.Client(cluster) as client, parallel_config("dask"):
        assert len(client.ncores()) == 2
        found = run_search(journal=tmp_path / "search.jsonl")
        ran = client.run(lambda dask_worker: dask_worker.state.executed_count)
    assert sum(ran.values()) >= 3 * len(found.tree_.nodes)
    assert tell(found) == tell(run_search(n_jobs=2))


@pytest.mark.filterwarnings("ignore")
def test_two_workers_of_ray_find_the_same():
    ray = pytest.importorskip("ray", reason="Ray is not installed")
    from ray.util.joblib.ray_backend import RayBackend

    register_parallel_backend("ray", RayBackend)
    ray.init(num_cpus=2, include_dashboard=False)
    try:
        with parallel_config("ray", n_jobs=2):
            found = run_search()
    finally:
        ray.shutdown()
    assert tell(found) == tell(run_search(n_jobs=2))
