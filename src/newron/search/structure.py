"""The paper's search as a value: structures, what follows from each, when it ends.

Nothing is trained here. A :class:`Tree` holds the structures that were evaluated and
those that are to be evaluated next; with their scores it makes the tree of the next
level.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

Widths = tuple[int, ...]  # of the hidden layers; () is the output layer alone
Choice = tuple[tuple[str, Any], ...]  # other settings of a network, by name
_MANY = 1000


@dataclass(frozen=True)
class Candidate:
    """A network to evaluate: its hidden layers, and settings besides them.

    - ``widths``: Of the hidden layers; ``()`` is the output layer alone.
    - ``choice``: Other parameters of the estimator, by name.

    >>> Candidate((4, 2), (("n_factors", 1),)).settings
    {'hidden_layer_sizes': (4, 2), 'n_factors': 1}
    """

    widths: Widths
    choice: Choice = ()

    @property
    def settings(self) -> dict[str, Any]:
        """The parameters of an estimator."""
        return {"hidden_layer_sizes": self.widths, **dict(self.choice)}

    def __str__(self) -> str:
        others = "".join(f" {name}={value}" for name, value in self.choice)
        return f"{self.widths}{others}"


@dataclass(frozen=True)
class GrowthRule:
    """How the tree grows, and where it ends.

    - ``patience``: What the first structure has of it. A child has its parent's, less 1 where it
      gains too little; without patience there are no children.
    - ``min_gain``: The smallest gain of a child over its parent that costs no patience.
    - ``relative``: Whether the gain is a fraction of the parent's score, as errors want it.
    - ``widening``: Whether a step doubles all hidden layers at once or one of them.
    - ``max_neurons``, ``max_layers``: Hidden ones of a structure at most.
    - ``max_structures``: Structures at most, for each choice.
    """

    patience: int = 5
    min_gain: float = 0.01
    relative: bool = False
    widening: str = "all"
    max_neurons: int | None = 64
    max_layers: int | None = None
    max_structures: int | None = None

    def allows(self, widths: Widths) -> bool:
        """Return whether a structure is small enough."""
        if self.max_layers is not None and len(widths) > self.max_layers:
            return False
        return self.max_neurons is None or sum(widths) <= self.max_neurons

    def measure_gain(self, score: float, before: float) -> float:
        """Return how much better a score is than its parent's."""
        if self.relative and before != 0.0:
            return (score - before) / abs(before)
        return score - before

    def hand_down(self, patience: int, gain: float) -> int:
        """Return the patience of a child; one that could not be evaluated has none."""
        if math.isnan(gain):
            return 0
        return patience - (gain < self.min_gain)


def list_children(widths: Widths, widening: str = "all") -> list[Widths]:
    """Return the structures one step further: wider ones first, then the deeper one.

    >>> list_children(())
    [(1,)]
    >>> list_children((2, 1))
    [(4, 2), (2, 1, 1)]
    >>> list_children((2, 1), "each")
    [(4, 1), (2, 2), (2, 1, 1)]
    """
    deeper = (*widths, 1)
    if not widths:
        return [deeper]
    if widening == "all":
        return [tuple(2 * width for width in widths), deeper]
    wider = [
        (*widths[:index], 2 * width, *widths[index + 1 :]) for index, width in enumerate(widths)
    ]
    return [*wider, deeper]


@dataclass(frozen=True)
class Node:
    """A structure that was evaluated.

    - ``parent``: The index of its parent among the tree's nodes; None for a root.
    - ``score``: The mean over folds; NaN where training failed.
    - ``gain``: Over the parent; NaN for a root.
    - ``patience``: What is left of it; without patience a structure has no children.

    >>> Node(Candidate(()), None, 0.8, float("nan"), 5).patience
    5
    """

    candidate: Candidate
    parent: int | None
    score: float
    gain: float  # NaN for a root
    patience: int


@dataclass(frozen=True)
class Tree:
    """Structures that were evaluated, breadth first, and those of the next level.

    With several choices there is a root for each. A structure that several parents
    lead to is the child of the first.

    - ``rule``: How the tree grows, and where it ends.
    - ``nodes``: The structures that were evaluated.
    - ``waiting``: Those of the next level, and the index of each one's parent.

    >>> tree = Tree.start(GrowthRule(patience=1))
    >>> tree = tree.advance({Candidate(()): 0.8})
    >>> tree = tree.advance({Candidate((1,)): 0.9})
    >>> [str(candidate) for candidate in tree.candidates]
    ['(2,)', '(1, 1)']
    >>> tree = tree.advance({Candidate((2,)): 0.905, Candidate((1, 1)): 0.9})
    >>> tree.candidates
    []
    >>> print(tree)
    ()             0.8000  patience 1
    └─ (1,)        0.9000  patience 1
       ├─ (2,)     0.9050  patience 0
       └─ (1, 1)   0.9000  patience 0
    """

    rule: GrowthRule
    nodes: tuple[Node, ...] = ()
    waiting: tuple[tuple[Candidate, int | None], ...] = ()

    @classmethod
    def start(cls, rule: GrowthRule, choices: Sequence[Choice] = ((),)) -> Tree:
        """Return the tree before anything is evaluated: the output layer alone.

        - ``choices``: Other parameters, as in :class:`Candidate`; a root for each.
        """
        return cls(rule, (), tuple((Candidate((), choice), None) for choice in choices))

    @property
    def candidates(self) -> list[Candidate]:
        """What is to be evaluated next."""
        return [candidate for candidate, _ in self.waiting]

    def advance(self, scores: Mapping[Candidate, float]) -> Tree:
        """Return the tree of the next level.

        - ``scores``: Candidates without a score are left out.
        """
        evaluated = [(c, parent) for c, parent in self.waiting if c in scores]
        new = [self._make_node(c, parent, scores[c]) for c, parent in evaluated]
        grown = replace(self, nodes=self.nodes + tuple(new), waiting=())
        return replace(grown, waiting=tuple(grown._list_waiting(len(self.nodes))))

    def _make_node(self, candidate: Candidate, parent: int | None, score: float) -> Node:
        if parent is None:
            patience = 0 if math.isnan(score) else self.rule.patience
            return Node(candidate, None, score, math.nan, patience)
        before = self.nodes[parent]
        gain = self.rule.measure_gain(score, before.score)
        return Node(candidate, parent, score, gain, self.rule.hand_down(before.patience, gain))

    def _list_waiting(self, first: int) -> Iterator[tuple[Candidate, int]]:
        seen = {node.candidate for node in self.nodes}
        for index, node in enumerate(self.nodes[first:], start=first):
            if node.patience <= 0:
                continue
            for widths in list_children(node.candidate.widths, self.rule.widening):
                child = replace(node.candidate, widths=widths)
                if child in seen or not self.rule.allows(widths) or self._is_full(seen, child):
                    continue
                seen.add(child)
                yield child, index

    def _is_full(self, seen: set[Candidate], child: Candidate) -> bool:
        most = self.rule.max_structures
        return most is not None and sum(each.choice == child.choice for each in seen) >= most

    def count_to_come(self) -> int:
        """Count the structures that are left if none of them gains enough.

        Returned: about a thousand at most.
        """
        low = min((node.score for node in self.nodes if math.isfinite(node.score)), default=0.0)
        tree, total = self, 0
        while tree.waiting and total < _MANY:
            total += len(tree.waiting)
            low -= 1.0
            tree = tree.advance(dict.fromkeys(tree.candidates, low))
        return total

    # ---- drawing ----

    def __str__(self) -> str:
        lines = [(f"{trunk}{self.nodes[index].candidate}", index) for index, trunk in self._walk()]
        width = max((len(name) for name, _ in lines), default=0)
        return "\n".join(f"{name:<{width}}  {self._format_node(index)}" for name, index in lines)

    def _walk(self) -> Iterator[tuple[int, str]]:
        children: dict[int | None, list[int]] = {}
        for index, node in enumerate(self.nodes):
            children.setdefault(node.parent, []).append(index)

        def visit(index: int, lead: str, below: str) -> Iterator[tuple[int, str]]:
            yield index, lead
            under = children.get(index, [])
            for child in under:
                last = child == under[-1]
                yield from visit(
                    child, below + ("└─ " if last else "├─ "), below + ("   " if last else "│  ")
                )

        for root in children.get(None, []):
            yield from visit(root, "", "")

    def _format_node(self, index: int) -> str:
        node = self.nodes[index]
        return f"{node.score:.4f}  patience {node.patience}"
