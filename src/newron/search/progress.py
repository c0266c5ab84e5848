"""Shows how a search goes: the tree so far, the best score, the time left.

On a terminal a live drawing on standard error, elsewhere a line for each structure.
"""

from __future__ import annotations

import math
import sys
import time
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

import numpy as np

from newron.formatting import format_duration
from newron.search.exploration import Listener, Outcome, Trial
from newron.search.results import measure_error
from newron.search.structure import Candidate, Tree

if TYPE_CHECKING:
    from rich.console import RenderableType
    from rich.live import Live


class ProgressTree(Listener):
    """The listener of ``verbose=1``.

    - ``max_time``: Seconds that the search may take.
    """

    def __init__(self, max_time: float | None = None) -> None:
        self._end = None if max_time is None else time.monotonic() + max_time
        self._live: Live | None = None
        self._outcomes: Mapping[Trial, Outcome] = {}
        self._times: list[float] = []
        self._done = self._left = 0

    def on_start(self, n_folds: int, n_workers: int) -> None:
        """Begin the drawing, on a terminal."""
        # Imported here: most searches are silent and need no terminal.
        from rich.console import Console
        from rich.live import Live

        self._n_folds, self._n_workers = n_folds, n_workers
        console = Console(file=sys.stderr)
        if console.is_terminal:
            self._live = Live(console=console)
            self._live.start()

    def on_level(
        self, tree: Tree, trials: Sequence[Trial], outcomes: Mapping[Trial, Outcome]
    ) -> None:
        """Look at what comes next."""
        self._tree, self._outcomes, self._left = tree, outcomes, len(trials)
        self._to_come = (tree.count_to_come() - len(tree.candidates)) * self._n_folds
        self._times = self._times[-self._n_folds :]

    def on_outcome(self, trial: Trial, outcome: Outcome) -> None:
        """Draw it over, or write a line if a structure is complete."""
        self._times.append(outcome.fit_time + outcome.score_time)
        self._left -= 1
        self._done += 1
        if self._live is not None:
            self._live.update(self._draw())
        elif self._is_complete(trial.candidate):
            print(self._format_structure(trial.candidate), file=sys.stderr, flush=True)

    def on_end(self) -> None:
        """End the drawing."""
        if self._live is not None:
            self._live.stop()
            self._live = None

    # ---- what is shown ----

    def _draw(self) -> RenderableType:
        from rich.console import Group
        from rich.progress_bar import ProgressBar
        from rich.table import Table
        from rich.text import Text

        total = self._done + self._left + self._to_come
        line = Table.grid(padding=(0, 1))
        line.add_row(ProgressBar(total, self._done, width=24), Text(self._format_state()))
        return Group(line, Text(str(self._evaluate_now())))

    def _format_structure(self, candidate: Candidate) -> str:
        scores = self._list_scores(candidate)
        error = measure_error(np.array(scores))
        return f"{candidate}  {np.mean(scores):.4f} ± {error:.4f}  {self._format_state()}"

    def _format_state(self) -> str:
        tree = self._evaluate_now()
        evaluated = [node for node in tree.nodes if not math.isnan(node.score)]
        about = len(tree.nodes) + math.ceil((self._left + self._to_come) / self._n_folds)
        text = f"{len(tree.nodes)} of about {about} structures"
        if evaluated:
            best = max(evaluated, key=lambda node: node.score)
            text += f", best {best.score:.4f} {best.candidate}"
        return f"{text}, about {format_duration(self._estimate())} left"

    def _estimate(self) -> float:
        """Return the seconds that are left, if no structure to come gains much."""
        typical = float(np.mean(self._times)) if self._times else 0.0
        seconds = (self._left + self._to_come) * typical / self._n_workers
        return (
            seconds if self._end is None else max(0.0, min(seconds, self._end - time.monotonic()))
        )

    def _evaluate_now(self) -> Tree:
        complete = [c for c in self._tree.candidates if self._is_complete(c)]
        return self._tree.advance({c: float(np.mean(self._list_scores(c))) for c in complete})

    def _is_complete(self, candidate: Candidate) -> bool:
        return all(Trial(candidate, fold) in self._outcomes for fold in range(self._n_folds))

    def _list_scores(self, candidate: Candidate) -> list[float]:
        return [self._outcomes[Trial(candidate, fold)].score for fold in range(self._n_folds)]
