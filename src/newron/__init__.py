"""newron: neural networks that can be read.

Estimators of scikit-learn train them, and their verbs read them::

    from newron import NewronClassifier

    estimator = NewronClassifier(random_state=0).fit(X, y)
    print(estimator.rules())  # what is printed is the network
    estimator.explain(X[0])  # why, and what would change it
    estimator.save("model.json")  # newron.load reads it

``NewronRegressor`` predicts numbers, ``NewronSurvival`` when something happens; ``newron.load``
and ``newron.Model`` need NumPy alone. What is in a subpackage is there after ``import newron``:

- ``tables``, ``data``, ``datasets``: tables in memory, data sets beyond memory, the paper's tables
- ``neurons``: functions, aggregations, activations and losses of one's own
- ``model``: the network as a value, with its columns, layers and output
- ``rules``, ``shapes``, ``explanations``, ``figures``, ``exports``, ``report``: what verbs return
- ``construct``: networks of boxes, trees, rules and functions
- ``evaluation``, ``checker``: how good a model is; proofs that are checked a second time
- ``search``: the search for hidden layers
- ``dask``, ``polars``, ``spark``: the same beyond one process and in queries

The public interface is what ``__all__`` of this package and of its subpackages lists (see
``dir(newron)``); anything else may change without notice. All is imported when it is first used.
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
        checker,
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
