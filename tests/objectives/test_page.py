"""The page on tasks: its code runs as it stands."""

import re
from pathlib import Path

PAGE = Path(__file__).parents[2] / "docs" / "tasks.md"


def test_the_code_of_the_page_runs(capsys):
    blocks = re.findall(r"```python\n(.*?)```", PAGE.read_text(encoding="utf-8"), re.DOTALL)
    for block in blocks:
        exec(compile(block, "tasks.md", "exec"), {})
    printed = capsys.readouterr().out
    assert "log(y)" in printed
    assert "90 % of new rows lie from" in printed
    assert "no event until time" in printed
