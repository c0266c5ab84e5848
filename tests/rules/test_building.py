"""Networks built from rules: equal to them, and back again."""

import numpy as np
import pytest
from sklearn.tree import DecisionTreeClassifier

from newron.construct import from_rules, from_tree
from newron.errors import InputError, ModelError
from newron.model import Classes, Column, Schema, Targets
from newron.rules import RuleSet
from newron.rules.extraction import extract

from .networks import make_model, make_rows

SCHEMA = Schema(
    (
        Column("age", 0.0, 100.0, gaps=True),
        Column("stage", 1.0, 4.0, values=(1.0, 2.0, 3.0, 4.0)),
        Column("colour", 0.0, 2.0, categories=("red", "blue", "green"), gaps=True),
    )
)
ROWS = np.array(
    [
        [age, stage, colour]
        for age in (np.nan, 10.0, np.nextafter(54.5, 0), 54.5, 59.9, 60.0)
        for stage in (1.0, 2.0, 3.0, 4.0)
        for colour in (np.nan, 0.0, 1.0, 2.0)
    ]
)


def predict(model, rows=ROWS):
    return model.output.predict(model.score_rows(rows))


class TestFromRules:
    def test_an_interval_and_gaps(self):
        text = "If 54.5 ≤ age < 60 or missing, then ill\nOtherwise well"
        model = from_rules(text, SCHEMA, Classes(("well", "ill")))
        age = ROWS[:, 0]
        wanted = np.isnan(age) | ((age >= 54.5) & (age < 60))
        assert np.array_equal(predict(model) == "ill", wanted)

    def test_holes_and_what_is_not_missing(self):
        text = (
            "If age < 54.5 or ≥ 60 and stage ≠ 2 and colour not missing, then ill\nOtherwise well"
        )
        model = from_rules(text, SCHEMA, Classes(("well", "ill")))
        age, stage, colour = ROWS.T
        # "and" binds more closely than "or"
        wanted = (age < 54.5) | ((age >= 60) & (stage != 2) & ~np.isnan(colour))
        assert np.array_equal(predict(model) == "ill", wanted)

    def test_counts_of_counts(self):
        text = """
        Let A be
            age ≥ 54.5
            stage ≥ 3
            colour in {red, blue}
        If exactly 2 of A, then b
        If at most 1 of [all of A; colour = green or missing], then c
        Otherwise a
        """
        model = from_rules(text, SCHEMA, Classes(("a", "b", "c")))
        age, stage, colour = ROWS.T
        n = (age >= 54.5) + (stage >= 3).astype(int) + np.isin(colour, [0, 1])
        other = (n == 3).astype(int) + (np.isnan(colour) | (colour == 2))
        wanted = np.where(n == 2, "b", np.where(other <= 1, "c", "a"))
        assert np.array_equal(predict(model), wanted)

    def test_points_of_amounts(self):
        text = """
        Add up for price
            +1.5   age ≥ 54.5
            −0.25  between 1 and 2 of [stage ≥ 2; colour = red; age missing]
            10     to start with
        """
        model = from_rules(text, SCHEMA, Targets(("price",)))
        age, stage, colour = ROWS.T
        n = (stage >= 2).astype(int) + (colour == 0) + np.isnan(age)
        wanted = 10 + 1.5 * (age >= 54.5) - 0.25 * ((n >= 1) & (n <= 2))
        assert np.array_equal(predict(model), wanted)

    def test_always(self):
        model = from_rules("Always ill", SCHEMA, Classes(("well", "ill")))
        assert (predict(model) == "ill").all()
        assert extract(model).to_text() == "Always ill"

    @pytest.mark.parametrize(
        ("text", "told"),
        [
            ("If wind ≥ 3, then ill\nOtherwise well", "line 1: expected the name of a column"),
            ("If age ≥ 3, then dead\nOtherwise well", "line 1: expected one of the classes"),
            ("If age ≥ 3, then ill", "expected a last line that begins with Otherwise"),
            ("If age ≥ 3 then\nOtherwise well", "expected one of the classes"),
            ("If colour = pink, then ill\nOtherwise well", "expected one of the categories"),
            ("Otherwise well\nIf age ≥ 3, then ill", "line 2: expected nothing after"),
        ],
    )
    def test_what_cannot_be_read_is_told_with_its_line(self, text, told):
        with pytest.raises(InputError, match=told):
            from_rules(text, SCHEMA, Classes(("well", "ill")))

    def test_a_list_for_amounts_is_refused(self):
        with pytest.raises((InputError, ModelError, AssertionError)):
            from_rules("If age ≥ 3, then 5\nOtherwise 6", SCHEMA, Targets(("price",)))


class TestRoundTrips:
    @pytest.mark.parametrize("start", range(0, 60, 20))
    def test_rules_to_network_to_rules(self, start):
        for seed in range(start, start + 20):
            model = make_model(seed)
            rules = extract(model, seconds=1.0)
            built = rules.to_model()
            rows = make_rows(model, seed)
            said, wanted = predict(built, rows), predict(model, rows)
            if isinstance(model.output, Targets):  # thirds, of a mean, are no decimals
                assert np.allclose(said, wanted, rtol=1e-12, atol=1e-12), seed
            else:
                assert np.array_equal(said, wanted), seed
            again = RuleSet.parse(rules.to_text(), built)
            if again.proof.equal is False:  # "1/3" is in the text, and no weight of a network
                assert "/" in rules.to_text(notes=False), seed
                assert isinstance(model.output, Targets), seed
                said, wanted = again.proof.predicted
                assert not np.array_equal(said, wanted), seed
                assert np.allclose(said, wanted, rtol=1e-12, atol=1e-12), seed

    @pytest.mark.parametrize("seed", range(6))
    def test_tree_to_network_to_rules_to_proof(self, seed):
        rng = np.random.default_rng(seed)
        X = rng.normal(size=(200, 4)).round(1)
        y = np.where(X[:, 0] * X[:, 1] > 0, "a", np.where(X[:, 2] > 0.5, "b", "c"))
        tree = DecisionTreeClassifier(max_depth=4, random_state=seed).fit(X, y)
        rules = from_tree(tree).rules()
        assert rules.proof
        assert np.array_equal(rules.predict(X), tree.predict(X))
