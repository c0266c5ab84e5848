"""The Python file, run by a bare ``python -S``: it predicts what the model predicts."""

import csv
import io
import json
import subprocess
import sys

import numpy as np
import pytest

from exports.cases import make_cases, make_rule_cases
from newron.exports.export import export
from newron.model import Classes, Column, Model, Schema
from rules.networks import make_layer

BARE = [sys.executable, "-I", "-S"]

RUNNER = """
import importlib.util, json, pathlib, sys
out = []
for job in json.loads(pathlib.Path(sys.argv[1]).read_text()):
    spec = importlib.util.spec_from_file_location("model", job["path"])
    it = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(it)
    names = [column["name"] for column in it.MODEL["columns"]]
    predicted = []
    for row in job["table"]:
        named = dict(zip(names, row))
        found = it.explain(row)
        found.update(predicted=it.predict(named), scored=it.scores(named))
        found["shares"] = it.predict_proba(named) if it.MODEL["classes"] else None
        predicted.append(found)
    out.append(predicted)
assert not {"numpy", "newron", "site"} & set(sys.modules)
json.dump(out, sys.stdout)
"""


def run(folder, jobs):
    listed = []
    for k, (module, table) in enumerate(jobs):
        path = folder / f"model{k}.py"
        module.save(path)
        listed.append({"path": str(path), "table": table})
    (folder / "jobs.json").write_text(json.dumps(listed))
    (folder / "run.py").write_text(RUNNER)
    command = [*BARE, "-W", "error", str(folder / "run.py"), str(folder / "jobs.json")]
    done = subprocess.run(command, check=True, capture_output=True, text=True)
    assert done.stderr == ""
    return json.loads(done.stdout)


@pytest.fixture(scope="module")
def answers(tmp_path_factory):
    cases = make_cases()
    jobs = [(export(case.model, "python", name=case.name), case.table) for case in cases]
    return list(zip(cases, run(tmp_path_factory.mktemp("python"), jobs), strict=True))


class TestEquality:
    def test_scores_have_the_same_bits(self, answers):
        for case, rows in answers:
            scores = np.array([row["scored"] for row in rows], float)
            np.testing.assert_array_equal(scores, case.scores, err_msg=case.name)

    def test_predictions_are_the_same(self, answers):
        for case, rows in answers:
            assert [row["predicted"] for row in rows] == case.predictions.tolist(), case.name
            assert [row["prediction"] for row in rows] == case.predictions.tolist(), case.name

    def test_probabilities_have_the_same_bits(self, answers):
        for case, rows in answers:
            if case.probabilities is not None:
                shares = np.array([row["shares"] for row in rows])
                np.testing.assert_array_equal(shares, case.probabilities, err_msg=case.name)

    def test_explain_has_every_function_and_neuron(self, answers):
        for case, rows in answers:
            for number, layer in enumerate(case.model.layers):
                assert len(rows[0]["functions"][number]) == len(layer.source)
                assert len(rows[0]["neurons"][number]) == layer.n_neurons


def test_the_deciding_rule_has_the_predicted_class(tmp_path):
    cases = make_rule_cases()
    jobs = [(export(case.model, "python", rules=case.rules), case.table) for case in cases]
    decided = 0
    for case, rows in zip(cases, run(tmp_path, jobs), strict=True):
        records = case.rules.to_records()
        for row in rows:
            assert row["rules"]["inside"]
            assert len(row["rules"]["holds"]) == len(records)
            if case.rules.form != "points":
                decided += 1
                assert records[row["rules"]["deciding"]]["prediction"] == row["prediction"]
    assert decided > 300


# ---- as a script ----


def make_mixed() -> Model:
    """Return a model of a number, a text, a truth and a code."""
    columns = (
        Column("age, years", 0.0, 99.0, gaps=True),
        Column("colour", 0.0, 1.0, categories=("red", "")),
        Column("smokes", 0.0, 1.0, categories=(False, True)),
        Column("code", 0.0, 2.0, categories=(1, 2.5, 30)),
    )
    layer = make_layer(
        1, [0] * 4, range(4), [1.0] * 4, [54.5] * 4, alpha=[1.0, 2.0, 4.0, 8.0], centre=[7.0],
        levels=[[], [1.0, 0.0], [0.0, 1.0], [0.0, 1.0, 1.0]], missing=[1.0, 0.0, 0.0, 1.0],
    )  # fmt: skip
    return Model(Schema(columns), [layer], Classes(("no", "yes")))


@pytest.fixture(scope="module")
def script(tmp_path_factory):
    path = tmp_path_factory.mktemp("script") / "model.py"
    make_mixed().export("python", name="mixed").save(path)
    return path


def call(script, *arguments, text=""):
    command = [*BARE, str(script), *map(str, arguments)]
    return subprocess.run(command, capture_output=True, text=True, input=text)


class TestScript:
    TABLE = (
        ("54.5", "red", "true", "1"), ("", "", "FALSE", "2.50"), ("54", "never", "True", "30.0"),
        ("1e1", "red", "", ""), ("nan", "red", "True", "x"),
    )  # fmt: skip
    VALUES = (
        [54.5, "red", True, 1], [None, "", False, 2.5], [54.0, None, True, 30],
        [10.0, "red", None, None], [None, "red", True, None],
    )  # fmt: skip

    def check(self, out):
        header, *rows = csv.reader(io.StringIO(out))
        assert header == ["prediction", "probability of no", "probability of yes"]
        model = make_mixed()
        values = np.array(self.VALUES, dtype=object)
        assert [row[0] for row in rows] == model.predict(values).tolist()
        shares = np.array([row[1:] for row in rows], float)
        np.testing.assert_array_equal(shares, model.predict_proba(values))

    def test_it_reads_csv_from_a_file_or_a_pipe(self, script, tmp_path):
        buffer = io.StringIO()
        names = list(make_mixed().schema.names)
        writer = csv.writer(buffer)
        writer.writerows([[*names, "more"], *([*row, "left out"] for row in self.TABLE)])
        path = tmp_path / "rows.csv"
        path.write_text(buffer.getvalue(), encoding="utf-8-sig")
        self.check(call(script, path).stdout)
        self.check(call(script, text=buffer.getvalue()).stdout)

    @pytest.mark.parametrize("lines", [True, False])
    def test_it_reads_json(self, script, tmp_path, lines):
        names = make_mixed().schema.names
        rows = [dict(zip(names, row, strict=True)) for row in self.VALUES]
        path = tmp_path / "rows.json"
        path.write_text("\n".join(map(json.dumps, rows)) if lines else json.dumps(rows))
        self.check(call(script, path).stdout)

    @pytest.mark.parametrize(
        ("text", "found"),
        [
            ("x\n1\n", "error: line 2: expected a value of 'age, years', got none"),
            (
                '"age, years",colour,smokes,code\nold,red,True,1\n',
                "error: expected a number within 1e300 for 'age, years', got 'old'",
            ),
        ],
    )
    def test_bad_rows_are_an_error_of_one_line(self, script, text, found):
        done = call(script, text=text)
        assert done.returncode == 2
        assert done.stderr.strip() == found

    def test_a_file_that_is_not_there_is_an_error_of_one_line(self, script):
        done = call(script, "nowhere.csv")
        assert done.returncode == 2
        assert len(done.stderr.splitlines()) == 1
