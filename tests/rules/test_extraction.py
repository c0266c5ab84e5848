"""Rules equal their network, and a changed rule is found out."""

from functools import cache
from importlib import import_module

import numpy as np
import pytest

from newron.errors import ModelError
from newron.model import Classes
from newron.rules import prove
from newron.rules.extraction import extract
from newron.rules.ruleset import RuleSet

from . import reader
from .mutations import mutate
from .networks import Wishes, make_model, make_rows, make_table

CHUNK = 20
CHUNKS = [range(first, first + CHUNK) for first in range(0, 500, CHUNK)]


def list_forms(model):
    return ("shortest", "points", "rules") if isinstance(model.output, Classes) else ("shortest",)


@cache
def get_rules(seed, form):
    return extract(make_model(seed), form=form)


def ask_network(model, rows):
    """Give classes by their number, or amounts, by the definition in NumPy."""
    scores = model.score_rows(rows, compiled=False)
    return model.output.choose(scores) if isinstance(model.output, Classes) else scores


def differ(model, got, want):
    """Tell for each row whether two predictions differ."""
    if isinstance(model.output, Classes):
        return got != want
    return ~np.isclose(got, want, rtol=1e-12, atol=1e-12).reshape(len(want), -1).all(axis=1)


@pytest.mark.parametrize("seeds", CHUNKS, ids=lambda seeds: f"{seeds[0]}-{seeds[-1]}")
def test_rules_are_the_network(seeds):
    for seed in seeds:
        model = make_model(seed)
        rows = make_rows(model, seed)
        table = make_table(model, rows)
        want = ask_network(model, rows)
        for form in list_forms(model):
            rules = get_rules(seed, form)
            told = f"seed {seed}, {form}:\n{rules.to_text()}\n"
            assert not differ(model, rules.predict(table), model.predict(table)).any(), told
            # What is printed, as another reader understands it.
            reading = reader.read(rules.to_text(), model)
            assert not differ(model, reader.follow(reading, model, rows), want).any(), told
            proof = rules.proof
            assert proof, f"{told}{proof}"
            assert proof.method == "enumeration", told
            assert proof.counterexample is None, told


@pytest.mark.parametrize("seeds", CHUNKS, ids=lambda seeds: f"{seeds[0]}-{seeds[-1]}")
def test_text_is_read_again(seeds):
    for seed in seeds:
        model = make_model(seed)
        table = make_table(model, make_rows(model, seed, 200))
        for form in list_forms(model):
            rules = get_rules(seed, form)
            text = rules.to_text()
            again = RuleSet.parse(text, model)
            assert again.to_text() == text, f"seed {seed}, {form}:\n{text}"
            assert np.array_equal(again.predict(table), rules.predict(table)), text
            assert again.n_literals == rules.n_literals, text


@pytest.mark.parametrize("seeds", CHUNKS, ids=lambda seeds: f"{seeds[0]}-{seeds[-1]}")
def test_a_changed_rule_is_refuted(seeds):
    n_refuted = n_made = 0
    for seed in seeds:
        model = make_model(seed)
        form = list_forms(model)[seed % len(list_forms(model))]
        text = get_rules(seed, form).to_text()
        for kind, changed in mutate(text, model, seed).items():
            n_made += 1
            n_refuted += check_mutation(f"seed {seed}, {kind}", model, changed)
    assert n_made >= 3 * len(seeds)
    assert n_refuted >= n_made / 2


def check_mutation(name, model, text):
    """Check what is proved of a changed text; tell whether it was refuted."""
    proof = prove(text, model)
    assert proof.equal is not None, f"{name}: {proof}"
    rules = RuleSet.parse(text, model)
    reading = reader.read(text, model)
    if proof.equal:
        rows = make_rows(model, extra=list_places(reading))
        wrong = differ(model, reader.follow(reading, model, rows), ask_network(model, rows))
        assert not wrong.any(), f"{name}: {rows[wrong][0]} is a counterexample\n{text}"
        return False
    row = proof.counterexample
    assert list(row) == list(model.schema.names), name
    table = np.array([[np.nan if v is None else v for v in row.values()]], object)
    said, truth = rules.predict(table)[0], model.predict(table)[0]
    assert np.any(said != truth), f"{name}: {proof}\n{text}"
    assert np.array_equal(proof.predicted[0], said), name
    assert np.array_equal(proof.predicted[1], truth), name
    rows = model.read(table).astype(float)
    wrong = differ(model, reader.follow(reading, model, rows), ask_network(model, rows))
    assert wrong.all(), f"{name}: {proof}\n{text}"
    return True


def list_places(reading):
    """Give the thresholds that a text names, by column."""
    places = {}
    for node in reader.list_nodes(reading):
        if isinstance(node, reader.Condition):
            places.setdefault(node.column, []).extend(value for _, value in node.values)
    return places


# ---- the ways that are seldom taken ----

LIMITS = {
    "greedy covers": [("cover", "_MAX_BOXES", 5)],
    "no exact covers": [("cover", "_MAX_PAIRS", 3)],
    "few sets of categories": [("cover", "_MAX_SUBSETS", 2)],
    "no points sought": [("cover", "_MAX_ROWS", 1)],
    "no reachable levels": [("table", "_MAX_STATES", 1)],
    "no tables of levels": [("extraction", "_MAX_LEVELS", 1)],
    "no tables of cells": [("extraction", "_MAX_CELLS", 1)],
    "short lists": [("extraction", "_LONGEST", 3)],
}


@pytest.mark.parametrize("limits", LIMITS.values(), ids=LIMITS)
def test_limits_do_not_change_the_meaning(limits, monkeypatch):
    for module, name, value in limits:
        monkeypatch.setattr(import_module(f"newron.rules.{module}"), name, value)
    for seed in range(30):
        check_rules(make_model(seed, Wishes(outputs=("binary", "many"))), seed)


def test_solvers_that_give_up_do_not_change_the_meaning(monkeypatch):
    import scipy.optimize

    class Nothing:
        x, status = None, 1

    monkeypatch.setattr(scipy.optimize, "milp", lambda *args, **more: Nothing)
    for seed in range(30):
        check_rules(make_model(seed, Wishes(outputs=("binary", "many"))), seed)


def check_rules(model, seed):
    rows = make_rows(model, seed, 400)
    want = ask_network(model, rows)
    for form in ("shortest", "rules"):
        try:
            rules = extract(model, form=form, seconds=1.0)
        except ModelError as error:
            assert "too many combinations" in str(error)  # noqa: PT017 - some have none
            continue
        reading = reader.read(rules.to_text(), model)
        assert not differ(model, reader.follow(reading, model, rows), want).any(), rules.to_text()
        assert rules.proof


SHAPES = {
    "many columns": Wishes(most_columns=7, odd=0.0),
    "deep": Wishes(depth=4),
    "categories": Wishes(kinds=("category",), odd=0.6),
    "whole numbers": Wishes(kinds=("whole",)),
    "shares": Wishes(aggregations=("mean",), last=("mean",)),
    "least and greatest": Wishes(aggregations=("min", "max"), last=("min", "max")),
    "products": Wishes(aggregations=("product",), last=("product",)),
    "one layer": Wishes(depth=1),
}


@pytest.mark.parametrize("wishes", SHAPES.values(), ids=SHAPES)
def test_networks_of_one_kind(wishes):
    for seed in range(1000, 1025):
        model = make_model(seed, wishes)
        rows = make_rows(model, seed, 800)
        rules = extract(model, seconds=1.0)
        reading = reader.read(rules.to_text(), model)
        wrong = differ(model, reader.follow(reading, model, rows), ask_network(model, rows))
        assert not wrong.any(), f"seed {seed}:\n{rules.to_text()}"
        assert rules.proof, f"seed {seed}: {rules.proof}\n{rules.to_text()}"
        assert RuleSet.parse(rules.to_text(), model).to_text() == rules.to_text()
