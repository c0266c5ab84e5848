"""`make wheel` builds a wheel; it installs into an empty environment and fits."""

import os
import shutil
import subprocess
import sys
import venv
from pathlib import Path

import pytest

import newron

ROOT = Path(__file__).parents[2]

PIP = [sys.executable, "-m", "pip", "--disable-pip-version-check", "--quiet"]
FIT = """
import newron, sys
assert "site-packages" in newron.__file__, newron.__file__
from newron import NewronClassifier
from newron.demo import make_monk2
X, y = make_monk2()
print(NewronClassifier(hidden_layer_sizes=(1, 2), n_init=40, random_state=0).fit(X, y).score(X, y))
"""


def build_wheel(folder):
    copy = folder / "project"
    ignored = shutil.ignore_patterns(".venv", "build", "dist", ".git", "*.so", "__pycache__")
    shutil.copytree(ROOT, copy, ignore=ignored)
    build = [*PIP, "wheel", "--no-deps", "--no-build-isolation", "-w", str(folder), str(copy)]
    subprocess.run(build, check=True)
    (built,) = folder.glob(f"newron_ian-{newron.__version__}-*.whl")
    return built


@pytest.mark.slow
def test_a_wheel_installs_into_an_empty_environment_and_fits(tmp_path):
    wheel = build_wheel(tmp_path)
    venv.create(tmp_path / "env")
    binaries = tmp_path / "env" / ("Scripts" if sys.platform == "win32" else "bin")
    pip = [*PIP, "--python", str(binaries / "python")]
    subprocess.run([*pip, "install", "--no-compile", str(wheel)], check=True)
    out = subprocess.run(
        [binaries / "python", "-c", FIT], check=True, capture_output=True, text=True, cwd=tmp_path,
        env={name: value for name, value in os.environ.items() if name != "PYTHONPATH"},
    )  # fmt: skip
    assert out.stdout.strip() == "1.0"
    names = subprocess.run(
        [*pip, "list", "--format=freeze"], check=True, capture_output=True, text=True
    ).stdout
    # The base install stays light.
    assert not any(x in names for x in ("torch", "matplotlib", "pandas", "onnx"))
    if sys.platform != "win32":  # the script is one of bash
        check_neurons_of_a_stranger(wheel, tmp_path / "env")


def check_neurons_of_a_stranger(wheel, environment):
    """Define neurons and a loss with the wheel alone."""
    command = [ROOT / "scripts" / "check_wheel", wheel, environment]
    done = subprocess.run(command, check=True, capture_output=True, text=True)
    assert "site-packages" in done.stdout
    for name in ("bell", "soft_max", "smooth_relu", "my_huber"):
        assert f"{name}: " in done.stdout
