"""docs/neurons.md: its code runs, from top to bottom, and its formulas are the real ones."""

import re
from pathlib import Path

import pytest

from newron.expressions.text import write_formula
from newron.neurons.builtin import ACTIVATIONS, LOSSES, PROCESSING

PAGE = Path(__file__).resolve().parents[2] / "docs" / "neurons.md"


def make_tables():
    """Return the page's tables of definitions, by their names."""
    functions = [(name, each.expression, each.about) for name, each in PROCESSING.items()]
    activations = [(name, each.expression, "") for name, each in ACTIVATIONS.items()]
    losses = [(each.text, each.expression, each.about) for each in LOSSES.values()]
    return {
        "PROCESSING": write_table("h(z)", functions),
        "ACTIVATIONS": write_table("f(x)", activations),
        "LOSSES": write_table("loss", losses),
    }


def write_table(title, rows):
    lines = [f"| | {title} | |", "|---|---|---|"]
    lines += [f"| `{name}` | `{write_formula(tree)}` | {about} |" for name, tree, about in rows]
    return "\n".join(lines)


def test_the_code_of_the_tutorial_runs(tmp_path, monkeypatch, capsys):
    pytest.importorskip("sqlglot")
    monkeypatch.chdir(tmp_path)
    space: dict = {"__name__": "tutorial"}
    text = PAGE.read_text(encoding="utf-8")
    for number, block in enumerate(re.findall(r"```python\n(.*?)```", text, re.DOTALL)):
        exec(compile(block, f"docs/neurons.md, block {number}", "exec"), space)
    printed = capsys.readouterr().out
    assert "a bell, highest" in printed
    assert "divisor that is never 0" in printed
    assert (tmp_path / "bell.svg").stat().st_size > 1000


@pytest.mark.parametrize("name", make_tables())
def test_its_definitions_are_those_of_the_code(name):
    assert make_tables()[name] in PAGE.read_text(encoding="utf-8")
