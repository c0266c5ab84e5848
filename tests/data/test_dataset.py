import os
import signal
import subprocess
import sys

import pandas as pd
import pytest

import newron.data
from builders.large_tables import make_frame, shrink_blocks, write_parts
from newron import InputError, NewronClassifier

KILLED = """
import os, signal, sys
import newron.data
from newron import Callback, NewronClassifier
import newron.training.large as large
large.LARGE_CELLS, large.BLOCK_ROWS = 1_000, 1_000

class Kill(Callback):
    def on_progress(self, progress):
        if progress.stage == "pairs":
            os.kill(os.getpid(), signal.SIGKILL)

data = newron.data.open(sys.argv[1], drop=["size", "level"], memory=0, cache=sys.argv[2])
NewronClassifier("smooth", callbacks=Kill()).fit(data, "label")
"""


@pytest.fixture
def pattern(tmp_path):
    (tmp_path / "parts").mkdir()
    return write_parts(make_frame(), tmp_path / "parts")


@pytest.mark.parametrize(
    ("memory", "expected"), [(7, 7), ("7", 7), ("1.5 kB", 1500), ("2GiB", 2 * 2**30)]
)
def test_memory_is_bytes_or_text_with_a_unit(memory, expected, tmp_path):
    (tmp_path / "a.csv").write_text("x,y\n1,2\n")
    assert newron.data.open(tmp_path / "a.csv", memory=memory).memory == expected


@pytest.mark.parametrize("memory", ["much", "1.2.3MB", "5 parsecs", -1])
def test_memory_that_is_none_is_an_error(memory, tmp_path):
    (tmp_path / "a.csv").write_text("x,y\n1,2\n")
    with pytest.raises(InputError, match='memory: expected bytes, or text such as "512MB"'):
        newron.data.open(tmp_path / "a.csv", memory=memory)


def test_a_fit_that_is_killed_leaves_nothing_behind(pattern, tmp_path):
    cache = tmp_path / "cache"
    cache.mkdir()
    ended = subprocess.run([sys.executable, "-c", KILLED, pattern, str(cache)], check=False)
    assert ended.returncode == -signal.SIGKILL
    assert list(cache.iterdir()) == []


def test_a_full_disk_ends_a_fit_in_one_line_and_leaves_nothing_behind(
    pattern, tmp_path, monkeypatch
):
    shrink_blocks(monkeypatch)
    written = []
    write = os.pwrite

    def fill(file, data, offset):
        if len(written) > 20:
            raise OSError(28, "No space left on device")
        written.append(len(data))
        return write(file, data, offset)

    monkeypatch.setattr(os, "pwrite", fill)
    cache = tmp_path / "cache"
    cache.mkdir()
    data = newron.data.open(pattern, drop=["size", "level"], memory=0, cache=cache)
    with pytest.raises(InputError, match="expected room on the disk for bins"):
        NewronClassifier("smooth").fit(data, "label")
    assert list(cache.iterdir()) == []


def change_after_survey(data, monkeypatch, change):
    """Let something happen once the columns of a data set are known."""
    survey = type(data).survey

    def survey_and_change(self, *args, **kwargs):
        found = survey(self, *args, **kwargs)
        change()
        return found

    monkeypatch.setattr(type(data), "survey", survey_and_change)


def test_a_file_that_is_written_anew_during_a_fit_is_an_error(pattern, tmp_path, monkeypatch):
    shrink_blocks(monkeypatch)
    file = tmp_path / "parts" / "03.parquet"
    data = newron.data.open(pattern, drop=["size", "level"])
    change_after_survey(data, monkeypatch, lambda: pd.read_parquet(file)[::-1].to_parquet(file))
    with pytest.raises(InputError, match=r"03\.parquet: expected the file that was read before"):
        NewronClassifier("smooth").fit(data, "label")


def test_batches_with_a_category_that_was_not_there_before_are_an_error(monkeypatch):
    shrink_blocks(monkeypatch)
    parts = [make_frame(2_000, seed) for seed in range(6)]
    data = newron.data.from_batches(parts, drop=["size", "level"])
    change_after_survey(
        data, monkeypatch, lambda: parts.__setitem__(0, parts[0].assign(kind="new"))
    )
    with pytest.raises(InputError, match="expected one of the 4 categories"):
        NewronClassifier("smooth").fit(data, "label")


def test_a_damaged_page_of_a_file_with_checksums_is_an_error(tmp_path, monkeypatch):
    shrink_blocks(monkeypatch)
    file = tmp_path / "a.parquet"
    make_frame().to_parquet(file, write_page_checksum=True)
    content = bytearray(file.read_bytes())
    content[20_000:20_008] = bytes(8)
    file.write_bytes(content)
    data = newron.data.open(file, drop=["size", "level"])
    with pytest.raises(InputError, match=r"a\.parquet: expected Parquet, got a damaged file"):
        NewronClassifier("smooth").fit(data, "label")


def test_a_file_that_disappears_during_a_fit_is_an_error(pattern, tmp_path, monkeypatch):
    shrink_blocks(monkeypatch)
    data = newron.data.open(pattern, drop=["size", "level"])
    change_after_survey(data, monkeypatch, (tmp_path / "parts" / "03.parquet").unlink)
    with pytest.raises(InputError, match=r"03\.parquet"):
        NewronClassifier("smooth").fit(data, "label")
