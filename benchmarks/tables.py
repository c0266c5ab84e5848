"""The paper's tables as numbers, read from ../shared/data.

Until the project ships them and takes categories as they are: ordered text becomes
its rank, other text one column for each value, a gap the median.
"""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pandas as pd

__all__ = ["NOISY", "Table", "load_parts", "load_table", "make_synthetic"]

DATA = Path(__file__).parents[2] / "shared" / "data"

NOISY = (
    "hepatitis", "sonar", "glass", "heart", "cleveland", "haberman", "ionosphere", "b-c-w",
    "australian", "crx", "diabetes", "german", "iris",
)  # fmt: skip

_ORDERED = {
    "car": (
        ("low", "med", "high", "vhigh"),
        ("2", "3", "4", "5more", "more"),
        ("small", "med", "big"),
    )
}

Table = tuple[np.ndarray, np.ndarray]


def load_table(name: str) -> Table:
    """Give inputs and class numbers of a table."""
    frame = pd.read_csv(DATA / f"{name}.csv")
    y = pd.factorize(frame.iloc[:, -1], sort=True)[0]
    columns = [_to_numbers(frame[c], name) for c in frame.columns[:-1]]
    return np.column_stack(columns), y


def load_parts(name: str) -> tuple[Table, Table]:
    """Give the original training and test parts of monks and adult."""
    if name == "adult":
        X, y = load_table(name)
        return (X[:32561], y[:32561]), (X[32561:], y[32561:])
    train, test = (pd.read_csv(DATA / f"{name}_{part}.csv") for part in ("train", "test"))
    return tuple(
        (part.iloc[:, :-1].to_numpy(np.float64), part.iloc[:, -1].to_numpy(np.int64))
        for part in (train, test)
    )


def make_synthetic(name: str, seed: int = 0) -> Table:
    """Give one of the paper's drawn tables: 1000 points of the square (-1, 1)²."""
    X = np.random.default_rng(seed).uniform(-1, 1, (1000, 2))
    a, b = X.T
    labels = {
        "bisector": a > b,
        "xor": (a > 0) ^ (b > 0),
        "parabola": b < 2 * a**2 - 0.5,
        "circle": a**2 + b**2 < 0.5,
    }
    return X, labels[name].astype(np.int64)


def _to_numbers(column: pd.Series, name: str) -> np.ndarray:
    if pd.api.types.is_numeric_dtype(column):
        return column.fillna(column.median()).to_numpy(np.float64)
    values = sorted(column.dropna().astype(str).unique())
    for order in _ORDERED.get(name, ()):
        if set(values) <= set(order):
            return column.astype(str).map({v: i for i, v in enumerate(order)}).to_numpy(np.float64)
    shown = values[1:] if len(values) == 2 else values
    return np.column_stack([(column == v).to_numpy(np.float64) for v in shown])
