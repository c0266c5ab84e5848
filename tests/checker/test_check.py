"""The second checker accepts what is so, refuses what is not, and knows nothing of the first."""

import json
import math
import subprocess
import sys
from itertools import product

import numpy as np
import pytest

from newron.checker import CertificateError, check, states
from newron.checker.check import CLASS, TARGET, evaluate, make_certificate
from newron.checker.comparison import SCORE
from newron.model import Classes, Column, Model, Schema, Targets
from newron.model.arithmetic import exp
from newron.rules import prove, prover
from newron.rules.circuit import measure_rounding, read_circuit
from newron.rules.extraction import extract
from newron.rules.points import make_points
from newron.rules.ruleset import RuleSet
from rules.mutations import mutate
from rules.networks import (
    Wishes,
    make_layer,
    make_model,
    make_monk2,
    make_rows,
    make_score,
    make_wide,
)
from rules.test_soundness import make_means

KINDS = (Wishes(), Wishes(rounded=True), Wishes(most_columns=5, depth=3, odd=0.0))


def accepts(text, model, *methods, **limits):
    """Return the first method by which the rules are accepted, if there is one."""
    document = model.to_dict()
    order = range(len(model.schema))
    rounding = [0.0]
    if isinstance(model.output, Targets):
        rounding.append(float(measure_rounding(model.layers[-1]).max()))
    for within, method in product(rounding, methods or ("sums", "states")):
        certificate = make_certificate(text, document, method, order, within=within)
        try:
            check(text, document, certificate, **limits)
        except CertificateError:
            continue
        return method
    return None


@pytest.mark.parametrize("kind", range(len(KINDS)))
@pytest.mark.parametrize("first", [0, 12])
def test_it_agrees_with_the_prover_on_rules_and_changes(monkeypatch, kind, first):
    """Without the checker, the prover says the same."""
    n_equal = n_unequal = 0
    for seed in range(first, first + 12):
        model = make_model(seed, KINDS[kind])
        text = extract(model, seconds=1.0).to_text(notes=False)
        for changed in (text, *mutate(text, model, seed).values()):
            with monkeypatch.context() as patch:
                patch.setattr(prover, "check", lambda *_, **__: None)
                found = prove(changed, model)
            accepted = accepts(changed, model)
            if found.within and changed != text:  # as near as rounding: the checker is exact
                assert not accepted or found
                continue
            assert bool(accepted) == bool(found), f"{found}\n{changed}"
            n_equal += bool(found)
            n_unequal += found.equal is False
    assert n_equal > 5
    assert n_unequal > 20


@pytest.mark.parametrize("seed", range(30))
def test_it_evaluates_rows_as_rules_and_network_do(seed):
    model = make_model(seed, KINDS[seed % 3])
    rules = extract(model, seconds=1.0)
    document, text = model.to_dict(), rules.to_text(notes=False)
    rows = make_rows(model, seed, most=40)
    scores = model.score_rows(rows)
    for row, score in zip(rows.tolist(), scores, strict=True):
        values = [None if math.isnan(x) else x for x in row]
        said, network = evaluate(text, document, values)
        if isinstance(model.output, Classes):
            assert network == model.output.choose(score[None])[0]
        else:
            assert network == score.tolist()  # to the last bit
        assert said == network or not rules.proof


def test_large_networks_are_accepted_in_little_work():
    for model in (make_wide(40, 6), make_score(50, np.arange(50) / 8 - 3, 1.0)):
        text = extract(model, form="points").to_text(notes=False)
        assert accepts(text, model, "sums", max_work=100_000)
    model = make_score(50, [1.0] * 50, 26.0)
    text = extract(model).to_text(notes=False)
    assert "at least 26 of" in text
    assert accepts(text, model, "states", max_work=100_000)
    assert accepts(extract(make_monk2()).to_text(), make_monk2(), "states", max_work=10_000)


def test_more_work_than_allowed_is_refused():
    model = make_score(50, [1.0] * 50, 26.0)
    text = extract(model).to_text(notes=False)
    assert not accepts(text, model, "states", max_work=100)


def test_no_more_states_are_kept_than_memory_has_room_for(monkeypatch):
    model = make_score(12, [2.0**k for k in range(12)], 2047.5)
    text = extract(model, form="points").to_text(notes=False)
    assert accepts(text, model, "states")
    monkeypatch.setattr(states, "MAX_STATES", 10)
    assert not accepts(text, model, "states")


def test_sums_may_differ_by_a_positive_factor_alone():
    model = make_score(2, [1.0, 2.0], 2.0)
    points = "Points for ill\n    {}  x1 ≥ 1\n    {}  x2 ≥ 1\nSum ≥ {}: ill\nOtherwise: well"
    for numbers in ((1, 2, 2), (3, 6, 6), ("1/3", "2/3", "2/3")):
        assert accepts(points.format(*numbers), model, "sums")
    for numbers in ((-1, -2, -2), (0, 0, 0), (1, 3, 2), (1, 2, 3), (2, 4, 3)):
        assert not accepts(points.format(*numbers), model, "sums")
    amounts = Model(model.schema, model.layers, Targets(("y",)))
    added = "Add up for y\n    {}  x1 ≥ 1\n    {}  x2 ≥ 1\n    {}  to start with"
    assert accepts(added.format(1, 2, -2), amounts, "sums")
    assert not accepts(added.format(2, 4, -4), amounts, "sums")


def test_sums_that_float64_rounds_are_not_taken_as_exact():
    model = make_means()
    circuit = read_circuit(model)
    text = RuleSet(model, circuit.axes, make_points(circuit), "points").to_text()
    assert not accepts(text, model, "sums")
    columns = tuple(Column(name, 0.0, 2.0) for name in "xyz")
    last = make_layer(
        1, [0] * 3, range(3), [1.0] * 3, [1.0] * 3, alpha=[0.1, 0.2, -0.3], centre=[1e-60]
    )
    rounded = Model(Schema(columns), [last], Classes(("well", "ill")))
    tie = "x ≥ 1 and y ≥ 1 and z ≥ 1"  # 0.1 + 0.2 − 0.3 is above 0 in float64
    assert rounded.predict([[1.0, 1.0, 1.0]]) == ["ill"]
    text = extract(rounded).to_text(notes=False)
    assert accepts(text, rounded, "states")
    assert not accepts(text, rounded, "sums")
    assert not accepts(f"If {tie}, then well\nOtherwise ill", rounded)


def test_its_exponential_is_the_network_s():
    from newron.checker.network import _exp

    rng = np.random.default_rng(0)
    for x in (*rng.normal(size=200) * 10, *rng.normal(size=50) * 500, 0.0, -800.0, 800.0):
        assert _exp(float(x)) == float(exp(np.array(x)))


def test_certificates_are_plain_data():
    rules = extract(make_monk2())
    certificate = json.loads(json.dumps(rules.proof.certificate))
    document = json.loads(json.dumps(make_monk2().to_dict()))
    check(rules.to_text(notes=False), document, certificate)
    assert len(json.dumps(certificate)) < 300


@pytest.mark.parametrize(
    "order", [[], [0], [0, 0, 1, 2, 3, 4], list(range(7)), None, "abcdef", [[0]] * 6]
)
def test_an_order_that_leaves_columns_out_is_refused(order):
    rules, document = extract(make_monk2()), make_monk2().to_dict()
    text = rules.to_text(notes=False)
    certificate = {**rules.proof.certificate, "order": order}
    with pytest.raises(CertificateError):
        check(text, document, certificate)


@pytest.mark.parametrize(
    "change",
    [
        {"inputs": []},
        {"layers": []},
        {"layers": [{}]},
        {"output": {}},
        {"inputs": None},
        {"layers": [{"processing": "sigmoid", "activation": "identity", "neurons": []}]},
    ],
)
def test_a_document_that_is_no_model_is_refused(change):
    document = {**make_monk2().to_dict(), **change}
    with pytest.raises(CertificateError):
        check(
            "Always class 1", document, make_certificate("Always class 1", document, "states", [])
        )


def test_it_imports_nothing_but_the_standard_library():
    code = (
        "import sys, newron.checker\n"
        "bad = [m for m in sys.modules if m.split('.')[0] in ('numpy', 'scipy', 'sklearn')]\n"
        "own = [m for m in sys.modules if m.startswith('newron.') and 'checker' not in m]\n"
        "print(bad, own)"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    bad, own = done.stdout.strip().rsplit("] [", 1)
    assert bad == "["
    assert not any(name in own for name in ("rules", "model", "formatting"))


def test_a_certificate_names_what_it_covers():
    model = make_score(2, [1.0, 2.0], 2.0)
    points = "Points for ill\n    {}  x1 ≥ 1\n    {}  x2 ≥ 1\nSum ≥ {}: ill\nOtherwise: well"
    same, scaled = points.format(1, 2, 2), points.format(3, 6, 6)
    document = model.to_dict()
    check(same, document, make_certificate(same, document, "sums", [0, 1], SCORE))
    check(scaled, document, make_certificate(scaled, document, "sums", [0, 1], CLASS))
    with pytest.raises(CertificateError, match="different points"):
        check(scaled, document, make_certificate(scaled, document, "sums", [0, 1], SCORE))
    with pytest.raises(CertificateError, match="by sums alone"):
        check(same, document, make_certificate(same, document, "states", [0, 1], SCORE))
    for covers in (TARGET, ("score",), ()):
        with pytest.raises(CertificateError, match="expected to cover"):
            check(same, document, make_certificate(same, document, "sums", [0, 1], covers))
