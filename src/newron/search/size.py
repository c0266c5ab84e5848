"""How large a structure is: the number of functions that it has before training."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from newron.training.architecture import Architecture, plan_architecture


def count_functions(architecture: Architecture, n_channels: int) -> int:
    """Count the functions of a network that reads so many channels.

    >>> count_functions(plan_architecture((2, 1), 3), n_channels=4)
    13
    """
    return sum(len(sources) for sources in architecture.sources(n_channels))


def count_channels(input_scale: str) -> int:
    """Return how many scales a column is read on."""
    return 2 if input_scale == "both" else 1


def count_settings(settings: Mapping[str, Any], n_columns: int, n_outputs: int) -> int:
    """Count the functions of an estimator with these settings.

    >>> count_settings({"hidden_layer_sizes": (2,), "functions_per_input": 3}, 4, 1)
    26
    """
    names = ("processing", "aggregation", "activation", "functions_per_input", "direct_inputs")
    how = {name: settings[name] for name in names if name in settings}
    architecture = plan_architecture(settings["hidden_layer_sizes"], n_outputs, **how)
    return count_functions(
        architecture, n_columns * count_channels(settings.get("input_scale", ""))
    )


def count_outputs(y: Any, *, classes: bool) -> int:
    """Count the output neurons: one for two classes, else one for each class or target.

    >>> count_outputs(["a", "b", "a"], classes=True), count_outputs([1, 2, 3], classes=True)
    (1, 3)
    """
    if classes:
        n_classes = len(np.unique(np.asarray(y)))
        return 1 if n_classes == 2 else n_classes
    shape = np.shape(y)
    return int(shape[1]) if len(shape) > 1 else 1
