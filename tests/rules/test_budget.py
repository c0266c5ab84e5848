"""What is found depends on the work that is allowed, and on no clock."""

import pytest

from newron.rules import budget, prove
from newron.rules.budget import Budget
from newron.rules.extraction import extract

from .networks import make_model, make_wide


def test_seconds_are_work():
    spent = Budget(2.0)
    part = spent.split(2)
    assert part.left == spent.left == Budget(1.0).left
    assert part.spend(part.left)
    assert not part.spend(1)
    assert not Budget(0.0).spend(1)
    assert not Budget(-1.0).spend(1)


@pytest.mark.parametrize("speed", [0.0, 0.01])
def test_a_slow_machine_finds_the_same(monkeypatch, speed):
    """Another clock, which stands still or goes on by so much whenever it is looked at."""
    models = [make_model(3), make_model(8), make_wide(8, 3)]
    found = [search(model) for model in models]
    now = [0.0]

    def tick():
        now[0] += speed
        return now[0]

    monkeypatch.setattr(budget.time, "monotonic", tick)
    assert [search(model) for model in models] == found


def search(model):
    rules = extract(model, seconds=0.1)
    proof = prove(rules.to_text(notes=False), model, seconds=0.1)
    return rules.to_text(), rules.minimal, proof.equal, proof.method, proof.note


def test_after_a_long_time_nothing_is_called_proved(monkeypatch):
    model = make_wide(13, 3)
    text = extract(model, form="points").to_text(notes=False).replace("Sum ≥ 0.5", "Sum ≥ 0.6")
    proved = prove(text, model).equal
    monkeypatch.setattr(Budget, "spend", lambda *_: False)
    assert prove(text, model).equal in (None, proved)


def test_no_work_is_enough_for_rules_and_small_proofs():
    rules = extract(make_model(3), seconds=0.0)
    assert rules.prove(seconds=0.0)
