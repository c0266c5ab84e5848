"""Small tables and quick networks for the tests of the search."""

import os
import signal
import threading
from contextlib import contextmanager

import numpy as np

from newron import NewronClassifier


def make_corner(n=120, seed=0):
    """Two columns of which both must be high: no score card tells them apart."""
    X = np.random.default_rng(seed).normal(size=(n, 3))
    return X, np.where((X[:, 0] > 0) == (X[:, 1] > 0), "same", "other")


def make_noisy(n=300):
    """One column tells most of it, and the rest is chance: nothing to gain by layers."""
    rng = np.random.default_rng(0)
    X = rng.normal(size=(n, 3))
    return X, (X[:, 0] > 0) != (rng.random(n) < 0.2)


@contextmanager
def press_ctrl_c():
    """Give a function that presses Ctrl-C once, from whatever thread, and waits for it."""
    over, pressed = threading.Event(), threading.Lock()

    def press():
        if not pressed.acquire(blocking=False):
            return
        if threading.current_thread() is threading.main_thread():
            raise KeyboardInterrupt
        os.kill(os.getpid(), signal.SIGINT)
        over.wait(60)

    # What runs in the background ignores the signal unless it is told.
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    try:
        yield press
    finally:
        over.set()
        signal.signal(signal.SIGINT, before)


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
