"""Why a network predicts what it predicts: paths of rows, counterfactuals, importance."""

from newron.explanations.change import Change, Changes, InputChange
from newron.explanations.counterfactual import find_changes
from newron.explanations.explanation import Explanation, explain
from newron.explanations.importance import Importance, Influence, measure_importance
from newron.explanations.path import Part, Stage

__all__ = [
    "Change",
    "Changes",
    "Explanation",
    "Importance",
    "Influence",
    "InputChange",
    "Part",
    "Stage",
    "explain",
    "find_changes",
    "measure_importance",
]
