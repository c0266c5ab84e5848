"""The README's code runs as it stands, and its commands are those of the Makefile."""

import re
from pathlib import Path

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


def test_there_are_exactly_two_commands_to_set_up():
    section = README.split("## Set up")[1].split("\n## ")[0]
    commands = re.findall(r"^(make \w+)", section, re.MULTILINE)
    assert commands == ["make demo", "make test"]
    makefile = (ROOT / "Makefile").read_text(encoding="utf-8")
    for command in commands:
        assert re.search(rf"^{command.split()[1]}:", makefile, re.MULTILINE)
