"""Reading a network: its shapes, the nearest crisp network, its fuzzy rules."""

from newron.reading.crispness import Disagreement, Fidelity, make_crisp, measure_fidelity
from newron.reading.curve import trace_function
from newron.reading.fuzzy import FuzzyNeuron, FuzzyRule, FuzzyRules, tell_fuzzy
from newron.reading.shapes import Neuron, Shape, Shapes, read_shapes

__all__ = [
    "Disagreement",
    "Fidelity",
    "FuzzyNeuron",
    "FuzzyRule",
    "FuzzyRules",
    "Neuron",
    "Shape",
    "Shapes",
    "make_crisp",
    "measure_fidelity",
    "read_shapes",
    "tell_fuzzy",
    "trace_function",
]
