import gc
import resource
import signal

import numpy as np
import pytest

from newron.engine.storage import Budget, StoredValues
from newron.errors import InputError


def store(budget, arrays):
    values = StoredValues(budget)
    for array in arrays:
        values.append(array)
    return values


def make_arrays():
    random = np.random.default_rng(0)
    return [
        random.integers(0, 255, (3, 50), np.uint8),
        random.normal(size=(7, 2)),
        np.zeros((0, 2)),
        np.full(9, 2.5, np.float32),
        np.full(4, np.nan),
    ]


@pytest.mark.parametrize("memory", [0, 200, 10**9])
def test_arrays_come_back_as_they_were_whatever_the_budget(memory, tmp_path):
    arrays = make_arrays()
    for before, after in zip(arrays, store(Budget(memory, tmp_path), arrays), strict=True):
        assert before.dtype == after.dtype
        assert np.array_equal(before, after, equal_nan=before.dtype.kind == "f")


def test_memory_is_given_back_when_values_are_not_needed_any_more(tmp_path):
    budget = Budget(1_000, tmp_path)
    values = store(budget, make_arrays())
    assert budget.left < 1_000
    del values
    gc.collect()
    assert budget.left == 1_000


def test_files_have_no_name_so_that_nothing_is_left_behind(tmp_path):
    values = store(Budget(0, tmp_path), make_arrays())
    assert values[0].any()
    assert list(tmp_path.iterdir()) == []


def test_a_constant_takes_neither_memory_nor_disk(tmp_path):
    budget = Budget(0, tmp_path / "missing")
    values = store(budget, [np.ones(10**6)])
    assert values[0].sum() == 10**6


@pytest.fixture
def full_disk():
    """Let files have no more than 1,000 bytes: what is written beyond fails as on a full disk."""
    before = resource.getrlimit(resource.RLIMIT_FSIZE)
    ignored = signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
    resource.setrlimit(resource.RLIMIT_FSIZE, (1_000, before[1]))
    yield
    resource.setrlimit(resource.RLIMIT_FSIZE, before)
    signal.signal(signal.SIGXFSZ, ignored)


@pytest.mark.usefixtures("full_disk")
def test_a_full_disk_is_said_in_one_line_and_leaves_nothing_behind(tmp_path):
    arrays = [np.arange(100.0), np.arange(50.0)]
    with pytest.raises(InputError, match=r"expected room on the disk for bins, got a full one"):
        store(Budget(0, tmp_path), arrays)
    assert list(tmp_path.iterdir()) == []


def test_a_folder_that_is_none_is_said_in_one_line(tmp_path):
    with pytest.raises(InputError, match=r"expected a folder to keep bins in, got No such file"):
        store(Budget(0, tmp_path / "missing"), make_arrays())
