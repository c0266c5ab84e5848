"""A learner of the comparisons, and what is measured of it on one split."""

from __future__ import annotations

import signal
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd
from sklearn.metrics import log_loss, roc_auc_score
from sklearn.model_selection import GridSearchCV

from benchmarks.tables import Split
from newron.evaluation.splits import make_folds

__all__ = [
    "SEED", "Fitted", "Frame", "Labels", "Learner", "keep", "keep_missing", "limit_time", "measure",
    "tune", "wrap",
]  # fmt: skip

SEED = 0
INNER = 4
MAX_SECONDS = 1800  # of a fit, on one core
Frame, Labels = pd.DataFrame, pd.Series


@dataclass(frozen=True)
class Fitted:
    """What a learner learned."""

    classes: np.ndarray
    predict: Callable[[Frame], np.ndarray]  # probabilities, or classes where it has none
    size: int
    note: str = ""


@dataclass(frozen=True)
class Learner:
    """A learner, what its size counts, and how it is tuned."""

    name: str
    counts: str
    readable: bool
    how: str
    prepare: Callable[[Frame, np.ndarray], Frame]
    fit: Callable[[Frame, Labels, int], Fitted]
    only_two: bool = False
    package: str = ""  # what must be installed
    max_repeats: int = 100  # of the folds: one for those that take hours


def measure(learner: Learner, X: Frame, y: Labels, split: Split) -> dict[str, Any]:
    """Fit on one part, test on the other, and return the record."""
    train, test = split
    table = learner.prepare(X, train)
    with limit_time(MAX_SECONDS):
        begin = time.process_time()  # of one thread; other work on the machine does not count
        fitted = learner.fit(table.iloc[train], y.iloc[train], SEED)
        middle = time.process_time()
        predicted = fitted.predict(table.iloc[test])
        end = time.process_time()
    true = y.iloc[test].to_numpy()
    soft = predicted.ndim == 2
    chosen = fitted.classes[np.argmax(predicted, axis=1)] if soft else predicted
    record = {
        "accuracy": float(np.mean(chosen == true)),
        "size": fitted.size,
        "fit_seconds": round(middle - begin, 4),
        "predict_seconds": round(end - middle, 5),
        "note": fitted.note,
    }
    return {**record, **(measure_probabilities(predicted, fitted.classes, true) if soft else {})}


def measure_probabilities(
    predicted: np.ndarray, classes: np.ndarray, true: np.ndarray
) -> dict[str, float]:
    """Return log loss and the area under the ROC curve, of several classes one against all."""
    predicted = predicted / predicted.sum(axis=1, keepdims=True)
    out = {"log_loss": float(log_loss(true, np.clip(predicted, 1e-6, 1.0), labels=classes))}
    if len(np.unique(true)) == len(classes):
        score = predicted[:, 1] if len(classes) == 2 else predicted
        out["auc"] = float(roc_auc_score(true, score, multi_class="ovr", labels=classes))
    return out


@contextmanager
def limit_time(seconds: int) -> Iterator[None]:
    """Raise TimeoutError where it takes longer, by the processor's time."""

    def stop(*_: object) -> None:
        raise TimeoutError(f"not done after {seconds} s")

    before = signal.signal(signal.SIGPROF, stop)
    signal.setitimer(signal.ITIMER_PROF, seconds)
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_PROF, 0)
        signal.signal(signal.SIGPROF, before)


# ---- how tables are given to learners ----


def keep(X: Frame, _: np.ndarray) -> Frame:
    """Return the frame as it is."""
    return X


def keep_missing(X: Frame, _: np.ndarray) -> Frame:
    """Return words for categories; missing numbers stay missing."""
    words = {
        c: X[c].astype(object).where(X[c].notna(), "missing").astype(str).astype(object)
        for c in X.columns
        if X[c].dtype == "category"
    }
    numbers = {c: X[c].astype(np.float64) for c in X.columns if c not in words}
    return pd.DataFrame({c: words.get(c, numbers.get(c)) for c in X.columns})


# ---- learners of scikit-learn's kind ----


def tune(model: Any, grid: dict[str, list[Any]], X: Frame, y: Labels) -> Any:
    """Fit the setting of the best accuracy in inner folds."""
    folds = make_folds(y, INNER, SEED)
    return GridSearchCV(model, grid, cv=folds).fit(X.to_numpy(), y.to_numpy())


def wrap(model: Any, size: int, note: str = "") -> Fitted:
    """Return a fitted classifier of scikit-learn's kind."""
    return Fitted(model.classes_, lambda X: model.predict_proba(X.to_numpy()), size, note)
