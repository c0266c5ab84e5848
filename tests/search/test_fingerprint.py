"""Fingerprints: the same for the same content, whatever it comes in."""

import numpy as np
import pandas as pd
import polars as pl
from sklearn.metrics import make_scorer

from newron.search.fingerprint import hash_arrays, hash_settings, hash_table


class Thing:
    def __init__(self, value):
        self.value = value


def measure(y, p):
    return 0.0


def test_a_table_is_known_by_what_is_read_of_it():
    columns = {"size": [1.5, None, 3.0], "colour": ["red", "blue", None]}
    frame = pd.DataFrame(columns)
    assert hash_table(frame) == hash_table(pl.DataFrame(columns)) == hash_table(frame.copy())
    assert hash_table(frame) != hash_table(frame.rename(columns={"size": "length"}))
    assert hash_table(frame) != hash_table(frame.iloc[::-1])
    assert hash_table(frame) != hash_table(frame.replace("red", "green"))


def test_a_matrix_is_known_by_its_numbers():
    X = np.arange(6.0).reshape(3, 2)
    assert hash_table(X) == hash_table(X.tolist()) == hash_table(np.asfortranarray(X))
    assert hash_table(X) == hash_table(X.astype(np.float32)) == hash_table(X.astype(int))
    assert hash_table(X) != hash_table(X.T)
    assert hash_table(X) != hash_table(X, categorical=[0])


def test_arrays_differ_by_shape_and_place():
    a, b = np.array([1.0, 2.0]), np.array([3.0])
    assert hash_arrays(a, b) != hash_arrays(b, a)
    assert hash_arrays(a, None) != hash_arrays(None, a)
    assert hash_arrays(["a", "b"]) != hash_arrays(["a", "c"])


def test_settings_of_any_kind_are_told_apart():
    told = {"a": (1, 2), "b": {"x": np.float64(0.5)}, "c": make_scorer(measure), "d": measure}
    assert hash_settings(told) == hash_settings(dict(reversed(told.items())))
    assert hash_settings(told) != hash_settings(told | {"a": (2, 1)})
    assert hash_settings({"a": 1}) != hash_settings({"a": "1"})
    assert hash_settings({"a": Thing(1)}) == hash_settings({"a": Thing(1)})
    assert hash_settings({"a": Thing(1)}) != hash_settings({"a": Thing(2)})
