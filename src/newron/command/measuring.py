"""How right a network is for rows that it has not seen, beside simpler ways to predict.

Few rows are dealt into folds: each is predicted by a network that was trained on the
others, and the network that is kept was trained on all. Of many rows a part is held out,
and the network that was trained on the rest is kept.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from newron.command.learning import Settings, align_rows, learn
from newron.command.tables import Table
from newron.errors import InputError
from newron.evaluation import (
    Estimate,
    SplitPlan,
    choose_plan,
    estimate_mean,
    estimate_proportion,
    make_baselines,
    make_splits,
)
from newron.model import Classes, Model
from newron.model.frame import Label

__all__ = ["Measurement", "measure", "plan_measurement"]


def plan_measurement(table: Table, folds: int | None, share: float | None) -> SplitPlan:
    """Decide how to measure, where it is not said."""
    if folds is not None and share is not None:
        raise InputError("expected --folds or --test, got both")
    classification = table.target.labels is not None
    return choose_plan(
        table.target.values, classification=classification, n_folds=folds, test_size=share
    )


# ---- what comes out ----


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
    table: Table, settings: Settings, plan: SplitPlan, on_part: Callable[[int, int], None]
) -> tuple[Measurement, Model | None]:
    """Measure a procedure; give also the network, where one alone was trained.

    ``on_part`` hears how many parts are done, and of how many.
    """
    values, classification = table.target.values, table.target.labels is not None
    parts = make_splits(values, plan, settings.seed, stratify=classification)
    baselines = make_baselines(
        table.rows, classification=classification, categorical_features=table.places_of_categories
    )
    said: dict[str, list[Any]] = {name: [] for name in (NETWORK, *baselines)}
    model = None
    for number, (train, test) in enumerate(parts):
        on_part(number, len(parts))
        model = learn(table, settings, train)
        said[NETWORK].append(_predict(model, table, test))
        for name, baseline in baselines.items():
            baseline.fit(table.rows[train], values[train])
            said[name].append(baseline.predict(table.rows[test]))
    on_part(len(parts), len(parts))
    order = np.concatenate([test for _, test in parts])
    truth = values[order]
    answers = {name: np.concatenate(each) for name, each in said.items()}
    if table.target.labels is None:
        scores, more = _judge_amounts(truth, answers)
    else:
        scores, more = _judge_classes(table.target.labels, truth, answers)
    measured = Measurement(order, plan.n_folds, scores, **more)
    return measured, model if plan.test_size else None


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
        name: estimate_proportion(int((said == truth).sum()), len(truth))
        for name, said in answers.items()
    }
    wrong = answers[NETWORK] != truth
    missed = {
        label: (int((truth == c).sum()), int((wrong & (truth == c)).sum()))
        for c, label in enumerate(labels)
    }
    return scores, {"missed": missed}


def _judge_amounts(
    truth: NDArray[Any], answers: dict[str, NDArray[Any]]
) -> tuple[dict[str, Estimate], dict[str, Any]]:
    scores = {name: estimate_mean(np.abs(said - truth), low=0.0) for name, said in answers.items()}
    rest = float(((answers[NETWORK] - truth) ** 2).sum())
    whole = float(((truth - truth.mean()) ** 2).sum())
    return scores, {"explained": 1.0 - rest / whole if whole else 0.0}
