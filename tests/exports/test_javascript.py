"""The ES module, run by node: it predicts what the model predicts."""

import json
import shutil
import subprocess

import numpy as np
import pytest

from exports.cases import make_cases, make_hostile, make_rule_cases
from newron.exports.export import export
from rules.networks import make_monk2

NODE = shutil.which("node")
needs_node = pytest.mark.skipif(NODE is None, reason="node is not installed")

# Imports each module, and prints what it says of its table; an error is found as it is.
RUNNER = """
import { readFileSync } from "node:fs";
const out = [];
for (const { path, table, by_name } of JSON.parse(readFileSync(process.argv[2], "utf8"))) {
  const it = await import(path);
  out.push(table.map((values) => {
    const names = it.model.columns.map((column) => column.name);
    const row = by_name ? Object.fromEntries(names.map((name, i) => [name, values[i]])) : values;
    try {
      return { ...it.explain(row), predicted: it.predict(row), scored: it.scores(row),
        shares: it.model.classes ? it.predictProba(row) : null };
    } catch (error) {
      return { error: `${error.name}: ${error.message}` };
    }
  }));
}
console.log(JSON.stringify(out));
"""


def run(folder, jobs, by_name=False):
    """Write modules, run them on their tables, and give what they say of each row."""
    listed = []
    for k, (module, table) in enumerate(jobs):
        path = folder / f"model{k}.mjs"
        module.save(path)
        listed.append({"path": str(path), "table": table, "by_name": by_name})
    (folder / "jobs.json").write_text(json.dumps(listed))
    (folder / "run.mjs").write_text(RUNNER)
    command = [NODE, str(folder / "run.mjs"), str(folder / "jobs.json")]
    done = subprocess.run(command, check=True, capture_output=True, text=True)
    assert done.stderr == ""
    return json.loads(done.stdout)


@pytest.fixture(scope="module")
def answers(tmp_path_factory):
    cases = make_cases()
    jobs = [(export(case.model, "javascript", name=case.name), case.table) for case in cases]
    return list(zip(cases, run(tmp_path_factory.mktemp("js"), jobs, by_name=True), strict=True))


@needs_node
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
                for row in rows[:5]:
                    assert len(row["functions"][number]) == len(layer.source)
                    assert len(row["neurons"][number]) == layer.n_neurons
            for row, found in zip(case.table, rows, strict=True):
                known = [
                    x if c.categories is None or x in c.categories else None
                    for x, c in zip(row, case.model.schema.columns, strict=True)
                ]
                assert found["inputs"] == known


@needs_node
class TestRules:
    @pytest.fixture(scope="class")
    @staticmethod
    def found(tmp_path_factory):
        cases = make_rule_cases()
        jobs = [(export(c.model, "javascript", rules=c.rules), c.table) for c in cases]
        return list(zip(cases, run(tmp_path_factory.mktemp("rules"), jobs), strict=True))

    def test_the_deciding_rule_has_the_predicted_class(self, found):
        decided = 0
        for case, rows in found:
            if case.rules.form == "points":
                continue
            records = case.rules.to_records()
            for row in rows:
                decided += 1
                assert row["rules"]["inside"]
                assert records[row["rules"]["deciding"]]["prediction"] == row["prediction"]
        assert decided > 300

    def test_points_have_what_holds(self, found):
        seen = 0
        for case, rows in found:
            if case.rules.form == "points":
                seen += 1
                for row in rows:
                    assert row["rules"]["deciding"] is None
                    assert len(row["rules"]["holds"]) == len(case.rules)
        assert seen

    def test_a_row_outside_the_domain_is_marked(self, tmp_path):
        module = export(make_monk2(), "javascript", rules=True)
        inside, outside = run(tmp_path, [(module, [[1, 1, 1, 1, 1, 1], [9, 1, 1, 1, 1, 1]])])[0]
        assert inside["rules"]["inside"]
        assert not outside["rules"]["inside"]


@needs_node
class TestRows:
    def test_what_is_no_row_is_an_error(self, tmp_path):
        module = export(make_monk2(), "javascript")
        bad = [[1, 1, 1, 1, 1], [1, 1, 1, 1, 1, "1"], [1, 1, 1, 1, 1, 1e301]]
        short, text, large = run(tmp_path, [(module, bad)])[0]
        assert short["error"] == "TypeError: expected 6 values, got 5"
        assert text["error"] == 'TypeError: expected a number within 1e300 for "a6", got 1'
        assert large["error"] == 'TypeError: expected a number within 1e300 for "a6", got 1e+301'

    def test_a_column_that_is_missing_is_an_error(self, tmp_path):
        module = export(make_monk2(), "javascript")
        (found,) = run(tmp_path, [(module, [{"a1": 1, "a2": 1}])])[0]
        assert found["error"] == (
            'TypeError: expected a value of "a3", got none; give null if it is unknown'
        )


def test_no_text_of_the_model_ends_a_script_or_a_comment():
    case = make_hostile()
    text = export(case.model, "javascript", name="</script>\n*/ evil()", rules=True).text
    assert "</script" not in text
    assert all(mark not in text for mark in ("\u2028", "\u2029", "\r", "\n*/"))
