"""Processing functions, activations and their formulas as expressions of exports."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from itertools import starmap

from newron.expressions.definitions import Definition
from newron.expressions.tree import (
    ONE,
    ZERO,
    Choice,
    Compare,
    Expression,
    Number,
    Parameter,
    add,
    bound,
    call,
    maximum,
    multiply,
    substitute,
    subtract,
)
from newron.model.aggregation import AnyActivation, AnyAggregation
from newron.model.compiled import list_curves
from newron.model.model import Model
from newron.model.network import Layer
from newron.neurons.activation import Activation
from newron.neurons.loss import Loss
from newron.neurons.processing import Processing


def _shift(x: Expression, w: float, b: float) -> Expression:
    """Return w (x - b)."""
    return multiply(Number(w), subtract(x, Number(b)))


def _heaviside(x: Expression, w: Sequence[float], b: Sequence[float]) -> Expression:
    if w[0] == 0.0:
        return ONE
    sign = ">=" if w[0] > 0.0 else "<="
    return Choice(((Compare(sign, x, Number(b[0])), ONE),), ZERO)


def _tanh_prod(x: Expression, w: Sequence[float], b: Sequence[float]) -> Expression:
    factors = [call("tanh", _shift(x, *pair)) for pair in zip(w, b, strict=True)]
    product: Expression = factors[0]
    for factor in factors[1:]:
        product = call("*", product, factor)
    return call("*", add(product, ONE), Number(0.5))


def _relu(x: Expression) -> Expression:
    return maximum(x, ZERO)


Maker = Callable[[Expression, Sequence[float], Sequence[float]], Expression]

# Those of the kernels, written shorter than their formulas.
_FUNCTIONS: dict[str, Maker] = {
    "heaviside": _heaviside,
    "tanh_prod": _tanh_prod,
    "sigmoid": lambda x, w, b: call("sigmoid", _shift(x, w[0], b[0])),
    "linear": lambda x, w, b: call("bounded", _shift(x, w[0], b[0])),
    "relu": lambda x, w, b: _relu(call("bounded", _shift(x, w[0], b[0]))),
    "selu": lambda x, w, b: call("selu", _shift(x, w[0], b[0])),
}

_ACTIVATIONS: dict[str, Callable[[Expression], Expression]] = {
    "identity": lambda x: x,
    "sigmoid": lambda x: call("sigmoid", x),
    "tanh": lambda x: call("tanh", x),
    "relu": _relu,
}


def make_function(layer: Layer, e: int, x: Expression, b: Sequence[float]) -> Expression:
    """Return h(x) of function e of a layer, whose positions are b."""
    w = layer.w[e].tolist()
    if isinstance(layer.processing, str) and layer.processing in _FUNCTIONS:
        return _FUNCTIONS[layer.processing](x, w, b)
    function = layer.function
    shifts = [_shift(x, *pair) for pair in zip(w, b, strict=True)]
    further = [Number(value) for value in layer.parameters[e].tolist()]
    return call(_name(function), *shifts, *further)


def _name(function: Processing) -> str:
    return f"process_{function.name}"


def _define_processing(function: Processing) -> Definition:
    """Return the definition of a formula: its factors are kept within reach first."""
    kept = {name: Parameter(f"{name}_") for name in function.factors}
    lines = [(f"{name}_", bound(Parameter(name), function.reach)) for name in function.factors]
    result = substitute(function.expression, kept)
    about = f"the processing function {function.name}"
    return Definition(_name(function), tuple(lines), result, about, function.arguments)


def _define_curve(role: str, curve: Activation) -> Definition:
    """Return the definition of a formula of one number, which is kept within reach first."""
    lines = (("x_", bound(Parameter("x"), curve.reach)),)
    result = substitute(curve.expression, {"x": Parameter("x_")})
    about = _ROLES[role].format(curve.name)
    return Definition(f"{role}_{curve.name}", lines, result, about)


_ROLES = {
    "transform": "what the aggregation {} makes of each part",
    "finish": "what the aggregation {} makes of the total",
    "activate": "the activation {}",
    "apply": "what is predicted, of a score",
}


def list_definitions(model: Model) -> dict[str, Definition]:
    """Return the formulas of a model, by their names in exports."""
    layers = model.layers
    used = [layer for layer in layers if layer.processing not in _FUNCTIONS]
    functions = [layer.function.with_factors(layer.n_factors) for layer in used]
    made = list(map(_define_processing, functions))
    for layer in layers:
        made += starmap(_define_curve, list_curves(layer.aggregation, layer.activation))
    if model.output.loss is not None:
        made.append(_define_curve("apply", model.output.loss.inverse_link))
    return {one.name: one for one in made}


def transform(aggregation: AnyAggregation, part: Expression) -> Expression:
    """Return what an aggregation reduces in place of a part."""
    return part if isinstance(aggregation, str) else call(f"transform_{aggregation}", part)


def finish(aggregation: AnyAggregation, total: Expression) -> Expression:
    """Return the aggregate of the total of all parts."""
    return total if isinstance(aggregation, str) else call(f"finish_{aggregation}", total)


def predict(loss: Loss, score: Expression) -> Expression:
    """Return what a score stands for."""
    return call(f"apply_{loss.inverse_link.name}", score)


def activate(activation: AnyActivation, x: Expression) -> Expression:
    """Return f(x) of an activation."""
    if isinstance(activation, Activation):
        return call(f"activate_{activation}", x)
    return _ACTIVATIONS[activation](x)
