"""Score cards: what they say is what their network says, and whole points cost little."""

import itertools
from fractions import Fraction
from itertools import pairwise

import numpy as np
import pytest

from newron import InputError, ModelError, NewronClassifier, NewronRegressor
from newron.construct import from_rules
from newron.model import Classes, Column, Schema
from newron.rules.coverage import Coverage
from newron.rules.rounding import round_card
from newron.rules.scorecard import read_card


def make_table(n=600, seed=0):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, 5)).round(1)
    z = 2.0 * (X[:, 0] > 0.2) + 1.1 * (X[:, 1] > -0.3) - 1.4 * (X[:, 2] > 0.5) - 0.6
    y = (rng.random(n) < 1 / (1 + np.exp(-2 * z))).astype(int)
    return X, y


@pytest.fixture(scope="module")
def fitted():
    X, y = make_table()
    return NewronClassifier("heaviside", recipe="grow", max_terms=6, random_state=0).fit(X, y)


def test_a_card_tells_its_network(fitted):
    card = fitted.scorecard()
    assert card.model is fitted.model_
    assert card.rules.proof
    totals = [total for total, _ in card.list_probabilities()]
    assert totals == sorted(totals)
    text = str(card)
    assert text.startswith("Points for 1\n")
    assert "Sum ≥ " in text
    assert "\n1 %    " in text


def test_whole_points(fitted):
    X, y = make_table(seed=1)
    card = fitted.scorecard(3, X, y)
    sizes = [row.points for row in card.rows]
    columns = [row.column for row in card.rows]
    together = [one for one, other in pairwise([*columns, None]) if one != other]
    totals = [sum(row.points for row in card.rows if row.column == one) for one in together]
    assert len(together) == len(set(columns))
    assert totals == sorted(totals, reverse=True)
    assert all(p.denominator == 1 and 1 <= abs(p) <= 3 for p in sizes)
    assert card.threshold.denominator == 1
    assert card.rules.proof
    assert card.after is not None
    assert card.before is not None
    assert card.after.n_rows == len(X)
    assert card.after.accuracy == pytest.approx((card.model.predict(X) == y).mean())
    assert card.before.accuracy == pytest.approx(fitted.score(X, y))
    assert card.after.accuracy > card.before.accuracy - 0.05
    assert "validation rows" in str(card)


def test_risks_are_the_probabilities_of_the_network(fitted):
    X, _ = make_table(seed=2)
    card = fitted.scorecard(4)
    rules = {row.text: row.points for row in card.rows}
    model = card.model
    # Totals by hand, from the texts of the conditions alone.
    totals = np.zeros(len(X))
    for text, points in rules.items():
        one = from_rules(f"If {text}, then yes\nOtherwise no", model.schema, Classes(("no", "yes")))
        totals += float(points) * (one.predict(X) == "yes")
    risks = [card.get_probability(Fraction(int(t))) for t in totals]
    assert np.allclose(risks, model.predict_proba(X)[:, 1])
    assert np.array_equal(model.predict(X), (totals >= float(card.threshold)).astype(int))


def test_the_points_are_the_closest_of_all_where_it_says_so():
    schema = Schema(tuple(Column(f"x{i}", 0.0, 1.0, values=(0.0, 1.0)) for i in range(1, 4)))
    text = """
    Points for ill
        +2.3  x1 = 1
        −0.9  x2 = 1
        +1.4  x3 = 1
    Sum ≥ 1.1: ill
    Otherwise: well
    """
    model = from_rules(text, schema, Classes(("well", "ill")))
    axes = read_card(model).axes
    rng = np.random.default_rng(0)
    rows = rng.integers(0, 2, size=(400, 3)).astype(float)
    coverage = Coverage.measure(axes, rows, rng.integers(0, 2, 400), 2)
    card = round_card(model, 2, coverage)
    assert card.optimal
    # By hand: the cross entropy of every card of this unit with the network's probabilities.
    p = model.predict_proba(rows)[:, 1]
    unit = float(card.unit)

    def measure(points):
        z = rows @ np.array(points) * unit
        steps = np.linspace(-6, 6, 2401)
        logits = z[:, None] + steps[None]
        losses = np.logaddexp(0, logits) - p[:, None] * logits
        return losses.mean(axis=0).min()

    best = min(measure(points) for points in itertools.product(range(-2, 3), repeat=3))
    z = np.log(card.model.predict_proba(rows)[:, 1] / card.model.predict_proba(rows)[:, 0])
    assert (np.logaddexp(0, z) - p * z).mean() <= best + 1e-3


def test_what_has_no_card_is_refused(fitted):
    X, y = make_table()
    with pytest.raises(ModelError, match="two classes"):
        NewronRegressor("heaviside", max_terms=3, random_state=0).fit(X, X[:, 0]).scorecard()
    many = NewronClassifier("heaviside", recipe="grow", max_terms=3, random_state=0)
    with pytest.raises(ModelError, match="two classes"):
        many.fit(X, y + (X[:, 3] > 1)).scorecard(3)
    with pytest.raises(ModelError, match="crisp"):
        NewronClassifier("sigmoid", max_iter=5, n_init=1, recipe="gradient").fit(X, y).scorecard()
    with pytest.raises(InputError, match="max_points"):
        fitted.scorecard(0)
    with pytest.raises(InputError, match="y beside X"):
        fitted.scorecard(3, X)


def test_conditions_of_a_column_stand_together_from_wide_to_narrow():
    schema = Schema((Column("age", 0.0, 100.0), Column("bmi", 10.0, 60.0)))
    text = """
    Points for ill
        +5  age ≥ 70
        +4  bmi ≥ 31
        +2  age ≥ 40
        +1  bmi < 20
    Sum ≥ 5.5: ill
    Otherwise: well
    """
    model = from_rules(text, schema, Classes(("well", "ill")))
    rows = [row.text for row in read_card(model).rows]
    assert rows == ["age ≥ 40", "age ≥ 70", "bmi < 20", "bmi ≥ 31"]
    rules = model.rules(form="points")
    assert [rule.condition for rule in rules.rules] == rows
    assert rules.proof


def test_the_threshold_is_among_the_totals_of_a_long_card():
    schema = Schema(tuple(Column(f"x{k}", 0.0, 1.0) for k in range(9)))
    lines = "".join(f"    +5  x{k} ≥ 0.5\n" for k in range(9))
    text = f"Points for ill\n{lines}Sum ≥ 18: ill\nOtherwise: well\n"
    card = read_card(from_rules(text, schema, Classes(("well", "ill"), unit=0.2)))
    totals = [total for total, _ in card.list_probabilities()]
    assert len(totals) < 30
    assert card.threshold in totals
