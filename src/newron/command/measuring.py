"""How right a network is for rows that it has not seen, beside simpler ways to predict.

Few rows are dealt into folds: each is predicted by a network that was trained on the
others, and the network that is kept was trained on all. Of many rows a part is held out,
and the network that was trained on the rest is kept.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.model_selection import KFold, ShuffleSplit, StratifiedKFold, StratifiedShuffleSplit

from newron.command.learning import Settings, align_rows, learn
from newron.command.rivals import RIVALS, Rival
from newron.command.tables import Table
from newron.errors import InputError
from newron.model import Classes, Model
from newron.model.arithmetic import Floats
from newron.model.frame import Label

__all__ = ["Estimate", "Measurement", "Plan", "find_interval", "measure", "plan_measurement"]

_FEW_ROWS = 2000  # up to here rows are dealt into folds
_FOLDS, _SHARE = 5, 0.2
_LEAST_ROWS = 20
_Z = 1.959963984540054  # 95 % of a normal distribution lie within so many deviations
_Part = tuple[NDArray[np.intp], NDArray[np.intp]]  # rows to train on, rows to predict


@dataclass(frozen=True)
class Plan:
    """How to measure: in so many folds, or on a share of the rows that is held out."""

    folds: int = 0
    share: float = 0.0

    @property
    def measures(self) -> bool:
        """Whether there is anything to measure on."""
        return bool(self.folds or self.share)


def plan_measurement(table: Table, folds: int | None, share: float | None) -> Plan:
    """Decide how to measure, where it is not said."""
    if folds is not None and share is not None:
        raise InputError("expected --folds or --test, got both")
    least = len(table)
    if table.target.labels is not None:
        least = min(table.target.count_classes().values())
    if folds is not None:
        return Plan(folds=_check_folds(folds, len(table)))
    if share is not None:
        return Plan(share=_check_share(share, len(table)))
    if len(table) < _LEAST_ROWS or least < 2:
        return Plan()
    return Plan(folds=min(_FOLDS, least)) if len(table) <= _FEW_ROWS else Plan(share=_SHARE)


def _check_folds(folds: int, n_rows: int) -> int:
    if folds and not 2 <= folds <= n_rows:
        raise InputError(f"--folds: expected 0, or 2 to {n_rows} as there are rows, got {folds}")
    return folds


def _check_share(share: float, n_rows: int) -> float:
    if not 0.0 <= share < 1.0 or (share and not 1 <= round(share * n_rows) <= n_rows - 2):
        raise InputError(
            f"--test: expected a share that leaves rows on both sides, such as 0.2, got {share:g}"
        )
    return share


# ---- what comes out ----


@dataclass(frozen=True)
class Estimate:
    """A number and the interval that holds it with 95 % confidence."""

    value: float
    low: float
    high: float


@dataclass(frozen=True)
class Measurement:
    """What was measured on rows that were not trained on.

    Attributes
    ----------
    index : ndarray
        The rows that were measured on, of the table.
    n_folds : int
        0: these rows were held out.
    scores : dict
        For the network and its rivals, the share of rows that are right, or the mean
        distance of amounts.
    explained : float or None
        R² of the network's amounts.
    missed : dict
        For each class, how many rows have it, and how many of them got another.
    """

    index: NDArray[np.intp]
    n_folds: int
    scores: dict[str, Estimate]
    explained: float | None = None
    missed: dict[Any, tuple[int, int]] | None = None

    @property
    def n_rows(self) -> int:
        """How many rows were measured on."""
        return len(self.index)


NETWORK = "network"


def measure(
    table: Table, settings: Settings, plan: Plan, on_part: Callable[[int, int], None]
) -> tuple[Measurement, Model | None]:
    """Measure a procedure; give also the network, where one alone was trained.

    ``on_part`` hears how many parts are done, and of how many.
    """
    parts = list(_deal(table, plan, settings.seed))
    rivals: list[Rival] = [rival for rival in RIVALS if rival.serves(table)]
    said: dict[str, list[Any]] = {name: [] for name in (NETWORK, *(x.name for x in rivals))}
    model = None
    for number, (train, test) in enumerate(parts):
        on_part(number, len(parts))
        model = learn(table, settings, train)
        said[NETWORK].append(_predict(model, table, test))
        for rival in rivals:
            said[rival.name].append(rival.predict(table, train, test))
    on_part(len(parts), len(parts))
    order = np.concatenate([test for _, test in parts])
    truth = table.target.values[order]
    answers = {name: np.concatenate(each) for name, each in said.items()}
    if table.target.labels is None:
        scores, more = _judge_amounts(truth, answers)
    else:
        scores, more = _judge_classes(table.target.labels, truth, answers)
    measured = Measurement(order, plan.folds, scores, **more)
    return measured, model if plan.share else None


def _deal(table: Table, plan: Plan, seed: int) -> Iterator[_Part]:
    values = table.target.values
    least = 0 if table.target.labels is None else int(np.bincount(values).min())
    splitter: Any
    if plan.folds:
        kind = StratifiedKFold if least >= plan.folds else KFold
        splitter = kind(plan.folds, shuffle=True, random_state=seed)
    else:
        parts = min(plan.share, 1.0 - plan.share) * len(table)
        fair = least >= 2 and parts >= len(table.target.labels or ())
        kind = StratifiedShuffleSplit if fair else ShuffleSplit
        splitter = kind(1, test_size=plan.share, random_state=seed)
    for train, test in splitter.split(table.rows, values):
        yield np.sort(train), np.sort(test)


def _predict(model: Model, table: Table, index: NDArray[np.intp]) -> NDArray[Any]:
    """Give the numbers of classes in the order of the table, or amounts."""
    scores = model.score_rows(align_rows(table, model, index))
    if not isinstance(model.output, Classes):
        return np.asarray(scores[:, 0])
    labels = table.target.labels
    assert labels is not None  # noqa: S101 - a model of classes
    places = np.array([labels.index(label) for label in model.output.labels])
    return np.asarray(places[model.output.choose(scores)])


def _judge_classes(
    labels: Sequence[Label], truth: NDArray[Any], answers: dict[str, NDArray[Any]]
) -> tuple[dict[str, Estimate], dict[str, Any]]:
    scores = {
        name: find_interval(int((said == truth).sum()), len(truth))
        for name, said in answers.items()
    }
    wrong = answers[NETWORK] != truth
    missed = {
        label: (int((truth == c).sum()), int((wrong & (truth == c)).sum()))
        for c, label in enumerate(labels)
    }
    return scores, {"missed": missed}


def find_interval(right: int, n: int) -> Estimate:
    """Give the share of rows that are right, and Wilson's 95 % interval.

    Examples
    --------
    >>> found = find_interval(254, 303)
    >>> f"{100 * found.value:.1f}: {100 * found.low:.1f} to {100 * found.high:.1f}"
    '83.8: 79.3 to 87.5'
    """
    p, more = right / n, _Z * _Z / n
    middle = (p + more / 2.0) / (1.0 + more)
    half = _Z * math.sqrt(p * (1.0 - p) / n + more / (4.0 * n)) / (1.0 + more)
    # At both ends rounding would leave a little between.
    low = 0.0 if right == 0 else middle - half
    return Estimate(p, low, 1.0 if right == n else middle + half)


def _judge_amounts(
    truth: NDArray[Any], answers: dict[str, NDArray[Any]]
) -> tuple[dict[str, Estimate], dict[str, Any]]:
    scores = {name: _find_mean(np.abs(said - truth)) for name, said in answers.items()}
    rest = float(((answers[NETWORK] - truth) ** 2).sum())
    whole = float(((truth - truth.mean()) ** 2).sum())
    return scores, {"explained": 1.0 - rest / whole if whole else 0.0}


def _find_mean(distances: Floats) -> Estimate:
    """Give the mean distance, and the interval of a mean of so many."""
    mean = float(distances.mean())
    half = _Z * float(distances.std()) / math.sqrt(max(len(distances) - 1, 1))
    return Estimate(mean, max(mean - half, 0.0), mean + half)
