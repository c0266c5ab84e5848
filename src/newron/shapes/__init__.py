"""What each function of a network does over the observed range, as facts and in words."""

from newron.shapes.bands import measure_bands
from newron.shapes.effect import Effect
from newron.shapes.effects import Effects, read_effects
from newron.shapes.fuzzy import FuzzyRules, read_fuzzy_rules
from newron.shapes.shape import Shape, Shapes
from newron.shapes.shape_reader import read_shapes

__all__ = [
    "Effect",
    "Effects",
    "FuzzyRules",
    "Shape",
    "Shapes",
    "measure_bands",
    "read_effects",
    "read_fuzzy_rules",
    "read_shapes",
]
