"""Random formulas: NumPy = C++ = every export, and gradients = torch's."""

import json
import random
import shutil
import subprocess

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from neurons.formulas import draw_model, draw_processing
from newron import _core as core
from newron.exports.export import export
from newron.model.document_reader import from_dict

ROWS = np.random.default_rng(4).normal(0.0, 2.0, (12, 2))
SEEDS = range(5)


def draw(seed):
    return draw_model(random.Random(seed))


class TestMeaning:
    @settings(max_examples=40, deadline=None)
    @given(st.randoms(use_true_random=False))
    def test_numpy_the_core_the_file_and_python_agree_to_the_last_bit(self, random):
        model = draw_model(random)
        expected = model.scores(ROWS, compiled=False)
        assert np.isfinite(expected).all()
        np.testing.assert_array_equal(model.scores(ROWS), expected)
        again = from_dict(json.loads(json.dumps(model.to_dict())))
        np.testing.assert_array_equal(again.scores(ROWS), expected)
        space: dict = {"__name__": "exported"}
        exec(export(model, "python").text, space)
        found = [space["predict"](row) for row in ROWS.tolist()]
        np.testing.assert_array_equal(found, expected[:, 0])

    @pytest.mark.parametrize("seed", SEEDS)
    def test_sql_agrees_to_the_last_bit(self, seed):
        model = draw(seed)
        duckdb = pytest.importorskip("duckdb")
        pytest.importorskip("sqlglot")
        with duckdb.connect() as database:
            database.execute("CREATE TABLE data (a DOUBLE, b DOUBLE)")
            database.executemany("INSERT INTO data VALUES (?, ?)", ROWS.tolist())
            found = database.execute(export(model, "sql", dialect="duckdb").text).fetchall()
        np.testing.assert_array_equal(sorted(found), sorted(model.scores(ROWS).tolist()))

    @pytest.mark.parametrize("seed", SEEDS)
    def test_onnx_agrees_to_the_last_bit(self, seed):
        model = draw(seed)
        pytest.importorskip("onnx")
        runtime = pytest.importorskip("onnxruntime")
        session = runtime.InferenceSession(export(model, "onnx").content)
        found = session.run(None, {"a": ROWS[:, :1], "b": ROWS[:, 1:]})[0]
        np.testing.assert_array_equal(np.asarray(found), model.scores(ROWS))

    @pytest.mark.skipif(shutil.which("node") is None, reason="node is not installed")
    def test_javascript_agrees_to_the_last_bit(self, tmp_path):
        models = list(map(draw, SEEDS))
        lines = ["const out = [];", f"const rows = {json.dumps(ROWS.tolist())};"]
        for k, model in enumerate(models):
            export(model, "javascript").save(tmp_path / f"m{k}.mjs")
            lines.insert(0, f'import * as m{k} from "./m{k}.mjs";')
            lines.append(f"out.push(rows.map((row) => m{k}.scores(row)));")
        (tmp_path / "run.mjs").write_text("\n".join([*lines, "console.log(JSON.stringify(out));"]))
        done = subprocess.run(
            ["node", str(tmp_path / "run.mjs")], check=True, capture_output=True, text=True
        )
        np.testing.assert_array_equal(
            json.loads(done.stdout), [model.scores(ROWS) for model in models]
        )

    @pytest.mark.skipif(shutil.which("cc") is None, reason="no C compiler is installed")
    def test_c_agrees_to_the_last_bit(self, tmp_path):
        models = list(map(draw, SEEDS))
        includes, calls = ["#include <stdio.h>"], []
        for k, model in enumerate(models):
            export(model, "c", name=f"m{k}").save(tmp_path / f"m{k}.h")
            includes.append(f'#include "m{k}.h"')
            for a, b in ROWS.tolist():
                row = f"(m{k}_row){{{a.hex()}, {b.hex()}}}"
                calls.append(f'{{ m{k}_row r = {row}; m{k}_scores(&r, s); printf("%a ", s[0]); }}')
        body = "\n".join(["int main(void) { double s[1];", *calls, "return 0; }"])
        (tmp_path / "run.c").write_text("\n".join([*includes, body]))
        program = str(tmp_path / "run")
        command = ["cc", "-std=c99", "-Wall", "-Werror", "-O0", "-o", program]
        subprocess.run([*command, str(tmp_path / "run.c"), "-lm"], check=True)
        done = subprocess.run([program], check=True, capture_output=True, text=True)
        found = [float.fromhex(word) for word in done.stdout.split()]
        expected = np.concatenate([model.scores(ROWS)[:, 0] for model in models])
        np.testing.assert_array_equal(found, expected)


def to_torch(torch, tape, inputs):
    """Run a tape on tensors; return its first output."""
    one = torch.ones((), dtype=torch.float64)
    run = {
        "+": torch.add, "-": torch.sub, "*": torch.mul, "/": torch.div, "negate": torch.neg,
        "abs": torch.abs, "min": torch.minimum, "max": torch.maximum, "sqrt": torch.sqrt,
        "exp": torch.exp, "log": torch.log, "sin": torch.sin, "cos": torch.cos,
        "sigmoid": torch.sigmoid, "tanh": torch.tanh,
        "<": lambda a, b: (a < b) * one, "<=": lambda a, b: (a <= b) * one,
        "==": lambda a, b: (a == b) * one, "select": lambda c, a, b: torch.where(c != 0.0, a, b),
    }  # fmt: skip
    known = [*inputs, *(one * value for value in tape.constants)]
    for name, arguments in tape.lines:
        known.append(run[name](*(known[i] for i in arguments)))
    return known[tape.outputs[0]]


class TestDerivatives:
    @settings(max_examples=40, deadline=None)
    @given(st.randoms(use_true_random=False))
    def test_they_are_those_of_torch(self, random):
        torch = pytest.importorskip("torch")
        function = draw_processing(random)
        points = np.random.default_rng(9).normal(0.0, 1.5, (len(function.arguments), 40))
        tensors = [torch.tensor(row, requires_grad=True) for row in points]
        value = to_torch(torch, function.tape, tensors)
        slopes = torch.autograd.grad(value.sum(), tensors, allow_unused=True)
        named = dict(zip(function.arguments, points, strict=True))
        own, *found = function.training_tape.evaluate(named)
        np.testing.assert_allclose(own, value.detach().numpy(), rtol=1e-9, atol=1e-9)
        for slope, expected in zip(found, slopes, strict=True):
            wanted = np.zeros(40) if expected is None else expected.numpy()
            np.testing.assert_allclose(slope, wanted, rtol=1e-7, atol=1e-7)

    @settings(max_examples=25, deadline=None)
    @given(st.randoms(use_true_random=False))
    def test_the_core_trains_by_them(self, random):
        function = draw_processing(random)
        n, m, k = 64, len(function.factors), len(function.parameters)
        rng = np.random.default_rng(2)
        w, b = rng.normal(0.0, 1.0, (2, 2, m))
        more = rng.uniform(0.2, 0.8, (2, k))
        x, y = rng.normal(0.0, 1.0, (n, 2)), rng.normal(0.0, 1.0, n)
        network = core.Network(2)
        source, begin = np.array([0, 1], np.int32), np.array([0, 2], np.int32)
        formula = core.function_names().index("formula")
        network.add_layer(formula, 0, 0, False, False, m, 1, source, begin)
        code, constants, n_registers = function.training_tape.code
        network.set_code(code, constants, m + k, 1 + m + k, n_registers, 1e30)
        table = core.Table(x.astype(np.float32), y[:, None].astype(np.float32),
                           np.ones(n, np.float32))  # fmt: skip
        params = np.concatenate([w.ravel(), b.ravel(), more.ravel()]).astype(np.float32)
        loss, gradient = core.differentiate(network, table, params, core.Loss.squared)
        z = w[:, :, None] * (x.T[:, None, :] - b[:, :, None])  # function, factor, row
        total, slopes = np.zeros(n), []
        for e in range(2):
            values = [*z[e], *(np.full(n, value) for value in more[e])]
            own, *slope = function.training_tape.evaluate(
                dict(zip(function.arguments, values, strict=True))
            )
            total += own
            slopes.append(np.array(slope))
        g = 2.0 * (total - y) / n
        of_z = np.array([slope[:m] @ g for slope in slopes])
        of_w = np.array([(slopes[e][:m] * (x[:, e] - b[e][:, None])) @ g for e in range(2)])
        of_more = np.array([slope[m:] @ g for slope in slopes])
        expected = np.concatenate([of_w.ravel(), (-w * of_z).ravel(), of_more.ravel()])
        assert loss == pytest.approx(np.mean((total - y) ** 2), rel=1e-3)
        np.testing.assert_allclose(gradient, expected, atol=2e-3 * np.abs(expected).max() + 1e-5)
