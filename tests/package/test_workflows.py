"""The workflows: actions pinned by hash, no right beyond what a job needs, every Python."""

import re
import tomllib
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
WORKFLOWS = sorted((ROOT / ".github" / "workflows").glob("*.yml"))


@pytest.mark.parametrize("path", WORKFLOWS, ids=lambda path: path.stem)
def test_actions_are_pinned_by_hash_and_rights_are_named(path):
    text = path.read_text(encoding="utf-8")
    for use in re.findall(r"uses: (.+)", text):
        assert re.fullmatch(r"[\w./-]+@[0-9a-f]{40} # v[\d.]+", use), use
    assert "\npermissions: {}\n" in text
    assert set(re.findall(r"(\w[\w-]*): write", text)) <= {"security-events"}
    assert text.count("actions/checkout@") == text.count("persist-credentials: false")


def test_tests_run_on_every_python_that_the_project_claims():
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    claimed = [c.split(" :: ")[-1] for c in project["classifiers"] if ":: Python :: 3." in c]
    text = (ROOT / ".github/workflows/test.yml").read_text(encoding="utf-8")
    assert re.findall(r'"(3\.\d+)"', re.search(r"python: \[.*\]", text)[0]) == claimed


def test_the_extra_all_has_every_extra_that_newron_can_use():
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    extras = project["optional-dependencies"]
    (one,) = extras["all"]
    assert set(re.search(r"\[(.*)\]", one)[1].split(",")) == {*extras} - {"all", "test"}
    assert "torch" not in extras  # nothing in newron uses it
