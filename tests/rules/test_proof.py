"""The four ways of proving agree, and never say more than they have shown."""

import builtins
import sys
from importlib.util import find_spec

import numpy as np
import pytest

from newron.model import Classes, Column, Model, Schema, Targets
from newron.rules import prove, prover
from newron.rules.circuit import read_circuit
from newron.rules.extraction import extract
from newron.rules.points import make_points
from newron.rules.ruleset import RuleSet

from .mutations import mutate
from .networks import (
    Wishes,
    make_layer,
    make_model,
    make_monk2,
    make_rows,
    make_score,
    make_step,
    make_wide,
)

needs_solver = pytest.mark.skipif(find_spec("pysat") is None, reason="python-sat is not installed")
METHODS = ["enumeration", "columns", "sweep", pytest.param("SAT", marks=needs_solver)]
CLASSES = Wishes(outputs=("binary", "binary", "many"))


def force(monkeypatch, method):
    """Leave no other way of proving than this one."""
    if method == "enumeration":
        return
    monkeypatch.setattr(prover, "_MAX_ENUMERATED", 1)  # what is constant
    ask = prover._Prover._ask_checker

    # The checker certifies, and proves nothing by itself.
    def certify(self, argument, method="", max_work=None):
        return ask(self, argument, method, max_work) if method else None

    monkeypatch.setattr(prover._Prover, "_ask_checker", certify)
    if method != "columns":
        monkeypatch.setattr(prover._Prover, "_compare_columns", lambda self: False)
    if method in ("columns", "SAT"):
        monkeypatch.setattr(prover._Prover, "_sweep", lambda self, nodes: None)
    if method == "columns":
        monkeypatch.setattr(prover._Prover, "_run_solver", lambda self: None)


def check_counterexample(model, text, found):
    """Check that rules and network differ on the row, and say what is told of them."""
    row = [np.nan if value is None else value for value in found.counterexample.values()]
    table = np.array([row], object)
    said = RuleSet.parse(text, model).predict(table)[0], model.predict(table)[0]
    assert said[0] != said[1], text
    assert found.predicted == said


@pytest.mark.parametrize("method", METHODS[1:])
@pytest.mark.parametrize("first", range(0, 120, 20))
def test_provers_agree_with_enumeration(monkeypatch, method, first):
    n_asked = 0
    for seed in range(first, first + 20):
        model = make_model(seed, CLASSES)
        form = "points" if method == "columns" else ("shortest", "rules", "points")[seed % 3]
        text = extract(model, form=form, seconds=1.0).to_text()
        changed = mutate(text, model, seed)
        texts = [text, *changed.values()]
        truth = [prove(t, model).equal for t in texts]
        assert truth[0] is True
        with monkeypatch.context() as patch:
            force(patch, method)
            for t, equal in zip(texts, truth, strict=True):
                found = prove(t, model)
                if method == "columns":  # shows equality, and nothing else
                    assert found is None or found.equal in (None, equal), t
                    continue
                if model.layers[-1].divisors is None and found.equal is None and method != "SAT":
                    assert "rounds" in found.note  # products: their sums are not whole numbers
                    continue
                assert found.method in (method, "enumeration")  # the latter for constants
                if found.method == "SAT" and found.equal is None:
                    assert equal or "rounds" in found.note
                    n_asked += 1
                    continue
                n_asked += found.method == method
                assert found.equal == equal, f"seed {seed}: {found}\n{t}"
                if not equal:
                    check_counterexample(model, t, found)
    assert method == "columns" or n_asked > 50


def test_columns_show_that_points_are_the_network(monkeypatch):
    force(monkeypatch, "columns")
    n_shown = 0
    for seed in range(60):
        model = make_model(seed)
        text = extract(model, form="points", seconds=1.0).to_text()
        if text.startswith("Always"):
            continue
        found = prove(text, model)
        assert found is not None, text
        assert found.equal, text
        assert found.method == "columns"
        n_shown += 1
    assert n_shown > 40


def test_amounts_that_differ_are_not_equal(monkeypatch):
    amounts = Wishes(outputs=("amounts",))
    for seed in range(30):
        model = make_model(seed, amounts)
        text = extract(model).to_text()
        for changed in mutate(text, model, seed).values():
            truth = prove(changed, model).equal
            with monkeypatch.context() as patch:
                patch.setattr(prover, "_MAX_ENUMERATED", 0)
                found = prove(changed, model)
            assert found.equal in (None, truth)
            assert found.equal is not True or truth


# ---- large networks ----


@pytest.fixture(scope="module")
def wide():
    model = make_wide(40, 6)
    return model, extract(model, form="points").to_text()


def test_large_network_is_proved_by_columns(wide):
    model, text = wide
    found = prove(text, model)
    assert found
    assert found.method == "columns"
    assert found.size > 10**20
    assert not found.finite
    assert str(found).startswith("Proved equal to the network in class, score and probability. ")


@needs_solver
def test_what_a_solver_finds_is_not_called_proved(wide, monkeypatch):
    model, text = wide
    force(monkeypatch, "SAT")
    found = prove(text, model)
    assert found.equal is None
    assert found.method == "SAT"
    assert "a solver found no difference, but that could not be certified" in str(found)


@needs_solver
def test_a_changed_rule_of_a_large_network_is_refuted(wide, monkeypatch):
    model, text = wide
    monkeypatch.setattr(prover, "_MAX_SWEPT", 1000)  # soon ask the solver
    n_refuted = 0
    for seed in range(4):
        for changed in mutate(text, model, seed).values():
            found = prove(changed, model)
            assert found.equal is not None
            if found.equal:
                continue
            check_counterexample(model, changed, found)
            n_refuted += 1
    assert n_refuted >= 10


# ---- not proved ----


def test_without_a_solver_it_says_so(wide, monkeypatch):
    model, text = wide
    changed = text.replace("Sum ≥ 1.5", "Sum ≥ 2")
    assert changed != text
    monkeypatch.delitem(sys.modules, "newron.rules.solver", raising=False)
    real = builtins.__import__

    def refuse(name, *rest, **more):
        if name.startswith("pysat"):
            raise ImportError(name)
        return real(name, *rest, **more)

    monkeypatch.setattr(builtins, "__import__", refuse)
    monkeypatch.setattr(prover, "_MAX_SWEPT", 100)
    found = prove(changed, model, seconds=1.0)
    assert found.equal is None
    assert not found
    assert "newron-ian[proof]" in found.note
    assert str(found).startswith("Not proved: ")
    assert "newron-ian[proof]" in str(found)
    # What needs no solver is proved all the same.
    assert prove(text, model)
    assert extract(make_monk2()).proof


@needs_solver
def test_a_solver_out_of_time_proves_nothing(wide, monkeypatch):
    from newron.rules import solver

    model, text = wide
    force(monkeypatch, "SAT")

    def run_out(*_):
        raise TimeoutError

    monkeypatch.setattr(solver, "_solve", run_out)
    for t in (text, text.replace("Sum ≥ 0.5", "Sum ≥ 1")):
        found = prove(t, model, seconds=7)
        assert found.equal is None
        assert not found
        assert "7 s" in str(found)
        assert found.counterexample is None


@needs_solver
def test_a_question_that_is_too_large_proves_nothing(wide, monkeypatch):
    from newron.rules import solver

    model, text = wide
    force(monkeypatch, "SAT")
    monkeypatch.setattr(solver, "_MAX_GATES", 50)
    found = prove(text, model)
    assert found.equal is None
    assert "50" in str(found)


@pytest.mark.parametrize("method", METHODS)
def test_without_time_nothing_false_is_said(monkeypatch, method):
    force(monkeypatch, method)
    for seed in range(10):
        model = make_model(seed, CLASSES)
        text = extract(model, form="points", seconds=1.0).to_text()
        for t in [text, *mutate(text, model, seed).values()]:
            found = prove(t, model, seconds=0.0)
            if found is None:
                continue
            with monkeypatch.context() as patch:
                patch.setattr(prover, "_MAX_ENUMERATED", 10**6)
                truth = prove(t, model).equal
            assert found.equal in (None, truth)


# ---- sums that the network rounds ----


def make_rounded():
    """Give a network with a sum under 0 that is above 0 in float64: 0.1 + 0.2 − 0.3 − 1e-60."""
    columns = tuple(Column(name, 0.0, 2.0) for name in "xyz")
    last = make_layer(
        1, [0] * 3, range(3), [1.0] * 3, [1.0] * 3, alpha=[0.1, 0.2, -0.3], centre=[1e-60]
    )
    return Model(Schema(columns), [last], Classes(("well", "ill")))


@pytest.mark.parametrize("method", METHODS)
def test_rounding_is_never_hidden(monkeypatch, method):
    """Either equality is true of the network itself, or it is not claimed."""
    model = make_rounded()
    assert model.layers[-1].divisors is None
    rows = make_rows(model)
    circuit = read_circuit(model)
    text = RuleSet(model, circuit.axes, make_points(circuit), "points").to_text()
    same = (RuleSet.parse(text, model).predict(rows) == model.predict(rows)).all()
    assert not same
    force(monkeypatch, method)
    for t in (text, text.replace("Sum ≥ ", "Sum ≥ −")):
        found = prove(t, model)
        if found is not None and found.equal:
            assert same
        if found is not None and found.equal is False:
            check_counterexample(model, t, found)


# ---- what a proof tells ----


def test_a_finite_domain_is_told_in_inputs():
    found = extract(make_monk2()).proof
    assert (found.equal, found.size, found.finite) == (True, 432, True)
    assert "All 432 inputs of the stated domain checked, no difference" in str(found)
    assert found.seconds >= 0


def test_unused_columns_count_as_inputs():
    columns = (Column("x", 0.0, 1.0, (0.0, 1.0)), Column("y", 0.0, 2.0, (0.0, 1.0, 2.0), gaps=True))
    last = make_layer(1, [0], [0], [1.0], [0.5], alpha=[2.0], centre=[1.0])
    model = Model(Schema(columns), [last], Classes(("well", "ill")))
    found = extract(model).proof
    assert (found.size, found.finite) == (8, True)


def test_an_infinite_domain_is_told_by_what_can_be_told_apart():
    found = extract(make_step(Column("x", 0.0, 9.0), 3.0)).proof
    assert (found.equal, found.size, found.finite) == (True, 2, False)
    assert "All 2 " in str(found)


def test_a_counterexample_is_a_row():
    columns = (
        Column("age", 0.0, 99.0, gaps=True),
        Column("colour", 0.0, 1.0, categories=("red", "blue")),
        Column("n", 1.0, 2.0, (1.0, 2.0)),
    )
    last = make_layer(
        1, [0, 0, 0], [0, 1, 2], [1.0] * 3, [54.5, 0.0, 2.0],
        alpha=[1.0] * 3, centre=[3.0], levels=[[], [0.0, 1.0], []], missing=[1.0, 0.0, 0.0],
    )  # fmt: skip
    model = Model(Schema(columns), [last], Classes(("well", "ill")))
    text = "If age ≥ 54.5 and colour = blue and n = 2, then ill\nOtherwise well"
    found = prove(text, model)
    assert found.counterexample == {"age": None, "colour": "blue", "n": 2}
    assert found.predicted == ("well", "ill")
    assert "for age missing, colour = blue, n = 2 the rules say well, the network says ill" in str(
        found
    )
    fixed = text.replace("age ≥ 54.5", "(age ≥ 54.5 or missing)")
    assert prove(fixed, model)


@pytest.mark.parametrize("beside", [np.nextafter(54.5, 0), np.nextafter(54.5, 99)])
def test_a_threshold_is_exact_to_the_last_bit(beside):
    model = make_step(Column("age", 0.0, 99.0), 54.5)
    assert prove("If age ≥ 54.5, then ill\nOtherwise well", model)
    found = prove(f"If age ≥ {float(beside)!r}, then ill\nOtherwise well", model)
    assert found.equal is False
    assert found.counterexample["age"] in (54.5, beside)


def test_on_and_beside_a_threshold_are_told_apart():
    below = make_step(Column("x", 0.0, 9.0, required=True), 3.0, w=-1.0)
    assert prove("If x ≤ 3, then ill\nOtherwise well", below)
    assert prove("If x > 3, then well\nOtherwise ill", below)
    found = prove("If x < 3, then ill\nOtherwise well", below)
    assert found.counterexample == {"x": 3}
    gaps = make_step(Column("x", 0.0, 9.0, gaps=True), 3.0, w=-1.0)
    found = prove("If x > 3, then well\nOtherwise ill", gaps)
    assert found.counterexample == {"x": None}


def test_amounts_are_compared_exactly():
    model = make_score(3, [0.1, 0.2, -0.3], 0.0)
    model = Model(model.schema, model.layers, Targets(("y",)))
    text = extract(model).to_text()
    assert prove(text, model)
    found = prove(text.replace("+0.2", "+0.20000000000000001"), model)
    assert found.equal is not True or model.predict([[0, 2, 0]])[0] == 0.2
    found = prove(text.replace("+0.2", "+0.2000000001"), model)
    assert found.equal is False


# ---- what is covered ----


def test_a_proof_names_what_it_covers():
    model = make_score(2, [1.0, 2.0], 2.0)
    points = "Points for ill\n    {}  x1 ≥ 1\n    {}  x2 ≥ 1\nSum ≥ {}: ill\nOtherwise: well"
    same = prove(points.format(1, 2, 2), model)
    assert same.covers == ("class", "score", "probability")
    assert same.certificate["covers"] == list(same.covers)
    assert same.verdict.endswith("in class, score and probability")
    scaled = prove(points.format(3, 6, 6), model)
    assert scaled.covers == tuple(scaled.to_dict()["covers"]) == ("class",)
    assert scaled.verdict.endswith("in class alone")
    other = prove("If x2 ≥ 1, then ill\nOtherwise well", model)
    assert other.covers == ("class",)
    amounts = Model(model.schema, model.layers, Targets(("y",)))
    added = "Add up for y\n    1  x1 ≥ 1\n    2  x2 ≥ 1\n    -2  to start with"
    assert prove(added, amounts).covers == ("target",)
    assert prove(points.format(1, 3, 4), model).covers == ()
