"""What networks are trained on: losses with their derivatives, links, scales and metrics.

An objective is one file of this package and one line of ``OBJECTIVES``. Everything that
trains, refits, prunes or evaluates asks it and knows no loss by itself; the compiled core
has its own twins, which it finds by the objective's name.
"""

from newron.model.output import Classes, Output
from newron.objectives.base import Expansion, Objective, TargetScale
from newron.objectives.binary import Binary
from newron.objectives.categorical import Categorical
from newron.objectives.squared import Squared

__all__ = [
    "OBJECTIVES",
    "Binary",
    "Categorical",
    "Expansion",
    "Objective",
    "Squared",
    "TargetScale",
    "choose_objective",
]

OBJECTIVES: dict[str, type[Objective]] = {
    each.name: each for each in (Binary, Categorical, Squared)
}


def choose_objective(output: Output) -> Objective:
    """Return the usual objective of what a network predicts.

    Parameters
    ----------
    output : Classes or Targets
        The classes, or the names of the regression targets.

    Returns
    -------
    Objective
        Log loss for classes, squared error for regression targets.

    Examples
    --------
    >>> from newron.model import Classes, Targets
    >>> choose_objective(Classes(("no", "yes")))
    Binary(n_scores=1)
    >>> choose_objective(Targets(("price", "weight")))
    Squared(n_scores=2)
    """
    if not isinstance(output, Classes):
        return Squared(output.n_scores)
    return Binary(1) if output.n_scores == 1 else Categorical(output.n_scores)
