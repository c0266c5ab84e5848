"""Exact rules of crisp networks, with proof; the nearest crisp network of any other.

>>> from newron import rules
>>> rules.prove  # doctest: +ELLIPSIS
<function prove at ...>
"""

from newron.rules.crisp import Fidelity, measure_fidelity
from newron.rules.proof import Proof
from newron.rules.prover import prove
from newron.rules.rule import Rule
from newron.rules.ruleset import RuleSet
from newron.rules.scorecard import ScoreCard

__all__ = ["Fidelity", "Proof", "Rule", "RuleSet", "ScoreCard", "measure_fidelity", "prove"]
