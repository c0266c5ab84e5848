"""``python -m benchmarks.frontier``: accuracy against size, of newron and of rule learners.

Every learner is held to at most 3, 5, 8, 12 and 20 conditions on the folds of the other
comparisons; whatever is chosen is chosen on training rows. Trials are kept in a journal, first
split first, so that a run can be ended and gone on with.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Callable, Sequence
from importlib.util import find_spec
from pathlib import Path

import numpy as np

from benchmarks.folds import count_splits, load, make_split
from benchmarks.learner import limit_time
from benchmarks.report import Report, open_report
from benchmarks.sized import ENVIRONMENTS, SIZED, SIZES, SizedLearner
from benchmarks.trials import Journal, Record, Trial, run_trials, show_progress
from newron import datasets
from newron.evaluation.splits import make_folds
from newron.training.path import READABLE

OURS = "newron"
LEARNERS = {learner.name: learner for learner in SIZED}
MAX_SECONDS = 900  # of a trial, by the processor's time
FOLDS = 5
COLOURS = ("#1A5A96", "#C0504D", "#6B8E23", "#8064A2", "#D98E04", "#525F6C", "#2A9D8F")


# ---- trials ----


def list_trials(
    tables: Sequence[str], models: Sequence[str], n_splits: int, protocol: str
) -> list[Trial]:
    """Return the trials: the first split of all tables before the second, small tables first."""
    by_size = sorted(tables, key=lambda table: len(load(table)[0]))
    return [
        Trial(protocol, table, name, k)
        for k in range(n_splits)
        for table in by_size
        for name in models
        if k < min(count_splits(table, 1), LEARNERS[name].n_splits)
        and not (LEARNERS[name].only_two and load(table)[1].nunique() > 2)
    ]


def make_work(learner: SizedLearner, seed: int) -> Callable[[Trial], Record]:
    """Return what runs a trial."""

    def work(trial: Trial) -> Record:
        X, y = load(trial.table)
        train, test = (
            make_split(trial.table, trial.split)
            if seed == 0 or trial.table == "adult"
            else make_folds(y, FOLDS, seed)[trial.split]
        )
        with limit_time(MAX_SECONDS):
            found = learner.learn(X, y, (train, test))
        true = y.iloc[test].to_numpy()
        sizes = {
            name: [float(np.mean(each.classes.astype(true.dtype) == true)), each.size]
            for name, each in found.items()
        }
        best = sizes.get("best", max(sizes.values()))
        return {"accuracy": best[0], "sizes": sizes}

    return work


class Results:
    """What the journal has: accuracy and conditions by table, learner, split and size."""

    def __init__(self, journal: Journal, trials: Sequence[Trial]) -> None:
        self.found: dict[tuple[str, str, int], dict[str, list[float]]] = {
            (t.table, t.model, t.split): journal.records[t]["sizes"]
            for t in trials
            if "sizes" in journal.records.get(t, {})
        }
        self.tables = sorted({trial.table for trial in trials}, key=datasets.names().index)
        self.models = [m for m in LEARNERS if any(m == key[1] for key in self.found)]

    def list_splits(self, table: str, models: Sequence[str]) -> list[int]:
        """Return the splits of a table that all of these learners have."""
        splits = range(FOLDS)
        return [k for k in splits if all((table, m, k) in self.found for m in models)]

    def average(self, table: str, model: str, size: str, splits: Sequence[int]) -> float:
        """Return the mean accuracy on some splits."""
        return float(np.mean([self._get(table, model, k, size)[0] for k in splits]))

    def count(self, table: str, size: str) -> float:
        """Return how many lines newron has on a table: the median of its splits."""
        splits = self.list_splits(table, [OURS])
        return float(np.median([self._get(table, OURS, k, size)[1] for k in splits]))

    def compare(self, models: Sequence[str], size: str) -> tuple[list[float], int, int]:
        """Return mean accuracies over tables and splits that all have; how many these are."""
        shared = {table: self.list_splits(table, models) for table in self.tables}
        shared = {table: splits for table, splits in shared.items() if splits}
        means = [
            float(np.mean([self.average(t, m, size, splits) for t, splits in shared.items()]))
            for m in models
        ]
        return means, len(shared), sum(map(len, shared.values()))

    def _get(self, table: str, model: str, split: int, size: str) -> list[float]:
        found = self.found[table, model, split]
        return found.get(size) or found["default"]  # a network without a path


# ---- the page ----


def report_frontier(report: Report, results: Results) -> None:
    """Report means at each size, of each learner beside newron on the same rows."""
    report.add(
        "\n## Accuracy at each size\n\nMean accuracy in % over the tables and splits that both "
        "have, newron's first: a learner of two classes alone has fewer tables."
    )
    rows = []
    for other in results.models[1:]:
        cells, n_tables, n_splits = [], 0, 0
        for n in SIZES:
            (own, its), n_tables, n_splits = results.compare([OURS, other], str(n))
            cells.append(f"{100 * own:.1f} / {100 * its:.1f}")
        if n_tables:
            rows.append([f"newron / {other}", str(n_tables), str(n_splits), *cells])
    report.table(["", "tables", "splits", *map(str, SIZES)], rows)


def report_default(report: Report, results: Results) -> None:
    """Report what the default prints, and what it loses against the most accurate network."""
    report.add(
        '\n## The default against `size="best"`\n\nConditions (median of the splits) and accuracy '
        "in %, mean of the splits."
    )
    rows, losses, short, n_tables = [], [], 0, 0
    for table in results.tables:
        splits = results.list_splits(table, [OURS])
        if not splits:
            continue
        n_tables += 1
        sizes = [results.count(table, size) for size in ("default", "best")]
        scores = [results.average(table, OURS, size, splits) for size in ("default", "best")]
        losses.append(100 * (scores[1] - scores[0]))
        short += sizes[0] <= READABLE
        cells = [f"{sizes[0]:.0f}", f"{sizes[1]:.0f}", *(f"{100 * s:.1f}" for s in scores)]
        rows.append([table, str(len(splits)), *cells, f"{losses[-1]:+.1f}"])
    head = ["table", "splits", "default", "best", "accuracy", "of the best", "lost"]
    report.table(head, rows)
    if losses:
        error = np.std(losses, ddof=1) / np.sqrt(len(losses)) if len(losses) > 1 else np.nan
        report.add(
            f"At most {READABLE} lines on **{short} of {n_tables}** tables; in the mean "
            f"**{np.mean(losses):.2f}** points are lost (standard error over tables {error:.2f})."
        )


def draw(path: Path, results: Results) -> None:
    """Draw accuracy against size: all tables, and those of two classes."""
    import matplotlib as mpl

    mpl.use("Agg")
    import matplotlib.pyplot as plt

    plt.rcParams["svg.hashsalt"] = "newron"  # the same file from the same numbers
    several = [m for m in results.models if not LEARNERS[m].only_two]
    fields = {"all tables": several, "tables of two classes": results.models}
    fields = {k: m for k, m in fields.items() if results.compare(m, str(SIZES[0]))[1]}
    fig, axes = plt.subplots(1, len(fields), figsize=(5 * len(fields), 3.6), squeeze=False)
    for ax, (title, models) in zip(axes[0], fields.items(), strict=True):
        means = np.array([results.compare(models, str(n))[0] for n in SIZES])
        n_tables, n_splits = results.compare(models, str(SIZES[0]))[1:]
        for k, model in enumerate(models):
            own = model == OURS
            ax.plot(
                SIZES, 100 * means[:, k], "-o" if own else "--s", label=model, ms=6 if own else 4,
                color=COLOURS[list(LEARNERS).index(model)], lw=2.2 if own else 1.2,
            )  # fmt: skip
        ax.set_title(f"{title}: {n_tables}, {n_splits} splits", fontsize=10)
        ax.set_xticks(SIZES)
        ax.set_xlabel("conditions at most")
        ax.set_ylabel("accuracy, %")
        ax.spines[["top", "right"]].set_visible(False)
        ax.legend(fontsize=8, frameon=False)
    fig.tight_layout()
    fig.savefig(path, metadata={"Date": None})
    plt.close(fig)
    show_progress(f"written to {path}")


def report_how(report: Report, seed: int) -> None:
    """Describe how the comparison was made."""
    report.add(
        f"\nStratified 5-fold cross-validation (seed {seed}), adult on its official test part, the "
        "MONK's 432 inputs in folds. A condition is a question about a column: a line of a card, a "
        "part of a term, a split of a tree, an antecedent of a rule. Trees and FIGS read one-hot "
        "columns with medians for missing values; FasterRisk, GOSDT and CORELS read yes or no "
        "(categories, missing, nine quantiles of a number) of at most 5,000 rows, and two splits "
        "alone, since they take long.\n"
    )
    for learner in SIZED:
        report.add(f"- **{learner.name}**: {learner.how}.")


def find_absent(models: Sequence[str]) -> list[str]:
    """Return what these learners need and that is not installed."""
    needed = [LEARNERS[name] for name in models]
    packages = [each.package for each in needed if each.package and not find_spec(each.package)]
    names = [each.environment for each in needed if each.environment]
    return packages + [name for name in names if not (ENVIRONMENTS / name).is_dir()]


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the benchmark."""
    names, everyone = datasets.names(), list(LEARNERS)
    parser = argparse.ArgumentParser(prog="python -m benchmarks.frontier", description=__doc__)
    parser.add_argument("--tables", nargs="*", choices=names, default=names, metavar="TABLE",
                        help=f"some of {', '.join(names)}")  # fmt: skip
    parser.add_argument("--models", nargs="*", choices=everyone, default=everyone, metavar="MODEL",
                        help=f"some of {', '.join(everyone)}")  # fmt: skip
    parser.add_argument("--splits", type=int, default=FOLDS, choices=range(1, FOLDS + 1),
                        help="how many of the five folds")  # fmt: skip
    parser.add_argument("--seed", type=int, default=0, help="of the folds; 0 is that of the pages")
    parser.add_argument("--jobs", type=int, default=2, help="processes")
    parser.add_argument("--journal", type=Path, default=Path("docs/results/frontier.jsonl"),
                        help="where trials are kept")  # fmt: skip
    parser.add_argument("--write", metavar="FILE", type=Path, help="write the result as Markdown, "
                        "and the figure beside it as SVG")  # fmt: skip
    parser.add_argument("--as-it-is", action="store_true", help="run nothing: report what the "
                        "journal has")  # fmt: skip
    options = parser.parse_args(arguments)
    absent = [] if options.as_it_is else find_absent(options.models)
    if absent:
        parser.error(f"expected {', '.join(absent)}, got none; run scripts/install_frontier")
    protocol = "frontier" if options.seed == 0 else f"frontier {options.seed}"
    journal = Journal(options.journal)
    trials = list_trials(options.tables, options.models, options.splits, protocol)
    if not options.as_it_is:
        work = {name: make_work(LEARNERS[name], options.seed) for name in options.models}
        run_trials(trials, work, journal, options.jobs)
    report = open_report("Accuracy against size", parser, arguments,
                         ["numpy", "scikit-learn", "imodels", "wittgenstein"])  # fmt: skip
    results = Results(journal, trials)
    report_how(report, options.seed)
    if OURS in results.models:
        report_frontier(report, results)
        report_default(report, results)
        if options.write:
            figure = options.write.with_suffix(".svg")
            draw(figure, results)
            report.add(f"\n![Accuracy against size]({figure.name})")
    for trial in trials:
        error = journal.records.get(trial, {}).get("error")
        if error:
            report.add(f"- {trial.model} has no result on {trial.table}, {trial.split}: {error}")
    report.write(str(options.write) if options.write else None)
    return 0


if __name__ == "__main__":
    sys.exit(main())
