"""A neuron of one's own from three lines to every reader, as a stranger would use it."""

import json
import shutil
import subprocess
import sys

import numpy as np
import pytest

from newron import NewronClassifier
from newron.neurons import exp, processing

PROGRAM = """
import json, sys
import numpy as np
import newron
X = np.array(json.load(open(sys.argv[2])))
print(json.dumps(newron.load(sys.argv[1]).predict_proba(X).tolist()))
"""


@processing
def bell(z):
    """A bell around b."""
    return exp(-z * z)


def make_circle(seed, n=1000):
    X = np.random.default_rng(seed).uniform(-1.0, 1.0, (n, 2))
    return X, np.where((X**2).sum(axis=1) < 0.5, "inside", "outside")


@pytest.fixture(scope="module")
def fitted():
    return NewronClassifier(processing=bell, random_state=0).fit(*make_circle(1000))


def test_a_bell_learns_a_circle(fitted):
    assert fitted.score(*make_circle(1001, 4000)) >= 0.99


def test_it_is_described_by_its_curve_and_drawn(fitted, tmp_path):
    text = str(fitted.shapes())
    assert "a bell, highest (1) at" in text
    assert "half-way down at" in text
    assert fitted.plot().svg.startswith("<svg")
    fitted.report(tmp_path / "page.html", *make_circle(1001))
    assert "a bell, highest" in (tmp_path / "page.html").read_text(encoding="utf-8")


def test_a_process_that_never_saw_it_gives_the_same_probabilities(fitted, tmp_path):
    X, _ = make_circle(1001, 50)
    fitted.save(tmp_path / "bell.json")
    (tmp_path / "rows.json").write_text(json.dumps(X.tolist()))
    command = [sys.executable, "-c", PROGRAM, "bell.json", "rows.json"]
    done = subprocess.run(command, cwd=tmp_path, check=True, capture_output=True, text=True)
    np.testing.assert_array_equal(json.loads(done.stdout), fitted.predict_proba(X))


class TestExports:
    def test_python_gives_the_same_probabilities(self, fitted):
        X, _ = make_circle(1001, 50)
        space: dict = {"__name__": "exported"}
        exec(fitted.model_.export("python").text, space)
        found = [space["predict_proba"](row) for row in X.tolist()]
        np.testing.assert_array_equal(found, fitted.predict_proba(X))

    @pytest.mark.skipif(shutil.which("node") is None, reason="node is not installed")
    def test_javascript_gives_the_same_probabilities(self, fitted, tmp_path):
        X, _ = make_circle(1001, 50)
        fitted.model_.export("javascript").save(tmp_path / "bell.mjs")
        rows = json.dumps(X.tolist())
        (tmp_path / "run.mjs").write_text(
            'import { predictProba } from "./bell.mjs";\n'
            f"console.log(JSON.stringify({rows}.map((row) => predictProba(row))));"
        )
        done = subprocess.run(
            ["node", str(tmp_path / "run.mjs")], check=True, capture_output=True, text=True
        )
        np.testing.assert_array_equal(json.loads(done.stdout), fitted.predict_proba(X))

    def test_sql_gives_the_same_probabilities(self, fitted):
        duckdb = pytest.importorskip("duckdb")
        pytest.importorskip("sqlglot")
        X, _ = make_circle(1001, 50)
        with duckdb.connect() as database:
            database.execute("CREATE TABLE data (x1 DOUBLE, x2 DOUBLE)")
            database.executemany("INSERT INTO data VALUES (?, ?)", X.tolist())
            table = database.execute(fitted.model_.export("sql", dialect="duckdb").text)
            names = [column[0] for column in table.description]
            found = [dict(zip(names, row, strict=True)) for row in table.fetchall()]
        shares = sorted(row["probability_outside"] for row in found)
        expected = np.sort(fitted.predict_proba(X)[:, 1])  # by the database's own EXP
        np.testing.assert_allclose(shares, expected, rtol=1e-14)

    def test_onnx_gives_the_same_probabilities(self, fitted):
        pytest.importorskip("onnx")
        runtime = pytest.importorskip("onnxruntime")
        X, _ = make_circle(1001, 50)
        session = runtime.InferenceSession(fitted.model_.export("onnx").content)
        outputs = [output.name for output in session.get_outputs()]
        found = dict(zip(outputs, session.run(None, {"x1": X[:, :1], "x2": X[:, 1:]}), strict=True))
        np.testing.assert_array_equal(found["probabilities"], fitted.predict_proba(X))
