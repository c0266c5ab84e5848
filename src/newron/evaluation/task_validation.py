"""Several labels and survival on rows that a network was not trained on."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from newron.errors import InputError
from newron.evaluation.indicator import Indicator
from newron.evaluation.label_quality import LabelQuality, measure_labels
from newron.evaluation.splits import Split
from newron.evaluation.survival import SurvivalQuality, measure_survival
from newron.evaluation.times import Times

Report = Callable[[int, int], None]


def validate_labels(
    estimator: Any,
    X: Any,
    labels: Indicator,
    splits: Sequence[Split],
    on_split: Report | None = None,
) -> LabelQuality:
    """Measure labels that networks predict which were not trained on the rows.

    - ``estimator``: Of labels, whose ``predict_proba`` has a column for each; it is cloned.
    - ``on_split``: Called with the number of splits that are done, and of all.
    """

    def take(rows: NDArray[np.intp]) -> Indicator:
        return Indicator(labels.names, labels.values[rows])

    parts = [
        fitted.predict_proba(take_rows(X, test))
        for fitted, test in _fit_splits(estimator, X, take, splits, on_split)
    ]
    truth = labels.values[_join_tests(splits)]
    return measure_labels(truth, np.concatenate(parts), labels.names)


def validate_survival(
    estimator: Any,
    X: Any,
    times: Times,
    splits: Sequence[Split],
    on_split: Report | None = None,
) -> SurvivalQuality:
    """Measure risks and curves of networks that were not trained on the rows.

    - ``estimator``: As scikit-survival's; it is cloned.
    - ``on_split``: Called with the number of splits that are done, and of all.
    """
    risks, curves = [], []
    for fitted, test in _fit_splits(estimator, X, times.take, splits, on_split):
        rows = take_rows(X, test)
        risks.append(fitted.predict(rows))
        curves += list(fitted.predict_survival_function(rows))
    index = _join_tests(splits)
    pair = times.event[index], times.time[index]
    return measure_survival((times.event, times.time), pair, np.concatenate(risks), curves)


def _join_tests(splits: Sequence[Split]) -> NDArray[np.intp]:
    if not splits:
        raise InputError("expected splits to validate on, got none")
    return np.concatenate([test for _, test in splits])


def _fit_splits(
    estimator: Any,
    X: Any,
    take: Callable[[NDArray[np.intp]], Any],
    splits: Sequence[Split],
    on_split: Report | None,
) -> Iterator[tuple[Any, NDArray[np.intp]]]:
    """Yield the estimator of each split with the rows that it was not trained on."""
    from sklearn.base import clone

    for number, (train, test) in enumerate(splits):
        if on_split is not None:
            on_split(number, len(splits))
        yield clone(estimator).fit(take_rows(X, train), take(train)), test


def take_rows(X: Any, index: NDArray[np.intp]) -> Any:
    """Return some rows of a table of any kind."""
    import narwhals as nw

    frame = nw.from_native(X, eager_only=True, pass_through=True)
    if isinstance(frame, nw.DataFrame):
        return frame[index].to_native()
    return [X[i] for i in index] if isinstance(X, list | tuple) else X[index]
