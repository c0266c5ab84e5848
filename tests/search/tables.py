"""Small tables and quick networks for the tests of the search."""

import numpy as np

from newron import NewronClassifier


def make_corner(n=120, seed=0):
    """Two columns of which both must be high: no score card tells them apart."""
    X = np.random.default_rng(seed).normal(size=(n, 3))
    return X, np.where((X[:, 0] > 0) == (X[:, 1] > 0), "same", "other")


def make_network(processing="sigmoid", **settings):
    """Give a network that trains in milliseconds."""
    return NewronClassifier(processing, **{"n_init": 1, "max_iter": 30, **settings})


def tell(search):
    """Give what must be the same however a search was run."""
    table = {k: v for k, v in search.cv_results_.items() if "time" not in k}
    plain = {
        name: np.ma.getdata(column).tolist() for name, column in table.items() if name != "params"
    }
    return (
        plain,
        table["params"],
        search.best_index_,
        str(search.tree_),
        search.best_estimator_.model_,
    )
