"""``python -m benchmarks.peers``: newron against today's readable models, honestly.

The folds and the journal are those of ``python -m benchmarks.paper``: a trial is run once
for both. Ranks, wins and tests are of accuracies; log loss, area under the ROC curve,
seconds and sizes are told beside them.
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
from scipy import stats

from benchmarks.folds import MONKS, count_splits, load, name_original
from benchmarks.learners import LEARNERS, Learner
from benchmarks.paper import try_honest
from benchmarks.paper_data import NOISY
from benchmarks.report import Report, open_report
from benchmarks.trials import Journal, Record, Trial, is_late, run_trials, tell
from newron import datasets

OURS = ("newron smooth", "newron heaviside", "newron sigmoid", "newron tanh-prod")
LEFT_OUT = ("neural network",)  # of the paper's table alone
PACKAGES = {"EBM": "interpret", "FIGS": "imodels", "RuleFit": "imodels", "RIPPER": "wittgenstein"}
ALPHA = 0.05


@dataclass(frozen=True)
class Results:
    """What came of the trials: records by table and model, in the order of the splits."""

    records: dict[tuple[str, str], list[Record]]
    tables: list[str]
    models: list[str]
    late: frozenset[tuple[str, str]] = frozenset()  # not done in the time that a fit may take

    def give(self, table: str, model: str, what: str) -> np.ndarray:
        """Give a measure on each split; NaN where there is none."""
        found = self.records.get((table, model), [])
        return np.array([record.get(what, math.nan) for record in found], float)

    def average(self, table: str, model: str, what: str = "accuracy") -> float:
        """Give the mean of a measure over the splits; NaN where there is none."""
        values = self.give(table, model, what)
        return float(np.mean(values)) if len(values) else math.nan

    @property
    def ours(self) -> list[str]:
        """The networks of newron that have results."""
        return [model for model in OURS if model in self.models]

    def list_shared(self) -> list[str]:
        """Give the tables on which everyone has a result but who learns two classes alone."""
        others = [model for model in self.models if not LEARNERS[model].only_two]
        return [t for t in self.tables if all((t, model) in self.records for model in others)]

    def merit(self, table: str, model: str) -> float:
        """Give what a model is ranked by: its accuracy, or where it has none, see ``rank``."""
        if (table, model) in self.late:
            return math.inf
        score = self.average(table, model)
        return -math.inf if math.isnan(score) else score


def gather(journal: Journal, tables: Sequence[str], models: Sequence[str], repeats: int) -> Results:
    """Collect what the journal has."""
    records, late = {}, set()
    for table in tables:
        for model in models:
            trials = [Trial("honest", table, model, k) for k in range(count_splits(table, repeats))]
            known = [journal.records.get(trial, {}) for trial in trials]
            if all("accuracy" in record for record in known):
                records[table, model] = known
            elif any(is_late(record) for record in known):
                late.add((table, model))
    tried = [m for m in models if any((t, m) in records or (t, m) in late for t in tables)]
    return Results(records, list(tables), tried, frozenset(late))


def find_absent(models: Sequence[str]) -> list[str]:
    """Give the packages that these models need and that are not installed."""
    wanted = dict.fromkeys(PACKAGES[model] for model in models if model in PACKAGES)
    return [name for name in wanted if find_spec(name) is None]


def list_missing(journal: Journal, trials: Sequence[Trial]) -> dict[str, list[str]]:
    """Give the models that a table still waits for; what is late once is not tried again."""
    missing: dict[str, list[str]] = {}
    for trial in trials:
        if trial in journal.records or journal.is_late(trial):
            continue
        models = missing.setdefault(trial.table, [])
        if trial.model not in models:
            models.append(trial.model)
    return missing


# ---- tests ----


def rank(results: Results, models: Sequence[str]) -> np.ndarray:
    """Give the rank of each model on each table, of equals the mean.

    Who has no result is last; but who was not done in time is taken for the best, so that
    nobody gains by another's slowness.
    """
    merits = np.array([[results.merit(t, model) for model in models] for t in results.tables])
    return np.asarray(stats.rankdata(-np.round(merits, 9), axis=1))


def find_critical_difference(n_models: int, n_tables: int) -> float:
    """Give the difference of mean ranks that Nemenyi's test takes for real (Demšar 2006)."""
    q = stats.studentized_range.ppf(1 - ALPHA, n_models, np.inf) / math.sqrt(2)
    return float(q * math.sqrt(n_models * (n_models + 1) / (6 * n_tables)))


def compare_folds(ours: np.ndarray, theirs: np.ndarray) -> int:
    """Tell whether one is better than the other on a table: 1, -1, or 0 for neither.

    A t-test of the folds' differences with the variance that overlapping training parts
    want (Nadeau and Bengio 2003); a single test part is told by its sign alone as neither.
    """
    n = min(len(ours), len(theirs))
    if n < 2:
        return 0
    difference = ours[:n] - theirs[:n]
    deviation = np.std(difference, ddof=1) * math.sqrt(1.0 / n + 0.25)
    if deviation == 0.0:
        return int(np.sign(np.round(difference.mean(), 12)))
    p = 2.0 * stats.t.sf(abs(difference.mean()) / deviation, n - 1)
    return int(np.sign(difference.mean())) if p < ALPHA else 0


def test_tables(results: Results, ours: str, theirs: str) -> float:
    """Give the p-value of Wilcoxon's signed-rank test over the tables' means."""
    pairs = [(results.average(t, ours), results.average(t, theirs)) for t in results.tables]
    known = np.array([a - b for a, b in pairs if not math.isnan(a + b)])
    if len(known) < 2 or not np.any(np.abs(known) > 1e-12):
        return 1.0
    return float(stats.wilcoxon(np.round(known, 12)).pvalue)


# ---- telling ----


def report_accuracy(report: Report, results: Results) -> None:
    """One row for each table, means over all and over the noisy ones, mean ranks."""
    report.say(
        "\n## Accuracy\n\nMean over the splits in %; – where a learner has no result. The means "
        "are over the tables on which all but RIPPER have one, which learns two classes alone."
    )
    rows = [
        [table, *(tell_number(100 * results.average(table, m), 1) for m in results.models)]
        for table in [*results.tables, *(name_original(t) for t in results.tables if t in MONKS)]
    ]
    shared = results.list_shared()
    noisy = [table for table in shared if table in NOISY]
    for name, tables in ((f"mean, {len(shared)}", shared), (f"mean, {len(noisy)} noisy", noisy)):
        means = [np.mean([results.average(t, m) for t in tables]) for m in results.models]
        rows.append([name, *(tell_number(100 * float(mean), 2) for mean in means)])
    report.table(["table", *results.models], rows)


def report_ranks(report: Report, results: Results, figure: Path | None) -> None:
    """Tell mean ranks, the critical difference, and draw both."""
    report.say(
        "\n## Mean ranks\n\nBy accuracy on each table, 1 is best, equals share; a learner "
        "that cannot do a table is last there, one that was not done in time is taken for the "
        "best. Friedman's test asks whether all are alike, Nemenyi's "
        "critical difference (CD) which pairs of mean ranks are told apart at 5 %."
    )
    readable = [m for m in results.models if LEARNERS[m].readable]
    rivals = [m for m in readable if m not in OURS]
    fields = {f"{own} among the readable models": [own, *rivals] for own in results.ours}
    fields |= {"All readable models": readable, "All": results.models}
    for title, models in fields.items():
        ranks = rank(results, models)
        means = ranks.mean(axis=0)
        cd = find_critical_difference(len(models), len(results.tables))
        p = stats.friedmanchisquare(*ranks.T).pvalue if min(ranks.shape) > 2 else math.nan
        order = np.argsort(means)
        told = ", ".join(f"{models[i]} {means[i]:.2f}" for i in order)
        report.say(f"\n**{title}** (CD {cd:.2f}, Friedman p = {p:.2g}): {told}.")
        if figure is not None and models == readable:
            draw_ranks(figure, models, means, cd, len(results.tables))
            report.say(f"\n![Mean ranks of the readable models]({figure.name})")


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
    tell(f"written to {path}")


def report_wins(report: Report, results: Results) -> None:
    """Tell wins, ties and losses of each network against each rival, with a test over tables."""
    report.say(
        "\n## Wins, ties, losses\n\nTables on which the network is better / not told apart / "
        "worse, by a t-test of the folds' paired differences at 5 % (variance corrected for "
        "overlapping training parts; tables with a single test part count as not told apart). p: "
        "Wilcoxon's signed-rank test of the tables' means, two-sided, not corrected for the number "
        "of rivals."
    )
    rivals = [model for model in results.models if model not in OURS]
    rows = []
    for rival in rivals:
        row = [rival]
        for own in results.ours:
            verdicts = [
                compare_folds(results.give(t, own, "accuracy"), results.give(t, rival, "accuracy"))
                for t in results.tables
                if (t, rival) in results.records and (t, own) in results.records
            ]
            told = " / ".join(str(verdicts.count(v)) for v in (1, 0, -1))
            pairs = [(results.average(t, own), results.average(t, rival)) for t in results.tables]
            mean = np.nanmean([a - b for a, b in pairs])
            row.append(f"{told}, {100 * mean:+.1f}, p = {test_tables(results, own, rival):.2g}")
        rows.append(row)
    report.table(["against", *(f"{own} (mean difference)" for own in results.ours)], rows)


def report_rest(report: Report, results: Results) -> None:
    """Tell the other measures, as medians or means over the tables."""
    report.say(
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
            tell_number(loss, 3),
            tell_number(100 * area, 1),
            f"{fit:.2f}",
            f"{1000 * predict:.1f} ms",
            f"{size:.0f} {learner.counts}",
            str(len(known)),
        ]
        rows.append([name, *cells])
    head = ["", "log loss", "AUC", "fit, s", "predict", "size", "tables"]
    report.table(head, rows)


def report_how(report: Report, results: Results, repeats: int) -> None:
    """Tell how the comparison was made."""
    report.say(
        f"\nStratified 5-fold cross-validation, {repeats} × (seeds 0 to {repeats - 1}), the same "
        "folds for every learner; the MONK's 432 inputs in folds, and on their original parts "
        "below; adult on its official test part. Whatever is chosen is chosen on inner parts of "
        "the training rows. Networks, EBM and RIPPER read the raw columns, the others one-hot "
        "columns with medians in gaps.\n"
    )
    for name in results.models:
        learner = LEARNERS[name]
        kind = "readable" if learner.readable else "for reference"
        report.say(f"- **{name}** ({kind}): {learner.how}.")


def report_losses(report: Report, results: Results) -> None:
    """Name the tables on which each network loses most to the best readable rival."""
    report.say("\n## Where newron loses\n\nThe best readable rival is ahead of a network by:")
    rivals = [m for m in results.models if LEARNERS[m].readable and m not in OURS]
    rows = []
    for table in results.tables:
        known = [model for model in rivals if (table, model) in results.records]
        if not known:
            continue
        best = max(known, key=lambda model: results.merit(table, model))
        ahead = results.average(table, best)
        gaps = [100 * (ahead - results.average(table, own)) for own in results.ours]
        if np.nanmin(gaps) > 0:
            rows.append([table, best, *(tell_number(gap, 1, sign="+") for gap in gaps)])
    report.table(["table", "best rival", *results.ours], rows)
    if not rows:
        report.say("Nowhere: on every table a network is level with the best readable rival.")


def report_cost(report: Report, journal: Journal, trials: Sequence[Trial]) -> None:
    """Tell what each learner's trials took, and by which code of newron."""
    spent: dict[str, float] = {}
    run = [(trial, journal.records[trial]) for trial in trials if trial in journal.records]
    for trial, record in run:
        spent[trial.model] = spent.get(trial.model, 0.0) + record["cpu_seconds"]
    told = ", ".join(f"{name} {seconds / 60:.0f}" for name, seconds in spent.items())
    codes = sorted({record["code"] for trial, record in run if trial.model in OURS})
    report.say(f"\nMinutes of one core: {told}. Code of newron (hash of its sources): "
               f"{', '.join(codes)}.")  # fmt: skip


def tell_number(value: float, digits: int, sign: str = "") -> str:
    """Give a number, or a dash for none."""
    return "–" if math.isnan(value) else f"{value:{sign}.{digits}f}"


def list_trials(tables: Sequence[str], models: Sequence[str], repeats: int) -> list[Trial]:
    """Give all trials, tables with many rows first; those that cannot be are left out."""
    by_size = sorted(tables, key=lambda name: -len(load(name)[0]))
    return [
        Trial("honest", table, model, split)
        for table in [*by_size, *(name_original(name) for name in tables if name in MONKS)]
        for model in models
        if not (LEARNERS[model].only_two and load(table)[1].nunique() > 2)
        for split in range(count_splits(table, repeats))
    ]


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the benchmark."""
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
    parser.add_argument("--as-it-is", action="store_true", help="run nothing: tell what the "
                        "journal has")  # fmt: skip
    options = parser.parse_args(arguments)
    absent = [] if options.as_it_is else find_absent(options.models)
    if absent:  # else a trial would be kept with the error, and not be run again
        parser.error(f"expected {', '.join(absent)}, got none; run scripts/install_rivals")
    journal = Journal(options.journal)
    trials = list_trials(options.tables, options.models, options.repeats)
    if not options.as_it_is:
        run_trials(trials, dict.fromkeys(options.models, try_honest), journal, options.jobs)
    packages = ["numpy", "scikit-learn", "interpret-core", "imodels", "wittgenstein"]
    report = open_report("Peers", parser, arguments, packages)
    tables = [*options.tables, *(name_original(name) for name in options.tables if name in MONKS)]
    found = gather(journal, tables, options.models, options.repeats)
    missing = list_missing(journal, trials)
    results = replace(found, tables=[t for t in options.tables if t not in missing])
    report_how(report, results, options.repeats)
    for table, models in missing.items():
        report.say(f"- **{table}** is left out: not run to the end for {', '.join(models)}.")
    report_accuracy(report, results)
    report_ranks(report, results, options.write and options.write.with_suffix(".svg"))
    report_wins(report, results)
    report_losses(report, results)
    report_rest(report, results)
    failed = sorted({(t.table, t.model, journal.records[t]["error"]) for t in trials
                     if "error" in journal.records.get(t, {})})  # fmt: skip
    for table, model, error in failed:
        report.say(f"- {model} has no result on {table}: {error}")
    report_cost(report, journal, trials)
    report.write(str(options.write) if options.write else None)
    return 0


if __name__ == "__main__":
    sys.exit(main())
