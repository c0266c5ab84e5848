"""What each function of a network does over the observed range, as facts and in words."""

from newron.shapes.curve import trace_function
from newron.shapes.fuzzy import FuzzyNeuron, FuzzyRule, FuzzyRules, read_fuzzy_rules
from newron.shapes.shape import Neuron, Shape, Shapes, read_shapes

__all__ = [
    "FuzzyNeuron",
    "FuzzyRule",
    "FuzzyRules",
    "Neuron",
    "Shape",
    "Shapes",
    "read_fuzzy_rules",
    "read_shapes",
    "trace_function",
]
