"""Runs in an environment of its own: fits a package at several sizes, prints what it predicts.

``python isolated.py NAME ROWS.npz``; it needs NumPy and the package, nothing of newron.
"""

import contextlib
import io
import json
import sys

import numpy as np

__all__ = []

_PENALTIES = {"gosdt": (0.1, 0.05, 0.02, 0.01), "corels": (0.1, 0.03, 0.01, 0.003, 0.001)}
_SECONDS = 10  # by the clock


def fit_fasterrisk(rows):
    """Return points of n questions for each n."""
    from fasterrisk.fasterrisk import RiskScoreClassifier, RiskScoreOptimizer

    X, signs = rows["train"].astype(float), np.where(rows["y"] == 1, 1.0, -1.0)
    found = {}
    for n in rows["sizes"].tolist():
        search = RiskScoreOptimizer(X=X, y=signs, k=min(n, X.shape[1]), select_top_m=1)
        search.optimize()
        multipliers, constants, points = search.get_models()
        card = RiskScoreClassifier(multipliers[0], constants[0], points[0])
        predicted = card.predict(rows["test"].astype(float)) > 0
        found[n] = predicted.astype(int), int(np.sum(points[0] != 0))
    return found


def fit_gosdt(rows):
    """Return the largest optimal tree of at most n questions for each n."""
    import pandas as pd
    from gosdt import GOSDTClassifier

    frames = [pd.DataFrame(rows[part].astype(bool)) for part in ("train", "test")]

    def fit(penalty):
        model = GOSDTClassifier(
            regularization=penalty, depth_budget=5, time_limit=_SECONDS, allow_small_reg=True
        )
        model.fit(frames[0], pd.Series(rows["y"]))
        return model.predict(frames[1]), str(model.trees_[0]).count("feature:")

    return choose([fit(penalty) for penalty in _PENALTIES["gosdt"]], rows)


def fit_corels(rows):
    """Return the longest rule list of at most n questions for each n."""
    from corels import CorelsClassifier

    X, test = (rows[part].astype(np.uint8) for part in ("train", "test"))
    names = [f"q{i}" for i in range(X.shape[1])]

    def fit(penalty):
        model = CorelsClassifier(c=penalty, n_iter=10_000, max_card=2, verbosity=[])
        model.fit(X, rows["y"].astype(np.uint8), features=names)
        rules = model.rl().rules[:-1]  # the last one is what else is said
        return model.predict(test).astype(int), sum(len(rule["antecedents"]) for rule in rules)

    return choose([fit(penalty) for penalty in _PENALTIES["corels"]], rows)


def choose(fits, rows):
    """Return for each size the last fit that has no more questions, or the commonest class."""
    commonest = np.full(len(rows["test"]), np.bincount(rows["y"]).argmax())
    found = {}
    for n in rows["sizes"].tolist():
        few = [fit for fit in fits if fit[1] <= n]
        found[n] = few[-1] if few else (commonest, 0)
    return found


FITS = {"fasterrisk": fit_fasterrisk, "gosdt": fit_gosdt, "corels": fit_corels}


def main():
    """Fit and print."""
    name, path = sys.argv[1:]
    with np.load(path) as file:
        rows = {key: file[key] for key in file.files}
    with contextlib.redirect_stdout(io.StringIO()):
        found = FITS[name](rows)
    print(json.dumps({str(n): [np.asarray(p).tolist(), int(s)] for n, (p, s) in found.items()}))


if __name__ == "__main__":
    main()
