"""``python -m benchmarks.study``: what depth, width, M, start and learning rate do.

The paper leaves open how the shape of a network and its training decide accuracy and size. Here
one thing at a time is changed from a base network, which is trained by gradients alone
(``recipe="gradient"``, one start): on the paper's tables, on one half of the rows, tested on the
other; and on functions of known complexity, where a network with few wide layers stands beside one
with many narrow ones of as many neurons. Trials are kept in a journal and never run twice.
"""

from __future__ import annotations

import argparse
import sys
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cache, partial
from pathlib import Path
from typing import Any

import numpy as np
from sklearn.model_selection import train_test_split

from benchmarks.report import Report, open_report
from benchmarks.trials import Journal, Record, Trial, run_trials
from newron import NewronClassifier, datasets
from newron.training.pruning import count_literals

PROCESSING = ("heaviside", "sigmoid", "tanh_prod")
BASE: dict[str, Any] = {
    "hidden_layer_sizes": (8,), "recipe": "gradient", "n_init": 1, "random_state": 0, "n_jobs": 1,
    "max_iter": 200,
}  # fmt: skip
MAX_ROWS = 2_000  # of a table, before it is split
N_SEEDS = 3  # of the functions of known complexity


@dataclass(frozen=True)
class Question:
    """One thing that is changed, and its values."""

    name: str
    values: dict[str, dict[str, Any]]
    functions: tuple[str, ...] = PROCESSING


def vary(setting: str, values: Sequence[Any]) -> dict[str, dict[str, Any]]:
    """Return the settings of a question about one parameter, by the values' text."""
    return {str(value): {setting: value} for value in values}


QUESTIONS = (
    Question("depth", {str(n): {"hidden_layer_sizes": (8,) * n} for n in range(4)}),
    Question("width", {str(n): {"hidden_layer_sizes": (n,)} for n in (2, 4, 8, 16, 32)}),
    Question("M", vary("n_factors", (1, 2, 3, 4)), ("tanh_prod",)),
    Question("functions per input", vary("functions_per_input", (1, 2, 3))),
    Question("learning rate", vary("learning_rate_init", (0.01, 0.03, 0.1, 0.3))),
    Question("seed of the start", vary("random_state", (0, 1, 2, 3))),
    Question("starts", vary("n_init", (1, 3, 10))),
)
SHAPES = {
    **{f"1 × {n}": (n,) for n in (4, 8, 16)},
    **{f"{n} × 4": (4,) * n for n in (2, 4)},
}


# ---- functions of known complexity ----


def make_parity(n: int, rng: np.random.Generator) -> tuple[np.ndarray, np.ndarray]:
    """Return rows of bits, six of them, and whether the first n have an odd sum."""
    X = rng.integers(0, 2, (600, 6)).astype(float)
    return X, X[:, :n].sum(axis=1) % 2


def make_count(n: int, rng: np.random.Generator) -> tuple[np.ndarray, np.ndarray]:
    """Return rows of bits and whether exactly n of them are 1."""
    X = rng.integers(0, 2, (600, 8)).astype(float)
    return X, (X.sum(axis=1) == n).astype(float)


def make_board(n: int, rng: np.random.Generator) -> tuple[np.ndarray, np.ndarray]:
    """Return points of the unit square and the colour of their field on an n × n board."""
    X = rng.uniform(0, 1, (1000, 2))
    return X, (X * n).astype(int).sum(axis=1) % 2.0


def make_rings(n: int, rng: np.random.Generator) -> tuple[np.ndarray, np.ndarray]:
    """Return points of a square and whether their ring around the middle is an odd one."""
    X = rng.uniform(-1, 1, (1000, 2))
    return X, (np.hypot(*X.T) * n).astype(int) % 2.0


FUNCTIONS: dict[str, Callable[[np.random.Generator], tuple[np.ndarray, np.ndarray]]] = {
    **{f"parity of {n}": partial(make_parity, n) for n in (2, 3, 4)},
    **{f"exactly {n} of 8": partial(make_count, n) for n in (2, 4)},
    **{f"board {n} × {n}": partial(make_board, n) for n in (2, 3)},
    **{f"{n} rings": partial(make_rings, n) for n in (2, 3)},
}


# ---- trials ----


@cache
def load_table(name: str) -> tuple[Any, Any, Any, Any]:
    """Return half of a table's rows to train on, and the other half."""
    table = datasets.load(name)
    rows = np.arange(len(table.X))
    if len(rows) > MAX_ROWS:
        rows = np.sort(np.random.default_rng(0).choice(rows, MAX_ROWS, replace=False))
    X, y = table.X.iloc[rows], table.y.iloc[rows]
    return tuple(train_test_split(X, y, test_size=0.5, random_state=0, stratify=y))


def make_function(name: str, seed: int) -> tuple[Any, Any, Any, Any]:
    """Return half of the rows of a function of known complexity, and the other half."""
    X, y = FUNCTIONS[name](np.random.default_rng(seed))
    half = len(X) // 2
    return X[:half], X[half:], y[:half].astype(int), y[half:].astype(int)


def measure(settings: dict[str, Any], parts: tuple[Any, Any, Any, Any]) -> Record:
    """Fit one network and test it."""
    train, test, y_train, y_test = parts
    begin = time.process_time()
    model = NewronClassifier(**{**BASE, **settings}).fit(train, y_train)
    seconds = time.process_time() - begin
    return {
        "accuracy": float(np.mean(model.predict(test) == np.asarray(y_test))),
        "size": count_literals(model.model_),
        "fit_seconds": round(seconds, 4),
    }


def run_question(trial: Trial) -> Record:
    """Run a trial of a question: its model is "question, value, function"."""
    name, value, function = trial.model.split(", ")
    question = next(q for q in QUESTIONS if q.name == name)
    return measure({"processing": function, **question.values[value]}, load_table(trial.table))


def run_shape(trial: Trial) -> Record:
    """Run a trial of a shape on a function of known complexity: "shape, function"."""
    shape, function = trial.model.split(", ")
    settings = {
        "processing": function, "hidden_layer_sizes": SHAPES[shape], "n_init": 5,
        "random_state": trial.split, "weight_decay": 0.003,
    }  # fmt: skip
    return measure(settings, make_function(trial.table, trial.split))


def list_questions(tables: Sequence[str]) -> list[Trial]:
    """Return the trials of all questions."""
    return [
        Trial("study", table, f"{question.name}, {value}, {function}", 0)
        for table in tables
        for question in QUESTIONS
        for value in question.values
        for function in question.functions
    ]


def list_shapes() -> list[Trial]:
    """Return the trials of all shapes."""
    return [
        Trial("shapes", name, f"{shape}, {function}", seed)
        for name in FUNCTIONS
        for shape in SHAPES
        for function in PROCESSING
        for seed in range(N_SEEDS)
    ]


# ---- the page ----


def average(journal: Journal, trials: Sequence[Trial], what: str) -> float:
    """Return the mean of a measure over trials."""
    return float(np.mean([journal.records[trial].get(what, np.nan) for trial in trials]))


def report_questions(report: Report, journal: Journal, tables: Sequence[str]) -> None:
    """One table of accuracy and size for each question."""
    for question in QUESTIONS:
        report.add(f"\n## {question.name[0].upper()}{question.name[1:]}")
        rows = []
        for function in question.functions:
            for what, form in (("accuracy", "{:.1%}"), ("size", "{:.0f}")):
                cells = []
                for value in question.values:
                    model = f"{question.name}, {value}, {function}"
                    trials = [Trial("study", table, model, 0) for table in tables]
                    cells.append(form.format(average(journal, trials, what)))
                rows.append([f"{function}, {what}", *cells])
        report.table([question.name, *question.values], rows)


def report_shapes(report: Report, journal: Journal) -> None:
    """One table of accuracies for each processing function."""
    report.add(
        "\n## Wide or deep\n\nAccuracy on new rows of functions of known complexity, mean of "
        f"{N_SEEDS} seeds, the best of five starts each: one layer of n neurons, or n layers of 4."
    )
    for function in PROCESSING:
        rows = []
        for name in FUNCTIONS:
            cells = []
            for shape in SHAPES:
                trials = [Trial("shapes", name, f"{shape}, {function}", s) for s in range(N_SEEDS)]
                cells.append(f"{average(journal, trials, 'accuracy'):.1%}")
            rows.append([name, *cells])
        report.table([function, *SHAPES], rows)


def draw(path: Path, journal: Journal, tables: Sequence[str]) -> None:
    """Draw accuracy against size for the questions of depth and width."""
    import matplotlib as mpl

    mpl.use("Agg")
    import matplotlib.pyplot as plt

    plt.rcParams["svg.hashsalt"] = "newron"
    fig, axes = plt.subplots(1, 2, figsize=(8, 3), sharey=True)
    for ax, question in zip(axes, QUESTIONS[:2], strict=True):
        for function in question.functions:
            points = []
            for value in question.values:
                model = f"{question.name}, {value}, {function}"
                trials = [Trial("study", table, model, 0) for table in tables]
                size, accuracy = (average(journal, trials, w) for w in ("size", "accuracy"))
                points.append((size, 100 * accuracy))
            ax.plot(*zip(*points, strict=True), "o-", label=function, ms=4)
            for value, point in zip(question.values, points, strict=True):
                ax.annotate(value, point, fontsize=7, xytext=(2, 3), textcoords="offset points")
        ax.set_xscale("log")
        ax.set_title(question.name, fontsize=10)
        ax.set_xlabel("size (conditions or curves, mean)")
    axes[0].set_ylabel("accuracy on new rows, %")
    axes[0].legend(fontsize=8)
    fig.tight_layout()
    fig.savefig(path, metadata={"Date": None})
    plt.close(fig)


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the study."""
    names = [name for name in datasets.names() if name != "adult"]
    parser = argparse.ArgumentParser(prog="python -m benchmarks.study", description=__doc__)
    parser.add_argument("--tables", nargs="*", choices=names, default=names, metavar="TABLE")
    parser.add_argument("--jobs", type=int, default=2, help="processes")
    parser.add_argument("--journal", type=Path, default=Path("docs/results/study.jsonl"))
    parser.add_argument("--write", metavar="FILE", type=Path, help="write the result as Markdown, "
                        "and the figure beside it as SVG")  # fmt: skip
    options = parser.parse_args(arguments)
    journal = Journal(options.journal)
    for trials, work in ((list_questions(options.tables), run_question),
                         (list_shapes(), run_shape)):  # fmt: skip
        run_trials(trials, {trial.model: work for trial in trials}, journal, options.jobs)
    report = open_report("Depth, width, M, start, learning rate", parser, arguments, ["numpy"])
    report.add(
        f"\nMeans over {len(options.tables)} tables (at most {MAX_ROWS} rows each; half to train, "
        f"half to test, seed 0). The base network: {BASE}. One thing at a time is changed.\n"
    )
    report_questions(report, journal, options.tables)
    report_shapes(report, journal)
    if options.write:
        draw(options.write.with_suffix(".svg"), journal, options.tables)
        report.add(f"\n![Accuracy against size]({options.write.with_suffix('.svg').name})")
    report.write(str(options.write) if options.write else None)
    return 0


if __name__ == "__main__":
    sys.exit(main())
