"""Neurons of one's own: plain Python functions, traced into formulas.

>>> from newron.neurons import exp, processing
>>> @processing
... def bell(z):
...     '''A bell around b.'''
...     return exp(-z * z)
>>> bell
<processing bell: exp(-z * z)>

``NewronClassifier(processing=bell)`` trains it at compiled speed, and whatever reads a model
reads it: figures, sentences, files, exports. docs/neurons.md is the tutorial; ``builtin.py`` has
the functions that newron comes with, in the same language.
"""

from newron.expressions.tracing import where
from newron.neurons.decorators import activation, aggregation, objective, processing
from newron.neurons.operations import cos, exp, log, maximum, minimum, sigmoid, sin, sqrt, tanh

__all__ = [
    "activation",
    "aggregation",
    "cos",
    "exp",
    "log",
    "maximum",
    "minimum",
    "objective",
    "processing",
    "sigmoid",
    "sin",
    "sqrt",
    "tanh",
    "where",
]
