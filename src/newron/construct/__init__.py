"""Networks that are built and not trained: the paper's universality, by construction.

Each function here gives a :class:`newron.Model` of Heaviside functions that is equal to what
it was built from: a step function on boxes, a decision tree, rules in text; or that is close
to it, within a distance that you choose: a continuous function.
"""

from newron.construct.boxes import from_boxes
from newron.construct.functions import from_function
from newron.construct.requirements import MISSING, BoxCondition, Interval, OneOf
from newron.construct.rulesets import from_rules
from newron.construct.trees import from_tree

__all__ = [
    "MISSING",
    "BoxCondition",
    "Interval",
    "OneOf",
    "from_boxes",
    "from_function",
    "from_rules",
    "from_tree",
]
