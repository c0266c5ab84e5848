"""The page on tasks: its code runs as it stands."""

import re
from pathlib import Path

PAGE = Path(__file__).parents[2] / "docs" / "tasks.md"


def test_the_code_of_the_page_runs(capsys):
    (block,) = re.findall(r"```python\n(.*?)```", PAGE.read_text(encoding="utf-8"), re.DOTALL)
    names: dict[str, object] = {}
    exec(compile(block, "tasks.md", "exec"), names)
    assert "log(y)" in capsys.readouterr().out
