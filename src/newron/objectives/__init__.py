"""What networks are trained on: losses with their derivatives, links, scales and metrics.

An objective is one file of this package and one line of ``catalogue.py``. Everything that
trains, refits, prunes or evaluates asks it and knows no loss by itself; the compiled core
has its own twins, which an objective names (``core``).
"""

from newron.objectives.base import CoreLoss, Expansion, Objective, TargetScale
from newron.objectives.binary import Binary
from newron.objectives.catalogue import (
    OBJECTIVES,
    REGRESSION,
    choose_objective,
    read_objective,
)
from newron.objectives.categorical import Categorical
from newron.objectives.formula import Formula, FormulaClasses
from newron.objectives.huber import Huber
from newron.objectives.labels import LabelLoss
from newron.objectives.ordinal import Ordinal, fit_limits, start_limits
from newron.objectives.quantile import Absolute, Quantile
from newron.objectives.regression import Regression
from newron.objectives.squared import Squared
from newron.objectives.tweedie import Gamma, Poisson, Tweedie

__all__ = [
    "OBJECTIVES",
    "REGRESSION",
    "Absolute",
    "Binary",
    "Categorical",
    "CoreLoss",
    "Expansion",
    "Formula",
    "FormulaClasses",
    "Gamma",
    "Huber",
    "LabelLoss",
    "Objective",
    "Ordinal",
    "Poisson",
    "Quantile",
    "Regression",
    "Squared",
    "TargetScale",
    "Tweedie",
    "choose_objective",
    "fit_limits",
    "read_objective",
    "start_limits",
]
