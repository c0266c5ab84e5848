"""z3, from the raw weights on its own path, says the same as rules and proofs."""

import pytest

from newron.rules import prove
from newron.rules.extraction import extract

from .mutations import mutate
from .networks import Wishes, make_model, make_monk2
from .oracle_z3 import Question  # skips where z3 is not installed

# Thresholds far from each other and no activation that z3 cannot tell: real numbers and
# float64 then have the same cells.
PLAIN = Wishes(
    most_columns=3,
    activations=("identity", "relu"),
    places=(-1.5, -1.0, 0.0, 0.1, 0.5, 1.0),
)


@pytest.mark.parametrize("first", range(0, 60, 10))
def test_z3_agrees(first):
    n_refuted = n_equal = 0
    for seed in range(first, first + 10):
        model = make_model(seed, PLAIN)
        question = Question(model)
        text = extract(model, seconds=1.0).to_text()
        assert not question.differ(text), f"seed {seed}:\n{text}"
        for kind, changed in mutate(text, model, seed).items():
            proof = prove(changed, model)
            told = f"seed {seed}, {kind}: {proof}\n{changed}"
            assert question.differ(changed) == (proof.equal is False), told
            n_refuted += proof.equal is False
            n_equal += proof.equal is True
    assert n_refuted > n_equal


def test_z3_agrees_on_monk2():
    model = make_monk2()
    text = extract(model).to_text()
    assert not Question(model).differ(text)
    assert Question(model).differ(text.replace("exactly 2", "exactly 3"))
