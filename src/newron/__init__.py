"""newron: neural networks that can be read.

Public names and subpackages, imported when they are first used: so the command line can
print its help before NumPy is loaded. ``newron.load`` and ``newron.Model`` need NumPy alone;
the estimators need scikit-learn and the compiled core.

The public interface is what ``__all__`` of this package and of its subpackages lists (see
``dir(newron)``); anything else may change without notice.
"""

from importlib import import_module
from typing import TYPE_CHECKING, Any

from newron._version import __version__
from newron.errors import (
    DefinitionError,
    InputError,
    InterruptedWarning,
    ModelError,
    ModelFileError,
    NewronError,
    NewronWarning,
    TrainingError,
)

if TYPE_CHECKING:
    from newron import (
        construct,
        dask,
        data,
        datasets,
        errors,
        estimators,
        evaluation,
        explanations,
        exports,
        figures,
        model,
        neurons,
        polars,
        report,
        rules,
        search,
        shapes,
        spark,
        tables,
    )
    from newron.estimators import NewronClassifier, NewronRegressor, NewronSurvival
    from newron.model import Model, load
    from newron.training.architecture import PRESETS
    from newron.training.callbacks import Callback, Progress, StopFit
    from newron.training.path import ModelPath

__all__ = [
    "PRESETS",
    "Callback",
    "DefinitionError",
    "InputError",
    "InterruptedWarning",
    "Model",
    "ModelError",
    "ModelFileError",
    "ModelPath",
    "NewronClassifier",
    "NewronError",
    "NewronRegressor",
    "NewronSurvival",
    "NewronWarning",
    "Progress",
    "StopFit",
    "TrainingError",
    "__version__",
    "checker",
    "construct",
    "dask",
    "data",
    "datasets",
    "errors",
    "estimators",
    "evaluation",
    "explanations",
    "exports",
    "figures",
    "load",
    "model",
    "neurons",
    "polars",
    "report",
    "rules",
    "search",
    "shapes",
    "spark",
    "tables",
]

_LAZY = {
    "Callback": "newron.training.callbacks",
    "Model": "newron.model",
    "ModelPath": "newron.training.path",
    "NewronClassifier": "newron.estimators",
    "NewronRegressor": "newron.estimators",
    "NewronSurvival": "newron.estimators",
    "PRESETS": "newron.training.architecture",
    "Progress": "newron.training.callbacks",
    "StopFit": "newron.training.callbacks",
    "load": "newron.model",
}


def __getattr__(name: str) -> Any:
    if name in _LAZY:
        return getattr(import_module(_LAZY[name]), name)
    if name in __all__:  # a subpackage
        return import_module(f"newron.{name}")
    raise AttributeError(f"module 'newron' has no attribute {name!r}")


def __dir__() -> list[str]:
    return __all__
