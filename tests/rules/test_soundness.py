"""Nothing is proved that is not so: each fault here was once "proved"."""

from itertools import product

import numpy as np
import pytest

from newron.checker import CertificateError, check
from newron.errors import InputError, ModelError
from newron.model import Classes, Column, Labels, Layer, Model, Schema, Targets
from newron.rules import Proof, prove
from newron.rules.circuit import measure_rounding
from newron.rules.extraction import extract
from newron.rules.ruleset import RuleSet

from . import reader
from .mutations import mutate
from .networks import (
    Wishes,
    make_layer,
    make_model,
    make_rows,
    make_score,
    make_step,
    make_table,
)

ROUNDED = Wishes(rounded=True)
NEWER = {
    "ordered": Wishes(outputs=("ordered",)),
    "ordered, whole points": Wishes(depth=1, last=("sum",), outputs=("ordered",), card=True),
    "labels": Wishes(outputs=("labels",)),
    "hazards": Wishes(kinds=("real", "whole"), outputs=("hazards",)),
    "hostile": Wishes(hostile=True),
}
YES = Proof(True, "enumeration", 1, 0.0)


def make_means() -> Model:
    """Give a network of three classes by means, the first ahead by less than float64 keeps."""
    first, second, columns = 50, 51, 25
    total = 51 * 10**13 + 50
    parts = [*_split((50 * total - 1) // 51, first), *_split(total, second), 0]
    source = [*(i % columns for i in range(first)), *(i % columns for i in range(second)), 0]
    layer = Layer(
        "heaviside",
        "mean",
        "identity",
        3,
        target=[0] * first + [1] * second + [2],
        source=source,
        w=[[1.0]] * len(source),
        b=[[0.5]] * len(source),
        alpha=[part / 10**15 for part in parts],
        centre=[0.0] * 3,
    )
    schema = Schema(tuple(Column(f"x{i + 1}", 0.0, 1.0) for i in range(columns)))
    return Model(schema, [layer], Classes(("a", "b", "c")))


def _split(total, n):
    parts = [total // n] * n
    parts[-1] += total - sum(parts)
    for i in range(0, n - 1, 2):
        parts[i] += i + 1
        parts[i + 1] -= i + 1
    return parts


def test_means_of_unequally_many_functions_are_rounded():
    model = make_means()
    rules = extract(model, form="points")
    row = np.ones((1, 25))
    assert model.predict(row) != rules.predict(row)
    assert rules.proof.equal is not True


@pytest.mark.parametrize("size", [1e-13, 1e-60, 1.0, 1e60])
def test_targets_of_any_size_are_compared_by_their_size(size):
    model = make_score(2, [size, 2 * size], 0.0)
    model = Model(model.schema, model.layers, Targets(("y",)))
    assert prove("Add up for y\n    0  to start with", model).equal is False
    assert prove(extract(model).to_text(), model).equal is not False


def test_targets_that_are_rounded_are_equal_to_within_what_is_said():
    model = make_score(3, [1e16, 1.0, 1.0], 1e16)
    model = Model(model.schema, model.layers, Targets(("y",)))
    rules = extract(model)
    assert rules.proof
    assert f"but for rounding, at most {rules.proof.within:.2g}" in rules.proof.verdict
    rows = np.array(list(product([0.0, 2.0], repeat=3)))
    far = np.abs(rules.predict(rows) - model.predict(rows)).max()
    assert 0.0 < far <= rules.proof.within
    assert prove("Add up for y\n    0  to start with", model).equal is False


@pytest.mark.parametrize("aggregation", ["sum", "mean", "min", "max", "product"])
def test_rounded_targets_are_proved_in_exact_arithmetic(aggregation):
    last = make_layer(
        2, [0, 0, 0, 1, 1, 1], [0, 1, 2] * 2, [1.0] * 6, [1.0] * 6, aggregation=aggregation,
        alpha=[1 / 3, 0.1, -2 / 3, 0.7, 1e-17, 1 / 7], centre=[1 / 3, 0.0],
    )  # fmt: skip
    schema = Schema(tuple(Column(f"x{i}", 0.0, 2.0) for i in range(3)))
    model = Model(schema, [last], Targets(("a", "b")))
    text = extract(model).to_text(notes=False)
    found = prove(text, model)
    assert found
    assert found.within < 1e-14
    wrong = text.replace("0.1", "0.10000000000000002")  # as near as that, and another number
    assert wrong == text or prove(wrong, model).equal is not True
    if found.within:
        with pytest.raises(CertificateError):
            check(text, model.to_dict(), {**found.certificate, "within": found.within / 100})
    with pytest.raises(CertificateError):
        check(text, model.to_dict(), {**found.certificate, "within": float("inf")})


def test_a_change_smaller_than_the_network_s_rounding_is_refuted_in_exact_arithmetic():
    model = make_score(3, [1e16, 1.0, 1.0], 1e16)
    model = Model(model.schema, model.layers, Targets(("y",)))
    text = extract(model).to_text(notes=False)
    changed = text.replace("+1  x2", "+1.5  x2")
    assert changed != text
    found = prove(changed, model)
    assert found.equal is False
    assert found.predicted[0] != found.predicted[1]
    assert abs(found.predicted[0] - found.predicted[1]) < measure_rounding(model.layers[-1])


def test_rounding_excuses_no_text_whose_exact_sums_are_others():
    """The sums differ where float64 makes them alike, and are alike where it makes them differ."""
    model = make_model(542, Wishes(outputs=("amounts",), rounded=True))
    text = extract(model, seconds=1.0).to_text(notes=False)
    changed = mutate(text, model, 542)["drop"]
    assert prove(text, model)
    found = prove(changed, model)
    assert found.equal is False
    assert found.predicted[0].tolist() != found.predicted[1].tolist()


def test_the_rules_of_a_network_that_rounds_take_no_more_than_their_seconds(monkeypatch):
    """Candidates are compared with the network within the time that is given for rules."""
    given = []
    monkeypatch.setattr(RuleSet, "prove", lambda self, seconds=60.0: given.append(seconds) or YES)
    extract(make_model(10, ROUNDED), seconds=1.0)
    assert given
    assert sum(given) <= 1.0


def test_an_operator_is_never_part_of_a_name():
    columns = (Column("a", 0.0, 9.0, required=True), Column("a !", 0.0, 9.0, required=True))
    last = make_layer(1, [0, 0], [0, 0], [1.0, -1.0], [3.0, 3.0], alpha=[1.0, 1.0], centre=[2.0])
    model = Model(Schema(columns), [last], Classes(("well", "ill")))
    assert prove("If a != 3, then well\nOtherwise ill", model)
    assert prove('If "a !" = 3, then well\nOtherwise ill', model).equal is False
    other = Model(Schema(columns[::-1]), [last], Classes(("well", "ill")))
    text = extract(other).to_text()
    assert '"a !"' in text
    assert prove(text, other)


def test_classes_that_differ_by_a_last_nul_stay_apart():
    layer = make_layer(1, [0], [0], [1.0], [3.0], alpha=[2.0], centre=[1.0])
    model = Model(Schema((Column("x", 0.0, 9.0),)), [layer], Classes(("a", "a\0")))
    assert model.predict([[1.0], [4.0]]).tolist() == ["a", "a\0"]
    rules = extract(model)
    assert rules.proof
    assert "\0" not in rules.to_text()
    assert rules.predict([[1.0], [4.0]]).tolist() == ["a", "a\0"]
    swapped = prove('If x ≥ 3, then a\nOtherwise "a\\u0000"', model)
    assert swapped.equal is False
    assert swapped.predicted == ("a\0", "a")


@pytest.mark.parametrize("first", range(0, 400, 100))
def test_networks_that_round_their_sums_get_rules_that_are_not_refuted(first):
    n_proved = 0
    for seed in range(first, first + 100):
        model = make_model(seed, ROUNDED)
        rules = extract(model, seconds=1.0)
        assert rules.proof.equal is not False, f"seed {seed}: {rules}"
        if rules.proof:
            rows = make_table(model, make_rows(model, seed, most=200))
            said, predicted = rules.predict(rows), model.predict(rows)
            if rules.proof.within:
                assert np.abs(said - predicted).max() <= rules.proof.within
            else:
                np.testing.assert_array_equal(said, predicted)
            n_proved += 1
    assert n_proved == 100


def test_where_no_points_equal_a_rounded_network_there_are_none():
    model = next(
        model
        for model in (make_model(seed, ROUNDED) for seed in range(400))
        if isinstance(model.output, Classes) and not _has_points(model)
    )
    with pytest.raises(ModelError, match="rounds its sums"):
        extract(model, form="points")
    assert extract(model, form="rules").proof


def _has_points(model):
    try:
        return bool(extract(model, form="points", seconds=1.0))
    except ModelError:
        return False


def test_weights_that_cancel_are_not_forgotten_where_sums_are_rounded():
    """(0.1 + 1e16) − 1e16 − 0.1 is not 0 in float64, though its weights cancel."""
    last = make_layer(
        1, [0] * 4, [0] * 4, [1.0] * 4, [1.0] * 4, alpha=[0.1, 1e16, -1e16, -0.1], centre=[0.0]
    )
    model = Model(Schema((Column("x", 0.0, 9.0),)), [last], Classes(("well", "ill")))
    assert model.predict([[0.0], [2.0]]).tolist() == ["ill", "well"]
    assert prove("Always ill", model).equal is False
    assert extract(model).proof
    assert RuleSet.parse("If x ≥ 1, then well\nOtherwise ill", model).proof


def test_no_number_of_a_table_reaches_what_stands_for_never():
    model = make_step(Column("x", -1e300, 1e300), 1.0)
    assert extract(model).proof
    for end in (-1e300, 1e300):
        with pytest.raises(InputError, match="within"):
            model.predict([[end]])
        with pytest.raises(InputError, match="within"):
            extract(model).predict([[end]])
        assert extract(model).predict([[end * 0.99]]) == model.predict([[end * 0.99]])
    counterexample = prove("Always ill", model).counterexample
    assert model.predict([list(counterexample.values())]) == ["well"]


def test_numbers_of_hundreds_of_digits_are_compared_exactly():
    """Sums of the smallest and the largest weights, of means and of ordered classes."""
    layer = make_score(3, [-4e99, 5e-324, 2.0], 1e100).layers[0].replace(aggregation="mean")
    schema = Schema(tuple(Column(f"x{i}", 0.0, 2.0) for i in range(1, 4)))
    rows = np.array(list(product([0.0, 2.0], repeat=3)))
    ordered = Classes(("lo", "mid", "hi"), limits=(0.0, 1.0), bands=(5e-324, 1e300))
    for output in (Targets(("y",)), ordered):
        model = Model(schema, [layer], output)
        rules = extract(model)
        assert rules.proof.equal is not False
        if rules.proof and not rules.proof.within:
            np.testing.assert_array_equal(rules.predict(rows), model.predict(rows))


@pytest.mark.parametrize("number", ["9" * 350, "1e304", "-1e999"])
def test_points_whose_sums_are_no_numbers_get_one_clear_error(number):
    model = make_score(1, [1.0], 0.0)
    model = Model(model.schema, model.layers, Targets(("y",)))
    with pytest.raises(InputError, match=r"line 2: expected a number within ±1e\+303"):
        prove(f"Add up for y\n    +{number.lstrip('-')}  x1 ≥ 1\n    0  to start with", model)
    assert prove("Add up for y\n    +9e302  x1 ≥ 1\n    0  to start with", model).equal is False


@pytest.mark.parametrize("kind", NEWER)
def test_every_kind_of_output_and_name_is_proved_and_read_alike(kind):
    """Rules, network and the tests' own reader say the same, and changes are refuted by a row."""
    for seed in range(16):
        model = make_model(seed, NEWER[kind])
        rules = extract(model, form="points" if seed % 2 else "shortest", seconds=1.0)
        text = rules.to_text(notes=False)
        assert rules.proof, text
        rows = make_rows(model, seed, most=200)
        table = make_table(model, rows)
        np.testing.assert_array_equal(rules.predict(table), model.predict(table), text)
        followed = reader.follow(reader.read(text, model), model, rows)
        if isinstance(model.output, Classes):
            followed = model.output.array[followed]
        elif followed.shape[1] == 1 or isinstance(model.output, Labels):
            followed = model.output.predict(followed)
        np.testing.assert_array_equal(followed, model.predict(table), text)
        for changed in mutate(text, model, seed).values():
            found = prove(changed, model)
            assert found.equal is not None, changed
            assert found or not np.array_equal(*found.predicted), changed


def test_labels_that_agree_where_their_sums_do_not_are_refuted_by_the_sums():
    model = make_score(2, [1.0, 2.0], 0.5)
    model = Model(model.schema, model.layers, Labels(("funny",)))
    found = prove(extract(model).to_text(notes=False).replace("+2", "+1"), model)
    assert found.equal is False
    rules, network = found.predicted
    assert rules != network
