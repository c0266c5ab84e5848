"""Walks the tree: evaluates the structures of a level on all folds, then those of the next.

What is done does not depend on who does it: a level is evaluated as a whole before the
next one is known, and every trial has its own seed, made of what it is. So threads,
processes and other machines give the same tree.
"""

from __future__ import annotations

import hashlib
import json
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import islice
from typing import Any

import numpy as np
from joblib import Parallel, delayed, effective_n_jobs
from joblib.parallel import get_active_backend

from newron.model.arithmetic import Floats
from newron.search.structure import Candidate, Tree


@dataclass(frozen=True)
class Trial:
    """A candidate, and the number of the fold to evaluate it on."""

    candidate: Candidate
    fold: int


@dataclass(frozen=True)
class Outcome:
    """What came of a trial; a score of NaN if it could not be trained."""

    score: float
    fit_time: float
    score_time: float


Call = tuple[Callable[..., Outcome], tuple[Any, ...]]  # a function and its arguments


class Listener:
    """Hears how the search goes."""

    def on_start(self, n_folds: int, n_workers: int) -> None:
        """Hear that the search begins."""

    def on_level(
        self, tree: Tree, trials: Sequence[Trial], outcomes: Mapping[Trial, Outcome]
    ) -> None:
        """Hear what is to be evaluated next, and see what is known, now and later."""

    def on_outcome(self, trial: Trial, outcome: Outcome) -> None:
        """Hear what came of a trial."""

    def on_end(self) -> None:
        """Hear that the search is over."""


@dataclass(frozen=True)
class Exploration:
    """The tree as far as it was explored, and what came of each trial."""

    tree: Tree
    outcomes: dict[Trial, Outcome]
    n_folds: int
    ending: str = "finished"  # or "time", or "interrupt"

    def list_outcomes(self, candidate: Candidate) -> list[Outcome]:
        """Return what came of a candidate on each fold."""
        return [self.outcomes[Trial(candidate, fold)] for fold in range(self.n_folds)]

    def score_matrix(self) -> Floats:
        """Return the scores, a row for each node of the tree and a column for each fold."""
        nodes = self.tree.nodes
        rows = [[each.score for each in self.list_outcomes(node.candidate)] for node in nodes]
        return np.array(rows).reshape(len(nodes), self.n_folds)


def derive_seed(seed: int, *content: Any) -> int:
    """Make a seed of what it is for, whatever was done before.

    >>> derive_seed(0, "a", 1) == derive_seed(0, "a", 1) != derive_seed(0, "a", 2)
    True
    """
    text = json.dumps([seed, *content], sort_keys=True)
    return int.from_bytes(hashlib.sha256(text.encode()).digest()[:4], "big")


def explore(
    tree: Tree,
    n_folds: int,
    prepare: Callable[[Trial, int], Call],
    *,
    known: Mapping[Trial, Outcome] | None = None,
    n_jobs: int | None = None,
    max_time: float | None = None,
    listeners: Sequence[Listener] = (),
) -> Exploration:
    """Evaluate structures until the tree has no more, or time is over.

    - ``prepare``: ``prepare(trial, n_threads)`` gives a function and its arguments; called, it
      gives the Outcome.
    - ``known``: What is known of trials already.
    - ``n_jobs``: Trials at a time, as joblib means it; threads unless ``joblib.parallel_config``
      says otherwise.
    - ``max_time``: Seconds after which no trial is started any more. The first structure is
      evaluated whatever it takes.
    """
    walk = _Walk(n_folds, prepare, _Team(n_jobs), list(listeners), dict(known or {}))
    walk.deadline = None if max_time is None else time.monotonic() + max_time
    return walk.run(tree)


@dataclass
class _Walk:
    n_folds: int
    prepare: Callable[[Trial, int], Call]
    team: _Team
    listeners: list[Listener]
    outcomes: dict[Trial, Outcome]
    deadline: float | None = None

    def run(self, tree: Tree) -> Exploration:
        for listener in self.listeners:
            listener.on_start(self.n_folds, self.team.size)
        try:
            with self.team:
                tree, ending = self._evaluate_levels(tree)
        finally:
            for listener in self.listeners:
                listener.on_end()
        if not tree.nodes:
            raise KeyboardInterrupt  # before anything was evaluated
        return Exploration(replace(tree, waiting=()), self.outcomes, self.n_folds, ending)

    def _evaluate_levels(self, tree: Tree) -> tuple[Tree, str]:
        ending = "finished"
        while tree.waiting and ending == "finished":
            ending = self._evaluate_level(tree)
            complete = [c for c in tree.candidates if self._is_complete(c)]
            tree = tree.advance({c: self._mean(c) for c in complete})
        return tree, ending

    def _evaluate_level(self, tree: Tree) -> str:
        trials = [t for c in tree.candidates for t in self._list_trials(c)]
        trials = [trial for trial in trials if trial not in self.outcomes]
        for listener in self.listeners:
            listener.on_level(tree, trials, self.outcomes)
        try:
            for number, outcome in self.team.work(self._prepare_all(tree, trials)):
                self.outcomes[trials[number]] = outcome
                for listener in self.listeners:
                    listener.on_outcome(trials[number], outcome)
        except KeyboardInterrupt:
            return "interrupt"
        return "finished" if all(map(self._is_complete, tree.candidates)) else "time"

    def _prepare_all(self, tree: Tree, trials: Sequence[Trial]) -> Iterator[Call]:
        n_threads = max(1, self.team.size // max(1, len(trials)))
        always = 0 if tree.nodes else self.n_folds
        for number, trial in enumerate(trials):
            if number >= always and self.deadline is not None and time.monotonic() >= self.deadline:
                return
            yield self.prepare(trial, n_threads)

    def _list_trials(self, candidate: Candidate) -> list[Trial]:
        return [Trial(candidate, fold) for fold in range(self.n_folds)]

    def _is_complete(self, candidate: Candidate) -> bool:
        return all(trial in self.outcomes for trial in self._list_trials(candidate))

    def _mean(self, candidate: Candidate) -> float:
        return float(np.mean([self.outcomes[t].score for t in self._list_trials(candidate)]))


class _Team:
    """Those who work, as joblib's active backend has them; they stay for all levels."""

    def __init__(self, n_jobs: int | None) -> None:
        self.size = effective_n_jobs(n_jobs)
        backend, _ = get_active_backend(prefer="threads")
        self._streams = getattr(backend, "supports_return_generator", False)
        # No more is begun than can be worked on: time may be over soon.
        self._parallel = Parallel(
            n_jobs,
            prefer="threads",
            return_as="generator_unordered" if self._streams else "list",
            pre_dispatch="n_jobs",
        )

    def __enter__(self) -> None:
        self._parallel.__enter__()

    def __exit__(self, *what: object) -> None:
        self._parallel.__exit__(*what)

    def work(self, calls: Iterator[Call]) -> Iterator[tuple[int, Outcome]]:
        """Make all calls; give their numbers and outcomes as they come."""
        tasks = (
            delayed(_call)(number, function, *arguments)
            for number, (function, arguments) in enumerate(calls)
        )
        if self._streams:
            yield from self._parallel(tasks)
            return
        while block := list(islice(tasks, self.size)):
            yield from self._parallel(block)


def _call(number: int, function: Callable[..., Outcome], *arguments: Any) -> tuple[int, Outcome]:
    return number, function(*arguments)
