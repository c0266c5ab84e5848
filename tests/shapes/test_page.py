"""The pages on shapes and explanations: their code runs as it stands."""

import re
from pathlib import Path

import pytest

DOCS = Path(__file__).parents[2] / "docs"


@pytest.mark.parametrize("name", ["shapes", "explanations"])
def test_the_code_of_the_page_runs(name, capsys):
    page = (DOCS / f"{name}.md").read_text(encoding="utf-8")
    blocks = re.findall(r"```python\n(.*?)```", page, re.DOTALL)
    names: dict[str, object] = {}
    for block in blocks:
        exec(compile(block, f"{name}.md", "exec"), names)
    printed = capsys.readouterr().out
    assert "False" not in printed.split()
    assert printed
