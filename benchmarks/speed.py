"""``python -m benchmarks.speed``: how fast newron trains and predicts.

Everything that is compared is measured in turns, several rounds in one run: the
machines are shared, and only ratios within a round mean something. A ratio is the
median over the rounds; a time is the least.
"""

from __future__ import annotations

import argparse
import dataclasses
import importlib.util
import statistics
import subprocess
import sys
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from itertools import pairwise

import numpy as np
from sklearn.ensemble import HistGradientBoostingClassifier
from sklearn.neural_network import MLPClassifier
from threadpoolctl import threadpool_limits

from benchmarks.report import Report, open_report
from newron import NewronClassifier, _core
from newron.neurons import exp, processing
from newron.neurons.builtin import PROCESSING
from newron.neurons.processing import Processing
from newron.objectives import Binary
from newron.training.architecture import plan_architecture
from newron.training.core_trainer import CoreTable, train
from newron.training.recipe import Recipe
from newron.training.start import draw_start
from newron.training.wiring import Wiring

BATCH = 128
HAS_TORCH = importlib.util.find_spec("torch") is not None


@dataclass(frozen=True)
class Size:
    """A network, a number of rows, and how many steps to time."""

    widths: tuple[int, ...]
    n_rows: int
    steps: int
    torch_steps: int

    @property
    def name(self) -> str:
        """The widths as text."""
        return "-".join(map(str, self.widths))

    @property
    def n_edges(self) -> int:
        """How many functions the network has."""
        return sum(a * b for a, b in pairwise(self.widths))


SIZES = (
    Size((13, 2, 2, 1), 270, 6000, 150),
    Size((2, 4, 1), 1000, 8000, 150),
    Size((14, 16, 8, 1), 20_000, 628, 150),
    Size((100, 64, 32, 1), 20_000, 157, 30),
)


def make_data(n_rows: int, n_columns: int) -> tuple[np.ndarray, np.ndarray]:
    """Return a table of noise and a class that depends on its first column."""
    X = np.random.default_rng(0).normal(size=(n_rows, n_columns))
    return X, (X[:, 0] > 0).astype(np.int64)


def time_newron(size: Size, processing: str | Processing) -> float:
    """Return the seconds of one step in the core, one thread."""
    X, y = make_data(size.n_rows, size.widths[0])
    table = CoreTable(
        X.astype(np.float32), y[:, None].astype(np.float32), np.ones(len(X), np.float32)
    )
    plan = plan_architecture(size.widths[1:-1], 1, processing=processing)
    wiring = Wiring(plan, (0,) * size.widths[0])
    per_epoch = -(-size.n_rows // BATCH)
    n_epochs = max(1, size.steps // per_epoch)
    recipe = Recipe(
        max_iter=n_epochs, batch_size=BATCH, schedule="constant", monitor="epoch",
        keep_best=False, weight_decay=0.0, learning_rate_init=0.01,
    )  # fmt: skip
    start = draw_start(wiring, table.x.min(axis=0), table.x.max(axis=0), np.random.default_rng(0))
    begin = time.perf_counter()
    train(wiring, table, recipe, Binary(), [start], [1])
    return (time.perf_counter() - begin) / (n_epochs * per_epoch)


def time_mlp(size: Size) -> float:
    """Return the seconds of one step of scikit-learn's perceptron, one thread."""
    X, y = make_data(size.n_rows, size.widths[0])
    per_epoch = -(-size.n_rows // BATCH)
    n_epochs = max(1, min(size.steps, 400) // per_epoch)
    model = MLPClassifier(
        size.widths[1:-1], batch_size=BATCH, max_iter=n_epochs, n_iter_no_change=n_epochs + 1,
        tol=0.0, random_state=0,
    )  # fmt: skip
    begin = time.perf_counter()
    model.fit(X, y)
    return (time.perf_counter() - begin) / (n_epochs * per_epoch)


def time_bare(size: Size) -> float:
    """Return the seconds of one sigmoid for each edge and row of a batch."""
    rng = np.random.default_rng(0)
    x = rng.normal(size=(1, BATCH)).astype(np.float32)
    w, b = rng.normal(size=(2, size.n_edges)).astype(np.float32)
    repeats = max(3, 20_000_000 // (size.n_edges * BATCH))
    return _core.time_bare_sigmoid(x, np.ascontiguousarray(w), np.ascontiguousarray(b), repeats)


def time_torch(size: Size, function: str = "sigmoid") -> float:
    """Return the seconds of one step in eager PyTorch, or NaN without it."""
    if not HAS_TORCH:
        return float("nan")
    from benchmarks.eager import time_step

    return time_step(size.widths, size.n_rows, BATCH, size.torch_steps, function)


def measure(contestants: dict[str, Callable[[], float]], rounds: int) -> dict[str, list[float]]:
    """Time all contestants in turns."""
    times: dict[str, list[float]] = {name: [] for name in contestants}
    for _ in range(rounds):
        for name, contestant in contestants.items():
            times[name].append(contestant())
    return times


def ratio(times: dict[str, list[float]], of: str, to: str) -> float:
    """Return the median over the rounds of one time by another."""
    return statistics.median(a / b for a, b in zip(times[of], times[to], strict=True))


def report_training(report: Report, rounds: int) -> None:
    """Compare one step of training."""
    report.add("\n## One step of Adam, batch 128, one thread (µs)")
    rows = []
    for size in SIZES:
        times = measure(
            {
                "sigmoid": lambda s=size: time_newron(s, "sigmoid"),
                "torch": lambda s=size: time_torch(s),
                "mlp": lambda s=size: time_mlp(s),
                "bare": lambda s=size: time_bare(s),
                "tanh_prod": lambda s=size: time_newron(s, "tanh_prod"),
                "heaviside": lambda s=size: time_newron(s, "heaviside"),
            },
            rounds,
        )
        least = {name: min(values) * 1e6 for name, values in times.items()}
        per_tanh = ratio(times, "tanh_prod", "bare") / 2
        rows.append(
            [
                f"{size.name}, {size.n_rows} rows",
                *(f"{least[k]:.1f}" for k in
                  ("sigmoid", "heaviside", "tanh_prod", "torch", "mlp", "bare")),
                f"{ratio(times, 'torch', 'sigmoid'):.0f}×",
                f"{ratio(times, 'mlp', 'sigmoid'):.1f}×",
                f"{ratio(times, 'sigmoid', 'bare'):.2f}",
                f"{per_tanh:.2f}",
            ]
        )  # fmt: skip
    head = [
        "network", "sigmoid", "heaviside", "tanh-prod", "eager torch", "MLPClassifier",
        "bare sigmoid", "torch / newron", "MLP / newron", "sigmoid / bare", "tanh-prod / bare tanh",
    ]  # fmt: skip
    report.table(head, rows)


def copy_formula(name: str) -> Processing:
    """Return a built-in function as one of a user's own: without its kernel."""
    return dataclasses.replace(PROCESSING[name], name=f"own_{name}")


@processing
def bell(z):
    """Be a bell around b."""
    return exp(-z * z)


def report_formulas(report: Report, rounds: int) -> None:
    """Compare formulas of the register machine with kernels of the core, and with PyTorch."""
    report.add("\n## Formulas against kernels: one step of Adam, batch 128, one thread (µs)")
    rows = []
    for size in SIZES:
        for name in ("sigmoid", "relu", "tanh_prod", "bell"):
            own = bell if name == "bell" else copy_formula(name)
            contestants = {"formula": lambda s=size, own=own: time_newron(s, own)}
            if name in PROCESSING:
                contestants["kernel"] = lambda s=size, n=name: time_newron(s, n)
            if name != "tanh_prod":
                contestants["torch"] = lambda s=size, n=name: time_torch(s, n)
            times = measure(contestants, rounds)
            least = [f"{min(times[k]) * 1e6:.1f}" if k in times else "" for k in
                     ("formula", "kernel", "torch")]  # fmt: skip
            slower = f"{ratio(times, 'formula', 'kernel'):.2f}" if "kernel" in times else ""
            faster = f"{ratio(times, 'torch', 'formula'):.0f}×" if "torch" in times else ""
            rows.append([f"{size.name}, {size.n_rows} rows", name, *least, slower, faster])
    head = [
        "network", "function", "formula", "kernel", "eager torch", "formula / kernel",
        "torch / formula",
    ]  # fmt: skip
    report.table(head, rows)


def report_threads(report: Report, rounds: int) -> None:
    """Compare two threads with one."""
    report.add("## Two threads against one")
    X, y = make_data(20_000, 14)
    wide, _ = make_data(20_000, 100)

    def fit(rows: np.ndarray, jobs: int, **settings: object) -> float:
        model = NewronClassifier(
            "sigmoid", recipe="gradient", random_state=0, n_jobs=jobs, **settings
        )
        begin = time.perf_counter()
        model.fit(rows, y)
        return time.perf_counter() - begin

    many = {"hidden_layer_sizes": (16, 8), "n_init": 8, "max_iter": 10}
    large = {"hidden_layer_sizes": (64, 32), "n_init": 1, "max_iter": 10, "batch_size": 1024}
    rows = []
    for name, table, settings in (
        ("14-16-8-1, n_init=8", X, many),
        ("100-64-32-1, one fit, batch 4096", wide, {**large, "batch_size": 4096}),
        ("100-64-32-1, one fit, batch 1024", wide, large),
        ("100-64-32-1, one fit, batch 128", wide, {**large, "batch_size": 128}),
    ):
        times = measure(
            {
                "one": lambda t=table, s=settings: fit(t, 1, **s),
                "two": lambda t=table, s=settings: fit(t, 2, **s),
            },
            rounds,
        )
        rows.append(
            [name, f"{min(times['one']):.2f}", f"{min(times['two']):.2f}",
             f"{ratio(times, 'one', 'two'):.2f}×"]
        )  # fmt: skip
    report.table(["fit, 20000 rows", "one thread (s)", "two threads (s)", "speed-up"], rows)


def report_prediction(report: Report, rounds: int) -> None:
    """Compare prediction of many rows and of one."""
    report.add("## Prediction, 200,000 rows of 14 columns, one thread")
    X, y = make_data(200_000, 14)
    few = slice(0, 5000)
    small = {
        "hidden_layer_sizes": (16, 8), "recipe": "gradient", "n_init": 1, "max_iter": 5,
        "random_state": 0,
    }  # fmt: skip
    models = {
        "heaviside 14-16-8-1": NewronClassifier("heaviside", **small),
        "sigmoid 14-16-8-1": NewronClassifier("sigmoid", **small),
        "MLPClassifier 14-16-8-1": MLPClassifier((16, 8), max_iter=5, random_state=0),
        "HistGradientBoosting, 100 trees": HistGradientBoostingClassifier(random_state=0),
    }  # fmt: skip
    for model in models.values():
        model.fit(X[few], y[few])

    def predict(model: object, rows: np.ndarray, repeats: int) -> float:
        begin = time.perf_counter()
        for _ in range(repeats):
            model.predict(rows)  # type: ignore[attr-defined]
        return (time.perf_counter() - begin) / repeats

    many = measure({k: lambda m=m: predict(m, X, 1) for k, m in models.items()}, rounds)
    one = measure({k: lambda m=m: predict(m, X[:1], 100) for k, m in models.items()}, rounds)
    rows = [
        [name, f"{len(X) / min(many[name]) / 1e6:.2f}", f"{min(one[name]) * 1e6:.0f}"]
        for name in models
    ]
    for name in list(models)[:2]:
        model = models[name].model_
        latency = min(predict(model, X[:1], 2000) for _ in range(rounds))
        rows.append([f"{name}, Model.predict", "", f"{latency * 1e6:.0f}"])
    report.table(["model", "million rows a second", "one row (µs)"], rows)


MEMORY = """
import numpy as np
from pathlib import Path
from newron import NewronClassifier
def read(key):
    lines = Path("/proc/self/status").read_text().splitlines()
    return next(int(l.split()[1]) for l in lines if l.startswith(key)) / 1024
small = np.random.default_rng(0).normal(size=(2000, 20)).astype(np.{kind})
settings = dict(recipe="gradient", n_init=1, max_iter=1, random_state=0)
NewronClassifier("{processing}", **settings).fit(small, small[:, 0] > 0)
X = np.empty((1_000_000, 20), np.{kind})
for i in range(0, len(X), 10_000):
    X[i:i + 10_000] = np.random.default_rng(i).normal(size=(10_000, 20))
y = X[:, 0] > 0
Path("/proc/self/clear_refs").write_text("5")
before = read("VmRSS")
NewronClassifier("{processing}", **settings).fit(X, y)
print(read("VmHWM") - before, X.nbytes / 2**20)
"""


def report_memory(report: Report) -> None:
    """Measure the peak of a fit above its data."""
    if sys.platform != "linux":
        return
    report.add("## Peak memory of a fit above the data, 1,000,000 × 20, hidden (4,)")
    rows = []
    for function in ("heaviside", "sigmoid"):
        for kind in ("float32", "float64"):
            code = MEMORY.format(processing=function, kind=kind)
            done = subprocess.run(
                [sys.executable, "-c", code], check=True, capture_output=True, text=True
            )
            peak, data = map(float, done.stdout.split())
            rows.append([f"{function}, X in {kind}", f"{data:.0f}", f"{peak:.0f}"])
    report.table(["fit", "the data (MiB)", "peak above it (MiB)"], rows)
    report.add("The core's own copy of the rows is float32: 76 MiB of the peak.")


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the benchmark."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.speed", description=__doc__)
    parser.add_argument("--rounds", type=int, default=7, help="rounds of each comparison")
    parser.add_argument("--formulas", action="store_true", help="formulas against kernels alone")
    parser.add_argument("--write", metavar="FILE", help="write the result as Markdown")
    options = parser.parse_args(arguments)
    title = "Speed of formulas" if options.formulas else "Speed"
    report = open_report(title, parser, arguments, ["numpy", "scikit-learn", "torch"])
    if not HAS_TORCH:
        report.add("\nPyTorch is not installed: its column is empty (run scripts/install_heavy).")
    if options.formulas:
        with threadpool_limits(1):
            report_formulas(report, options.rounds)
        report.write(options.write)
        return 0
    with threadpool_limits(1):
        report_training(report, options.rounds)
        report_threads(report, options.rounds)
        report_prediction(report, options.rounds)
    report_memory(report)
    report.write(options.write)
    return 0


if __name__ == "__main__":
    sys.exit(main())
