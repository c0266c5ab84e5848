"""The ONNX graph, run by onnxruntime: it predicts what the model predicts."""

import numpy as np
import pytest

from exports.cases import make_cases, make_rule_cases
from newron.errors import InputError
from newron.exports.export import export
from newron.exports.text import has_text, label_text
from newron.model import Classes, Column, Model, Schema
from rules.networks import make_monk2, make_step

N_MODELS = 24
LARGE = 200_000  # bytes

onnx = pytest.importorskip("onnx")
onnxruntime = pytest.importorskip("onnxruntime")


def open_session(graph):
    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads = options.inter_op_num_threads = 1
    if len(graph.content) > LARGE:  # thousands of nodes, which take seconds to optimise
        options.graph_optimization_level = onnxruntime.GraphOptimizationLevel.ORT_DISABLE_ALL
    return onnxruntime.InferenceSession(graph.content, options, ["CPUExecutionProvider"])


def feed(model, table):
    """Return the columns of a table as a graph takes them."""
    out = {}
    for i, column in enumerate(model.schema.columns):
        cells = [row[i] for row in table]
        if column.categories is not None and has_text(column.categories):
            texts = ["(missing)" if x is None else label_text(x) for x in cells]
            out[column.name] = np.array(texts, dtype=object)[:, None]
        else:
            out[column.name] = np.array([np.nan if x is None else x for x in cells], float)[:, None]
    return out


def ask(model, table, **settings):
    session = open_session(export(model, "onnx", **settings))
    names = [one.name for one in session.get_outputs()]
    return dict(zip(names, session.run(None, feed(model, table)), strict=True))


def list_labels(model):
    labels = model.output.labels
    return [label_text(label) for label in labels] if has_text(labels) else list(labels)


class TestEquality:
    @pytest.fixture(scope="class")
    @staticmethod
    def answers():
        return [(case, ask(case.model, case.table)) for case in make_cases(N_MODELS)]

    def test_scores_and_regression_have_the_same_bits(self, answers):
        for case, predicted in answers:
            name = "scores" if case.probabilities is not None else "prediction"
            np.testing.assert_array_equal(predicted[name], case.scores, err_msg=case.name)
            assert predicted[name].dtype == np.float64

    def test_probabilities_have_the_same_bits(self, answers):
        for case, predicted in answers:
            if case.probabilities is not None:
                np.testing.assert_array_equal(predicted["probabilities"], case.probabilities)

    def test_labels_are_the_same(self, answers):
        for case, predicted in answers:
            if case.probabilities is not None:
                labels = list_labels(case.model)
                assert predicted["label"].tolist() == [labels[k] for k in case.classes], case.name


def test_rules_have_which_decides():
    decided = 0
    for case in make_rule_cases():
        predicted = ask(case.model, case.table, rules=case.rules)
        records = case.rules.to_records()
        if case.rules.form == "points":
            assert "rule" not in predicted
            assert len(records) == 0 or predicted["holds"].shape == (len(case.table), len(records))
            continue
        predictions = [records[k]["prediction"] for k in predicted["rule"].tolist()]
        assert predictions == case.predictions
        decided += len(predictions)
    assert decided > 300


def test_outside_the_domain_no_rule_decides():
    predicted = ask(make_monk2(), [[1.0] * 6, [9.0, *[1.0] * 5]], rules=True)
    assert predicted["rule"].tolist() == [1, -1]


def test_numbers_beyond_the_limit_are_missing():
    column = Column("t", 35.0, 42.0, gaps=True)
    model = make_step(column, 38.0, missing=[1.0])
    predicted = ask(model, [[37.0], [np.inf], [-np.inf], [None], [38.0]])
    assert predicted["label"].tolist() == ["well", "ill", "ill", "ill", "ill"]


@pytest.mark.parametrize(
    ("labels", "kind"),
    [
        (("a", "b"), "tensor(string)"),
        ((1, 2), "tensor(int64)"),
        ((False, True), "tensor(bool)"),
        ((1, 2.5), "tensor(double)"),
        ((1, "b"), "tensor(string)"),
    ],
)
def test_labels_keep_their_type(labels, kind):
    session = open_session(export(make_step(Column("t", 35.0, 42.0), 38.0, labels), "onnx"))
    assert session.get_outputs()[0].type == kind


def test_the_graph_carries_its_name_and_fingerprint():
    model = make_monk2()
    made = onnx.load_model_from_string(export(model, "onnx", name="monk", rules=True).content)
    found = {one.key: one.value for one in made.metadata_props}
    assert found["name"] == "monk"
    assert found["fingerprint"] == model.fingerprint
    assert found["rules"].startswith("If exactly 2 of")
    assert [one.name for one in made.graph.input] == list(model.schema.names)


def test_columns_named_as_outputs_come_first():
    columns = (Column("label", 0.0, 1.0), Column("v", 0.0, 1.0), Column("probabilities", 0.0, 1.0))
    model = make_monk2()
    layers = [model.layers[0].replace(source=[0, 1, 2, 0, 1, 2]), model.layers[1]]
    layers[1] = layers[1].replace(source=[3, 3])
    model = Model(Schema(columns), layers, Classes((0, 1)))
    predicted = ask(model, [[1.0, 2.0, 2.0], [2.0, 2.0, 2.0]])
    assert (
        predicted["label_2"].tolist() == model.predict([[1.0, 2.0, 2.0], [2.0, 2.0, 2.0]]).tolist()
    )


@pytest.mark.parametrize("name", ["", "\ud800"])
def test_names_that_no_graph_has_are_an_error(name):
    with pytest.raises(InputError, match="ONNX: expected"):
        export(make_step(Column(name, 35.0, 42.0), 38.0), "onnx")
