"""The page of the docs is what the code says."""

import runpy
from pathlib import Path

ROOT = Path(__file__).parents[2]


def test_the_page_is_up_to_date():
    script = runpy.run_path(str(ROOT / "scripts" / "write_command_page"))
    page = (ROOT / "docs" / "command.md").read_text(encoding="utf-8")
    assert page == script["write_page"](), "run .venv/bin/python scripts/write_command_page"
