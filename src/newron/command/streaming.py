"""Files that are trained in blocks: a sample to measure and report on, and all rows to train on."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Any, Self

import numpy as np
from sklearn.base import BaseEstimator, clone
from sklearn.utils import get_tags

from newron.command.progress import Stage, show_stage
from newron.command.terminal import Console
from newron.data import Dataset
from newron.evaluation.splits import Split
from newron.formatting import format_count, format_integer
from newron.model.model import Model
from newron.tables import LabelledTable
from newron.tables.labelled import LabelledSource
from newron.training.callbacks import Callback, Progress
from newron.training.path import ModelPath

SAMPLE_ROWS = 50_000  # to measure, to round points and to report on
_SEED = 11


def describe_reading(labelled: LabelledSource, n_rows: int) -> str:
    """Return how much of a file was read, in rows and bytes.

    Whatever a file counts as done is its fraction of the bytes.
    """
    source = labelled.source
    size = source.n_bytes
    done = size * min(source.done / source.total, 1.0) if source.total else 0.0
    return f"{format_count(n_rows, 'row')}, {_format_bytes(done)} of {_format_bytes(size)}"


def _format_bytes(n: float) -> str:
    for unit in ("B", "kB", "MB"):
        if n < 1000.0:
            return f"{n:.3g} {unit}"
        n /= 1000.0
    return f"{n:.3g} GB"


def sample_table(labelled: LabelledSource, on_batch: Callable[[], None]) -> LabelledTable:
    """Read some rows of a large table, which know where the others are."""
    n = labelled.n_used
    index = np.random.default_rng(_SEED).choice(n, min(SAMPLE_ROWS, n), replace=False)
    index.sort()
    table = labelled.read(on_batch, index)
    note = (
        f"{format_integer(n * len(labelled.fields))} values are trained in blocks, without being "
        f"read into memory; measured and reported by a sample of {format_integer(len(index))} rows"
    )
    return replace(table, whole=labelled, index=index, notes=(*table.notes, note))


def hold_out(table: LabelledTable, splits: Sequence[Split]) -> LabelledSource:
    """Return all rows of a sampled table without those that a model is measured on."""
    assert table.whole is not None  # noqa: S101 - it is sampled
    assert table.index is not None  # noqa: S101
    tests = [table.index[test] for _, test in splits]
    return replace(table.whole, held_out=np.sort(np.concatenate([np.zeros(0, np.intp), *tests])))


class StreamedNetwork(BaseEstimator):  # type: ignore[misc]
    """A network that is trained on all rows of a file, whichever rows it is given."""

    def __init__(self, network: Any, labelled: LabelledSource, console: Console) -> None:
        self.network, self.labelled, self.console = network, labelled, console

    def __sklearn_clone__(self) -> Self:
        """Return the same: a file is not copied."""
        return self

    def fit(self, X: Any, y: Any) -> Self:
        """Train, and show how far that is."""
        del X, y
        labelled, source = self.labelled, self.labelled.source
        with show_stage(self.console, "blocks") as stage:

            def show(n_rows: int) -> None:
                stage.update(source.done, source.total, describe_reading(labelled, n_rows))

            data = Dataset(source, labelled.options, surveyed=labelled, on_progress=show)
            network = clone(self.network).set_params(callbacks=_Stages(stage, labelled.n_used))
            network.fit(data, labelled.target.name)
        self.model_: Model = network.model_
        self.path_: ModelPath | None = network.path_
        return self

    def __sklearn_tags__(self) -> Any:
        """Return the tags of the network."""
        return get_tags(self.network)


class _Stages(Callback):
    """Shows the stages of the engine."""

    def __init__(self, stage: Stage, n_rows: int) -> None:
        self._stage, self._rows = stage, format_count(n_rows, "row")

    def on_progress(self, progress: Progress) -> None:
        """Show the stage."""
        words = ", ".join(filter(None, (self._rows, progress.stage)))
        self._stage.update(progress.step, progress.max_steps, words)
