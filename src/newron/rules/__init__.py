"""Exact rules of crisp networks, with proof; the nearest crisp network of any other.

>>> from newron import rules
>>> rules.extract  # doctest: +ELLIPSIS
<function extract at ...>
"""

from newron.rules.crisp import Fidelity, make_crisp, measure_fidelity
from newron.rules.extraction import extract
from newron.rules.proof import Proof, prove
from newron.rules.ruleset import Rule, RuleSet
from newron.rules.scorecard import ScoreCard, read_card

__all__ = [
    "Fidelity",
    "Proof",
    "Rule",
    "RuleSet",
    "ScoreCard",
    "extract",
    "make_crisp",
    "measure_fidelity",
    "prove",
    "read_card",
]
