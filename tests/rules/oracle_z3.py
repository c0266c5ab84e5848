"""Rules and network over the real numbers, for z3.

The network is read from its raw arrays, the rules from their text by the tests' own
reader: nothing of :mod:`newron.rules` is used.
"""

from fractions import Fraction

import numpy as np
import pytest

from newron.model import Classes, Model

from . import reader

z3 = pytest.importorskip("z3", reason="z3-solver is not installed")


class Question:
    """The columns as variables, and what network and rules say of them."""

    def __init__(self, model: Model) -> None:
        self.model = model
        self.x, self.gap, self.domain = [], [], []
        for i, column in enumerate(model.schema.columns):
            x = z3.Real(f"x{i}")
            values = column.values
            if column.categories is not None:
                values = tuple(map(float, range(column.n_categories)))
            if values is not None:
                self.domain.append(z3.Or([x == number(v) for v in values]))
            self.x.append(x)
            self.gap.append(z3.BoolVal(False) if column.required else z3.Bool(f"gap{i}"))

    def differ(self, text: str) -> bool:
        """Tell whether there is an input on which the rules say another thing."""
        solver = z3.Solver()
        solver.add(self.domain)
        network, rules = self.ask_network(), self.ask_rules(reader.read(text, self.model))
        solver.add(z3.Or([a != b for a, b in zip(network, rules, strict=True)]))
        answer = solver.check()
        assert answer in (z3.sat, z3.unsat), solver.reason_unknown()
        return answer == z3.sat

    # ---- the network ----

    def ask_network(self) -> list:
        """Give the number of the class, or the scores."""
        signals = []  # of neurons, as expressions
        for layer in self.model.layers[:-1]:
            signals += [self._neuron(layer, j, signals) for j in range(layer.n_neurons)]
        last = self.model.layers[-1]
        return self._decide([self._score(last, j, signals) for j in range(last.n_neurons)])

    def _decide(self, scores) -> list:
        if not isinstance(self.model.output, Classes):
            return scores
        if len(scores) == 1:
            return [z3.If(scores[0] >= 0, z3.IntVal(1), z3.IntVal(0))]
        best = z3.IntVal(len(scores) - 1)
        for k in reversed(range(len(scores) - 1)):  # the first that no other one beats
            best = z3.If(z3.And([scores[k] >= other for other in scores]), z3.IntVal(k), best)
        return [best]

    def _functions(self, layer, j, signals) -> list:
        """Give when the functions of a neuron are 1."""
        out = []
        for e in np.flatnonzero(layer.target == j):
            w, b, source = float(layer.w[e, 0]), float(layer.b[e, 0]), int(layer.source[e])
            hidden = source >= len(self.x)
            x = signals[source - len(self.x)] if hidden else self.x[source]
            if len(layer.levels[e]):
                held = z3.Or([x == c for c, h in enumerate(layer.levels[e]) if h == 1.0])
            elif w == 0.0:
                held = z3.BoolVal(True)
            else:
                held = x >= number(b) if w > 0 else x <= number(b)
            if not hidden:
                held = z3.If(self.gap[source], z3.BoolVal(bool(layer.missing[e])), held)
            out.append(held)
        return out

    def _neuron(self, layer, j, signals):
        """Give a hidden neuron: it has one value for each number of functions that are 1."""
        held = self._functions(layer, j, signals)
        n = len(held)
        total = z3.Sum([z3.IntVal(0), *(z3.If(h, 1, 0) for h in held)])
        centre = 0.0 if layer.centre is None else float(layer.centre[j])
        out = number(self._value(layer, n, 0, centre))
        for k in range(1, n + 1):
            out = z3.If(total >= k, number(self._value(layer, n, k, centre)), out)
        return out

    @staticmethod
    def _value(layer, n, k, centre) -> float:
        if layer.aggregation == "sum":
            z = float(k)
        elif layer.aggregation == "mean":
            z = k / max(n, 1)
        elif layer.aggregation == "product":
            z = float(k == n)
        else:
            z = float(n > 0 and (k == n if layer.aggregation == "min" else k > 0))
        assert layer.activation in ("identity", "relu")
        return max(z - centre, 0.0) if layer.activation == "relu" else z - centre

    def _score(self, layer, j, signals):
        """Give an output neuron: weights are the decimals that they are written by."""
        held = self._functions(layer, j, signals)
        zero = z3.RealVal(0)
        alpha = [decimal(a) for a in layer.alpha[layer.target == j]]
        parts = [z3.If(h, a, zero) for h, a in zip(held, alpha, strict=True)]
        if layer.aggregation == "product":
            out = z3.RealVal(1)
            for part in parts:
                out = out * part
        elif layer.aggregation in ("min", "max"):
            out = parts[0] if parts else zero
            for part in parts[1:]:
                less = out < part if layer.aggregation == "min" else out > part
                out = z3.If(less, out, part)
        else:
            out = z3.Sum([zero, *parts])
            out = out / len(parts) if layer.aggregation == "mean" and parts else out
        return out if layer.centre is None else out - decimal(layer.centre[j])

    # ---- the rules ----

    def ask_rules(self, reading: reader.Reading) -> list:
        """Give the number of the class, or the sums."""
        if reading.constants is None:
            said = z3.IntVal(reading.default[0])
            for condition, outcome, *_ in reversed(reading.branches):
                said = z3.If(self.holds(condition), z3.IntVal(outcome), said)
            return [said]
        sums = [z3.RealVal(str(c)) for c in reading.constants]
        for condition, weights, *_ in reading.terms:
            held = self.holds(condition)
            sums = [
                s + z3.If(held, z3.RealVal(str(w)), z3.RealVal(0))
                for s, w in zip(sums, weights, strict=True)
            ]
        return self._decide(sums)

    def holds(self, node):
        """Give when a condition holds."""
        if isinstance(node, reader.Constant):
            return z3.BoolVal(node.value)
        if isinstance(node, reader.Number):
            total = z3.Sum([z3.If(self.holds(child), 1, 0) for child in node.children])
            return z3.And(total >= node.low, total <= node.high)
        return z3.Or([self._part_holds(node, part) for part in node.parts])

    def _part_holds(self, node, part):
        x, gap = self.x[node.column], self.gap[node.column]
        if part.missing is not None:
            return gap if part.missing else z3.Not(gap)
        if node.absent is not None:
            x, gap = z3.If(gap, number(node.absent), x), z3.BoolVal(False)
        if part.members is not None:
            inside = z3.Or([x == number(value) for value in part.members])
            return z3.And(z3.Not(gap), inside if part.inside else z3.Not(inside))
        compare = {
            "≥": lambda v: x >= v,
            "≤": lambda v: x <= v,
            "<": lambda v: x < v,
            ">": lambda v: x > v,
            "=": lambda v: x == v,
            "≠": lambda v: x != v,
        }
        return z3.And(z3.Not(gap), *(compare[op](number(v)) for op, v in part.comparisons))


def number(value: float):
    """Give a float64 as the rational number that it is."""
    return z3.RealVal(str(Fraction(float(value))))


def decimal(value: float):
    """Give a weight as the decimal that it is written by."""
    return z3.RealVal(str(Fraction(repr(float(value)))))
