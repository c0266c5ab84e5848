"""Which rows to train on and which to validate on."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from newron.errors import InputError
from newron.model.result import Result

Split = tuple[NDArray[np.intp], NDArray[np.intp]]
"""Row numbers to train on, and to validate on, both ascending."""

_FEW_ROWS = 2000  # up to here there are folds
_N_FOLDS, _TEST_SIZE = 5, 0.2
_MIN_ROWS = 20


@dataclass(frozen=True)
class SplitPlan(Result):
    """How to validate: in folds, on a test part, or, where both are 0, not at all.

    - ``n_folds``: Each row is predicted by a model of the other folds.
    - ``test_size``: The fraction of the rows that a single test part has.

    >>> bool(SplitPlan(n_folds=5)), bool(SplitPlan())
    (True, False)
    """

    n_folds: int = 0
    test_size: float = 0.0

    def __bool__(self) -> bool:
        return bool(self.n_folds or self.test_size)


def choose_plan(
    y: ArrayLike,
    *,
    classification: bool,
    n_folds: int | None = None,
    test_size: float | None = None,
) -> SplitPlan:
    """Decide how to validate, where it is not requested.

    - ``y`` of shape (n,): Classes or values.
    - ``n_folds``, ``test_size``: What is requested, at most one of them; 0 for no validation.

    Returned: by default five folds up to 2,000 rows (as many as the rarest class has rows, if
    fewer), a test part of 20 % beyond, and none where rows are too few.

    >>> choose_plan([0, 1] * 50, classification=True)
    SplitPlan(n_folds=5, test_size=0.0)
    >>> choose_plan(range(5000), classification=False)
    SplitPlan(n_folds=0, test_size=0.2)
    """
    n = len(np.asarray(y))
    if n_folds is not None and test_size is not None:
        raise InputError("expected a number of folds or a test size, got both")
    if n_folds is not None:
        if n_folds and not 2 <= n_folds <= n:
            raise InputError(f"folds: expected 0, or 2 to {n} as there are rows, got {n_folds}")
        return SplitPlan(n_folds=n_folds)
    if test_size is not None:
        if not 0.0 <= test_size < 1.0 or (test_size and not 1 <= round(test_size * n) <= n - 2):
            raise InputError(
                "test size: expected a fraction that leaves rows on both sides, such as 0.2, "
                f"got {test_size:g}"
            )
        return SplitPlan(test_size=test_size)
    rarest = _count_rarest(y) if classification else n
    if n < _MIN_ROWS or rarest < 2:
        return SplitPlan()
    return SplitPlan(min(_N_FOLDS, rarest)) if n <= _FEW_ROWS else SplitPlan(test_size=_TEST_SIZE)


def _count_rarest(y: ArrayLike) -> int:
    counts = np.unique(np.asarray(y), return_counts=True)[1]
    return int(counts.min()) if len(counts) else 0


def make_folds(y: ArrayLike, n_folds: int, seed: int = 0, *, stratify: bool = True) -> list[Split]:
    """Split rows into folds.

    - ``n_folds``: At least 2, at most as many as rows.
    - ``stratify``: Whether each fold gets its part of every class, where each has rows enough.

    Returned: one for each fold, which is validated on.

    >>> for train, test in make_folds([0, 0, 0, 1, 1, 1], 3):
    ...     print(train, test)
    [0 1 3 5] [2 4]
    [0 2 3 4] [1 5]
    [1 2 4 5] [0 3]
    """
    from sklearn.model_selection import KFold, StratifiedKFold

    stratified = stratify and _count_rarest(y) >= n_folds
    kind: Any = StratifiedKFold if stratified else KFold
    values = np.asarray(y)
    folds = kind(n_folds, shuffle=True, random_state=seed).split(values, values)
    return [(np.sort(train), np.sort(test)) for train, test in folds]


def make_splits(
    y: ArrayLike, plan: SplitPlan, seed: int = 0, *, stratify: bool = True
) -> list[Split]:
    """Return the splits of a plan: a list of folds, of one test part, or none.

    - ``stratify``: Whether each part gets its rows of every class, where that is possible.

    >>> (train, test), = make_splits([0, 1] * 10, SplitPlan(test_size=0.2))
    >>> len(train), len(test)
    (16, 4)
    """
    from sklearn.model_selection import ShuffleSplit, StratifiedShuffleSplit

    if not plan:
        return []
    if plan.n_folds:
        return make_folds(y, plan.n_folds, seed, stratify=stratify)
    values = np.asarray(y)
    smaller = min(plan.test_size, 1.0 - plan.test_size) * len(values)
    possible = stratify and _count_rarest(y) >= 2 and smaller >= len(np.unique(values))
    kind: Any = StratifiedShuffleSplit if possible else ShuffleSplit
    parts = kind(1, test_size=plan.test_size, random_state=seed).split(values, values)
    return [(np.sort(train), np.sort(test)) for train, test in parts]
