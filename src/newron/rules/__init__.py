"""Exact rules of crisp networks, with proof.

>>> from newron import rules
>>> rules.extract  # doctest: +ELLIPSIS
<function extract at ...>
"""

from newron.rules.extraction import extract
from newron.rules.proof import Proof, prove
from newron.rules.ruleset import RuleSet

__all__ = ["Proof", "RuleSet", "extract", "prove"]
