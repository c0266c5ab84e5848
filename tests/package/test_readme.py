"""The README's code runs as it stands, and its commands are those of the Makefile."""

import re
import shlex
import sys
from pathlib import Path

import pytest
from typer.testing import CliRunner

from newron.command.application import app

ROOT = Path(__file__).parents[2]
README = (ROOT / "README.md").read_text(encoding="utf-8")


def test_the_code_runs(tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    blocks = re.findall(r"```python\n(.*?)```", README, re.DOTALL)
    assert blocks
    for block in blocks:
        exec(compile(block, "README.md", "exec"), {})
    assert (tmp_path / "flowers.json").exists()
    assert "petal" in capsys.readouterr().out


def test_the_first_example_prints_at_most_ten_lines_on_a_plain_install(
    tmp_path, monkeypatch, capsys
):
    monkeypatch.chdir(tmp_path)
    for extra in ("pandas", "polars", "pyarrow", "matplotlib"):
        monkeypatch.setitem(sys.modules, extra, None)
    exec(compile(re.search(r"```python\n(.*?)```", README, re.DOTALL)[1], "README.md", "exec"), {})
    lines = capsys.readouterr().out.splitlines()
    assert 3 <= len(lines) <= 10


def test_there_are_exactly_two_commands_to_set_up():
    section = README.split("## Set up")[1].split("\n## ")[0]
    commands = re.findall(r"^(make \w+)", section, re.MULTILINE)
    assert commands == ["make demo", "make test"]
    makefile = (ROOT / "Makefile").read_text(encoding="utf-8")
    for command in commands:
        assert re.search(rf"^{command.split()[1]}:", makefile, re.MULTILINE)


def test_the_tutorial_runs_as_it_stands(tmp_path, monkeypatch):
    duckdb = pytest.importorskip("duckdb")
    pytest.importorskip("sqlglot")
    monkeypatch.chdir(tmp_path)
    (block,) = re.findall(r"```sh\n(.*?)```", README, re.DOTALL)
    lines = block.splitlines()
    assert len(lines) == 5
    for line in lines:
        program, *words = shlex.split(line, comments=True)
        assert program == "newron"
        done = CliRunner().invoke(app, words)
        assert done.exit_code == 0, done.output
        assert (tmp_path / words[words.index("-o") + 1]).stat().st_size > 1000
    # The database says what the model says, row by row.
    said = CliRunner().invoke(app, ["predict", "heart.json", "heart.csv"]).stdout.split()[1:]
    database = duckdb.connect()
    database.execute("CREATE TABLE data AS SELECT * FROM 'heart.csv'")
    found = database.sql((tmp_path / "heart.sql").read_text(encoding="utf-8"))
    place = found.columns.index("prediction")
    assert [str(row[place]) for row in found.fetchall()] == said
