"""Tables that count as large in tests, in all forms in which rows may come."""

from __future__ import annotations

from itertools import pairwise

import numpy as np
import pandas as pd

__all__ = ["SMALL_BLOCK", "make_frame", "shrink_blocks", "write_parts"]

SMALL_BLOCK = 1_000


def shrink_blocks(monkeypatch) -> None:
    """Let tables of a few thousand rows be large ones, of several blocks and samples."""
    for name, value in {
        "newron.training.large.LARGE_CELLS": 1_000,
        "newron.training.large.BLOCK_ROWS": SMALL_BLOCK,
        "newron.training.large.SAMPLE_ROWS": 2_000,
        "newron.engine.binning.EDGE_SAMPLE": (5_000, 0),
        "newron.training.large.EDGE_SAMPLE": (5_000, 0),
        "newron.engine.likelihood.STATISTICS_ROWS": 4_000,
    }.items():
        monkeypatch.setattr(name, value)


def make_frame(n: int = 15_500, seed: int = 0) -> pd.DataFrame:
    """Numbers, categories, missing values, a pair of columns, classes, numbers and weights.

    A category and the missing values of a column come late.
    """
    random = np.random.default_rng(seed)
    frame = pd.DataFrame(random.normal(size=(n, 4)), columns=list("abcd"))
    frame["kind"] = random.choice(["red", "green", "blue"], n).astype(object)
    frame.loc[n - n // 10 :, "kind"] = random.choice(["red", "late"], len(frame[n - n // 10 :]))
    frame.loc[(random.random(n) < 0.3) & (np.arange(n) > n // 2), "c"] = np.nan
    frame["whole"] = random.integers(0, 6, n)
    score = (
        np.sin(2.0 * frame["a"])
        + frame["a"] * frame["b"]
        + (frame["kind"] == "late")
        + 0.4 * frame["whole"]
        + (frame["d"] > 0.3)
        - frame["c"].isna()
    )
    noisy = score + random.logistic(size=n)
    frame["size"] = noisy
    frame["label"] = np.where(noisy > 1.5, "yes", "no")
    frame["level"] = np.digitize(noisy, [0.5, 2.5])
    frame["weight"] = random.integers(0, 3, n).astype(float)
    return frame


def write_parts(frame: pd.DataFrame, folder, ends=(0, 1, 1, 1_700, 1_701, 9_000)) -> str:
    """Write Parquet files of odd sizes, some of them empty; return their pattern."""
    bounds = [0, *ends, len(frame)]
    for i, (first, end) in enumerate(pairwise(bounds)):
        frame.iloc[first:end].to_parquet(folder / f"{i:02}.parquet")
    return str(folder / "*.parquet")
