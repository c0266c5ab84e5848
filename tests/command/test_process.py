"""The command as a process: exit codes, streams, signals, pipes."""

import signal
import subprocess
import sys
import time
from contextlib import suppress
from pathlib import Path

import pytest

from builders.models import make_card
from builders.tables import make_table, write_csv


def receive_interrupts():
    """Receive Ctrl-C also where tests run in the background, which ignores it."""
    signal.signal(signal.SIGINT, signal.default_int_handler)


@pytest.fixture
def start(tmp_path):
    make_card().save(tmp_path / "m.json")
    write_csv(tmp_path / "t.csv", make_table())
    started = []

    def start_process(*words):
        process = subprocess.Popen(
            [sys.executable, "-m", "newron", *words], preexec_fn=receive_interrupts,
            cwd=tmp_path, stdout=subprocess.PIPE, stderr=subprocess.PIPE,
        )  # fmt: skip
        started.append(process)
        return process

    yield start_process
    for process in started:
        process.kill()
        process.wait()
        process.stdout.close()
        process.stderr.close()


def test_results_and_the_rest_go_apart_without_colours(start):
    process = start("predict", "m.json", "t.csv", "--proba")
    out, err = process.communicate(timeout=60)
    assert process.returncode == 0
    assert out.splitlines()[0] == b"prediction,probability_no,probability_yes"
    assert b"\x1b" not in out + err


def test_an_error_has_exit_code_2_and_leaves_standard_output_empty(start):
    process = start("fit", "t.csv", "--target", "nothing")
    out, err = process.communicate(timeout=60)
    assert process.returncode == 2
    assert out == b""
    assert err.startswith(b"newron: t.csv: expected the target 'nothing', got none; ")


def is_writing(process, folder, before):
    """Whether a process has begun a file, with or without a name."""
    if {file.name for file in folder.iterdir()} != before:
        return True
    for handle in Path(f"/proc/{process.pid}/fd").glob("*"):
        with suppress(FileNotFoundError):  # it may be closed by now
            if str(handle.readlink()).startswith(f"{folder}/#"):
                return True
    return False


@pytest.mark.parametrize(
    ("number", "code", "last"),
    [
        (signal.SIGINT, 130, [b"newron: interrupted: nothing was written"]),
        (signal.SIGTERM, 143, []),
        (signal.SIGKILL, -signal.SIGKILL, []),
    ],
)
def test_ctrl_c_a_termination_and_a_kill_leave_no_file(start, tmp_path, number, code, last):
    with (tmp_path / "long.csv").open("w") as file:
        file.write("age,colour\n" + "51,red\n" * 2_000_000)
    before = {file.name for file in tmp_path.iterdir()}
    process = start("predict", "m.json", "long.csv", "-o", "out.csv")
    end = time.monotonic() + 60
    while not is_writing(process, tmp_path, before):
        assert process.poll() is None
        assert time.monotonic() < end
        time.sleep(0.02)
    process.send_signal(number)
    _, err = process.communicate(timeout=60)
    assert process.returncode == code
    assert err.splitlines()[-1:] == last
    assert {file.name for file in tmp_path.iterdir()} == before


@pytest.mark.parametrize(
    ("number", "code"),
    [(signal.SIGINT, 130), (signal.SIGTERM, 143), (signal.SIGKILL, -signal.SIGKILL)],
)
def test_training_that_is_interrupted_or_killed_writes_nothing(start, tmp_path, number, code):
    process = start("fit", "t.csv", "-t", "sick", "--recipe", "gradient", "--folds", "60")
    assert process.stdout.readline().startswith(b"newron ")  # it has begun
    time.sleep(0.3)
    process.send_signal(number)
    process.communicate(timeout=60)
    assert process.returncode == code
    assert {file.name for file in tmp_path.iterdir()} == {"m.json", "t.csv"}


@pytest.mark.skipif(not Path("/dev/stdin").exists(), reason="no /dev/stdin here")
def test_standard_input_is_a_table_where_it_is_a_file(tmp_path):
    make_card().save(tmp_path / "m.json")
    write_csv(tmp_path / "t.csv", make_table())
    (tmp_path / "t.jsonl").write_text(
        '{"age": 60, "colour": "red"}\n{"age": null, "colour": null}\n'
    )
    predict = [sys.executable, "-m", "newron", "predict", "m.json"]
    settings = {"cwd": tmp_path, "capture_output": True, "check": False}
    for path in (tmp_path / "t.csv", tmp_path / "t.jsonl"):
        with path.open("rb") as file:
            read = subprocess.run([*predict, "/dev/stdin"], stdin=file, **settings)
        assert read.stdout.startswith(b"prediction\n")
        assert read.stdout == subprocess.run([*predict, path], **settings).stdout
        piped = subprocess.run([*predict, "/dev/stdin"], input=path.read_bytes(), **settings)
        assert piped.returncode == 2
        assert piped.stderr.startswith(b"newron: /dev/stdin: expected a file, which is read more")
        assert piped.stderr.count(b"\n") == 1


def test_a_reader_that_goes_away_is_no_error(start, tmp_path):
    with (tmp_path / "long.csv").open("w") as file:
        file.write("age,colour\n" + "51,red\n" * 200_000)
    process = start("predict", "m.json", "long.csv")
    process.stdout.readline()
    process.stdout.close()
    err = process.stderr.read()
    assert process.wait(timeout=60) == 141
    assert err == b""
