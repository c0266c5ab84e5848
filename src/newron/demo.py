"""The demonstration: a network finds the rule of the MONK-2 problem.

MONK-2 (S. Thrun et al., 1991): six attributes of a robot; the class is 1 if
exactly two of them have their first value.
"""

from __future__ import annotations

import csv
import gzip
import time
from dataclasses import replace
from importlib.resources import files
from itertools import product

import numpy as np
from numpy.typing import NDArray

from newron._version import __version__
from newron.estimators import NewronClassifier
from newron.model import Model, Schema
from newron.model.arithmetic import Floats

__all__ = ["load_training_rows", "make_monk2", "run_demo"]

_SIZES = (3, 3, 2, 3, 4, 2)


def make_monk2() -> tuple[Floats, NDArray[np.int64]]:
    """Give all 432 robots of MONK-2 and their classes.

    Examples
    --------
    >>> X, y = make_monk2()
    >>> X.shape, int(y.sum())
    ((432, 6), 142)
    """
    robots = np.array(list(product(*(range(1, n + 1) for n in _SIZES))), np.float64)
    return robots, ((robots == 1).sum(axis=1) == 2).astype(np.int64)


def load_training_rows() -> tuple[Floats, NDArray[np.int64]]:
    """Give the 169 robots of the problem's training part and their classes.

    Read without pandas, which a plain install does not have.
    """
    packed = files("newron.datasets").joinpath("data/monks-2.csv.gz").read_bytes()
    rows = csv.DictReader(gzip.decompress(packed).decode().splitlines())
    table = np.array(
        [
            [int(row[f"a{i}"]) for i in range(1, 7)] + [int(row["class"])]
            for row in rows
            if row["part"] == "train"
        ]
    )
    return table[:, :6].astype(np.float64), table[:, 6]


def _rename(model: Model) -> Model:
    """Call the inputs a1 to a6, as the problem does."""
    columns = [replace(c, name=f"a{i}") for i, c in enumerate(model.schema.columns, 1)]
    return Model(Schema(tuple(columns)), model.layers, model.output)


def run_demo() -> str:
    """Train on MONK-2; tell the rule that was found, its proof, and the path of one row."""
    X, y = load_training_rows()
    start = time.perf_counter()
    network = NewronClassifier(
        "heaviside", hidden_layer_sizes=(1, 2), n_init=40, n_jobs=-1, random_state=0
    ).fit(X, y)
    seconds = time.perf_counter() - start
    robots, classes = make_monk2()
    right = int((network.predict(robots) == classes).sum())
    model = _rename(network.model_)
    rules = model.rules().cover(X, y)
    path = rules.to_model().explain([1, 3, 1, 2, 4, 2])
    return (
        f"newron {__version__} · demo · MONK-2: 6 attributes, {len(X)} training rows\n\n"
        f"  Right for {right} of {len(robots)} possible inputs "
        f"({len(robots) - len(X)} of them were never seen in training), "
        f"trained in {seconds:.2f} s.\n\n"
        f"{_indent(rules.to_text())}\n\n"
        f"{_indent(str(rules.proof))}\n\n"
        "  One row through the rule, step by step\n"
        f"{_indent(str(path))}\n\n"
        "  Next: from newron import NewronClassifier; see README.md\n"
    )


def _indent(text: str) -> str:
    return "\n".join(f"    {line}".rstrip() for line in text.splitlines())
