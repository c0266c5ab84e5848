"""docs/neurons.md: its code runs, from top to bottom."""

import re
from pathlib import Path

import pytest

PAGE = Path(__file__).resolve().parents[2] / "docs" / "neurons.md"
BLOCKS = re.findall(r"```python\n(.*?)```", PAGE.read_text(encoding="utf-8"), re.DOTALL)


def test_the_code_of_the_tutorial_runs(tmp_path, monkeypatch, capsys):
    pytest.importorskip("sqlglot")
    monkeypatch.chdir(tmp_path)
    space: dict = {"__name__": "tutorial"}
    for number, block in enumerate(BLOCKS):
        exec(compile(block, f"docs/neurons.md, block {number}", "exec"), space)
    assert "a bell, highest" in capsys.readouterr().out
