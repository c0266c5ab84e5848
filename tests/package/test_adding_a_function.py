"""ARCHITECTURE.md's recipe for a new processing function, followed to the letter.

The three edits are taken out of the document, made in a copy of the project, and
the copy is built: then the new function trains, predicts, saves and loads.
"""

import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]

USE = """
import sys
# Past the finder of an editable install, which would come first.
sys.meta_path = [f for f in sys.meta_path if "Redirecting" not in type(f).__name__]
import numpy as np
import newron
from newron import NewronClassifier, _core
assert "gauss" in _core.function_names()
rng = np.random.default_rng(0)
X = rng.normal(size=(400, 2))
y = (np.abs(X[:, 0] - 0.3) < 0.5).astype(int)
fitted = NewronClassifier("gauss", hidden_layer_sizes=(), random_state=0).fit(X, y)
assert fitted.score(X, y) > 0.95, fitted.score(X, y)
model = fitted.model_
np.testing.assert_array_equal(model.scores(X), model.scores(X, compiled=False))
model.save("gauss.json")
assert newron.load("gauss.json") == model

sys.path.insert(0, sys.argv[1])
from oracle import reference
from oracle.networks import core_differentiate, make_start, make_table, make_wiring
reference.value = lambda name, z, blend=1.0: np.exp(-z * z)
reference.slope = lambda name, z: -2 * z * np.exp(-z * z)
wiring = make_wiring("gauss")
x, t, weight = make_table(40, 4, "binary")
params = make_start(wiring, x)
got = core_differentiate(wiring, params, x, t, weight, "binary")[1]
double = [a.astype(float) for a in (params, x, t, weight)]
want = reference.differentiate(wiring, *double, "binary")[1]
np.testing.assert_allclose(got, want, rtol=2e-3, atol=2e-5)
print("ok")
"""


def read_recipe() -> list[str]:
    text = (ROOT / "ARCHITECTURE.md").read_text()
    section = text.split("## Adding a processing function")[1].split("\n## ")[0]
    return re.findall(r"```(?:cpp|python)\n(.*?)```", section, re.DOTALL)


def insert_before(path: Path, mark: str, text: str) -> None:
    content = path.read_text()
    assert content.count(mark) == 1, f"{mark!r} in {path}"
    path.write_text(content.replace(mark, text + "\n" + mark))


@pytest.mark.slow
def test_a_function_added_by_the_recipe_works_from_start_to_finish(tmp_path):
    struct, entry, python_class = read_recipe()
    copy = tmp_path / "project"
    ignored = shutil.ignore_patterns(".venv", "build", "dist", ".git", "*.so", "__pycache__")
    shutil.copytree(ROOT, copy, ignore=ignored)
    header = copy / "cpp/core/processing.h"
    insert_before(header, "// The loops that every function of one factor shares.", struct)
    table = header.read_text()
    assert "OneFactor<Selu>>;" in table
    header.write_text(table.replace("OneFactor<Selu>>;", f"OneFactor<Selu>,\n{entry.strip()}>;"))
    module = copy / "src/newron/model/processing.py"
    insert_before(module, "def _bound(z: Floats)", python_class + "\n")
    install = [sys.executable, "-m", "pip", "install", "--disable-pip-version-check", "--quiet"]
    site = tmp_path / "site"
    subprocess.run(
        [*install, "--no-build-isolation", "--no-deps", "--target", str(site), str(copy)],
        check=True,
    )
    done = subprocess.run(
        [sys.executable, "-c", USE, str(ROOT / "tests")],
        capture_output=True, text=True, cwd=tmp_path, env={**os.environ, "PYTHONPATH": str(site)},
    )  # fmt: skip
    assert done.stdout.strip() == "ok", done.stderr
