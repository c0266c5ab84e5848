"""Builders that several modules of tests here share."""

import numpy as np
import pytest


def make_subjects(n=300, seed=0):
    """Make subjects whose hazard rises with age and sex; some are lost."""
    rng = np.random.default_rng(seed)
    X = np.column_stack([rng.uniform(30.0, 80.0, n), rng.integers(0, 2, n)])
    death = rng.exponential(20.0 * np.exp(-0.05 * (X[:, 0] - 50.0) - 0.8 * X[:, 1]))
    lost = rng.uniform(5.0, 40.0, n)
    kinds = [("death", bool), ("months", float)]
    pairs = zip(death <= lost, np.minimum(death, lost).round(1), strict=True)
    return X, np.array(list(pairs), kinds)


pd = pytest.importorskip("pandas")


pl = pytest.importorskip("polars")


WORDS = {
    "text": ("ash", "elm", "oak"),
    "categorical": ("a", "b", "c", "d"),
    "enum": ("low", "mid", "high"),
}


CHEAP = {"recipe": "gradient", "max_iter": 5, "n_init": 1, "random_state": 0}


GROW = {"recipe": "grow", "max_terms": 5, "max_iter": 20, "random_state": 0}


def draw_cells(kind, n, rng, gaps, unseen=False):
    """Give the cells of a column as plain values, None where missing."""
    if kind == "float":
        cells = rng.normal(size=n).round(2).tolist()
    elif kind == "int":
        cells = rng.integers(-3, 9, n).tolist()
    elif kind == "bool":
        cells = (rng.random(n) < 0.4).tolist()
    else:
        cells = rng.choice([*WORDS[kind], *["new"] * unseen], n).tolist()
    return [None if gap else cell for cell, gap in zip(cells, rng.random(n) < gaps, strict=True)]


def draw_content(seed, n, kinds, gaps=0.2, unseen=False):
    rng = np.random.default_rng(seed)
    return {
        f"{kind} {i}": draw_cells(kind, n, rng, gaps, unseen) for i, kind in enumerate(kinds, 1)
    }


def make_frame(content, backend):
    """Make a frame whose dtypes are those that the names of its columns tell."""
    words = [*WORDS["enum"], "new"]
    if backend == "polars":
        dtypes = {
            "float": pl.Float64, "int": pl.Int64, "bool": pl.Boolean, "text": pl.String,
            "categorical": pl.Categorical, "enum": pl.Enum(words),
        }  # fmt: skip
        return pl.DataFrame(
            [pl.Series(n, cells, dtypes[n.split()[0]]) for n, cells in content.items()]
        )
    dtypes = {
        "float": "float64", "int": "Int64", "bool": "boolean", "text": "str",
        "categorical": "category", "enum": pd.CategoricalDtype(words),
    }  # fmt: skip
    return pd.DataFrame(
        {n: pd.Series(cells, dtype=dtypes[n.split()[0]]) for n, cells in content.items()}
    )


def draw_labels(content, seed, classes=2):
    """Draw labels that depend on the first column, every class among them."""
    first = next(iter(content.values()))
    rng = np.random.default_rng(seed)
    known = sorted({c for c in first if c is not None})
    codes = np.array([-1 if c is None else known.index(c) for c in first])
    y = (codes > np.median(codes)) ^ (rng.random(len(first)) < 0.2)
    y = (y.astype(int) + rng.integers(0, classes - 1, len(first))) % classes
    y[:classes] = np.arange(classes)
    return y
