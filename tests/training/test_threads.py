"""Threads that the system does not give: fewer of them, the same result, never a hang."""

import subprocess
import sys

import pytest

resource = pytest.importorskip("resource")  # limits as Unix has them

FIT = """
import resource
import numpy as np
from newron import NewronClassifier
rng = np.random.default_rng(0)
X = rng.normal(size=(300, 3))
y = (X[:, 0] > 0).astype(int)
fitted = NewronClassifier("sigmoid", recipe="gradient", max_iter=5, n_init=1, random_state=0)
fitted.fit(X, y)  # everything is imported before the limit is set
one = fitted.model_
now = int(open("/proc/self/statm").read().split()[0]) * resource.getpagesize()
resource.setrlimit(resource.RLIMIT_AS, (now + {room}, now + {room}))
many = fitted.set_params(n_jobs=1000).fit(X, y).model_
assert one == many
assert one.scores(X).tolist() == one.scores(X, n_threads=1000).tolist()
print("same")
"""


def fit_within(room: int, stack: int | None = None) -> subprocess.CompletedProcess[str]:
    def limit_stack():  # new threads get a stack of this size
        if stack is not None:
            resource.setrlimit(resource.RLIMIT_STACK, (stack, resource.RLIM_INFINITY))

    return subprocess.run(
        [sys.executable, "-c", FIT.format(room=room)],
        capture_output=True, text=True, timeout=120, preexec_fn=limit_stack,
    )  # fmt: skip


@pytest.mark.skipif(sys.platform != "linux", reason="reads /proc")
def test_a_thousand_threads_within_a_limit_of_memory_do_not_hang():
    done = fit_within(room=500 << 20)
    assert done.stdout == "same\n", done.stderr


@pytest.mark.skipif(sys.platform != "linux", reason="reads /proc")
def test_without_any_thread_the_caller_does_the_work():
    done = fit_within(room=500 << 20, stack=2 << 30)
    assert done.stdout == "same\n", done.stderr
