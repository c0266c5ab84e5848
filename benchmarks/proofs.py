"""Random networks, their rules, and certificates of both: a long run of what tests do shortly.

Every network gets rules; where these are proved, the second checker has accepted, and each of
five changes of the text is either refuted, with a row on which rules and network differ, or
does not matter. Texts of rules are damaged, and must be read or refused with a short error.

    python -m benchmarks.proofs --networks 5000 --texts 10000
"""

from __future__ import annotations

import argparse
import random
import sys
import time
from collections import Counter
from pathlib import Path

import numpy as np

sys.path.insert(0, str(Path(__file__).parents[1] / "tests"))

from newron.checker import check
from newron.errors import InputError, ModelError
from newron.model import Classes, Model
from newron.rules import RuleSet, extract, prove
from rules.mutations import mutate
from rules.networks import Wishes, make_model, make_rows, make_table
from rules.test_limits import damage

KINDS = (Wishes(), Wishes(rounded=True), Wishes(most_columns=6, depth=3, odd=0.0))


def check_network(seed: int, found: Counter[str]) -> None:
    """Extract, prove, certify, and change the rules of one network."""
    model = make_model(seed, KINDS[seed % len(KINDS)])
    form = ("shortest", "points")[seed // len(KINDS) % 2]
    try:
        rules = extract(model, form=form, seconds=1.0)
    except ModelError:  # sums that are rounded so that no points decide alike
        found["networks without equal points, asked for if/then rules"] += 1
        rules = extract(model, form="rules", seconds=1.0)
    proof = rules.proof
    if proof.equal is False:
        raise AssertionError(f"seed {seed}: rules that are refuted\n{rules}")
    found[f"networks {'proved' if proof else 'not proved: ' + proof.note[:40]}"] += 1
    text = rules.to_text(notes=False)
    if proof:
        check(text, model.to_dict(), proof.certificate or {})
        check_rows(seed, model, rules)
    for kind, changed in mutate(text, model, seed).items():
        check_change(seed, model, kind, changed, found)


def check_rows(seed: int, model: Model, rules: RuleSet) -> None:
    """Compare rules and network on rows at the edges of everything, missing values among them."""
    rows = make_table(model, make_rows(model, seed, most=200))
    said, predicted = rules.predict(rows), model.predict(rows)
    if isinstance(model.output, Classes):
        equal = np.array_equal(said, predicted)
    else:
        equal = bool(np.all(np.abs(said - predicted) <= rules.proof.within))
    if not equal:
        raise AssertionError(f"seed {seed}: proved, and not so\n{rules}")


def check_change(seed: int, model: Model, kind: str, text: str, found: Counter[str]) -> None:
    """Prove a changed text: what is refuted must differ, what is proved must not."""
    proof = prove(text, model)
    found[f"change {kind}: {proof.verdict}"] += 1
    if proof.equal is False:
        values = proof.counterexample or {}
        row = np.array([[np.nan if v is None else v for v in values.values()]], object)
        said = RuleSet.parse(text, model).predict(row), model.predict(row)
        if np.array_equal(*said):
            raise AssertionError(f"seed {seed}: refuted by a row on which they agree\n{text}")
    elif proof:
        check_rows(seed, model, RuleSet.parse(text, model))


def check_texts(number: int, found: Counter[str]) -> None:
    """Damage texts of rules, and read them."""
    rng = random.Random(0)
    for k in range(number):
        model = make_model(k % 300)
        text = damage(rng, extract_text(k % 300))
        begin = time.perf_counter()
        try:
            RuleSet.parse(text, model)
            prove(text, model, seconds=1.0)
            found["texts read"] += 1
        except InputError as error:
            if len(str(error)) > 1000:
                raise AssertionError(f"an error without end: {error}") from None
            found["texts refused"] += 1
        if time.perf_counter() - begin > 10.0:
            raise AssertionError(f"more than 10 s\n{text}")


def extract_text(seed: int, known: dict[int, str] = {}) -> str:  # noqa: B006 - a memory
    """Return the rules of a network."""
    if seed not in known:
        known[seed] = extract(make_model(seed), seconds=1.0).to_text()
    return known[seed]


def main() -> None:
    """Run, and print how often what was found."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--networks", type=int, default=5000)
    parser.add_argument("--texts", type=int, default=10_000)
    parser.add_argument("--first", type=int, default=0, help="the seed of the first network")
    options = parser.parse_args()
    found: Counter[str] = Counter()
    begin = time.perf_counter()
    for seed in range(options.first, options.first + options.networks):
        check_network(seed, found)
    check_texts(options.texts, found)
    for what, times in sorted(found.items()):
        print(f"{times:8}  {what}")
    print(f"{time.perf_counter() - begin:8.0f}  seconds")


if __name__ == "__main__":
    main()
