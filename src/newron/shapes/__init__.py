"""What each function of a network does over the observed range, as facts and in words."""

from newron.shapes.bands import measure_bands
from newron.shapes.effect import Effect
from newron.shapes.effects import Effects
from newron.shapes.fuzzy import FuzzyRules
from newron.shapes.shape import Shape, Shapes

__all__ = ["Effect", "Effects", "FuzzyRules", "Shape", "Shapes", "measure_bands"]
