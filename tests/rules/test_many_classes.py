"""Many classes: rules, their certificate, changes and queries stay small."""

import numpy as np
import pytest

from newron.explanations.objective import MAX_AIMS, make_objective
from newron.model import Classes, Column, Model, Schema
from newron.rules import prove
from newron.rules.circuit import read_circuit
from newron.rules.extraction import extract
from newron.rules.points import make_points

from .networks import make_layer


def make_stairs(n: int) -> Model:
    """Give a network that says class k where x is nearest to k."""
    edges = np.stack([np.arange(n) - 0.5, np.arange(n) + 0.5], axis=1).ravel()
    layer = make_layer(
        n, np.repeat(np.arange(n), 2), [0] * (2 * n), [1.0] * (2 * n), edges,
        alpha=np.tile([1.0, -1.0], n),
    )  # fmt: skip
    columns = Column("x", 0.0, float(n)), Column("z", 0.0, 1.0)
    return Model(Schema(columns), [layer], Classes(tuple(f"c{k}" for k in range(n))))


@pytest.fixture(scope="module")
def stairs() -> Model:
    return make_stairs(150)


@pytest.fixture(scope="module")
def thousand() -> Model:
    return make_stairs(1000)


def test_each_of_many_classes_has_one_rule(stairs):
    rules = extract(stairs)
    assert len(rules) == 149
    assert "If 0.5 ≤ x < 1.5, then c1" in rules.to_text(notes=False)
    x = np.stack([np.linspace(-1.0, 151.0, 500), np.zeros(500)], axis=1)
    assert rules.predict(x).tolist() == stairs.predict(x).tolist()


def test_points_of_many_classes_are_merged_by_columns(stairs):
    points = make_points(read_circuit(stairs))
    assert len(points.terms) <= 2 * 151
    assert {sum(map(bool, term.weights)) for term in points.terms} <= {1, 2}


def test_more_classes_than_are_compared_in_pairs_are_certified():
    model = make_stairs(60)
    rules = extract(model)
    assert rules.proof
    wrong = rules.to_text(notes=False).replace("then c7\n", "then c8\n")
    assert prove(wrong, model).predicted == ("c8", "c7")


def test_rules_explanation_curves_and_query_of_1000_classes(thousand):
    """Each takes seconds: what is kept for a class does not grow with the others."""
    text = thousand.rules().to_text(notes=False)
    assert text.count("\nIf ") == 998
    assert "If 997.5 ≤ x < 998.5, then c998" in text
    found = thousand.explain([[7.0, 0.0]])
    assert found.prediction == "c7"
    assert "x: 7 → 8 (c8)" in str(found)
    effects = thousand.shapes(by="column")
    assert len(effects) == 1000
    assert max(len(effect.values) for effect in effects) < 600
    assert len(thousand.export("sql").text) < 3_000_000


def test_changes_compare_no_more_classes_than_they_lead_to(thousand):
    scores = thousand.score_rows(np.array([[700.0, 0.0]]))
    objective = make_objective(thousand, scores, None)
    assert {demands.factors.shape for demands in objective.alternatives} == {(MAX_AIMS, 1000)}
    assert thousand.explain([[700.0, 0.0]], target="c30").changes[0].prediction == "c30"


def test_a_report_of_150_classes_is_written(tmp_path):
    model = make_stairs(150)
    X = np.stack([np.arange(150.0), np.zeros(150)], axis=1)
    model.report(tmp_path / "r.html", X, model.predict(X))
    page = (tmp_path / "r.html").read_text()
    assert "c149" in page
    assert len(page) < 3_000_000


def test_a_query_of_many_classes_grows_with_them_and_not_with_their_square():
    small, large = (len(make_stairs(n).export("sql").text) for n in (40, 160))
    assert large < 5 * small


def test_changes_lead_to_the_classes_of_the_highest_scores_and_say_that_others_were_left_out():
    model = make_stairs(60)
    found = model.explain([[7.0, 0.0]]).changes
    assert not found.complete
    assert found
