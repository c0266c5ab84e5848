"""Why a network predicts what it predicts: paths of rows, counterfactuals, importance."""

from newron.explanations.counterfactual import Change, Changes, InputChange, find_changes
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
