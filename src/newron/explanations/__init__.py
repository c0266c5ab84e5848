"""Why a network predicts what it predicts: paths of rows, counterfactuals, importance."""

from newron.explanations.contributions import name_contributions
from newron.explanations.counterfactual import Change, Changes
from newron.explanations.explanation import Explanation
from newron.explanations.importance import Importance

__all__ = ["Change", "Changes", "Explanation", "Importance", "name_contributions"]
