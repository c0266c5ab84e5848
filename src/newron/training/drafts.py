"""Networks of a path, each of which is finished when it is first looked at.

Shorter numbers and the normal form cost more than a short network's training, and most networks
of a path are never looked at.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence

import numpy as np

from newron.model.model import Model

_MOST = 2  # conditions on a column, of which no third is made
Finish = Callable[[Model], Model]


class Drafts(Sequence[Model]):
    """Finished networks, and others that ``finish`` changes when they are first read.

    Those whose number of lines the normal form may change are finished at once.

    Examples
    --------
    >>> from newron.model import Classes, Column, Layer, Model, Schema
    >>> last = Layer("heaviside", "sum", "identity", 1, target=[0], source=[0], w=[[1.0]],
    ...              b=[[0.5]], alpha=[1.0], centre=[0.5])
    >>> model = Model(Schema((Column("x", 0.0, 1.0),)), [last], Classes(("no", "yes")))
    >>> drafts = Drafts([model], lambda each: print("finished") or each)
    >>> drafts[0] is drafts[0] is drafts.drafts[0]
    finished
    True
    """

    def __init__(self, drafts: Sequence[Model], finish: Finish | None = None) -> None:
        self.drafts = tuple(drafts)
        self._steps: list[list[Finish]] = [[] if finish is None else [finish] for _ in drafts]
        for i, model in enumerate(self.drafts):
            if not _keeps_size(model):
                self._finish(i)

    def __len__(self) -> int:
        """Count the networks."""
        return len(self.drafts)

    @classmethod
    def hold(cls, models: Sequence[Model]) -> Drafts:
        """Return networks as they are, for what may be drafts or finished."""
        return models if isinstance(models, Drafts) else cls(models)

    def __getitem__(self, index):  # type: ignore[no-untyped-def]
        """Return a network, finished."""
        if isinstance(index, slice):
            return tuple(self[i] for i in range(*index.indices(len(self))))
        return self._finish(range(len(self))[index])

    def __iter__(self) -> Iterator[Model]:
        """Go through the networks, each finished when its turn comes."""
        return map(self._finish, range(len(self)))

    def _finish(self, i: int) -> Model:
        if self._steps[i]:
            made = self.drafts[i]
            for step in self._steps[i]:
                made = step(made)
            self.drafts = (*self.drafts[:i], made, *self.drafts[i + 1 :])
            self._steps[i] = []
        return self.drafts[i]

    def take(self, places: Sequence[int]) -> Drafts:
        """Return some of the networks."""
        taken = Drafts([self.drafts[i] for i in places])
        taken._steps = [list(self._steps[i]) for i in places]
        return taken

    def append(self, model: Model) -> Drafts:
        """Return the networks and a finished one more."""
        joined = Drafts([*self.drafts, model])
        joined._steps[:-1] = [list(steps) for steps in self._steps]
        return joined

    def map(self, change: Finish) -> Drafts:
        """Return the networks, to each of which a change is made when it is finished."""
        changed = self.take(range(len(self)))
        for steps in changed._steps:
            steps.append(change)
        return changed

    def __eq__(self, other: object) -> bool:
        """Return whether the networks are equal, finished."""
        return isinstance(other, Sequence) and tuple(self) == tuple(other)

    __hash__ = None  # type: ignore[assignment]

    def __reduce__(self) -> tuple[type[Drafts], tuple[tuple[Model, ...]]]:
        """Pickle finished networks: how they are finished would need the training rows."""
        return Drafts, (tuple(self),)


def _keeps_size(model: Model) -> bool:
    """Return whether the normal form has as many lines.

    More than two conditions on a column, sets of categories that overlap, missing values and
    conditions of neurons may become more.
    """
    if not model.is_crisp:
        return True
    has_points = any(column.gaps or column.n_categories for column in model.schema.columns)
    n_scores = model.layers[-1].n_neurons
    most = int(np.bincount(model.layers[-1].source, minlength=1).max())
    return len(model.layers) == 1 and n_scores == 1 and not has_points and most <= _MOST
