"""The tables and splits of the comparisons: the same for every model."""

from __future__ import annotations

from functools import cache

import numpy as np
import pandas as pd
from sklearn.model_selection import train_test_split

from benchmarks.tables import Split
from newron import datasets
from newron.evaluation.splits import make_folds

__all__ = [
    "MONKS",
    "OFFICIAL",
    "ORIGINAL",
    "count_splits",
    "load",
    "make_paper_split",
    "make_split",
    "name_original",
]

MONKS = ("monks-1", "monks-2", "monks-3")
OFFICIAL = (*MONKS, "adult", "image")  # tables that come with a test part
ORIGINAL = " (original)"  # the MONK's on their own training and test parts
FOLDS = 5


def name_original(table: str) -> str:
    """Name the original split of a table."""
    return f"{table}{ORIGINAL}"


@cache
def load(name: str) -> tuple[pd.DataFrame, pd.Series]:
    """Return a raw table.

    The MONK's training rows are rows of their test part again, in which every input stands
    once: only these are split into folds.
    """
    table = datasets.load(name.removesuffix(ORIGINAL))
    if name in MONKS:
        return (
            table.X.iloc[table.test].reset_index(drop=True),
            table.y.iloc[table.test].reset_index(drop=True),
        )
    return table.X, table.y


def count_splits(name: str, repeats: int) -> int:
    """Return how many splits a table has; one test part for adult and the original MONK's."""
    return 1 if name == "adult" or name.endswith(ORIGINAL) else FOLDS * repeats


def make_split(name: str, number: int) -> Split:
    """Return the rows to train and to test on: fold after fold, repeat after repeat."""
    if name == "adult" or name.endswith(ORIGINAL):
        table = datasets.load(name.removesuffix(ORIGINAL))
        return table.train, table.test
    repeat, fold = divmod(number, FOLDS)
    return make_folds(load(name)[1], FOLDS, repeat)[fold]


def make_paper_split(name: str, number: int) -> Split:
    """Return a random quarter to test on; the official part where there is one."""
    table = datasets.load(name)
    if name in OFFICIAL:
        return table.train, table.test
    rows = np.arange(len(table.X))
    train, test = train_test_split(rows, test_size=0.25, random_state=number, stratify=table.y)
    return train, test
