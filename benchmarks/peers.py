"""``python -m benchmarks.peers``: newron against today's readable models.

The folds and the journal are those of ``python -m benchmarks.paper``: a trial is run once
for both. Ranks, wins and tests are of accuracies; log loss, area under the ROC curve,
seconds and sizes stand beside them.
"""

from __future__ import annotations

import argparse
import math
import statistics
import sys
from collections.abc import Sequence
from dataclasses import dataclass, replace
from importlib.util import find_spec
from pathlib import Path

import numpy as np

from benchmarks.folds import MONKS, count_splits, load, name_original
from benchmarks.learner import Learner
from benchmarks.learners import LEARNERS
from benchmarks.paper_data import NOISY
from benchmarks.paper_trials import run_nested
from benchmarks.report import Report, open_report
from benchmarks.trials import Journal, Record, Trial, is_late, run_trials, show_progress
from newron import datasets
from newron.evaluation import Comparison, Ranking, compare_folds, compare_tables, rank_models

OURS = (
    "newron smooth",
    "newron heaviside",
    "newron sigmoid",
    "newron tanh-prod",
    "newron smooth short",
    "newron heaviside short",
)
LEFT_OUT = ("neural network",)  # of the paper's table alone


@dataclass(frozen=True)
class Results:
    """The results of the trials: records by table and model, in the order of the splits."""

    records: dict[tuple[str, str], list[Record]]
    tables: list[str]
    models: list[str]
    late: frozenset[tuple[str, str]] = frozenset()  # not done in the time that a fit may take

    def list_scores(self, table: str, model: str, what: str) -> np.ndarray:
        """Return a measure on each split; NaN where there is none."""
        found = self.records.get((table, model), [])
        return np.array([record.get(what, math.nan) for record in found], float)

    def pair_scores(self, table: str, first: str, second: str) -> list[np.ndarray]:
        """Return the accuracies of two models on the splits that both were run on."""
        scores = [self.list_scores(table, model, "accuracy") for model in (first, second)]
        return [values[: min(map(len, scores))] for values in scores]

    def average(self, table: str, model: str, what: str = "accuracy") -> float:
        """Return the mean of a measure over the splits; NaN where there is none."""
        values = self.list_scores(table, model, what)
        return float(np.mean(values)) if len(values) else math.nan

    @property
    def ours(self) -> list[str]:
        """The networks of newron that have results."""
        return [model for model in OURS if model in self.models]

    def list_shared(self) -> list[str]:
        """Return the tables on which every learner of several classes has a result."""
        others = [model for model in self.models if not LEARNERS[model].only_two]
        return [t for t in self.tables if all((t, model) in self.records for model in others)]

    def merit(self, table: str, model: str) -> float:
        """Return what a model is ranked by: its accuracy; see ``rank`` for where it has none."""
        if (table, model) in self.late:
            return math.inf
        score = self.average(table, model)
        return -math.inf if math.isnan(score) else score


def gather(journal: Journal, tables: Sequence[str], models: Sequence[str], repeats: int) -> Results:
    """Collect what the journal has."""
    records, late = {}, set()
    for table in tables:
        for model in models:
            trials = list_splits(table, model, repeats)
            known = [journal.records.get(trial, {}) for trial in trials]
            if all("accuracy" in record for record in known):
                records[table, model] = known
            elif any(is_late(record) for record in known):
                late.add((table, model))
    tried = [m for m in models if any((t, m) in records or (t, m) in late for t in tables)]
    return Results(records, list(tables), tried, frozenset(late))


def find_absent(models: Sequence[str]) -> list[str]:
    """Return the packages that these models need and that are not installed."""
    packages = dict.fromkeys(LEARNERS[model].package for model in models)
    return [name for name in packages if name and find_spec(name) is None]


def list_missing(journal: Journal, trials: Sequence[Trial]) -> dict[str, list[str]]:
    """Return the models that a table still waits for; what is late once is not tried again."""
    missing: dict[str, list[str]] = {}
    for trial in trials:
        if trial in journal.records or journal.is_late(trial):
            continue
        models = missing.setdefault(trial.table, [])
        if trial.model not in models:
            models.append(trial.model)
    return missing


# ---- tests ----


def rank(results: Results, models: Sequence[str]) -> Ranking:
    """Rank the models on each table.

    Who has no result is last; but who was not done in time is taken for the best, so that
    nobody gains by another's slowness.
    """
    return rank_models([[results.merit(t, model) for model in models] for t in results.tables])


def compare_means(results: Results, first: str, second: str) -> Comparison:
    """Compare the means of two models over the tables."""
    scores = [[results.average(t, model) for t in results.tables] for model in (first, second)]
    return compare_tables(*scores)


# ---- the page ----


def report_accuracy(report: Report, results: Results) -> None:
    """One row for each table, means over all and over the noisy ones, mean ranks."""
    report.add(
        "\n## Accuracy\n\nMean over the splits in %; – where a learner has no result. The means "
        "are over the tables on which all but RIPPER have one, which learns two classes alone."
    )
    rows = [
        [table, *(format_number(100 * results.average(table, m), 1) for m in results.models)]
        for table in [*results.tables, *(name_original(t) for t in results.tables if t in MONKS)]
    ]
    shared = results.list_shared()
    noisy = [table for table in shared if table in NOISY]
    for name, tables in ((f"mean, {len(shared)}", shared), (f"mean, {len(noisy)} noisy", noisy)):
        means = [np.mean([results.average(t, m) for t in tables]) for m in results.models]
        rows.append([name, *(format_number(100 * float(mean), 2) for mean in means)])
    report.table(["table", *results.models], rows)


def report_ranks(report: Report, results: Results, figure: Path | None) -> None:
    """Report mean ranks and the critical difference, and draw both."""
    report.add(
        "\n## Mean ranks\n\nBy accuracy on each table, 1 is best, equals have the mean; a "
        "learner that cannot do a table is last there, one that was not done in time is taken for "
        "the best. Friedman's test is of all being alike, Nemenyi's critical difference (CD) of "
        "which pairs of mean ranks differ, at 5 %."
    )
    readable = [m for m in results.models if LEARNERS[m].readable]
    peers = [m for m in readable if m not in OURS]
    fields = {f"{own} among the readable models": [own, *peers] for own in results.ours}
    fields |= {"All readable models": readable, "All": results.models}
    for title, models in fields.items():
        ranking = rank(results, models)
        means, cd = np.array(ranking.mean_ranks), ranking.critical_difference
        ordered = ", ".join(f"{models[i]} {means[i]:.2f}" for i in np.argsort(means))
        report.add(f"\n**{title}** (CD {cd:.2f}, Friedman p = {ranking.p_value:.2g}): {ordered}.")
        if figure is not None and models == readable:
            draw_ranks(figure, models, means, cd, len(results.tables))
            report.add(f"\n![Mean ranks of the readable models]({figure.name})")


def draw_ranks(path: Path, models: Sequence[str], means: np.ndarray, cd: float, n: int) -> None:
    """Draw mean ranks as dots, and how far from the best the critical difference reaches."""
    import matplotlib as mpl

    mpl.use("Agg")
    import matplotlib.pyplot as plt

    plt.rcParams["svg.hashsalt"] = "newron"  # the same file from the same numbers
    order = np.argsort(-means)
    fig, ax = plt.subplots(figsize=(7, 0.6 + 0.32 * len(models)))
    best = means.min()
    ax.axvspan(best, best + cd, color="#E8F1FA", zorder=0)
    for y, i in enumerate(order):
        own = models[i] in OURS
        colour = "#1A5A96" if own else "#525F6C"
        ax.plot(means[i], y, "o" if own else "s", color=colour, ms=7 if own else 5)
        ax.text(means[i] + 0.12, y, f"{means[i]:.1f}", va="center", fontsize=9, color=colour)
    ax.set_yticks(range(len(order)), [models[i] for i in order], fontsize=9)
    ax.set_xlim(1, len(models) + 0.5)
    ax.set_xlabel(f"mean rank over {n} tables (left is better; band: CD {cd:.2f} from the best)")
    for side in ("top", "right", "left"):
        ax.spines[side].set_visible(False)
    ax.tick_params(axis="y", length=0)
    fig.tight_layout()
    fig.savefig(path, metadata={"Date": None})
    plt.close(fig)
    show_progress(f"written to {path}")


def report_wins(report: Report, results: Results) -> None:
    """Report wins, ties and losses of each network against each peer, with a test over tables."""
    report.add(
        "\n## Wins, ties, losses\n\nTables on which the network is better / not "
        "significantly different / worse, by a t-test of the folds' paired differences at 5 % "
        "(variance corrected for overlapping training parts; tables with a single test part count "
        "as not different). p: Wilcoxon's signed-rank test of the tables' means, two-sided, not "
        "corrected for the number of peers."
    )
    peers = [model for model in results.models if model not in OURS]
    rows = []
    for peer in peers:
        row = [peer]
        for own in results.ours:
            signs = [
                compare_folds(*results.pair_scores(t, own, peer)).sign
                for t in results.tables
                if (t, peer) in results.records and (t, own) in results.records
            ]
            counts = " / ".join(str(signs.count(sign)) for sign in (1, 0, -1))
            found = compare_means(results, own, peer)
            mean = 100 * found.difference.value
            row.append(f"{counts}, {mean:+.1f}, p = {found.p_value:.2g}")
        rows.append(row)
    report.table(["against", *(f"{own} (mean difference)" for own in results.ours)], rows)


def report_rest(report: Report, results: Results) -> None:
    """Report the other measures, as medians or means over the tables."""
    report.add(
        "\n## Probabilities, seconds, sizes\n\nMeans of log loss (probabilities of at least 1e-6) "
        "and area under the ROC curve (one against all), over the tables on which all but RIPPER "
        "have a result; medians over a learner's own tables of the seconds of a fit (with its "
        "tuning) and of a prediction of the test part, on one thread, and of the size, as a "
        "person would count it."
    )
    rows, shared = [], results.list_shared()
    for name in results.models:
        learner: Learner = LEARNERS[name]
        known = [t for t in results.tables if (t, name) in results.records]
        if not known:
            continue
        loss, area = (
            float(np.mean([results.average(t, name, what) for t in shared]))
            for what in ("log_loss", "auc")
        )
        fit, predict, size = (
            statistics.median(results.average(t, name, what) for t in known)
            for what in ("fit_seconds", "predict_seconds", "size")
        )
        cells = [
            format_number(loss, 3),
            format_number(100 * area, 1),
            f"{fit:.2f}",
            f"{1000 * predict:.1f} ms",
            f"{size:.0f} {learner.counts}",
            str(len(known)),
        ]
        rows.append([name, *cells])
    head = ["", "log loss", "AUC", "fit, s", "predict", "size", "tables"]
    report.table(head, rows)


def report_how(report: Report, results: Results, repeats: int) -> None:
    """Describe how the comparison was made."""
    report.add(
        f"\nStratified 5-fold cross-validation, {repeats} × (seeds 0 to {repeats - 1}), the same "
        "folds for every learner; the MONK's 432 inputs in folds, and on their original parts "
        "below; adult on its official test part. Whatever is chosen is chosen on inner parts of "
        "the training rows. Networks, EBM and RIPPER read the raw columns, the others one-hot "
        "columns with medians for missing values.\n"
    )
    for name in results.models:
        learner = LEARNERS[name]
        kind = "readable" if learner.readable else "for reference"
        report.add(f"- **{name}** ({kind}): {learner.how}.")


def report_losses(report: Report, results: Results) -> None:
    """Name the tables on which each network loses most to the best readable peer."""
    report.add("\n## Where newron loses\n\nThe best readable peer is ahead of a network by:")
    peers = [m for m in results.models if LEARNERS[m].readable and m not in OURS]
    rows = []
    for table in results.tables:
        known = [model for model in peers if (table, model) in results.records]
        if not known:
            continue
        best = max(known, key=lambda model: results.merit(table, model))
        ahead = results.average(table, best)
        losses = [100 * (ahead - results.average(table, own)) for own in results.ours]
        if np.nanmin(losses) > 0:
            rows.append([table, best, *(format_number(loss, 1, sign="+") for loss in losses)])
    report.table(["table", "best peer", *results.ours], rows)
    if not rows:
        report.add("Nowhere: on every table a network is level with the best readable peer.")


def report_cost(report: Report, journal: Journal, trials: Sequence[Trial]) -> None:
    """Report what each learner's trials took, and by which code of newron."""
    spent: dict[str, float] = {}
    run = [(trial, journal.records[trial]) for trial in trials if trial in journal.records]
    for trial, record in run:
        spent[trial.model] = spent.get(trial.model, 0.0) + record["cpu_seconds"]
    minutes = ", ".join(f"{name} {seconds / 60:.0f}" for name, seconds in spent.items())
    codes = sorted({record["code"] for trial, record in run if trial.model in OURS})
    report.add(f"\nMinutes of one core: {minutes}. Code of newron (hash of its sources): "
               f"{', '.join(codes)}.")  # fmt: skip


def format_number(value: float, digits: int, sign: str = "") -> str:
    """Return a number, or a dash for none."""
    return "–" if math.isnan(value) else f"{value:{sign}.{digits}f}"


def list_trials(tables: Sequence[str], models: Sequence[str], repeats: int) -> list[Trial]:
    """Return all trials, tables with many rows first; those that cannot be are left out."""
    by_size = sorted(tables, key=lambda name: -len(load(name)[0]))
    return [
        trial
        for table in [*by_size, *(name_original(name) for name in tables if name in MONKS)]
        for model in models
        if not (LEARNERS[model].only_two and load(table)[1].nunique() > 2)
        for trial in list_splits(table, model, repeats)
    ]


def list_splits(table: str, model: str, repeats: int) -> list[Trial]:
    """Return the trials of a model on the splits of a table; slow learners repeat less."""
    repeats = min(repeats, LEARNERS[model].max_repeats)
    return [Trial("nested", table, model, k) for k in range(count_splits(table, repeats))]


def _make_parser() -> argparse.ArgumentParser:
    names = datasets.names()
    everyone = [name for name in LEARNERS if name not in LEFT_OUT]
    parser = argparse.ArgumentParser(prog="python -m benchmarks.peers", description=__doc__)
    parser.add_argument("--tables", nargs="*", choices=names, default=names, metavar="TABLE",
                        help=f"some of {', '.join(names)}")  # fmt: skip
    parser.add_argument("--models", nargs="*", choices=everyone, default=everyone, metavar="MODEL",
                        help=f"some of {', '.join(everyone)}")  # fmt: skip
    parser.add_argument("--repeats", type=int, default=1, help="of the five folds")
    parser.add_argument("--jobs", type=int, default=2, help="processes")
    parser.add_argument("--journal", type=Path, default=Path("docs/results/trials.jsonl"),
                        help="where trials are kept")  # fmt: skip
    parser.add_argument("--write", metavar="FILE", type=Path, help="write the result as Markdown, "
                        "and the figure beside it as SVG")  # fmt: skip
    parser.add_argument("--again", nargs="*", choices=everyone, default=[], metavar="MODEL",
                        help="run these anew, dropping their trials")  # fmt: skip
    parser.add_argument("--as-it-is", action="store_true", help="run nothing: report what the "
                        "journal has")  # fmt: skip
    return parser


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the benchmark."""
    parser = _make_parser()
    options = parser.parse_args(arguments)
    absent = [] if options.as_it_is else find_absent(options.models)
    if absent:  # else a trial would be kept with the error, and not be run again
        parser.error(f"expected {', '.join(absent)}, got none; run scripts/install_peers")
    journal = Journal(options.journal)
    journal.forget("nested", options.again)
    trials = list_trials(options.tables, options.models, options.repeats)
    if not options.as_it_is:
        run_trials(trials, dict.fromkeys(options.models, run_nested), journal, options.jobs)
    packages = ["numpy", "scikit-learn", "interpret-core", "imodels", "wittgenstein"]
    report = open_report("Peers", parser, arguments, packages)
    tables = [*options.tables, *(name_original(name) for name in options.tables if name in MONKS)]
    found = gather(journal, tables, options.models, options.repeats)
    missing = list_missing(journal, trials)
    results = replace(found, tables=[t for t in options.tables if t not in missing])
    report_how(report, results, options.repeats)
    for table, models in missing.items():
        report.add(f"- **{table}** is left out: not run to the end for {', '.join(models)}.")
    report_accuracy(report, results)
    report_ranks(report, results, options.write and options.write.with_suffix(".svg"))
    report_wins(report, results)
    report_losses(report, results)
    report_rest(report, results)
    failed = sorted({(t.table, t.model, journal.records[t]["error"]) for t in trials
                     if "error" in journal.records.get(t, {})})  # fmt: skip
    for table, model, error in failed:
        report.add(f"- {model} has no result on {table}: {error}")
    report_cost(report, journal, trials)
    report.write(str(options.write) if options.write else None)
    return 0


if __name__ == "__main__":
    sys.exit(main())
