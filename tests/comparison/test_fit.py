"""What the benchmark of fits makes of its measurements."""

import signal
from types import SimpleNamespace

import pytest
from benchmarks import fit


def record(cpu, learner):
    return {"cpu": cpu, "wall": cpu, "megabytes": 3.0, "log_loss": 0.5, "accuracy": 0.8,
            "size": 7 if "newron" in learner else None}  # fmt: skip


@pytest.fixture
def rows(monkeypatch):
    """Measure as told, and collect the rows of the report."""

    def run(measure, learners, rounds):
        monkeypatch.setattr(fit, "measure", measure)
        monkeypatch.setattr(fit, "write_task", lambda task, folder: 0.4)
        found = {}
        page = SimpleNamespace(
            add=lambda text: None,
            table=lambda head, made: found.update({row[0]: row[1:] for row in made}),
        )
        fit.report_task(page, fit.list_tasks()[0], learners, rounds, 5.0)
        return found

    return run


def test_ratios_are_those_of_the_same_round(rows):
    seconds = iter([2.0, 1.0, 30.0, 10.0, 4.0, 2.0])  # a slow round of a busy machine
    learners = ["newron smooth", fit.REFERENCE]
    found = rows(lambda folder, name, limit: record(next(seconds), name), learners, 3)
    assert found["newron smooth"][:2] == ["2.00", "2.00"]
    assert found[fit.REFERENCE][1] == "1.00"
    assert found["newron smooth"][-1] == "7"
    assert found[fit.REFERENCE][-1] == "–"


def test_who_was_late_once_is_not_run_again(rows):
    limits = []

    def measure(folder, name, limit):
        limits.append(limit)
        return {"error": "not done after 5 s"}

    assert rows(measure, ["MLP"], 3)["MLP"][0] == "not done after 5 s"
    assert limits == [5.0]


@pytest.mark.parametrize(
    ("code", "words", "error"),
    [
        (-signal.SIGXCPU, "", "not done after 5 CPU s"),
        (1, "Traceback\nValueError: too few rows", "ValueError: too few rows"),
    ],
)
def test_a_fit_that_is_late_or_fails_says_so(monkeypatch, tmp_path, code, words, error):
    done = SimpleNamespace(returncode=code, stderr=words)
    monkeypatch.setattr(fit.subprocess, "run", lambda command, **settings: done)
    assert fit.measure(tmp_path, "MLP", 5.0) == {"error": error}
