"""``python -m benchmarks.rules``: accuracy and length of rules, beside other learners'.

``monk2`` counts over seeds how often the rule of MONK-2 is found. ``tables`` compares
accuracy and literals with a decision tree, FIGS and RIPPER on the paper's tables, on the
same rows. ``time`` measures how long it takes to read Heaviside networks and to prove it.
"""

from __future__ import annotations

import argparse
import pickle
import statistics
import sys
import time
from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path

from benchmarks.report import Report, open_report
from benchmarks.rule_learners import RULE_LEARNERS, describe_rule_learners
from benchmarks.rule_trials import (
    SEED,
    SHORT,
    VARIANTS,
    Outcome,
    Reading,
    Settings,
    Table,
    try_table,
)
from benchmarks.tables import show_progress
from newron import NewronClassifier, datasets
from newron.demo import load_training_rows, make_monk2
from newron.rules import RuleSet

PARTS = ("monk2", "tables", "time")
MONK2 = "exactly 2 of [x1 = 1; x2 = 1; x3 = 1; x4 = 1; x5 = 1; x6 = 1]"
GOAL_SEEDS, GOAL_TABLES, GOAL_SECONDS = 0.95, 15, 10.0


# ---- MONK-2 ----


def report_monk2(report: Report, n_seeds: int, jobs: int) -> None:
    """Count how often the rule of MONK-2 is found."""
    everything = make_monk2()
    report.add(
        f'\n## MONK-2, seeds 0 to {n_seeds - 1}\n\n`NewronClassifier("heaviside", '
        'random_state=seed)`, the default recipe. "Found": `rules()` are one rule, '
        f"`If {MONK2}`, 6 literals, proved equal to the network. "
        f"Goal: {GOAL_SEEDS:.0%} with 432 rows."
    )
    rows = []
    for name, (X, y) in (("432", everything), ("169", load_training_rows())):
        solved, found, literals, begin = 0, 0, [], time.perf_counter()
        for seed in range(n_seeds):
            model = NewronClassifier("heaviside", random_state=seed, n_jobs=jobs).fit(X, y)
            rules = model.rules()
            right = bool((rules.predict(everything[0]) == everything[1]).all())
            solved += right
            found += is_monk2(rules)
            literals.append(rules.n_literals)
            if not right:
                show_progress(f"monk2, {name} rows, seed {seed}: {rules!r} is not right on all 432")
        seconds = (time.perf_counter() - begin) / n_seeds
        cells = [f"{solved} of {n_seeds}", f"{found} of {n_seeds}"]
        cells += [f"{statistics.mean(literals):.1f}", f"{max(literals)}", f"{seconds:.2f}"]
        rows.append([name, *cells])
    head = ["training rows", "right on all 432", "found", "literals, mean", "most", "seconds each"]
    report.table(head, rows)


def is_monk2(rules: RuleSet) -> bool:
    """Return whether rules are those of MONK-2, and proved."""
    first = rules.to_text(notes=False).splitlines()[0]
    return first == f"If {MONK2}, then class 1" and rules.n_literals == 6 and bool(rules.proof)


# ---- accuracy and literals ----


def report_tables(report: Report, tables: Sequence[Table], settings: Settings) -> None:
    """One row for each table, and on how many newron is as accurate and shorter."""
    report.add(
        "\n## Accuracy and literals\n\n"
        f'`NewronClassifier("heaviside", random_state={SEED}, n_jobs={settings.jobs})`, the '
        "default recipe, and the same pruned on its training rows, "
        f"`prune(X, y, tolerance={settings.tolerance:g})`, on raw frames with categories and "
        "missing values. *Short* is the same with "
        f'`prune(X, y, tolerance={SHORT:g}, criterion="score")`: the fewest literals whose '
        "accuracy in inner folds is not below the best one's by more than so many standard "
        "errors of the difference. Nothing is chosen by test rows. "
        "The MONK's and adult on their official parts, the others in "
        f"{settings.folds} stratified folds (seed {SEED}), the same for all. Accuracy in %, of "
        "newron's rules as `rules().predict` follows them, not of the network. Literals: "
        "`rules().n_literals`, conditions on one column as printed, a group that is named and "
        "used again once more. Means over the folds."
    )
    report.add(f"\n{describe_rule_learners()}")
    models = list(tables[0].outcomes)
    counts = {learner.name: learner.counts for learner in RULE_LEARNERS}
    head = ["table", "rows", "classes"]
    for model in models:
        head += [model, *counts.get(model, ("literals",))]
    rows = []
    for table in tables:
        n_rows = sum(map(len, table.splits[0]))
        row = [table.name, str(n_rows), str(table.y.nunique())]
        for model in models:
            row += list_cells(table.outcomes[model], len(counts.get(model, (1,))))
        rows.append(row)
    report.table(head, rows)
    for variant in VARIANTS:
        report_against_tree(report, tables, variant)
    report_summary(report, tables)


def list_cells(outcome: Outcome | str, n_sizes: int) -> list[str]:
    """Return accuracy and sizes, or why there are none."""
    if isinstance(outcome, str):
        return [outcome, *[""] * n_sizes]
    sizes = [f"{outcome.measure(k):.1f}" for k in range(n_sizes)]
    return [f"{100 * outcome.accuracy:.1f}", *sizes]


@dataclass(frozen=True)
class Verdict:
    """Newron's rules against the tree on one table."""

    difference: float
    error: float
    literals: float
    tree: tuple[float, float]  # splits, rule literals

    @property
    def accurate(self) -> tuple[bool, bool]:
        """Whether it is as accurate, and whether within one standard error."""
        return self.difference >= -1e-12, self.difference >= -self.error - 1e-12

    @property
    def shorter(self) -> tuple[bool, bool]:
        """Whether it has fewer literals than splits, and than rule literals."""
        return self.literals < self.tree[0], self.literals < self.tree[1]


def compare_with_tree(table: Table, variant: str) -> Verdict | None:
    """Compare with the tree; None where there is nothing to compare."""
    ours, tree = table.outcomes[variant], table.outcomes["tree"]
    if isinstance(ours, str) or isinstance(tree, str):
        return None
    difference, error = ours.compare(tree)
    return Verdict(difference, error, ours.measure(0), (tree.measure(0), tree.measure(1)))


def report_against_tree(report: Report, tables: Sequence[Table], variant: str) -> None:
    """Compare with the tree on each table: accuracy and length."""
    compared = [(table.name, compare_with_tree(table, variant)) for table in tables]
    if not any(verdict for _, verdict in compared):
        return
    report.add(
        f"\n### {variant} against the tree\n\nThe difference of the accuracies in points, ± the "
        "standard error of the paired differences of the folds (of the rows, where there is one "
        "test part)."
    )
    rows = [
        [
            name,
            f"{round(100 * v.difference, 2) + 0.0:+.2f} ± {100 * v.error:.2f}",
            *("yes" if yes else "no" for yes in v.accurate),
            f"{v.literals:.1f}",
            *(
                f"{n:.1f} {'yes' if less else 'no'}"
                for n, less in zip(v.tree, v.shorter, strict=True)
            ),
        ]
        for name, v in compared
        if v is not None
    ]
    head = ["table", "difference", "≥ tree", "≥ within error", "literals", "splits: fewer?",
            "rule literals: fewer?"]  # fmt: skip
    report.table(head, rows)


def report_summary(report: Report, tables: Sequence[Table]) -> None:
    """Count the tables on which newron is as accurate as the tree and shorter."""
    report.add(
        f"\n### Summary\n\nOf {len(tables)} tables, the number on which newron is as accurate as "
        "the tree, has fewer literals, and both. "
        f"Goal: both on at least {GOAL_TABLES} of {len(datasets.names())}."
    )
    rows = []
    for variant in VARIANTS:
        verdicts = [v for table in tables if (v := compare_with_tree(table, variant)) is not None]
        for a, accuracy in enumerate(("equal or better", "within one standard error")):
            for s, size in enumerate(("splits", "rule literals")):
                accurate = sum(v.accurate[a] for v in verdicts)
                shorter = sum(v.shorter[s] for v in verdicts)
                both = sum(v.accurate[a] and v.shorter[s] for v in verdicts)
                rows.append([variant, accuracy, size, str(accurate), str(shorter), str(both)])
    head = ["", "accuracy", "tree counted by", "as accurate", "fewer literals", "both"]
    report.table(head, rows)


# ---- time ----


def report_time(report: Report, tables: Sequence[Table]) -> None:
    """Report how long reading and proving take."""
    report.add(
        "\n## Seconds of reading and of proof\n\nOf the Heaviside networks above: the longest of "
        "extraction and minimisation (`rules()`), of proof, and of both together; how many were "
        "proved equal, by which method; on how many test rows network and rules predict "
        "different classes (values outside of the domain for which rules are proved). "
        f"Goal: each network of the default recipe read and proved within {GOAL_SECONDS:g} s."
    )
    notes = []
    for variant in VARIANTS:
        rows, slowest, proved, total = [], (0.0, ""), 0, 0
        for table in tables:
            readings = table.readings.get(variant)
            if not readings:
                continue
            rows.append([table.name, *list_times(readings)])
            slowest = max(slowest, (max(r.total for r in readings), table.name))
            proved += sum(bool(r.proof) for r in readings)
            total += len(readings)
            notes += [
                f"{variant}, {table.name}, split {k}: {r.proof}"
                for k, r in enumerate(readings)
                if not r.proof
            ]
        if not rows:
            continue
        report.add(f"\n### {variant}")
        head = ["table", "networks", "forms", "literals", "fit", "extraction", "proof", "both",
                "methods", "proved", "rows that differ"]  # fmt: skip
        report.table(head, rows)
        held = "held" if slowest[0] <= GOAL_SECONDS and proved == total else "missed"
        report.add(
            f"{proved} of {total} proved; the slowest takes {slowest[0]:.1f} s ({slowest[1]}). "
            f"Goal {held}."
        )
    for note in notes:
        report.add(f"- {note}")


def list_times(readings: Sequence[Reading]) -> list[str]:
    """Return the cells of a row."""
    return [
        str(len(readings)),
        tally(r.form for r in readings),
        f"{min(r.literals for r in readings)}–{max(r.literals for r in readings)}",
        f"{statistics.mean(r.fit_seconds for r in readings):.1f}",
        f"{max(r.seconds for r in readings):.2f}",
        f"{max(r.proof.seconds for r in readings):.2f}",
        f"{max(r.total for r in readings):.2f}",
        tally(r.proof.method for r in readings),
        f"{sum(bool(r.proof) for r in readings)}",
        str(sum(r.differ for r in readings)),
    ]


def tally(words: Iterable[str]) -> str:
    """Count words."""
    return ", ".join(f"{word} {n}" for word, n in Counter(words).most_common())


# ---- all ----


def recall(folder: Path | None, name: str, settings: Settings, run: Callable[[], Table]) -> Table:
    """Return what is kept of a table, or run it and keep it."""
    if folder is None:
        return run()
    file = folder / f"{name}.pickle"
    if file.exists():
        kept_settings, table = pickle.loads(file.read_bytes())
        if kept_settings == settings:
            show_progress(f"{name}: kept from before")
            return table
    table = run()
    folder.mkdir(parents=True, exist_ok=True)
    file.write_bytes(pickle.dumps((settings, table)))
    return table


def read_parts(text: str) -> list[str]:
    """Read the parts to run."""
    parts = text.split(",")
    if not set(parts) <= set(PARTS):
        raise argparse.ArgumentTypeError(f"expected some of {','.join(PARTS)}, got {text}")
    return parts


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the benchmark."""
    names = datasets.names()
    parser = argparse.ArgumentParser(prog="python -m benchmarks.rules", description=__doc__)
    parser.add_argument("--tables", nargs="*", choices=names, default=names, metavar="TABLE",
                        help=f"some of {', '.join(names)}")  # fmt: skip
    parser.add_argument("--parts", type=read_parts, default=list(PARTS), metavar="PART,...",
                        help=f"what to run: {','.join(PARTS)}")  # fmt: skip
    parser.add_argument("--folds", type=int, default=5, help="folds of a table")
    parser.add_argument("--seeds", type=int, default=100, help="seeds of the monk2 part")
    parser.add_argument("--jobs", type=int, default=2, help="threads of newron")
    parser.add_argument("--tolerance", type=float, default=1.0, help="of prune, standard errors")
    parser.add_argument("--rows", type=int, help="rows of a part at most, for a quick try")
    parser.add_argument("--keep", metavar="FOLDER", type=Path,
                        help="keep each table's results here, and go on from them")  # fmt: skip
    parser.add_argument("--write", metavar="FILE", help="write the result as Markdown")
    options = parser.parse_args(arguments)
    packages = ["numpy", "pandas", "scikit-learn", "python-sat", "imodels", "wittgenstein"]
    report = open_report("Rules", parser, arguments, packages)
    if "monk2" in options.parts:
        report_monk2(report, options.seeds, options.jobs)
    compared = "tables" in options.parts
    if compared or "time" in options.parts:
        settings = Settings(
            options.folds, options.rows, options.jobs, options.tolerance, prune=compared
        )
        learners = RULE_LEARNERS if compared else ()
        tables = [
            recall(options.keep, name, settings, lambda n=name: try_table(n, learners, settings))
            for name in options.tables
        ]
        if compared:
            report_tables(report, tables, settings)
        if "time" in options.parts:
            report_time(report, tables)
    report.write(options.write)
    return 0


if __name__ == "__main__":
    sys.exit(main())
