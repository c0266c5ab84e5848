"""Rules of newron and of other learners on splits of tables: how right and how long they are."""

from __future__ import annotations

import statistics
import time
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import pandas as pd
from scipy import stats

from benchmarks.learner import limit_time
from benchmarks.rule_learners import RuleLearner
from benchmarks.tables import Split, draw, show_progress
from newron import NewronClassifier, datasets
from newron.evaluation.splits import make_folds
from newron.rules import Proof

SEED = 0
# MONK's training parts are rows of the test part again, so that folds would share rows.
SPLIT = ("monks-1", "monks-2", "monks-3", "adult")
VARIANTS = ("newron", "newron pruned", "newron short")
SHORT = 2.0  # standard errors of the score's difference that a short network may lose
PROOF_SECONDS = 60.0
LEARNER_SECONDS = 300


@dataclass(frozen=True)
class Settings:
    """How to fit."""

    folds: int
    rows: int | None
    jobs: int
    tolerance: float
    prune: bool


@dataclass(frozen=True)
class Reading:
    """A network's rules: how they came about, and what was proved."""

    form: str
    literals: int
    fit_seconds: float
    seconds: float  # of extraction and minimisation
    proof: Proof
    differ: int  # test rows of which network and rules predict different classes

    @property
    def total(self) -> float:
        """The seconds of extraction, minimisation and proof."""
        return self.seconds + self.proof.seconds


@dataclass(frozen=True)
class Outcome:
    """What came of a model on each split: which test rows are right, and its sizes."""

    right: list[np.ndarray]
    sizes: list[tuple[int, ...]]

    @property
    def accuracy(self) -> float:
        """The mean accuracy."""
        return statistics.mean(float(np.mean(right)) for right in self.right)

    def measure(self, which: int) -> float:
        """Return the mean of one of the sizes."""
        return statistics.mean(sizes[which] for sizes in self.sizes)

    def compare(self, other: Outcome) -> tuple[float, float]:
        """Return how much more accurate it is than another, and the standard error of that.

        The error is that of the paired differences of folds, or of one test part's rows.
        """
        pairs = zip(self.right, other.right, strict=True)
        by_row = [a.astype(float) - b.astype(float) for a, b in pairs]
        found = by_row[0] if len(by_row) == 1 else np.array([np.mean(d) for d in by_row])
        return float(np.mean(found)), float(stats.sem(found))


@dataclass(frozen=True)
class Table:
    """A table, and what came of each model on it; a text where there is nothing."""

    name: str
    y: pd.Series
    splits: list[Split]
    outcomes: dict[str, Outcome | str]
    readings: dict[str, list[Reading]]


def try_table(name: str, learners: Sequence[RuleLearner], settings: Settings) -> Table:
    """Fit and test every model on every split of a table."""
    X, y, splits = load_splits(name, settings)
    table = Table(name, y, splits, {}, {})
    variants = VARIANTS if settings.prune else VARIANTS[:1]
    outcomes = {variant: Outcome([], []) for variant in variants}
    for split in splits:
        for variant, (right, reading) in read_newron(X, y, split, settings).items():
            outcomes[variant].right.append(right)
            outcomes[variant].sizes.append((reading.literals,))
            table.readings.setdefault(variant, []).append(reading)
    for variant, outcome in outcomes.items():
        table.outcomes[variant] = outcome
        show_outcome(table, variant)
    for learner in learners:
        table.outcomes[learner.name] = learner.find_obstacle(y) or try_learner(
            learner, X, y, splits
        )
        show_outcome(table, learner.name)
    return table


def load_splits(name: str, settings: Settings) -> tuple[pd.DataFrame, pd.Series, list[Split]]:
    """Return a raw frame, its classes, and the rows to train and to test on."""
    table = datasets.load(name)
    X, y = table.X, table.y
    if name in SPLIT:
        return X, y, [(draw(table.train, settings.rows), draw(table.test, settings.rows))]
    rows = draw(np.arange(len(X)), settings.rows)
    folds = make_folds(y.iloc[rows], settings.folds, SEED)
    return X, y, [(rows[a], rows[b]) for a, b in folds]


def read_newron(
    X: pd.DataFrame, y: pd.Series, split: Split, settings: Settings
) -> dict[str, tuple[np.ndarray, Reading]]:
    """Fit, prune, read and prove; return which test rows the rules alone predict."""
    train, test = split
    begin = time.perf_counter()
    model = NewronClassifier("heaviside", random_state=SEED, n_jobs=settings.jobs)
    models = {VARIANTS[0]: model.fit(X.iloc[train], y.iloc[train])}
    seconds = {VARIANTS[0]: time.perf_counter() - begin}
    if settings.prune:
        models[VARIANTS[1]] = model.prune(
            X.iloc[train], y.iloc[train], tolerance=settings.tolerance
        )
        seconds[VARIANTS[1]] = seconds[VARIANTS[2]] = time.perf_counter() - begin
    networks = {variant: fitted.model_ for variant, fitted in models.items()}
    if settings.prune:
        path = models[VARIANTS[1]].path_
        networks[VARIANTS[2]] = path[path.choose(SHORT, criterion="score")]
    out = {}
    for variant, network in networks.items():
        begin = time.perf_counter()
        rules = network.rules()
        read = time.perf_counter() - begin
        proof = rules.prove(PROOF_SECONDS)
        predicted = rules.predict(X.iloc[test])
        differ = int((predicted != network.predict(X.iloc[test])).sum())
        reading = Reading(rules.form, rules.n_literals, seconds[variant], read, proof, differ)
        out[variant] = (predicted == y.iloc[test].to_numpy(), reading)
    return out


def try_learner(
    learner: RuleLearner, X: pd.DataFrame, y: pd.Series, splits: Sequence[Split]
) -> Outcome | str:
    """Fit and test another learner; its errors are not ours."""
    outcome = Outcome([], [])
    for train, test in splits:
        try:
            with limit_time(LEARNER_SECONDS):
                tested = learner.learn(X, y, train, test)
        except TimeoutError as error:
            return str(error)
        except Exception as error:
            show_progress(f"{learner.name} failed: {type(error).__name__}: {error}")
            return "failed"
        outcome.right.append(tested.predicted == y.iloc[test].to_numpy())
        outcome.sizes.append(tested.sizes)
    return outcome


def show_outcome(table: Table, model: str) -> None:
    """Show progress."""
    outcome = table.outcomes[model]
    if isinstance(outcome, str):
        show_progress(f"{table.name}, {model}: {outcome}")
        return
    sizes = [outcome.measure(k) for k in range(len(outcome.sizes[0]))]
    text = f"{100 * outcome.accuracy:.2f} %, {' / '.join(f'{n:.1f}' for n in sizes)} literals"
    for reading in table.readings.get(model, []):
        text += f"; {reading.form} {reading.literals}, {reading.fit_seconds:.1f} s fit, "
        text += f"{reading.seconds:.2f} s, {reading.proof.method} {reading.proof.seconds:.2f} s"
        if not reading.proof or reading.differ:
            text += f" ({reading.proof} {reading.differ} test rows differ)"
    show_progress(f"{table.name}, {model}: {text}")
