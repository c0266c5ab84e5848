"""What importing newron costs, and which names it offers."""

import subprocess
import sys
import tomllib
from functools import cache
from pathlib import Path

import newron

ROOT = Path(__file__).parents[2]


def run(code: str) -> str:
    done = subprocess.run([sys.executable, "-c", code], check=True, capture_output=True, text=True)
    return done.stdout.strip()


@cache
def modules_after(statement: str) -> set[str]:
    return set(run(f"{statement}\nimport sys\nprint(' '.join(sys.modules))").split())


def test_importing_brings_in_neither_torch_nor_matplotlib_nor_scikit_learn():
    loaded = modules_after("import newron")
    assert not loaded & {"torch", "matplotlib", "sklearn", "scipy", "pandas", "rich"}


def test_the_estimators_bring_in_no_heavy_extra():
    # scikit-learn itself imports pandas where it is installed.
    loaded = modules_after("from newron import NewronClassifier") - modules_after("import sklearn")
    assert not loaded & {"torch", "matplotlib", "pandas", "rich"}
    assert "sklearn.neural_network" not in loaded
    assert "sklearn.linear_model" not in loaded


def test_the_estimators_load_little_beyond_scikit_learn_itself():
    # Stands for the time: a bound on modules does not depend on the machine.
    own = modules_after("from newron import NewronClassifier")
    base = modules_after("import sklearn")
    assert len(own - base) < len(base)


def test_every_public_name_is_there_and_listed():
    for name in newron.__all__:
        assert getattr(newron, name) is not None
    assert set(dir(newron)) == set(newron.__all__)


def test_an_unknown_name_is_the_usual_error():
    assert not hasattr(newron, "nothing")


def test_the_stub_tells_the_compiled_module_as_it_is(tmp_path):
    from newron import _core

    text = (ROOT / "src/newron/_core.pyi").read_text()
    for name in dir(_core):
        if not name.startswith("_"):
            assert f"class {name}" in text or f"def {name}(" in text, f"{name}: run make stubs"


def test_the_version_has_one_place_and_the_changelog_has_it():
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))
    assert "version" not in project["project"]
    provider = project["tool"]["scikit-build"]["metadata"]["version"]
    assert newron.__version__ in (ROOT / provider["input"]).read_text(encoding="utf-8")
    assert f"## {newron.__version__}" in (ROOT / "CHANGELOG.md").read_text()
