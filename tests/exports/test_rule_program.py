"""Rules as conditions that every target can print."""

import math

import pytest

from exports.cases import make_rule_cases
from newron.exports.rule_program import make_rule_program
from newron.expressions.tree import (
    AllOf,
    AnyOf,
    Compare,
    Input,
    IsMissing,
    Number,
    OneOf,
    Some,
    walk,
)
from newron.model import Column
from rules.networks import make_monk2, make_step


def read(model):
    return make_rule_program(model, model.rules())


def compare(sign, value):
    return Compare(sign, Input(0), Number(value))


def test_a_threshold_is_one_comparison():
    program = read(make_step(Column("t", 35.0, 42.0), 38.0))
    (rule,) = program.rules
    assert rule.condition == compare(">=", 38.0)
    assert (program.decides, program.default, rule.outcome) == (True, 0, 1)


def test_a_boundary_is_written_by_its_shorter_neighbour():
    (rule,) = read(make_step(Column("t", 0.0, 1.0), math.nextafter(0.7, 1.0))).rules
    assert rule.condition == compare(">", 0.7)


def test_listed_values_are_compared_or_counted():
    count = next(
        part for rule in read(make_monk2()).rules for part in walk(rule.condition)
        if isinstance(part, Some)
    )  # fmt: skip
    assert (count.low, count.high) == (2, 2)
    assert count.parts[0] == compare("==", 1.0)


def test_categories_are_members_and_missing_values_are_asked_for():
    column = Column("c", 0.0, 2.0, categories=("a", "b", "c"), gaps=True)
    model = make_step(column, 0.5, levels=[[1.0, 0.0, 1.0]], missing=[1.0])
    found = {part for rule in read(model).rules for part in walk(rule.condition)}
    assert OneOf(0, (1,)) in found or {OneOf(0, (0, 2)), IsMissing(0)} <= found


@pytest.mark.parametrize(
    ("column", "inside"),
    [
        (Column("x", 0.0, 1.0, required=True), AnyOf((compare("<", 0.0), compare(">=", 0.0)))),
        (
            Column("x", 0.0, 1.0, values=(0.0, 1.0), gaps=True),
            AnyOf((compare("==", 0.0), compare("==", 1.0), IsMissing(0))),
        ),
    ],
)
def test_the_domain_is_a_condition(column, inside):
    assert read(make_step(column, 0.5)).inside == AllOf((inside,))


def test_a_column_that_may_hold_anything_has_no_condition():
    assert read(make_step(Column("x", 0.0, 1.0, gaps=True), 0.5)).inside == AllOf(())


def test_the_proof_has_the_same_words_each_time():
    for case in make_rule_cases(3):
        program = make_rule_program(case.model, case.rules)
        assert program.proof.startswith("Proved equal to the network in class alone. All ")
        assert " s)" not in program.proof
        assert len(program.texts) == len(program.rules) + program.decides
