"""``python -m benchmarks.fingerprints``: has a change of the code changed any model or text.

A fixed set of models is fitted (every processing function and recipe, tables of numbers,
categories, missing values, weights and several classes, regression), and of each the model
file, its rules, figure and exports are hashed::

    python -m benchmarks.fingerprints --write before.json
    python -m benchmarks.fingerprints --compare before.json

A fingerprint is good on one machine only: training rounds differently on another
instruction set.
"""

from __future__ import annotations

import argparse
import hashlib
import json
import sys
import warnings
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np

from newron import Model, NewronClassifier, NewronRegressor
from newron.datasets import load

Fit = Callable[[], Any]

_SMOOTH = ("sigmoid", "tanh_prod", "smooth")
_ORDINARY = ("linear", "relu", "selu")


def list_fits() -> Iterator[tuple[str, Fit]]:
    """Yield the name and the fit of each model of the fixed set."""
    heart, iris, monks = load("heart"), load("iris"), load("monks-2", part="train")
    yield from _list_recipes("heart", heart.X, heart.y)
    yield from _list_recipes("monks-2", monks.X, monks.y)
    for processing in ("heaviside", *_SMOOTH):
        yield f"iris/{processing}", _classify(processing, iris.X, iris.y)
    yield from _list_mixed()
    yield from _list_regressions()
    yield from _list_shapes(heart.X, heart.y)


def _classify(processing: str, X: Any, y: Any, weight: Any = None, **settings: Any) -> Fit:
    estimator = NewronClassifier(processing, random_state=0, n_jobs=2, **settings)
    return lambda: estimator.fit(X, y, weight)


def _regress(processing: str, X: Any, y: Any, **settings: Any) -> Fit:
    return lambda: NewronRegressor(processing, random_state=0, n_jobs=2, **settings).fit(X, y)


def _list_recipes(name: str, X: Any, y: Any) -> Iterator[tuple[str, Fit]]:
    for recipe in ("default", "gradient", "grow"):
        yield f"{name}/heaviside/{recipe}", _classify("heaviside", X, y, recipe=recipe)
    paper = {"recipe": "paper", "max_iter": 60}
    for processing in ("heaviside", "sigmoid", "tanh_prod"):
        yield f"{name}/{processing}/paper", _classify(processing, X, y, **paper)
    for processing in _SMOOTH:
        yield f"{name}/{processing}/default", _classify(processing, X, y)
    for processing in ("sigmoid", "tanh_prod", *_ORDINARY):
        fit = _classify(processing, X, y, recipe="gradient", n_init=2)
        yield f"{name}/{processing}/gradient", fit


def _list_mixed() -> Iterator[tuple[str, Fit]]:
    """Yield fits of a made table with categories, missing values and three classes."""
    import pandas as pd

    rng = np.random.default_rng(7)
    n = 240
    colour = rng.choice(["red", "green", "blue"], n)
    size = np.where(rng.random(n) < 0.1, np.nan, np.round(rng.normal(10.0, 3.0, n), 1))
    age = rng.integers(18, 80, n)
    score = (colour == "red") * 2.0 + (np.nan_to_num(size, nan=14.0) > 11) - (age < 30)
    y = np.array(["low", "middle", "high"])[np.digitize(score + rng.normal(0, 0.4, n), [0.5, 1.8])]
    X = pd.DataFrame({"colour": colour, "size": size, "age": age})
    weight = rng.integers(0, 3, n).astype(float)
    for processing in ("heaviside", *_SMOOTH):
        yield f"mixed/{processing}", _classify(processing, X, y)
        two = np.where(y == "low", "low", "other")
        yield f"mixed/{processing}/weights", _classify(processing, X, two, weight)
    rising = {"monotonic_cst": {"age": 1}, "class_weight": "balanced"}
    yield "mixed/heaviside/monotone", _classify("heaviside", X, y == "high", **rising)
    yield "mixed/sigmoid/monotone", _classify("sigmoid", X, y == "high", **rising)


def _list_regressions() -> Iterator[tuple[str, Fit]]:
    rng = np.random.default_rng(3)
    X = np.round(rng.uniform(0.0, 1.0, (200, 4)), 2)
    y = 10 * np.sin(3 * X[:, 0]) + 5 * (X[:, 1] > 0.5) + rng.normal(0, 0.5, 200)
    for processing in ("heaviside", *_SMOOTH):
        yield f"regression/{processing}", _regress(processing, X, y)
    both = np.column_stack([y, X[:, 2] - X[:, 3]])
    yield "regression/two targets", _regress("sigmoid", X, both, recipe="gradient", n_init=2)
    yield "regression/grow", _regress("heaviside", X, y, recipe="grow")


def _list_shapes(X: Any, y: Any) -> Iterator[tuple[str, Fit]]:
    """Yield fits of other shapes of network, each once."""
    plain = {"recipe": "gradient", "n_init": 2}
    for aggregation in ("mean", "min", "max", "product"):
        fit = _classify("sigmoid", X, y, aggregation=aggregation, **plain)
        yield f"shapes/{aggregation}", fit
    yield "shapes/tanh", _classify("linear", X, y, activation="tanh", **plain)
    several = {"functions_per_input": 2, "direct_inputs": True, "input_scale": "both"}
    yield (
        "shapes/several",
        _classify("heaviside", X, y, hidden_layer_sizes=(3, 2), **several, **plain),
    )
    yield "shapes/pruned", _classify("heaviside", X, y, recipe="grow", pruning=True)
    yield "shapes/auto", _classify("sigmoid", X, y, hidden_layer_sizes="auto", **plain)


# ---- what is hashed ----


def hash_model(model: Model) -> dict[str, str]:
    """Return the hash of each thing that a reader sees of a model."""
    texts = {
        "model": json.dumps(model.to_dict(), sort_keys=True),
        "figure": model.plot().svg,
        "python": model.export("python").text,
        "javascript": model.export("javascript").text,
        "c": model.export("c").text,
        "sql": _try(lambda: model.export("sql").text),
    }
    if all(layer.processing == "heaviside" for layer in model.layers):
        texts["rules"] = _try(lambda: _print_rules(model))
    return {name: hashlib.sha256(text.encode()).hexdigest()[:16] for name, text in texts.items()}


def _print_rules(model: Model) -> str:
    rules = model.rules(seconds=60.0)
    return f"{rules.to_text()}\n{bool(rules.proof)}"


def _try(make: Callable[[], str]) -> str:
    try:
        return make()
    except ValueError as error:
        return type(error).__name__


def compare(before: dict[str, dict[str, str]], after: dict[str, dict[str, str]]) -> list[str]:
    """Return a line for each fingerprint that differs."""
    lines = []
    for name in sorted(before.keys() | after.keys()):
        old, new = before.get(name), after.get(name)
        if old is None or new is None:
            lines.append(f"{name}: {'new' if old is None else 'gone'}")
        elif old != new:
            keys = sorted(k for k in old.keys() | new.keys() if old.get(k) != new.get(k))
            lines.append(f"{name}: {', '.join(keys)} changed")
    return lines


def main(arguments: list[str] | None = None) -> int:
    """Write or compare fingerprints; return 1 where they differ."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--write", type=Path, metavar="FILE.json")
    parser.add_argument("--compare", type=Path, metavar="FILE.json")
    parser.add_argument("--only", default="", help="fits whose name contains this")
    options = parser.parse_args(arguments)
    warnings.simplefilter("ignore")
    found = {}
    for name, fit in list_fits():
        if options.only in name:
            found[name] = hash_model(fit().model_)
            print(name, found[name]["model"], flush=True)
    if options.write is not None:
        options.write.write_text(json.dumps(found, indent=1) + "\n")
    if options.compare is None:
        return 0
    before = json.loads(options.compare.read_text())
    lines = compare({k: v for k, v in before.items() if options.only in k}, found)
    print("\n".join(lines) if lines else f"{len(found)} models: nothing changed")
    return bool(lines)


if __name__ == "__main__":
    sys.exit(main())
