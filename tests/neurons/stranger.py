"""What a stranger does with the wheel alone: four definitions, each to every reader.

Needs newron with its extras sql and onnx, and duckdb and onnxruntime to run what is exported; node
and cc where they are installed. Prints a line for each definition, and fails where one differs.

Usage: python stranger.py FOLDER
"""

import json
import shutil
import subprocess
import sys
from pathlib import Path

import duckdb
import numpy as np
import onnxruntime

import newron
from newron import NewronClassifier, NewronRegressor
from newron.neurons import (
    activation,
    aggregation,
    exp,
    log,
    maximum,
    minimum,
    objective,
    processing,
)

LOAD = """
import json, sys, newron
model = newron.load(sys.argv[1])
ask = model.predict_proba if hasattr(model.output, "labels") else model.predict
print(json.dumps(ask(json.load(open(sys.argv[2]))).tolist()))
"""


@processing
def bell(z):
    """A bell around b."""
    return exp(-z * z)


@aggregation
def soft_max(parts):
    """A smooth greatest."""
    return log(exp(parts).sum())


@activation
def smooth_relu(x):
    """A relu with a smooth bend."""
    return maximum(x, 0.0) + log(1.0 + exp(-abs(x)))


@objective
def my_huber(score, target, bend=1.0):
    """Squared for small errors, straight for large ones."""
    inside = minimum(abs(score - target), bend)
    return inside * (abs(score - target) - 0.5 * inside)


def make_circle(seed, n=1000):
    X = np.random.default_rng(seed).uniform(-1.0, 1.0, (n, 2))
    return X, np.where((X**2).sum(axis=1) < 0.5, "inside", "outside")


def make_curve(seed, n=600):
    rng = np.random.default_rng(seed)
    X = rng.uniform(-1.0, 1.0, (n, 2))
    return X, X[:, 0] ** 2 + 0.5 * X[:, 1], 0.02 * rng.normal(size=n) + (rng.random(n) < 0.1) * 3.0


def fit_all():
    """Yield each definition's name, estimator, new rows, and how right it is on them."""
    circle, fresh = make_circle(1000), make_circle(1001, 4000)
    kinds = {
        "bell": {"processing": bell},
        "soft_max": {"processing": "sigmoid", "aggregation": soft_max, "functions_per_input": 2},
        "smooth_relu": {
            "processing": "sigmoid", "activation": smooth_relu, "functions_per_input": 2,
        },
    }  # fmt: skip
    for name, settings in kinds.items():
        model = NewronClassifier(random_state=0, **settings).fit(*circle)
        yield name, model, fresh, model.score(*fresh), 0.99 if name == "bell" else 0.97
    X, truth, noise = make_curve(1000)
    model = NewronRegressor("sigmoid", objective=my_huber(bend=0.1), random_state=0)
    model.fit(X, truth + noise)
    rows, right, _ = make_curve(1001)
    explained = 1.0 - np.var(model.predict(rows) - right) / np.var(right)
    yield "my_huber", model, (rows, right), explained, 0.99


def list_readers(model, X, folder):
    """Yield the name of each reader with what it predicts, and how near that must be."""
    classes = hasattr(model, "classes_")
    rows = X.tolist()
    model.save(folder / "model.json")
    (folder / "rows.json").write_text(json.dumps(rows))
    command = [sys.executable, "-c", LOAD, str(folder / "model.json"), str(folder / "rows.json")]
    yield "another process", json.loads(run(command)), 0.0
    space = {"__name__": "exported"}
    exec(model.export("python").text, space)
    yield "Python", [space["predict_proba" if classes else "predict"](row) for row in rows], 0.0
    yield "SQL", ask_database(model, X, classes), 1e-14  # by the database's own EXP
    session = onnxruntime.InferenceSession(model.export("onnx").content)
    output = "probabilities" if classes else "prediction"
    yield "ONNX", session.run([output], {"x1": X[:, :1], "x2": X[:, 1:]})[0], 0.0
    if shutil.which("node"):
        model.export("javascript").save(folder / "model.mjs")
        what = "predictProba" if classes else "predict"
        text = f'import {{ {what} }} from "./model.mjs";\n'
        text += f"console.log(JSON.stringify({json.dumps(rows)}.map((row) => {what}(row))));"
        (folder / "run.mjs").write_text(text)
        yield "JavaScript", json.loads(run(["node", str(folder / "run.mjs")])), 0.0
    if shutil.which("cc"):
        yield "C", compile_c(model, rows, folder, classes), 0.0


def ask_database(model, X, classes):
    with duckdb.connect() as database:
        database.execute("CREATE TABLE data (x1 DOUBLE, x2 DOUBLE)")
        found = []
        for row in X.tolist():
            database.execute("DELETE FROM data")
            database.execute("INSERT INTO data VALUES (?, ?)", row)
            (values,) = database.execute(model.export("sql", dialect="duckdb").text).fetchall()
            found.append(values[1:] if classes else values[0])
    return found


def compile_c(model, rows, folder, classes):
    model.export("c", name="m").save(folder / "m.h")
    size, ask = (2, "m_predict_proba") if classes else (1, "m_scores")
    calls = [
        f"{{ m_row r = {{{a.hex()}, {b.hex()}}}; {ask}(&r, s); "
        f'for (int i = 0; i < {size}; ++i) printf("%a ", s[i]); }}'
        for a, b in rows
    ]
    body = f"int main(void) {{ double s[{size}];\n" + "\n".join(calls) + "\nreturn 0; }\n"
    (folder / "run.c").write_text('#include <stdio.h>\n#include "m.h"\n' + body)
    program = str(folder / "run")
    run(["cc", "-std=c99", "-O0", "-o", program, str(folder / "run.c"), "-lm"])
    found = [float.fromhex(word) for word in run([program]).split()]
    return np.reshape(found, (len(rows), size))


def run(command):
    return subprocess.run(command, check=True, capture_output=True, text=True).stdout


def check_words(name, model, folder, table):
    """Draw, describe and report; return what is said of the first function."""
    assert model.plot().svg.startswith("<svg")
    text = str(model.shapes())
    if name == "bell":
        assert "a bell, highest (1) at" in text, text
        assert "half-way down at" in text, text
    model.report(folder / "page.html", *table)
    page = (folder / "page.html").read_text(encoding="utf-8")
    assert (name if name != "bell" else "a bell, highest") in page, f"{name} is not in the page"


def main(folder):
    print(f"newron {newron.__version__} from {newron.__file__}")
    for name, model, table, right, least in fit_all():
        own = folder / name
        own.mkdir()
        assert right >= least, f"{name}: expected {least}, got {right}"
        check_words(name, model, own, (table[0][:300], table[1][:300]))
        X = table[0][:40]
        expected = model.predict_proba(X) if hasattr(model, "classes_") else model.predict(X)
        readers = []
        for reader, found, tolerance in list_readers(model, X, own):
            np.testing.assert_allclose(
                np.reshape(found, expected.shape), expected, 0.0, tolerance, err_msg=reader
            )
            readers.append(reader)
        print(f"{name}: {right:.4f} on new rows; the same by {', '.join(readers)}")


if __name__ == "__main__":
    main(Path(sys.argv[1]))
