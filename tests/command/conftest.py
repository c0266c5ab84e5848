"""What the tests of the command share."""

import pytest
from typer.testing import CliRunner

from builders.models import make_card
from builders.tables import make_table, write_csv
from newron.command.application import app


@pytest.fixture
def run(tmp_path, monkeypatch):
    """Run the command in an empty folder; return what came of it."""
    monkeypatch.chdir(tmp_path)
    for name in ("NO_COLOR", "FORCE_COLOR", "COLUMNS", "TERM"):
        monkeypatch.delenv(name, raising=False)

    def run_command(*words, charset="utf-8"):
        return CliRunner(charset).invoke(app, [str(word) for word in words])

    return run_command


@pytest.fixture
def fails(run, tmp_path):
    """Run a command that fails; return its one line, after looking that all is as before."""

    def run_failing(*words):
        before = sorted(tmp_path.rglob("*"))
        done = run(*words)
        assert done.exit_code == 2, done.output
        assert "Traceback" not in done.output
        assert done.stdout == ""
        assert done.stderr.startswith("newron: ")
        assert done.stderr.count("\n") == 1
        assert sorted(tmp_path.rglob("*")) == before
        return done.stderr.removeprefix("newron: ").strip()

    return run_failing


@pytest.fixture
def model(tmp_path):
    make_card().save(tmp_path / "model.json")
    return "model.json"


@pytest.fixture
def data(tmp_path):
    write_csv(tmp_path / "table.csv", make_table())
    return "table.csv"
