"""Elementary functions that round alike everywhere, from :mod:`newron.expressions`."""

from newron.expressions.arithmetic import Floats, exp, sigmoid, softmax, tanh

__all__ = ["Floats", "exp", "sigmoid", "softmax", "tanh"]
