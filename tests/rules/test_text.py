"""Rules in words: what is printed can be read, and what cannot be read is refused."""

import re
from fractions import Fraction

import numpy as np
import pytest

from newron.errors import InputError
from newron.formatting import format_fraction
from newron.model import Classes, Column, Model, Schema, Targets
from newron.rules import prove
from newron.rules.circuit import read_circuit
from newron.rules.extraction import extract
from newron.rules.points import make_points
from newron.rules.ruleset import RuleSet

from .networks import Wishes, make_layer, make_model, make_monk2, make_rows, make_score, make_step

# ---- numbers ----


@pytest.mark.parametrize(
    ("number", "written"),
    [
        (Fraction(0), "0"),
        (Fraction(-21, 10), "−2.1"),
        (Fraction(1, 3), "1/3"),
        (Fraction(-7, 12), "−7/12"),
        (Fraction(1, 8), "0.125"),
        (Fraction(100), "100"),
        (Fraction(10**30), "1" + "0" * 30),
        (1 + Fraction(1, 10**30), "1." + "0" * 29 + "1"),
        (Fraction(1, 2**40), "0.0000000000009094947017729282379150390625"),
    ],
)
def test_numbers_are_written_exactly(number, written):
    assert format_fraction(number) == written
    assert Fraction(written.replace("−", "-")) == number


def test_signs():
    assert [format_fraction(Fraction(k, 2), signed=True) for k in (-1, 0, 1)] == [
        "−0.5",
        "0",
        "+0.5",
    ]


def test_weights_of_many_digits_keep_them():
    columns = (Column("x", 0.0, 5.0), Column("y", 0.0, 5.0))
    last = make_layer(
        1, [0, 0, 0], [0, 0, 1], [1.0] * 3, [1.0, 1.0, 2.0], alpha=[1.0, -1e-30, -1.0]
    )
    model = Model(Schema(columns), [last], Classes(("well", "ill")))
    circuit = read_circuit(model)
    rules = RuleSet(model, circuit.axes, make_points(circuit), "points")
    again = RuleSet.parse(rules.to_text(), model)
    rows = make_rows(model)
    assert np.array_equal(again.predict(rows), rules.predict(rows))


# ---- odd names and labels ----

PAIRS = [
    ("x", "x ≥ 3"),
    ("A", '"A"'),
    ("", " "),
    ("x", "x y"),
    ("age", "age at birth"),
    ("p — q", "p"),
    ("then", "now then what"),
    ("a\u2028b", "a\u0085b"),
    ("a\nb", "a\tb"),
    ("to be", "be"),
    ("of", "all of"),
    ("Let", "Otherwise"),
    ("x ≥ 1 or y", "y"),
    ("class", "class 1"),
    ("1", "1.5"),
    ("[x]", "(x)"),
    ("not x", "x"),
    ("\\", '\\"'),
    ("e5", "3e5"),
    ("x!", "x"),
    ("x)", "x"),
    ("Sum", "Points for"),
    ("+1", "−1"),
    ("a" * 90, "b" * 90),
]


@pytest.mark.parametrize("names", [*PAIRS, *(pair[::-1] for pair in PAIRS)], ids=repr)
@pytest.mark.parametrize("form", ["rules", "points"])
def test_odd_names_are_read_again(names, form):
    columns = tuple(Column(name, 0.0, 5.0, gaps=True) for name in names)
    last = make_layer(
        1, [0, 0], [0, 1], [1.0, -1.0], [3.0, 1.0], alpha=[1.0, 1.0], centre=[2.0],
        missing=[1.0, 0.0],
    )  # fmt: skip
    check_text(Model(Schema(columns), [last], Classes(("well", "ill"))), form)


LABELS = [
    ("a", "class a"),
    ("be", "to be"),
    ("then", "now then"),
    ("b", "b)"),
    ("(b", "b"),
    ("1", 1),
    ("True", True),
    ("class 1", 1),
    (1, 1.5),
    (1, 10),
    (-1, 1),
    (1e-5, 1e22),
    ("missing", "not missing"),
    ("", " "),
    ("a, b", "a"),
    ("x — 3 rows", "x"),
    ("Otherwise", "If x, then y"),
    ("<=50K", ">50K"),
    ("ill", "illness"),
    ("A", "B"),
    ('"a"', "a"),
    ("a\u2028b", "a\nb"),
    ("x" * 90, "y" * 90),
]


@pytest.mark.parametrize("labels", [*LABELS, *(pair[::-1] for pair in LABELS)], ids=repr)
@pytest.mark.parametrize("form", ["rules", "points"])
def test_odd_classes_are_read_again(labels, form):
    check_text(make_step(Column("x", 0.0, 5.0), 3.0, labels), form)
    layers = [make_layer(3, [0, 1], [0, 0], [1.0, 1.0], [3.0, 4.0], alpha=[1.0, 2.0])]
    schema = Schema((Column("x", 0.0, 5.0),))
    check_text(Model(schema, layers, Classes((*labels, "third"))), form)


@pytest.mark.parametrize("labels", [*LABELS, *(pair[::-1] for pair in LABELS)], ids=repr)
def test_odd_categories_are_read_again(labels):
    """Also at the end of a bracket: (x ≥ 1 and c = b)."""
    columns = (
        Column("x", 0.0, 5.0),
        Column("c", 0.0, 2.0, categories=(*labels, "third")),
        Column("y", 0.0, 5.0),
    )
    hidden = make_layer(1, [0, 0], [0, 1], [1.0] * 2, [1.0] * 2, levels=[[], [1.0, 0.0, 0.0]])
    last = make_layer(1, [0, 0], [3, 2], [1.0] * 2, [2.0, 1.0], alpha=[1.0] * 2, centre=[1.0])
    model = Model(Schema(columns), [hidden, last], Classes(("well", "ill")))
    for form in ("rules", "points"):
        check_text(model, form)


@pytest.mark.parametrize(
    "unit", ["%", "°C", "mg/dl", "years", "a — b", "of", "or", "m)", "kg; g", "1"]
)
def test_odd_units_are_read_again(unit):
    columns = (
        Column("x", 0.0, 5.0, gaps=True, unit=unit),
        Column("n", 1.0, 3.0, (1, 2, 3), unit=unit),
    )
    last = make_layer(
        1, [0, 0, 0], [0, 0, 1], [1.0, -1.0, 1.0], [1.0, 2.0, 2.0],
        alpha=[1.0] * 3, centre=[2.5], missing=[1.0, 1.0, 0.0],
    )  # fmt: skip
    for form in ("rules", "points"):
        check_text(Model(Schema(columns), [last], Classes(("well", "ill"))), form)


def check_text(model, form):
    rules = extract(model, form=form, seconds=0.1)
    text = rules.to_text()
    assert rules.proof, f"{rules.proof}\n{text}"
    assert RuleSet.parse(text, model).to_text() == text


# ---- groups and blocks ----


def make_nested():
    """Give a network whose neurons are asked several times, one through the other."""
    columns = tuple(Column(f"x{i}", 0.0, 5.0) for i in range(1, 7))
    first = make_layer(1, [0] * 4, [0, 1, 2, 3], [1.0] * 4, [1.0] * 4)
    second = make_layer(1, [0] * 4, [6, 6, 4, 5], [1, -1, 1, 1], [3, 1, 1, 1])
    last = make_layer(
        1, [0] * 3, [7, 7, 6], [1, -1, 1], [3, 1, 2], alpha=[1.0, 2.0, 0.7], centre=[1.5]
    )
    return Model(Schema(columns), [first, second, last], Classes(("well", "ill")))


@pytest.mark.parametrize("form", ["shortest", "rules", "points"])
def test_groups_are_named_once_and_before_they_are_used(form):
    model = make_nested()
    check_text(model, form)
    text = extract(model, form=form).to_text()
    known = set()
    for line in text.splitlines():
        for name in re.findall(r"(?<= of )[A-Z]\b", line):
            assert name in known, text
        if line.startswith("Let "):
            known.add(line.split()[1])
    assert known
    points = extract(model, form="points").to_text()
    assert points.count("x1 ≥ 1") == 1


def test_groups_are_named_in_the_order_of_the_text():
    model = make_model(10414, Wishes(most_columns=5, depth=3, odd=0.0))
    text = extract(model, form="points").to_text()
    assert text.index("Let A be") < text.index("Let B be")
    check_text(model, "points")


def test_a_long_rule_is_a_block():
    n = 12
    columns = tuple(Column(f"a long name of column {i}", 0.0, 2.0) for i in range(n))
    last = make_layer(1, [0] * n, range(n), [1.0] * n, [1.0] * n, alpha=[1.0] * n, centre=[5.0])
    model = Model(Schema(columns), [last], Classes(("well", "ill")))
    text = extract(model, seconds=0.1).to_text()
    assert text.splitlines()[0] in ("If at least 5 of", "If at most 7 of")
    assert len(text.splitlines()) == n + 3
    assert text.splitlines()[-2:] == ["then ill", "Otherwise well"]
    check_text(model, "shortest")


# ---- by hand ----


def test_what_people_write_is_read():
    columns = (
        Column("age", 0.0, 99.0, gaps=True, unit="years"),
        Column("colour", 0.0, 2.0, categories=("red", "blue", "green"), required=True),
        Column("n", 1.0, 3.0, (1.0, 2.0, 3.0), required=True),
    )
    last = make_layer(1, [0], [0], [1.0], [54.5], alpha=[2.0], centre=[1.0], missing=[0.0])
    model = Model(Schema(columns), [last], Classes(("well", "ill")))
    rest = ", then ill\nOtherwise well"
    for text in (
        "age ≥ 54.5",
        "age >= 54.5",
        "age ≥ 54.50 years",
        "age ≥ 109/2",
        "not (age < 54.5 or missing)",
        "not (age < 54.5) and age not missing",
        "age ≥ 54.5 and (colour = red or colour != red)",
        "age ≥ 54.5 and colour in {red, blue, green}",
        "(age ≥ 54.5 and n ≤ 2) or (age ≥ 54.5 and n > 2)",
        "54.5 <= age < 60 or 60 ≤ age < 70 or age ≥ 70",
        "at least 2 of [age ≥ 54.5; n = 1; n ≠ 1]",
        "all of [age ≥ 54.5; always]",
        "none of [age < 54.5; age missing]",
        "exactly 1 of [age ≥ 54.5; never]",
        "between 1 and 1 of [age ≥ 54.5]",
        "at most 0 of [age < 54.5 or missing]",
        '"age" ≥ 54.5 and (colour = "red" or colour ≠ "red")',
        "age ≥ 54.5   and  n<4",
    ):
        found = prove(f"If {text}{rest}", model)
        assert found, f"{text}: {found}"
    assert prove(f"If age ≥ 54.5{rest} — 12 rows, 90 % right\n\n\n", model)
    assert prove("\nIf age ≥ 54.5\n  then ill\nOtherwise well", model)
    assert prove("If age < 54.5, then well\nIf age missing, then well\nOtherwise ill", model)
    group = "Let A be\n    age ≥ 54.5\n    n = 1\n    n ≠ 1\n\n"
    assert prove(f"{group}If at least 2 of A{rest}", model)
    points = "Points for ill\n  +1  age ≥ 54.5\n  -1  n ≤ 3\nSum >= -0: ill\nOtherwise: well"
    assert prove(points, model)
    assert prove(points.replace("-0", "−1/2"), model)


SCORE = "Points for ill\n    +2  x1 ≥ 1\n    +1  x2 ≥ 1\nSum ≥ 2: ill\nOtherwise: well"
MANY = (
    "Points for a, b, c\n    +1   0  0  x1 ≥ 1\n     0  +2  0  x2 ≥ 1\n"
    "     0   0  0  to start with\n"
    "The highest sum wins, the first of equals"
)


def make_many():
    layer = make_layer(3, [0, 1], [0, 1], [1.0] * 2, [1.0] * 2, alpha=[1.0, 2.0])
    return Model(make_score(2, [1.0, 2.0], 2.0).schema, [layer], Classes(("a", "b", "c")))


def test_the_texts_below_are_right():
    assert extract(make_score(2, [2.0, 1.0], 2.0), form="points").to_text() == SCORE
    assert prove(MANY, make_many())


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("Points for ill", "Points for well"),
        ("Points for ill", "Points for"),
        ("Points for ill", "Add up for y"),
        ("Otherwise: well", "Otherwise: ill"),
        ("Otherwise: well", ""),
        ("Sum ≥ 2: ill", "Sum ≥ 2: well"),
        ("Sum ≥ 2: ill", "Sum ≤ 2: ill"),
        ("Sum ≥ 2: ill", "Sum > 2: ill"),
        ("Sum ≥ 2: ill", "Sum: ill"),
        ("Sum ≥ 2: ill\n", ""),
        ("Sum ≥ 2: ill", "Sum ≥ 2: ill\nSum ≥ 3: ill"),
        ("Otherwise: well", "Otherwise: well\nOtherwise: well"),
        ("Otherwise: well", "Otherwise: well\nIf x1 ≥ 1, then ill"),
        ("Points for ill", "If x1 ≥ 3, then well\nPoints for ill"),
        ("+2  x1", "x1"),
        ("+2  x1", "+2 +3 x1"),
        ("+2  x1 ≥ 1", "+2"),
        ("x1 ≥ 1", "x3 ≥ 1"),
        ("x1 ≥ 1", "x1 ≥"),
        ("x1 ≥ 1", "x1 ≥ 1 and"),
        ("x1 ≥ 1", "x1 ≥ 1e999"),
        ("x1 ≥ 1", "x1 ≥ 1/0"),
        ("x1 ≥ 1", "(x1 ≥ 1"),
        ("x1 ≥ 1", "x1 ≥ 1)"),
        ("x1 ≥ 1", "at least 2 of A"),
        ("x1 ≥ 1", "at least two of [x1 ≥ 1]"),
        ("x1 ≥ 1", "2 ≥ x1 ≥ 1 ≥ 0"),
        ("x1 ≥ 1", "1 ≤ x1 ≥ 2"),
        ("x1 ≥ 1", "5 ≥ x1 ≥ 2"),
        ("x1 ≥ 1", "2 = x1 ≤ 3"),
    ],
)  # fmt: skip
def test_points_that_are_not_right_are_refused(old, new):
    model = make_score(2, [2.0, 1.0], 2.0)
    changed = SCORE.replace(old, new)
    assert changed != SCORE
    with pytest.raises(InputError, match=r"^rules"):
        RuleSet.parse(changed, model)


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("a, b, c", "b, a, c"),
        ("a, b, c", "a, b"),
        ("highest", "lowest"),
        ("the first of equals", "the last of equals"),
        ("The highest sum wins, the first of equals", ""),
        ("+2  0  x2", "+2  x2"),
    ],
)
def test_points_of_several_classes_that_are_not_right_are_refused(old, new):
    changed = MANY.replace(old, new)
    assert changed != MANY
    with pytest.raises(InputError, match=r"^rules"):
        RuleSet.parse(changed, make_many())


@pytest.mark.parametrize(
    "text",
    [
        "",
        "If x1 ≥ 1, then ill",
        "Otherwise",
        "Otherwise dead",
        "Otherwise well\nOtherwise ill",
        "Otherwise well\nIf x1 ≥ 1, then ill",
        "If x1 ≥ 1, then ill\nOtherwise well, surely",
        "If x1 ≥ 1 then\nOtherwise well",
        "If x1 ≥ 1, then ill\nOtherwise well\nPoints for ill",
        "When x1 ≥ 1, then ill\nOtherwise well",
        "Let A be\nIf x1 ≥ 1, then ill\nOtherwise well",
        "If all of [], then ill\nOtherwise well",
        "If all of\nthen ill\nOtherwise well",
        "If x1 = red, then ill\nOtherwise well",
        "If x1 in 1, 2, then ill\nOtherwise well",
        "If x1 ≥ 1 x2 ≥ 1, then ill\nOtherwise well",
        "If between 2 and 1 of [x1 ≥ 1; x2 ≥ 1], then ill\nOtherwise well",
    ],
)
def test_rules_that_are_not_right_are_refused(text):
    with pytest.raises(InputError, match=r"^rules"):
        RuleSet.parse(text, make_score(2, [2.0, 1.0], 2.0))


def test_an_error_names_the_line():
    model = make_score(2, [2.0, 1.0], 2.0)
    with pytest.raises(InputError, match=r"line 3.*If x3"):
        RuleSet.parse("If x1 ≥ 1, then ill\n\nIf x3 ≥ 1, then ill\nOtherwise well", model)
    with pytest.raises(InputError, match=r"line 3.*x2"):
        RuleSet.parse(SCORE.replace("x2 ≥ 1", "x2 ? 1"), model)


def test_amounts_have_no_classes():
    model = make_score(2, [2.0, 1.0], 2.0)
    amounts = Model(model.schema, model.layers, Targets(("y",)))
    text = extract(amounts).to_text()
    assert text == "Add up for y\n    +2  x1 ≥ 1\n    +1  x2 ≥ 1\n    −2  to start with"
    for changed in (
        text.replace("for y", "for z"),
        f"{text}\nSum ≥ 2: ill",
        "If x1 ≥ 1, then 3\nOtherwise 2",
        "Otherwise 2",
    ):
        with pytest.raises(InputError, match=r"^rules"):
            RuleSet.parse(changed, amounts)


@pytest.mark.parametrize("seed", range(40))
def test_a_spoilt_text_is_read_or_refused(seed):
    """Whatever becomes of a text: nothing but InputError is raised."""
    rng = np.random.default_rng(seed)
    model = make_model(seed)
    text = extract(model, seconds=1.0).to_text()
    pieces = [
        "(",
        ")",
        "[",
        "]",
        "{",
        "}",
        ";",
        ",",
        '"',
        " or ",
        " and ",
        "not ",
        "\n",
        "    ",
        "of",
    ]
    for _ in range(40):
        at, end = sorted(rng.integers(0, len(text) + 1, 2))
        kind = rng.integers(4)
        if kind == 0:
            spoilt = text[:at] + text[end:]
        elif kind == 1:
            spoilt = text[:at] + pieces[rng.integers(len(pieces))] + text[at:]
        elif kind == 2:
            spoilt = text[:end] + text[at:]
        else:
            spoilt = text[:at] + chr(int(rng.integers(32, 127))) + text[at + 1 :]
        try:
            rules = RuleSet.parse(spoilt, model)
        except InputError:
            continue
        again = RuleSet.parse(rules.to_text(), model)
        assert again.to_text() == rules.to_text()


def test_monk2_in_words():
    rules = extract(make_monk2())
    assert rules.to_text() == (
        "If exactly 2 of [a1 = 1; a2 = 1; a3 = 1; a4 = 1; a5 = 1; a6 = 1], then class 1\n"
        "Otherwise class 0"
    )
    assert rules.n_literals == 6
    assert rules.proof
