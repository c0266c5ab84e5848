"""What is gathered for a report."""

from fractions import Fraction

import numpy as np
import pytest

from newron.errors import InputError
from newron.evaluation import ClassificationQuality
from newron.report.facts import gather
from newron.report.labels import Labels
from report.models import make_count, make_example, make_table


def test_all_inputs_of_a_listed_domain_are_exact():
    model = make_count()
    values = [1.0, 2.0, 3.0]
    rows = np.array([[a, b, c] for a in values for b in values for c in values])
    assert gather(model, rows, model.predict(rows)).quality.exhaustive
    assert not gather(model, rows[1:], model.predict(rows[1:])).quality.exhaustive
    twice = np.concatenate([rows[1:], rows[1:2]])
    assert not gather(model, twice, model.predict(twice)).quality.exhaustive


def test_many_rows_are_drawn_the_same_way_with_the_first_among_them():
    model, X, _ = make_example("card", 1000)
    facts = gather(model, X)
    assert len(facts.picked) == 300
    assert facts.picked[0] == 0
    assert np.array_equal(facts.picked, np.unique(facts.picked))
    assert np.array_equal(facts.picked, gather(model, X).picked)


def test_the_network_is_shown_in_the_words_of_its_rules_where_scores_stay():
    model, X, y = make_example("card")
    facts = gather(model, X, y)
    assert facts.rules.form == "points"
    assert facts.rules.proof
    assert np.allclose(facts.scores, model.scores(X), rtol=1e-12, atol=1e-12)


def test_other_names_are_those_of_the_page_and_the_fingerprint_stays():
    model, X, y = make_example("card")
    labels = Labels(names={"age": "age at visit"}, classes={"ill": "disease"})
    facts = gather(model, X, y, labels=labels)
    assert facts.model.schema.names[0] == "age at visit"
    assert facts.model.output.labels == ("well", "disease")
    assert facts.fingerprint == model.fingerprint
    assert isinstance(facts.quality, ClassificationQuality)
    assert facts.quality.n_correct == int((model.predict(X) == y).sum())


def test_inputs_that_are_used_come_by_importance():
    model, X, y = make_example("card")
    facts = gather(model, X, y)
    assert sorted(facts.used) == [0, 1, 2, 3]
    sizes = [facts.importance.of(facts.model.schema.names[i]).value for i in facts.used]
    assert sizes == sorted(sizes, reverse=True)


def test_a_card_keeps_its_probabilities_under_other_names():
    card, X, y = make_example("whole")
    facts = gather(card, X, y, labels=Labels(names={"age": "age at visit"}))
    assert facts.card.model.schema.names[0] == "age at visit"
    assert np.allclose(facts.scores, card.model.scores(X), rtol=1e-12, atol=1e-12)
    assert (facts.card.unit, facts.limit) == (Fraction(1, 2), 6)
    weights = sorted(f.weight for f in facts.diagram.functions)
    assert weights == [2.0, 3.0, 4.0, 5.0]


def test_a_soft_network_has_a_crisp_one_with_its_fidelity():
    model, X, y = make_example("soft")
    facts = gather(model, X, y)
    assert facts.rules is None
    _, fidelity = facts.crisp
    assert fidelity.n_rows == len(X)


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"fixed": ["weight"]}, "fixed: expected names of columns, got 'weight'"),
        ({"seen": 81}, "seen: expected a number of the 80 rows, got 81"),
        ({"labels": Labels(names={"weight": "w"})}, "names: expected names of columns"),
        ({"labels": Labels(names={"age": "pain"})}, "names: .*'pain' twice"),
        ({"labels": Labels(classes={"dead": "x"})}, "classes: expected classes of the model"),
    ],
)
def test_bad_settings_are_refused(settings, message):
    model, X, y = make_example("card")
    with pytest.raises(InputError, match=message):
        gather(model, X, y, **settings)


def test_bad_answers_are_refused():
    model, X, y = make_example("card")
    with pytest.raises(InputError, match=r"expected classes among \['well', 'ill'\], got 'dead'"):
        gather(model, X, np.full(len(X), "dead"))
    with pytest.raises(InputError, match="one class for each of 80 rows"):
        gather(model, X, y[:3])
    amounts, X, y = make_example("amounts")
    with pytest.raises(InputError, match=r"values of shape \(80, 2\), got \(80, 1\)"):
        gather(amounts, X, y[:, 0])
    with pytest.raises(InputError, match="finite numbers"):
        gather(amounts, X, np.full((80, 2), np.nan))


def test_no_rows_are_refused():
    model = make_count()
    with pytest.raises(InputError, match="at least one row"):
        gather(model, make_table(model, 3)[:0])
