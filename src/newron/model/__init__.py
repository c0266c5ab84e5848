"""The waist of newron: one immutable model, and what it means.

Needs NumPy alone. Nothing here trains.
"""

from newron.model.file import load
from newron.model.labels import Labels
from newron.model.measurement import Measurement
from newron.model.model import Model
from newron.model.network import Layer
from newron.model.output import Classes, Targets
from newron.model.processing import processing_names
from newron.model.schema import Column, RankScale, Schema
from newron.model.survival import Survival, TimeCurve

__all__ = [
    "Classes",
    "Column",
    "Labels",
    "Layer",
    "Measurement",
    "Model",
    "RankScale",
    "Schema",
    "Survival",
    "Targets",
    "TimeCurve",
    "load",
    "processing_names",
]
