"""Whatever a text of rules holds, it is read or refused, soon and in few words."""

import random

import pytest

from newron.checker import CertificateError, check
from newron.checker.check import make_certificate
from newron.errors import InputError
from newron.model import Column
from newron.rules import prove
from newron.rules.extraction import extract
from newron.rules.ruleset import RuleSet

from .mutations import mutate
from .networks import Wishes, make_model, make_step

END = ", then ill\nOtherwise well"


def nest_groups(n):
    """Give groups that each name the one before twice: 2**n conditions."""
    names = [chr(65 + k // 26) + chr(65 + k % 26) for k in range(n)]
    lines = ["Let AA be [x ≥ 1; x ≥ 2; x ≥ 3]"]
    lines += [f"Let {b} be [any of {a}; all of {a}]" for a, b in zip(names, names[1:])]  # noqa: B905, RUF007
    return "\n".join([*lines, f"If any of {names[-1]}{END}"])


HOSTILE = {
    "a number without end": f"If x ≥ 1e999999999{END}",
    "a number near 0": f"If x ≥ 1e-999999999{END}",
    "a fraction": f"If x ≥ 1/{'9' * 5000}{END}",
    "5,000 digits": f"If x ≥ {'7' * 5000}{END}",
    "5,000 digits of a count": f"If at least {'7' * 5000} of [x ≥ 1]{END}",
    "400 brackets": f"If {'(' * 400}x ≥ 1{')' * 400}{END}",
    "400 open brackets": f"If {'(' * 400}x ≥ 1{END}",
    "400 times not": f"If {'not ' * 400}x ≥ 1{END}",
    "400 lists": f"If {'any of [' * 400}x ≥ 1{']' * 400}{END}",
    "400 blocks": "If any of\n" + "\n".join(" " * k + "any of" for k in range(1, 400)),
    "a chain of groups": nest_groups(400).replace("any of", "not any of"),
    "a line of 10 MB": f"If x ≥ {'1' * 10_000_000}{END}",
    "10 MB of words": "x " * 5_000_000,
    "10 MB of conditions": f"If {'x ≥ 1 or ' * 1_000_000}x ≥ 1{END}",
    "10 MB of brackets": "(" * 10_000_000,
    "10 MB of lines": "\n" * 10_000_001,
    "nothing": "",
    "a NUL": f"If x\0 ≥ 1{END}",
    "a lone surrogate": f"If x\ud800 ≥ 1{END}",
}


@pytest.mark.parametrize("text", HOSTILE.values(), ids=HOSTILE)
def test_hostile_texts_get_one_short_error(text):
    model = make_step(Column("x", 0.0, 9.0), 3.0)
    with pytest.raises(InputError) as caught:
        prove(text, model)
    assert len(str(caught.value)) < 500
    assert "\n" not in str(caught.value)
    with pytest.raises(CertificateError):
        check(text, model.to_dict(), make_certificate(text, model.to_dict(), "states", [0]))


def test_what_is_large_and_well_formed_is_read():
    model = make_step(Column("x", 0.0, 9.0), 3.0)
    depth = f"If {'(' * 90}x ≥ 3{')' * 90}{END}"
    width = f"If {' or '.join(['x ≥ 3'] * 2000)}{END}"
    digits = f"If x ≥ 3.{'0' * 300}{END}"
    for text in (depth, width, digits, nest_groups(40)):  # 2**40 conditions, written out
        assert prove(text, model).equal is not None


@pytest.mark.parametrize("first", [0, 10])
def test_damaged_texts_are_read_or_refused(first):
    """Characters and lines dropped, doubled, swapped, replaced: a clear error, or rules."""
    n_read, refused = 0, []
    for seed in range(first, first + 10):
        model = make_model(seed, Wishes(outputs=("binary", "many", "amounts")))
        rng = random.Random(seed)
        text = extract(model, seconds=1.0).to_text()
        for _ in range(40):
            damaged = damage(rng, text)
            try:
                RuleSet.parse(damaged, model)
            except InputError as error:
                refused.append(str(error))
            else:
                prove(damaged, model, seconds=1.0)
                n_read += 1
    assert n_read > 20
    assert len(refused) > 100
    assert max(map(len, refused)) < 700


def damage(rng, text):
    """Change a text in one to three places."""
    pieces = ["(", ")", "[", "]", "{", "}", ";", ",", "≥", "<", "=", " or ", " and ", "not ", "1e9"]
    pieces += ["missing", "of", "all of", "\n", "    ", '"', "\\", "9" * 30, "—", " — ", "Let A be"]
    for _ in range(rng.randint(1, 3)):
        a = rng.randrange(len(text) + 1)
        b = min(len(text), a + rng.choice([0, 1, 1, 2, 5, 20]))
        kind = rng.randrange(4)
        if kind == 0:
            text = text[:a] + text[b:]
        elif kind == 1:
            text = text[:a] + rng.choice(pieces) + text[b:]
        elif kind == 2:
            text = text[:b] + text[a:b] + text[b:]
        else:
            lines = text.split("\n")
            k = rng.randrange(len(lines))
            lines[k : k + 1] = rng.choice([[], [lines[k]] * 2, [lines[k][::-1]], ["  " + lines[k]]])
            text = "\n".join(lines)
    return text


@pytest.mark.parametrize("seed", range(4))
def test_every_certificate_is_one_of_its_own_rules_and_model(seed):
    model, other = make_model(seed), make_model(seed + 100)
    rules = extract(model)
    text, certificate = rules.to_text(notes=False), rules.proof.certificate
    check(text, model.to_dict(), certificate)
    for changed in mutate(text, model, seed).values():
        with pytest.raises(CertificateError):
            check(changed, model.to_dict(), certificate)
    with pytest.raises(CertificateError, match="another model"):
        check(text, other.to_dict(), certificate)
    for key in certificate.keys() - {"order"}:
        with pytest.raises(CertificateError):
            check(text, model.to_dict(), {**certificate, key: "?"})
