"""newron: neural networks that can be read.

The public names, and nothing else, imported when they are first named: so the command
line can tell its help before NumPy is there. ``newron.load`` and ``newron.Model`` need
NumPy alone; the estimators need scikit-learn and the compiled core.
"""

from importlib import import_module
from typing import TYPE_CHECKING, Any

from newron._version import __version__
from newron.errors import (
    InputError,
    InterruptedWarning,
    ModelError,
    ModelFileError,
    NewronError,
    NewronWarning,
    TrainingError,
)

if TYPE_CHECKING:
    from newron.estimators import NewronClassifier, NewronRegressor
    from newron.model import Model, load
    from newron.training.architecture import PRESETS

__all__ = [
    "PRESETS",
    "InputError",
    "InterruptedWarning",
    "Model",
    "ModelError",
    "ModelFileError",
    "NewronClassifier",
    "NewronError",
    "NewronRegressor",
    "NewronWarning",
    "TrainingError",
    "__version__",
    "load",
]


def __getattr__(name: str) -> Any:
    if name in ("Model", "load", "model"):
        model = import_module("newron.model")
        return model if name == "model" else getattr(model, name)
    if name in ("NewronClassifier", "NewronRegressor"):
        from newron import estimators

        return getattr(estimators, name)
    if name == "PRESETS":
        from newron.training.architecture import PRESETS

        return PRESETS
    raise AttributeError(f"module 'newron' has no attribute {name!r}")


def __dir__() -> list[str]:
    return __all__
