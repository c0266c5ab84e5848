"""What ARCHITECTURE.md names is there."""

import re
from fnmatch import fnmatch
from pathlib import Path

ROOT = Path(__file__).parents[2]
TEXT = (ROOT / "ARCHITECTURE.md").read_text(encoding="utf-8")
FOLDERS = ("src", "cpp", "tests", "docs", "benchmarks", "scripts")
PATHS = sorted(
    path.relative_to(ROOT).as_posix()
    for folder in FOLDERS
    for path in (ROOT / folder).rglob("*")
    if "__pycache__" not in path.parts
)
OUTSIDE = {"NPY_DISABLE_CPU_FEATURES", "OPENBLAS_CORETYPE=Nehalem"}
NAMES = sorted({*re.findall(r"`([^`\n]+)`", re.sub(r"```.*?```", "", TEXT, flags=re.DOTALL))})


def read_words():
    """Return all names in the sources."""
    sources = [
        ROOT / path
        for path in PATHS
        if re.search(r"\.(py|pyi|h|cpp|js|css)$", path) and not path.startswith("tests")
    ]
    return set(re.findall(r"\w+", "\n".join(path.read_text("utf-8") for path in sources)))


def exists(name, words):
    if "/" not in name and not re.search(r"\.(py|h|cpp|css|js|md)$", name):
        return set(re.findall(r"[^\W\d]\w*", name)) <= words
    path = re.sub(r"(?<=\w)\.[a-z_]+$", "", name) if "/" in name else name
    path = path.removesuffix(".py").rstrip("/")  # a module, a folder or a function of a module
    return any(fnmatch(each, f"*{path}*") for each in PATHS)


def test_every_name_stands_for_a_file_or_is_in_the_sources():
    words = read_words()
    assert len(NAMES) > 200
    assert [name for name in NAMES if name not in OUTSIDE and not exists(name, words)] == []


def test_what_is_not_there_is_found():
    words = read_words()
    assert not exists("settle_gaps", words)
    assert not exists("training/story.py", words)
