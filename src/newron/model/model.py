"""The model: schema, layers and the meaning of the outputs, in one value."""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from functools import cached_property
from os import PathLike
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from newron.errors import InputError, ModelError
from newron.model.arithmetic import Floats
from newron.model.calibrated import Calibrated
from newron.model.checks import check_model
from newron.model.conformal import Conformal
from newron.model.description import describe, summarize
from newron.model.labels import Labels
from newron.model.measurement import Measurement
from newron.model.network import Layer, evaluate, within_limits
from newron.model.output import Classes, Output, add_offset
from newron.model.readable import Readable
from newron.model.schema import Schema
from newron.tables.field import LARGEST_INPUT, Field
from newron.tables.table import encode_rows, is_plain

_BLOCK = 16384


@dataclass(init=False, repr=False, eq=False)
class Model(Readable, Calibrated):
    """A network that can be read, saved and asked; it never changes.

    A model needs NumPy alone. Where the compiled core is installed it is used
    to predict faster, with the same bits.

    Parameters
    ----------
    schema : Schema
        The columns that the model reads.
    layers : iterable of Layer
        The last one is the output layer.
    output : Classes, Targets or Labels
        What the scores mean.
    measured : iterable of Measurement
        How good it was on rows that it was not trained on, the newest last.
    conformal : Conformal, optional
        What intervals and sets are made of, see :meth:`calibrate`.
    means : mapping, optional
        What columns, or pairs of them, add to each score in the mean of the training rows, by
        their names. Curves are shown less it, and it is part of the intercept that is shown.

    Examples
    --------
    >>> from newron.model import Classes, Column, Layer, Model, Schema
    >>> fever = Layer("heaviside", "sum", "identity", 1, target=[0], source=[0],
    ...               w=[[1.0]], b=[[38.0]], alpha=[2.0], centre=[1.0])
    >>> model = Model(Schema((Column("temperature", 35.0, 42.0),)), [fever],
    ...               Classes(("well", "ill")))
    >>> model.predict([[37.2], [38.0]]).tolist()
    ['well', 'ill']
    """

    schema: Schema
    """The columns that the model reads."""
    layers: tuple[Layer, ...]
    """The layers, the output layer last."""
    output: Output
    """What the scores mean."""
    measured: tuple[Measurement, ...]
    """How good it was on rows that it was not trained on, the newest last."""
    conformal: Conformal | None
    """What intervals and sets are made of."""
    means: dict[tuple[str, ...], tuple[float, ...]]
    """What columns add to each score in the mean of the training rows: curves are shown less it."""

    def __init__(
        self,
        schema: Schema,
        layers: Iterable[Layer],
        output: Output,
        measured: Iterable[Measurement] = (),
        conformal: Conformal | None = None,
        means: Mapping[tuple[str, ...], tuple[float, ...]] | None = None,
    ) -> None:
        # Past __setattr__, which raises.
        parts = {"schema": schema, "layers": tuple(layers), "output": output}
        self.__dict__.update(parts, measured=tuple(measured), conformal=conformal)
        self.__dict__["means"] = dict(means or {})
        check_model(self)
        if conformal is not None:
            conformal.check(output)

    def __setattr__(self, name: str, value: object = None) -> None:
        raise AttributeError("a Model does not change; replace makes a new one of its parts")

    __delattr__ = __setattr__

    def _get_model(self) -> Model:
        return self

    @property
    def n_functions(self) -> int:
        """How many processing functions there are in all layers."""
        return sum(len(layer.source) for layer in self.layers)

    @property
    def is_crisp(self) -> bool:
        """Whether all functions are steps: then the network is a set of rules."""
        return all(layer.function.crisp for layer in self.layers)

    # ---- predicting ----

    def scores(self, X: ArrayLike, *, compiled: bool = True, n_threads: int = 1) -> Floats:
        """Return the outputs before sigmoid or softmax.

        Parameters
        ----------
        X : table of shape (n_rows, n_columns)
            A frame, an array, or an :class:`newron.tables.EncodedTable`.
        compiled : bool, default=True
            Whether to use the compiled core where it is installed; the NumPy definition
            has the same result.
        n_threads : int, default=1
            How many threads may be used.

        Returns
        -------
        array of shape (n_rows, n_outputs)
        """
        return self.score_rows(self.read(X), compiled=compiled, n_threads=n_threads)

    def score_rows(
        self, rows: NDArray[Any], *, compiled: bool = True, n_threads: int = 1
    ) -> Floats:
        """Return the scores of encoded rows.

        Parameters
        ----------
        rows : array of shape (n_rows, n_columns)
            As :meth:`read` returns them.
        compiled, n_threads
            As in :meth:`scores`.

        Returns
        -------
        array of shape (n_rows, n_outputs)
        """
        self._check_required(rows)
        out = np.empty((len(rows), self.output.n_scores))
        evaluator = self._evaluator if compiled else None
        divisors = self.layers[-1].divisors
        # In blocks where the table must be copied, so that the copy stays small.
        ready = rows.dtype == np.float64 and rows.flags.c_contiguous and evaluator is not None
        block = len(rows) if ready else _BLOCK
        for first in range(0, len(rows), max(block, 1)):
            part = np.ascontiguousarray(rows[first : first + block], np.float64)
            if evaluator is None:
                out[first : first + block] = evaluate(self.schema, self.layers, part)
            else:
                evaluator.score(part, out[first : first + block], n_threads)
                if divisors is not None:
                    out[first : first + block] /= divisors
        return out

    def predict(self, X: ArrayLike, *, offset: ArrayLike | None = None) -> NDArray[Any]:
        """Return the predicted class or regression target of each row.

        Parameters
        ----------
        X : table of shape (n_rows, n_columns)
        offset : array-like of shape (n_rows,), optional
            What is added to the scores of each row: with a log link the logarithm of its exposure.

        Returns
        -------
        array of shape (n_rows,), or (n_rows, n_targets) for several targets
            Of several labels 0 or 1 for each.
        """
        scores = self.scores(X)
        return self.output.predict(scores if offset is None else add_offset(scores, offset))

    def predict_proba(self, X: ArrayLike) -> Floats:
        """Return the probability of each class.

        Parameters
        ----------
        X : table of shape (n_rows, n_columns)

        Returns
        -------
        array of shape (n_rows, n_classes)
            Of several labels the probability of each.
        """
        if isinstance(self.output, Labels):
            return self.output.transform(self.scores(X))
        if not isinstance(self.output, Classes):
            raise ModelError(
                "expected a model of classes for predict_proba, got a regression: use predict"
            )
        return self.output.predict_proba(self.scores(X))

    def read(self, X: Any, *, unknown: str = "missing") -> NDArray[Any]:
        """Turn a table into rows of numbers: codes of categories, NaN where missing.

        Parameters
        ----------
        X : table of shape (n_rows, n_columns)
            Columns of a frame are matched by name. An :class:`newron.tables.EncodedTable` of
            the same columns is returned as it is. A column that was declared ``required``
            must have a value in every row.
        unknown : {"missing", "error"}, default="missing"
            Whether a category that training has not seen counts as missing, with a
            warning, or raises.

        Returns
        -------
        array of shape (n_rows, n_columns)
        """
        rows = self._read(X, unknown)
        self._check_required(rows)
        return rows

    def _check_required(self, rows: NDArray[Any]) -> None:
        for i, column in enumerate(self.schema.columns):
            if column.required and (lacking := np.isnan(rows[:, i])).any():
                raise InputError(
                    f"column {column.name!r}, row {int(np.argmax(lacking))}: expected a value, got "
                    "a missing or unknown one in a column that was declared never to have any"
                )

    def _read(self, X: Any, unknown: str) -> NDArray[Any]:
        if not is_plain(X) or any(field.categories is not None for field in self.fields):
            return encode_rows(X, self.fields, unknown=unknown)
        try:
            rows = np.asarray(X)
            if rows.dtype.kind == "c":
                raise TypeError
            if rows.dtype not in (np.float64, np.float32):
                rows = rows.astype(np.float64)
        except (TypeError, ValueError):
            raise InputError("expected a table of numbers, got values that are not") from None
        if rows.ndim != 2 or rows.shape[1] != len(self.schema):
            raise InputError(
                f"expected a table with {len(self.schema)} columns, got shape {rows.shape}"
            )
        if rows.size and not within_limits(rows):
            row, column = np.argwhere(np.abs(rows.astype(np.float64)) >= LARGEST_INPUT)[0]
            raise InputError(
                f"column {self.schema.names[column]!r}, row {row}: expected a number within "
                f"±{LARGEST_INPUT}, got {rows[row, column]}"
            )
        return rows

    @cached_property
    def fields(self) -> tuple[Field, ...]:
        """The columns as a table must bring them."""
        return tuple(Field(column.name, column.categories) for column in self.schema.columns)

    @cached_property
    def _evaluator(self) -> Any:
        from newron.model.compiled import make_evaluator

        return make_evaluator(self.schema, self.layers)

    # ---- as a value ----

    def attach(self, measurement: Measurement) -> Model:
        """Return the same model, with how good it was on some rows.

        Parameters
        ----------
        measurement : Measurement
            The newest: it heads report, ``newron inspect`` and model card. Those before stay.

        Returns
        -------
        Model
            Equal to this one: a model is its network, whatever was measured of it.

        Raises
        ------
        ModelError
            If it was measured of another kind of output, or if there are too many.

        Examples
        --------
        >>> from newron.evaluation import measure_model
        >>> from newron.model import Classes, Column, Layer, Model, Schema
        >>> layer = Layer("heaviside", "sum", "identity", 1, [0], [0], [[1.0]], [[54.0]],
        ...               alpha=[1.0], centre=[0.5])
        >>> model = Model(Schema((Column("age", 0.0, 99.0),)), [layer], Classes(("no", "yes")))
        >>> found = measure_model(model, [[50.0], [60.0], [70.0]], ["no", "yes", "no"])
        >>> model.attach(found).measured[-1].describe()
        'Accuracy on new rows 66.7 %, 95 % interval 20.8 to 93.9'
        """
        return self.replace(measured=(*self.measured, measurement))

    def replace(self, **changes: Any) -> Model:
        """Return a copy with some parts changed, as :func:`dataclasses.replace` does.

        Parameters
        ----------
        **changes
            Parts by their names in the constructor. What was measured and calibrated stays, and
            is wrong where scores change: then give ``measured=()`` and ``conformal=None``.

        Returns
        -------
        Model

        Examples
        --------
        >>> from newron.model import Classes, Column, Layer, Schema
        >>> layer = Layer("linear", "sum", "identity", 1, [0], [0], [[1.0]], [[54.0]])
        >>> model = Model(Schema((Column("age", 0.0, 99.0),)), [layer], Classes(("well", "ill")))
        >>> model.replace(output=Classes(("no", "yes"))).predict([[60.0]]).tolist()
        ['yes']
        """
        return replace(self, **changes)

    def weights(self, layer: int = -1) -> Floats:
        """Return the weights of a layer as a dense table: what each signal adds to each neuron.

        Parameters
        ----------
        layer : int, default -1
            The index of the layer; the last one by default.

        Returns
        -------
        array of shape (n_neurons, n_signals)
            Signals are the columns, then the neurons of the layers before. Of several functions of
            one signal the weights are added; 0 where a neuron does not read a signal.

        Examples
        --------
        >>> from newron.model import Classes, Column, Layer, Model, Schema
        >>> card = Layer("heaviside", "sum", "identity", 1, [0, 0], [0, 2], [[1.0], [1.0]],
        ...              [[5.0], [3.0]], alpha=[2.0, -1.0])
        >>> columns = tuple(Column(name, 0.0, 9.0) for name in "abc")
        >>> Model(Schema(columns), [card], Classes(("no", "yes"))).weights().tolist()
        [[2.0, 0.0, -1.0]]
        """
        own = self.layers[layer]
        before = self.layers[: range(len(self.layers))[layer]]
        n_signals = len(self.schema) + sum(one.n_neurons for one in before)
        table = np.zeros((own.n_neurons, n_signals))
        np.add.at(table, (own.target, own.source), own.weights)
        return table

    def to_dict(self) -> dict[str, Any]:
        """Return the model as plain data: the content of its file.

        Returns
        -------
        dict
        """
        from newron.model.document import to_dict

        return to_dict(self)

    @classmethod
    def from_dict(cls, document: dict[str, Any]) -> Model:
        """Make a model of plain data, checking every part of it.

        Parameters
        ----------
        document : dict
            As :meth:`to_dict` returns it, or as ``json.loads`` reads a model's file.

        Returns
        -------
        Model

        Raises
        ------
        ModelError
            If the document is no model.

        Examples
        --------
        >>> from newron.model import Classes, Column, Layer, Model, Schema
        >>> layer = Layer("heaviside", "sum", "identity", 1, [0], [0], [[1.0]], [[54.0]])
        >>> model = Model(Schema((Column("age", 0.0, 99.0),)), [layer], Classes(("no", "yes")))
        >>> Model.from_dict(model.to_dict()) == model
        True
        """
        from newron.model.document_reader import from_dict

        return from_dict(document)

    def save(self, path: str | PathLike[str]) -> None:
        """Write the model as JSON; the file appears whole or not at all.

        Parameters
        ----------
        path : str or path-like
            A file that is there keeps its permissions.

        Raises
        ------
        ModelFileError
            If a name or label is no Unicode text.
        """
        from newron.model.file import save

        save(self, path)

    @cached_property
    def fingerprint(self) -> str:
        """Sixteen hexadecimal digits that name the network, whatever was measured of it."""
        from newron.model.file import to_text

        content = to_text(self).encode("utf-8", "surrogatepass")
        return hashlib.sha256(content).hexdigest()[:16]

    def __eq__(self, other: object) -> bool:
        """Return whether two models are the same, parameter by parameter."""
        return self.fingerprint == other.fingerprint if isinstance(other, Model) else NotImplemented

    def __hash__(self) -> int:
        return hash(self.fingerprint)

    def __repr__(self) -> str:
        return f"<Model: {summarize(self)}>"

    def __str__(self) -> str:
        return describe(self)

    def _repr_html_(self) -> str:
        return self.plot().to_html()

    def __getstate__(self) -> dict[str, Any]:
        """Return the content of the file: what pickle and skops keep."""
        return {"model": self.to_dict()}

    def __setstate__(self, state: dict[str, Any]) -> None:
        """Restore from the content of the file."""
        from newron.model.document_reader import from_dict

        made = from_dict(state["model"])
        self.__init__(  # type: ignore[misc]
            made.schema, made.layers, made.output, made.measured, made.conformal, made.means
        )
