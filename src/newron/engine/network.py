"""The parts of a network before they are layers of a model."""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np

from newron.model.arithmetic import Floats


def drop_last_digits(values: Floats, digits: int = 9) -> Floats:
    """Return values without the last digits, in which sums of another order differ.

    Functions are chosen one by one: what differs in the last digits must not decide.
    """
    return np.ascontiguousarray(np.round(values, digits))


def tanh_unit(z: Floats) -> Floats:
    """Return the sigmoid of 2 z."""
    return np.asarray(0.5 * (np.tanh(z) + 1.0))


@dataclass(frozen=True, eq=False)
class Function:
    """One function of an input, (tanh(w0 (x - b0)) tanh(w1 (x - b1)) + 1) / 2.

    A sigmoid has one factor. w is in units of what the function reads, b in the column's.
    ``levels`` are the values for categories, which have no factors.
    """

    source: int
    w: tuple[float, ...] = ()
    b: tuple[float, ...] = ()
    rank: bool = False
    missing: float = 0.0
    levels: Floats = field(default_factory=lambda: np.zeros(0))
    weight: float = 1.0  # in the score, of a function that adds to it
    is_step: bool = False


@dataclass(frozen=True, eq=False)
class Neuron:
    """A hidden neuron: the sum of its functions, read by one function of an output.

    Neurons of several outputs that have the same ``inputs`` are one.
    """

    inputs: tuple[Function, ...]
    w: tuple[float, ...]
    b: tuple[float, ...]
    weight: float


@dataclass
class Network:
    """The functions and neurons that add up to the score of one output."""

    constant: float
    functions: list[Function] = field(default_factory=list)
    neurons: list[Neuron] = field(default_factory=list)

    @property
    def size(self) -> int:
        """How many functions there are in all layers."""
        return len(self.functions) + sum(len(neuron.inputs) + 1 for neuron in self.neurons)

    @property
    def n_factors(self) -> int:
        """The largest number of factors of a function that adds to the score."""
        widths = [len(f.w) for f in self.functions] + [len(n.w) for n in self.neurons]
        return max(widths, default=1)
