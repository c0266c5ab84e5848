"""Why a network predicts what it predicts: paths of rows, counterfactuals, importance."""

from newron.explanations.contributions import measure_contributions, name_contributions
from newron.explanations.counterfactual import Change, Changes, find_changes
from newron.explanations.explanation import Explanation, explain
from newron.explanations.importance import Importance, measure_importance

__all__ = [
    "Change",
    "Changes",
    "Explanation",
    "Importance",
    "explain",
    "find_changes",
    "measure_contributions",
    "measure_importance",
    "name_contributions",
]
