"""A model as an ONNX graph: raw columns in, label, probabilities and scores out.

All arithmetic is in double precision and in the order of the model, so that thresholds are
exact and scores have the same bits. Each column is an input of shape (rows, 1).
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Collection, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from newron._extras import import_extra
from newron._version import __version__
from newron.errors import InputError
from newron.exports.program import Program
from newron.exports.rule_program import RuleProgram
from newron.exports.text import Names, has_text, label_text
from newron.expressions.definitions import DEFINITIONS, Definition
from newron.expressions.tree import (
    AllOf,
    AnyOf,
    Call,
    Choice,
    Compare,
    Condition,
    Expression,
    Input,
    IsMissing,
    Key,
    Lookup,
    Number,
    OneOf,
    Parameter,
    Some,
    Value,
    walk,
)
from newron.model.output import Classes
from newron.model.schema import Column
from newron.tables.field import LARGEST_INPUT, Label

# What runtimes of several years know.
_OPSET, _ML_OPSET, _IR = 17, 2, 8
_DOMAIN = "newron"

_OPERATIONS = {
    "+": "Add", "-": "Sub", "*": "Mul", "/": "Div", "negate": "Neg", "abs": "Abs",
    "min": "Min", "max": "Max", "sqrt": "Sqrt",
}  # fmt: skip
_SIGNS = {
    "<": "Less", "<=": "LessOrEqual", ">": "Greater", ">=": "GreaterOrEqual", "==": "Equal",
}  # fmt: skip
_MIN_POWER = -1022


def print_onnx(program: Program, name: str, rules: RuleProgram | None = None) -> bytes:
    """Return the bytes of a graph; with rules it has which of them hold, and which decides."""
    onnx = import_extra("onnx", "to write ONNX with", "onnx")
    _check_names(program)
    graph = _Graph(onnx, program)
    outputs = graph.make_outputs(rules)
    functions = program.definitions
    helper = onnx.helper
    made = helper.make_model(
        helper.make_graph(graph.nodes, "newron", graph.inputs, outputs),
        functions=[_define(onnx, one, program.own) for one in functions],
        opset_imports=[
            helper.make_opsetid("", _OPSET),
            helper.make_opsetid("ai.onnx.ml", _ML_OPSET),
            helper.make_opsetid(_DOMAIN, 1),
        ],
        ir_version=_IR,
        producer_name="newron",
        producer_version=__version__,
    )
    properties = {"name": name, "newron": __version__, "fingerprint": program.model.fingerprint}
    if rules is not None:
        properties |= {"rules": rules.text, "proof": rules.proof}
    helper.set_model_props(made, properties)
    onnx.checker.check_model(made)
    content: bytes = made.SerializeToString(deterministic=True)
    return content


def _check_names(program: Program) -> None:
    for column in program.model.schema.columns:
        for text in (column.name, *filter(_is_text, column.categories or ())):
            try:
                str(text).encode()
            except UnicodeEncodeError:
                raise InputError(f"ONNX: expected texts of Unicode, got {text!r}") from None
        if not column.name:
            raise InputError("ONNX: expected columns that have names, got an empty one")


def _is_text(label: Label) -> bool:
    return isinstance(label, str)


class _Nodes(ABC):
    """Makes the nodes of a graph or of a function in it; values go by their names."""

    def __init__(self, onnx: Any, own: Collection[str], taken: Sequence[str] = ()) -> None:
        self.onnx = onnx
        self._defined = {*DEFINITIONS, *own}
        self.nodes: list[Any] = []
        self._names = Names(taken)
        self._constants: dict[tuple[str, bytes, tuple[int, ...]], str] = {}

    def apply(
        self, operation: str, *inputs: str, name: str = "v", domain: str = "", **more: Any
    ) -> str:
        """Add a node; return the name of its result."""
        out = self._names.take(name)
        node = self.onnx.helper.make_node(operation, inputs, [out], domain=domain, **more)
        self.nodes.append(node)
        return out

    def hold(self, array: NDArray[Any]) -> str:
        """Return the name of a constant."""
        key = (array.dtype.str, b"" if array.dtype == object else array.tobytes(), array.shape)
        if array.dtype == object or key not in self._constants:
            tensor = self.onnx.numpy_helper.from_array(array)
            self._constants[key] = self.apply("Constant", name="c", value=tensor)
        return self._constants[key]

    def hold_number(self, value: float) -> str:
        """Return the name of a number in double precision."""
        return self.hold(np.array([value], np.float64))

    # ---- expressions ----

    def print(self, node: Expression) -> str:
        """Return the name of the value of an expression."""
        if isinstance(node, Number):
            return self.hold_number(node.value)
        if isinstance(node, Choice):
            value = self.print(node.otherwise)
            for condition, chosen in reversed(node.branches):
                held = self.print_condition(condition)
                value = self.apply("Where", held, self.print(chosen), value)
            return value
        if isinstance(node, Call):
            return self._print_call(node)
        return self.find(node)

    @abstractmethod
    def find(self, node: Expression) -> str:
        """Return the name of a column, of an earlier value, or of a parameter."""

    @abstractmethod
    def find_powers(self) -> str:
        """Return the name of the powers of two."""

    def _print_call(self, node: Call) -> str:
        parts = [self.print(part) for part in node.arguments]
        if node.name in self._defined:
            return self.apply(node.name, *parts, self.find_powers(), domain=_DOMAIN)
        if node.name == "ldexp":
            return self._scale(*parts)
        if node.name == "+":  # one by one: a sum of many has no order in ONNX
            total = parts[0]
            for part in parts[1:]:
                total = self.apply("Add", total, part)
            return total
        return self.apply(_OPERATIONS[node.name], *parts)

    def _scale(self, x: str, n: str) -> str:
        """Multiply by a power of two, which is looked up: a runtime's own may be rounded."""
        # What is computed of a missing value is not chosen, but must not read beside the table.
        n = self.apply("Where", self.apply("IsNaN", n), self.hold_number(0.0), n)
        index = self.apply("Sub", n, self.hold_number(_MIN_POWER))
        index = self.apply("Cast", index, to=self._type("INT64"))
        return self.apply("Mul", x, self.apply("Gather", self.find_powers(), index))

    def _type(self, name: str) -> int:
        return int(getattr(self.onnx.TensorProto, name))

    def print_condition(self, node: Condition) -> str:
        """Return the name of a condition."""
        if isinstance(node, AllOf | AnyOf):
            kind, start = ("And", True) if isinstance(node, AllOf) else ("Or", False)
            total = self.hold(np.array([start]))
            for part in node.parts:
                total = self.apply(kind, total, self.print_condition(part))
            return total
        assert isinstance(node, Compare)  # noqa: S101 - definitions have no other
        return self.apply(_SIGNS[node.sign], self.print(node.left), self.print(node.right))


class _Function(_Nodes):
    """The nodes of a defined function."""

    def __init__(self, onnx: Any, own: Collection[str], arguments: Sequence[str]) -> None:
        super().__init__(onnx, own, (*arguments, "powers"))
        self._known = {name: name for name in arguments}

    def learn(self, name: str, value: str) -> None:
        """Take in a line of the definition."""
        self._known[name] = value

    def find(self, node: Expression) -> str:
        assert isinstance(node, Parameter)  # noqa: S101 - definitions have no other
        return self._known[node.name]

    def find_powers(self) -> str:
        return "powers"


def _define(onnx: Any, one: Definition, own: Collection[str]) -> Any:
    """Return a definition as a function of the model."""
    body = _Function(onnx, own, one.arguments)
    for name, line in one.lines:
        body.learn(name, body.print(line))
    body.apply("Identity", body.print(one.result), name="y")
    imports = [onnx.helper.make_opsetid("", _OPSET), onnx.helper.make_opsetid(_DOMAIN, 1)]
    result = body.nodes[-1].output[0]
    return onnx.helper.make_function(
        _DOMAIN,
        one.name,
        [*one.arguments, "powers"],
        [result],
        body.nodes,
        imports,
        doc_string=one.about,
    )


class _Graph(_Nodes):
    """The nodes of a whole program."""

    def __init__(self, onnx: Any, program: Program) -> None:
        self._program = program
        self._columns = program.model.schema.columns
        super().__init__(onnx, program.own, program.model.schema.names)
        self.inputs = [
            onnx.helper.make_tensor_value_info(c.name, self._find_type(c), ["rows", 1])
            for c in self._columns
        ]
        self._read: dict[int, str] = {}
        self._values: dict[Key, str] = {}
        self._zeros = self._make_zeros()

    def _find_type(self, column: Column) -> int:
        text = column.categories is not None and has_text(column.categories)
        return self._type("STRING" if text else "DOUBLE")

    def _make_zeros(self) -> str:
        """Return a zero for each row: what is constant is added to it."""
        shape = self.apply("Shape", self._columns[0].name)
        zero = self.onnx.numpy_helper.from_array(np.zeros(1))
        return self.apply("ConstantOfShape", shape, name="zeros", value=zero)

    # ---- columns ----

    def find(self, node: Expression) -> str:
        if isinstance(node, Value):
            return self._values[node.key]
        if isinstance(node, Lookup):
            levels = self.hold(np.array([*node.values, node.otherwise], np.float64))
            return self.apply("Gather", levels, self._read_column(node.column))
        assert isinstance(node, Input)  # noqa: S101 - programs have no other
        return self._read_column(node.column)

    def find_powers(self) -> str:
        powers = np.ldexp(1.0, np.arange(_MIN_POWER, -_MIN_POWER + 1))
        return self.hold(powers)

    def _read_column(self, i: int) -> str:
        """Return a column as numbers: NaN where missing, or the numbers of categories."""
        if i not in self._read:
            column = self._columns[i]
            if column.categories is None:
                self._read[i] = self._read_numbers(column.name)
            else:
                self._read[i] = self._read_categories(column.name, column.categories)
        return self._read[i]

    def _read_numbers(self, name: str) -> str:
        limit, nan = self.hold_number(LARGEST_INPUT), self.hold_number(np.nan)
        inside = self.apply("Less", self.apply("Abs", name), limit)
        return self.apply("Where", inside, name, nan)

    def _read_categories(self, name: str, labels: Sequence[Label]) -> str:
        """Return the numbers of categories; one more for what is missing."""
        n = len(labels)
        if has_text(labels):
            return self.apply(
                "LabelEncoder",
                name,
                domain="ai.onnx.ml",
                keys_strings=[label_text(label) for label in labels],
                values_int64s=list(range(n)),
                default_int64=n,
            )
        if not n:
            return self.apply("Cast", self._zeros, to=self._type("INT64"))
        known = self.apply("Equal", name, self.hold(np.array([list(map(float, labels))])))
        marks = self.apply("Cast", known, to=self._type("DOUBLE"))
        # At most one mark in a row: its number less n, and n where there is none.
        steps = self.hold(np.arange(n, dtype=np.float64)[:, None] - n)
        number = self.apply("Add", self.apply("MatMul", marks, steps), self.hold_number(n))
        return self.apply("Cast", number, to=self._type("INT64"))

    def print_condition(self, node: Condition) -> str:
        """Return the name of a condition, also of one that asks columns."""
        if isinstance(node, IsMissing):
            labels = self._columns[node.column].categories
            if labels is None:
                return self.apply("IsNaN", self._read_column(node.column))
            return self._print_members(node.column, [len(labels)])
        if isinstance(node, OneOf):
            return self._print_members(node.column, node.categories)
        if isinstance(node, Some):
            return self._print_some(node)
        return super().print_condition(node)

    def _print_members(self, i: int, categories: Sequence[int]) -> str:
        n = len(self._columns[i].categories or ()) + 1
        mask = np.isin(np.arange(n), list(categories))
        return self.apply("Gather", self.hold(mask), self._read_column(i))

    def _print_some(self, node: Some) -> str:
        total = self.hold(np.array([0], np.int64))
        for part in node.parts:
            one = self.apply("Cast", self.print_condition(part), to=self._type("INT64"))
            total = self.apply("Add", total, one)
        low, high = (self.hold(np.array([n], np.int64)) for n in (node.low, node.high))
        above = self.apply("GreaterOrEqual", total, low)
        return self.apply("And", above, self.apply("LessOrEqual", total, high))

    # ---- outputs ----

    def make_outputs(self, rules: RuleProgram | None) -> list[Any]:
        """Add all nodes; return the outputs."""
        program, output = self._program, self._program.model.output
        for step in program.steps:
            self._values[step.key] = self._spread(step.expression)
        scores = self._join([self._values[step.key] for step in program.scores])
        outputs = []
        if program.choice is None or not isinstance(output, Classes):
            outputs.append(self._make_output("prediction", scores, "DOUBLE", output.n_scores))
        else:
            shares = self._join([self._values[step.key] for step in program.probabilities])
            labels, kind = _make_labels(output.labels)
            number = self.apply("Cast", self.print(program.choice), to=self._type("INT64"))
            label = self.apply("Gather", self.hold(labels), self._squeeze(number))
            outputs.append(self._make_output("label", label, kind))
            outputs.append(self._make_output("probabilities", shares, "DOUBLE", len(output.labels)))
            outputs.append(self._make_output("scores", scores, "DOUBLE", output.n_scores))
        return outputs if rules is None else [*outputs, *self._make_rules(rules)]

    def _make_rules(self, rules: RuleProgram) -> list[Any]:
        """Return which rules hold, and where one decides its index; -1 outside the domain."""
        holds = [self._print_for_rows(rule.condition) for rule in rules.rules]
        if rules.decides:
            holds.append(self._print_for_rows(AllOf(())))
        if not holds:
            return []
        outputs = [self._make_output("holds", self._join(holds), "BOOL", len(holds))]
        if rules.decides:
            marks = self.apply("Cast", self._join(holds), to=self._type("INT32"))
            first = self.apply("ArgMax", marks, axis=1, keepdims=1)
            outside = self.hold(np.array([-1], np.int64))
            rule = self.apply("Where", self._print_for_rows(rules.inside), first, outside)
            outputs.append(self._make_output("rule", self._squeeze(rule), "INT64"))
        return outputs

    def _print_for_rows(self, condition: Condition) -> str:
        """Return a condition for every row, even if it is the same for all."""
        every = self.apply("Equal", self._zeros, self.hold_number(0.0))
        return self.apply("And", every, self.print_condition(condition))

    def _spread(self, expression: Expression) -> str:
        """Return the value of an expression for every row, even if it is the same for all."""
        value = self.print(expression)
        reads = any(isinstance(part, Input | Value | Lookup) for part in walk(expression))
        return value if reads else self.apply("Add", self._zeros, value)

    def _join(self, values: Sequence[str]) -> str:
        return self.apply("Concat", *values, axis=1)

    def _squeeze(self, value: str) -> str:
        return self.apply("Squeeze", value, self.hold(np.array([1], np.int64)))

    def _make_output(self, name: str, value: str, kind: str, width: int | None = None) -> Any:
        shape = ["rows"] if width is None else ["rows", width]
        own = self.apply("Identity", value, name=name)
        return self.onnx.helper.make_tensor_value_info(own, self._type(kind), shape)


def _make_labels(labels: Sequence[Label]) -> tuple[NDArray[Any], str]:
    """Return the labels as an array of one type, and the name of that type."""
    if has_text(labels):
        return np.array([label_text(label) for label in labels], dtype=object), "STRING"
    if all(isinstance(label, bool) for label in labels):
        return np.array(labels), "BOOL"
    if all(isinstance(label, int) for label in labels):
        return np.array(labels, np.int64), "INT64"
    return np.array(labels, np.float64), "DOUBLE"
