"""``python -m benchmarks.search``: what ``hidden_layer_sizes="auto"`` costs and gains.

Each table's first fold of five (the official part of adult and the MONK's): seconds of a
fit and accuracy, with the default structure and with a searched one, side by side.
"""

from __future__ import annotations

import argparse
import sys
import time
from collections.abc import Sequence

from benchmarks.folds import MONKS, load, make_split, name_original
from benchmarks.report import open_report
from benchmarks.trials import show_progress
from newron import NewronClassifier, datasets

SEED = 0
PROCESSING = ("heaviside", "tanh_prod")
GOAL_SMALL, GOAL_ADULT = 2.0, 60.0


def try_fit(table: str, processing: str, hidden: object, jobs: int) -> tuple[str, float]:
    """Return a cell of the table, and the seconds of the fit."""
    X, y = load(table)
    train, test = make_split(table, 0)
    model = NewronClassifier(processing, hidden_layer_sizes=hidden, random_state=SEED, n_jobs=jobs)
    begin = time.perf_counter()
    model.fit(X.iloc[train], y.iloc[train])
    seconds = time.perf_counter() - begin
    score = 100 * model.score(X.iloc[test], y.iloc[test])
    found = getattr(model, "hidden_layer_sizes_", None)
    return f"{score:.1f} / {seconds:.1f} s" + (f" {found}" if found is not None else ""), seconds


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the benchmark."""
    names = datasets.names()
    parser = argparse.ArgumentParser(prog="python -m benchmarks.search", description=__doc__)
    parser.add_argument("--tables", nargs="*", choices=names, default=names, metavar="TABLE")
    parser.add_argument("--jobs", type=int, default=2)
    parser.add_argument("--write", metavar="FILE", help="write the result as Markdown")
    options = parser.parse_args(arguments)
    report = open_report("Search inside of a fit", parser, arguments, ["numpy", "scikit-learn"])
    report.add(
        f"\nAccuracy in % / seconds of a fit on {options.jobs} threads, default recipe, seed "
        f'{SEED}, with `(4,)`, the default, and with `"auto"`, and what it found. "auto" becomes '
        f"the default if a fit then takes under {GOAL_SMALL:g} s on the small tables and under "
        f"{GOAL_ADULT:g} s on adult."
    )
    slow, rows = [], []
    for name in options.tables:
        table = name_original(name) if name in MONKS else name
        row = [name]
        for processing in PROCESSING:
            for hidden in ((4,), "auto"):
                cell, seconds = try_fit(table, processing, hidden, options.jobs)
                row.append(cell)
                limit = GOAL_ADULT if name == "adult" else GOAL_SMALL
                if hidden == "auto" and seconds > limit:
                    slow.append(f"{name} {processing} {seconds:.1f} s")
        show_progress(" | ".join(row))
        rows.append(row)
    report.table(["table", *(f"{p} {h}" for p in PROCESSING for h in ("(4,)", "auto"))], rows)
    names = ", ".join(slow) if slow else "none"
    report.add(f'Slower than that with "auto": {names}.')
    report.write(options.write)
    return 0


if __name__ == "__main__":
    sys.exit(main())
