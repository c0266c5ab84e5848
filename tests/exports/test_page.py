"""What docs/exports.md says is so."""

import contextlib
import io
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

PAGE = Path(__file__).parents[2] / "docs" / "exports.md"

pytestmark = pytest.mark.skipif(not PAGE.exists(), reason="docs are not part of this install")


def find(kind: str) -> list[str]:
    """Return the blocks of a kind; plain ones have none."""
    text = PAGE.read_text("utf-8")
    blocks = re.findall(r"^```(\w*)\n(.*?)^```$", text, re.DOTALL | re.MULTILINE)
    return [body for own, body in blocks if own == kind]


def drop_version(text: str) -> str:
    return re.sub(r"newron \d+\.\d+\.\d+", "newron", text)


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    """Run the page's Python in a folder, and keep what it prints there."""
    folder = tmp_path_factory.mktemp("page")
    printed = io.StringIO()
    with contextlib.chdir(folder), contextlib.redirect_stdout(printed):
        exec("\n".join(find("python")), {})
    (folder / "printed").write_text(printed.getvalue())
    return folder


def run(*command, folder, text=None):
    done = subprocess.run(
        command, cwd=folder, check=True, capture_output=True, text=True, input=text
    )
    return done.stdout


def test_its_python_prints_the_queries(folder):
    shown = "\n".join(find("sql")) + "\n"  # print ends each with one more line
    assert drop_version((folder / "printed").read_text()) == drop_version(shown)


@pytest.mark.skipif(shutil.which("node") is None, reason="node is not installed")
def test_its_javascript_prints_what_it_shows(folder):
    (code,) = find("js")
    (folder / "try.mjs").write_text(code)
    assert run("node", "try.mjs", folder=folder) in find("")


def test_its_script_prints_what_it_shows(folder):
    (shown,) = (block for block in find("") if block.startswith("$ printf"))
    command, *lines = shown.splitlines()
    rows = re.search(r"'(.*)'", command)[1].replace("\\n", "\n")
    assert run(sys.executable, "-S", "flu.py", folder=folder, text=rows).splitlines() == lines


@pytest.mark.skipif(shutil.which("cc") is None, reason="no C compiler is installed")
def test_its_c_prints_what_it_shows(folder):
    (code,) = find("c")
    (folder / "try.c").write_text(code)
    run("cc", "-std=c99", "-Wall", "-Wextra", "-Werror", "-o", "try", "try.c", folder=folder)
    assert run(folder / "try", folder=folder) in find("")
