"""Random networks, their rules, and certificates of both: a long run of what tests do shortly.

Every network gets rules; where these are proved, the second checker has accepted, and each of
five changes of the text is either refuted, with a row on which rules and network differ, or
proved by that checker to make no difference. Texts of rules are damaged, and must be read or
refused with a short error; so must files of every kind that is fuzzed.

    python -m benchmarks.proofs --write docs/results/proofs.md
"""

from __future__ import annotations

import argparse
import json
import random
import resource
import sys
import time
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path

import numpy as np

sys.path.insert(0, str(Path(__file__).parents[1] / "tests"))

from benchmarks.report import Report, open_report
from fuzz.runner import fuzz
from fuzz.targets import TARGETS
from newron.checker import check
from newron.checker.check import evaluate
from newron.errors import InputError, ModelError
from newron.model import Classes, Model
from newron.rules import Proof, RuleSet, prove
from newron.rules.circuit import read_circuit
from newron.rules.extraction import extract
from rules.mutations import mutate
from rules.networks import Wishes, make_model, make_rows, make_table
from rules.test_limits import damage

KINDS = {
    "any": Wishes(),
    "sums that float64 rounds": Wishes(rounded=True),
    "three layers, six columns": Wishes(most_columns=6, depth=3, odd=0.0),
    "four layers": Wishes(depth=4),
    "ten to thirty columns": Wishes(most_columns=30, least_columns=10, odd=0.0),
    "sum in every layer": Wishes(aggregations=("sum",), last=("sum",)),
    "mean in every layer": Wishes(aggregations=("mean",), last=("mean",)),
    "min and max in every layer": Wishes(aggregations=("min", "max"), last=("min", "max")),
    "product in every layer": Wishes(aggregations=("product",), last=("product",)),
    "categories alone": Wishes(kinds=("category",)),
    "missing values in training": Wishes(gaps=0.9),
    "columns that are never missing": Wishes(gaps=0.0, required=0.9),
    "twelve classes": Wishes(outputs=("many",), classes=12),
    "regression": Wishes(outputs=("amounts",)),
    "regression, sums that float64 rounds": Wishes(outputs=("amounts",), rounded=True),
    "cards of whole points": Wishes(depth=1, last=("sum",), outputs=("binary",), card=True),
    "ordered classes": Wishes(outputs=("ordered",)),
    "ordered classes by whole points": Wishes(
        depth=1, last=("sum",), outputs=("ordered",), card=True
    ),
    "several labels": Wishes(outputs=("labels",)),
    "hazards of survival": Wishes(kinds=("real", "whole"), outputs=("hazards",)),
    "names and labels like rules": Wishes(hostile=True),
}
CHANGES = ("shift", "negate", "count", "drop", "outcome")
MOST_SECONDS, MOST_MEMORY, LONGEST_ERROR = 10.0, 1 << 30, 1000


@dataclass
class Tally:
    """What was found, and the longest operation."""

    networks: Counter[tuple[str, str]] = field(default_factory=Counter)
    traits: Counter[str] = field(default_factory=Counter)
    changes: Counter[tuple[str, str]] = field(default_factory=Counter)
    texts: Counter[str] = field(default_factory=Counter)
    open: list[str] = field(default_factory=list)  # what was neither proved nor refuted
    slowest: tuple[float, str] = (0.0, "")

    @contextmanager
    def clock(self, what: str) -> Iterator[None]:
        """Keep the processor time of an operation, if none took longer; none may take 10 s."""
        begin = time.process_time()
        yield
        seconds = time.process_time() - begin
        self.slowest = max(self.slowest, (seconds, what))
        if seconds > MOST_SECONDS:
            raise AssertionError(f"{what} took {seconds:.1f} s")


# ---- networks ----


def check_network(seed: int, tally: Tally) -> None:
    """Extract, prove, certify, and change the rules of one network."""
    kind = list(KINDS)[seed % len(KINDS)]
    model = make_model.__wrapped__(seed, KINDS[kind])
    tally.traits.update(list_traits(model))
    rules = extract_rules(seed, model, kind, tally)
    with tally.clock(f"the proof of network {seed}"):
        proof = rules.proof
    if proof.equal is False:
        raise AssertionError(f"seed {seed}: rules that are refuted\n{rules}")
    text = rules.to_text(notes=False)
    if proof:
        check_again(text, model, proof)
        check_rows(seed, model, rules)
    else:
        tally.open.append(f"network {seed} ({kind}): {proof.note}")
    tally.networks[kind, describe(proof)] += 1
    made = mutate(text, model, seed)
    for change in CHANGES:
        found = "none to make"
        if change in made:
            found = check_change(seed, model, change, made[change], tally)
        tally.changes[change, found] += 1


def extract_rules(seed: int, model: Model, kind: str, tally: Tally) -> RuleSet:
    """Return the rules in one of the forms; if/then where no points equal rounded sums."""
    forms = ["shortest", "points"] if isinstance(model.output, Classes) else ["points"]
    form = forms[seed // len(KINDS) % len(forms)]
    with tally.clock(f"the rules of network {seed}"):
        try:
            return extract(model, form=form, seconds=1.0)
        except ModelError as error:
            if "no points have the same" not in str(error):
                raise
            tally.networks[kind, "no points equal"] += 1
            return extract(model, form="rules", seconds=1.0)


def describe(proof: Proof) -> str:
    """Return what was proved of a network, as a column of the page."""
    if not proof:
        return "not proved"
    if proof.covers == ("target",):
        return "target, within rounding" if proof.within else "target"
    return "class alone" if proof.covers == ("class",) else "class and score"


def check_again(text: str, model: Model, proof: Proof) -> None:
    """Give the checker what one has who was sent rules, model file and certificate as JSON."""
    document, certificate = json.loads(json.dumps([model.to_dict(), proof.certificate]))
    check(text, document, certificate)


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


def check_change(seed: int, model: Model, change: str, text: str, tally: Tally) -> str:
    """Prove a changed text: what is refuted must differ, what is proved must not."""
    with tally.clock(f"the proof of network {seed} after {change}"):
        proof = prove(text, model)
    if proof.equal is False:
        check_refutation(seed, text, model, proof)
        return "refuted"
    if proof:
        check_again(text, model, proof)
        check_rows(seed, model, RuleSet.parse(text, model))
        return "proved harmless"
    tally.open.append(f"network {seed}, {change}: {proof.note}")
    return "neither"


def check_refutation(seed: int, text: str, model: Model, proof: Proof) -> None:
    """Ask rules, network and second checker whether they differ on the row that is named."""
    values = list((proof.counterexample or {}).values())
    row = np.array([[np.nan if v is None else v for v in values]], object)
    said = proof.predicted  # of labels the sums, where the labels are the same
    if isinstance(model.output, Classes):
        said = RuleSet.parse(text, model).predict(row), model.predict(row)
    codes = [None if np.isnan(x) else float(x) for x in model.read(row)[0]]
    rules, network = evaluate(text, model.to_dict(), codes)
    if said is None or np.array_equal(*said) or rules == network:
        raise AssertionError(f"seed {seed}: refuted by a row on which they agree\n{text}")


def list_traits(model: Model) -> list[str]:
    """Return what kind of network it is, as lines of the page."""
    columns, output, last = model.schema.columns, model.output, model.layers[-1]
    n = len(output.labels) if isinstance(output, Classes) else output.n_scores
    noun = "classes" if isinstance(output, Classes) else "targets" if n > 1 else "target"
    hidden = sorted({str(layer.aggregation) for layer in model.layers[:-1]})
    found = {
        f"layers: {len(model.layers)}": True,
        f"output: {n} {noun}": True,
        f"last layer: {last.aggregation}": True,
        **{f"a hidden layer: {name}": True for name in hidden},
        "columns: some of categories": any(c.categories is not None for c in columns),
        "columns: some with missing values in training": any(c.gaps for c in columns),
        "columns: some never missing": any(c.required for c in columns),
        "cards: whole points": isinstance(output, Classes) and output.in_points,
        "sums: rounded by float64": not read_circuit(model).exact,
    }
    return [name for name, true in found.items() if true]


# ---- texts ----


def check_texts(number: int, tally: Tally) -> None:
    """Damage texts of rules, and read them."""
    rng = random.Random(0)
    kinds = list(KINDS.values())
    made = [make_model(k, kinds[k % len(kinds)]) for k in range(300)]
    texts = [extract(model, seconds=1.0).to_text() for model in made]
    for k in range(number):
        text = damage(rng, texts[k % 300])
        with tally.clock(f"damaged text {k}"):
            tally.texts[read_text(text, made[k % 300])] += 1


def read_text(text: str, model: Model) -> str:
    """Return whether a damaged text was read or refused."""
    try:
        prove(text, model, seconds=1.0)
        RuleSet.parse(text, model)
    except InputError as error:
        if len(str(error)) > LONGEST_ERROR or "\n" in str(error):
            raise AssertionError(f"an error without end: {error}") from None
        return "refused with one short error"
    return "read as other rules, and compared with the network"


# ---- the page ----


def write_page(report: Report, tally: Tally, options: argparse.Namespace) -> None:
    """Write what was found."""
    report.add(f"\nSeeds {options.first} to {options.first + options.networks - 1}.\n")
    report.add(
        "Each network gets rules, in turn the shortest and points. The certificate of their proof, "
        "the model's file and the text go through JSON to `newron.checker`, which must accept; "
        "rules and network are compared on up to 200 rows at all edges."
    )
    outcomes = "class and score", "class alone", "target", "target, within rounding", "not proved"
    write_counts(report, "kind", list(KINDS), outcomes, tally.networks)
    unequal = sum(n for (_, what), n in tally.networks.items() if what == "no points equal")
    report.add(
        f"{unequal} networks were asked for points and have none: float64 rounds their sums so "
        "that the class depends on the order of the additions, as no exact points do. Their "
        "if/then rules are in the table; `form='points'` is refused with that reason."
    )
    write_numbers(report, "networks with", tally.traits)
    report.add(
        "Five changes of each text. A refutation names a row, for which rules, network and checker "
        "are asked again; of a change that makes no difference the checker accepts a certificate."
    )
    found = "refuted", "proved harmless", "neither", "none to make"
    write_counts(report, "change", CHANGES, found, tally.changes)
    for line in tally.open:
        report.add(f"- {line}")
    write_numbers(report, "damaged texts", tally.texts)


def write_numbers(report: Report, head: str, counts: Counter[str]) -> None:
    """Write how often each of some things was found."""
    report.table([head, "number"], [[what, f"{n:,}"] for what, n in sorted(counts.items())])


def write_counts(
    report: Report,
    head: str,
    rows: Sequence[str],
    columns: Sequence[str],
    counts: Counter[tuple[str, str]],
) -> None:
    """Write how often each of some things was found, with totals."""
    lines = [[row, *(f"{counts[row, column]:,}" for column in columns)] for row in rows]
    totals = [sum(counts[row, column] for row in rows) for column in columns]
    report.table([head, *columns], [*lines, ["all", *(f"{n:,}" for n in totals)]])


def write_fuzz(report: Report, mutants: int) -> bool:
    """Damage files of every kind, and write how many did harm; return whether none did."""
    report.add(f"{mutants:,} damaged inputs of each kind, each within 10 s and 1 GB (`make fuzz`):")
    found = {name: fuzz(name, mutants) for name in TARGETS}
    report.table(["mutants of", "findings"], [[name, str(len(f))] for name, f in found.items()])
    return not any(found.values())


def measure_memory() -> int:
    """Return the most bytes that this process has had."""
    return 1024 * resource.getrusage(resource.RUSAGE_SELF).ru_maxrss


def run_all(options: argparse.Namespace, show: Callable[[str], None]) -> Tally:
    """Check networks and texts."""
    tally = Tally()
    for k in range(options.networks):
        check_network(options.first + k, tally)
        if (k + 1) % 500 == 0:
            show(f"{k + 1} networks")
    check_texts(options.texts, tally)
    return tally


def main() -> None:
    """Run, and write the page; fail if anything was found that must not be."""
    parser = argparse.ArgumentParser(
        prog="python -m benchmarks.proofs", description=__doc__.splitlines()[0]
    )
    parser.add_argument("--networks", type=int, default=5000)
    parser.add_argument("--texts", type=int, default=10_000)
    parser.add_argument("--mutants", type=int, default=10_000, help="of each kind of file")
    parser.add_argument("--first", type=int, default=0, help="the seed of the first network")
    parser.add_argument("--write", metavar="PAGE", help="a Markdown file")
    options = parser.parse_args()
    report = open_report("Rules and their proofs", parser, None, ["numpy", "python-sat"])
    tally = run_all(options, lambda line: print(line, file=sys.stderr, flush=True))
    write_page(report, tally, options)
    harmless = write_fuzz(report, options.mutants) if options.mutants else True
    memory = measure_memory()
    seconds, what = tally.slowest
    report.add(f"The slowest operation was {what}: {seconds:.1f} s of processor time.")
    report.add(f"The process never had more than {memory / 2**20:.0f} MB.")
    report.write(options.write)
    if memory > MOST_MEMORY or not harmless:
        sys.exit("more memory than 1 GB, or mutants that did harm")


if __name__ == "__main__":
    main()
