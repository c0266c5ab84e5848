"""The model's file: versioned JSON that a person can read and edit."""

from __future__ import annotations

import json
from os import PathLike
from pathlib import Path
from typing import Any

from newron._files import write_whole
from newron._version import __version__
from newron.errors import ModelError, ModelFileError
from newron.formatting import escape_unprintable, shorten
from newron.model.document import FORMAT, VERSION, Json, to_dict
from newron.model.document_reader import from_dict
from newron.model.model import Model

_WIDTH = 100


def to_text(model: Model) -> str:
    """Return the content of a model's file without its maker and what was measured."""
    document = to_dict(model)
    for key in ("means", "measured", "conformal"):
        document.pop(key, None)
    return _pretty(document, "") + "\n"


def _pretty(value: Any, indent: str) -> str:
    """Write JSON with one line for whatever fits into one."""
    flat = json.dumps(value, ensure_ascii=False, allow_nan=False)
    if len(flat) + len(indent) <= _WIDTH or not isinstance(value, dict | list):
        return flat
    deeper = indent + " "
    if isinstance(value, dict):
        parts = [
            f"{json.dumps(k, ensure_ascii=False)}: {_pretty(v, deeper)}" for k, v in value.items()
        ]
        opening, closing = "{", "}"
    else:
        parts = [_pretty(v, deeper) for v in value]
        opening, closing = "[", "]"
    body = ",\n".join(deeper + part for part in parts)
    return f"{opening}\n{body}\n{indent}{closing}"


def save(model: Model, path: str | PathLike[str]) -> None:
    """Write a model's file; it appears whole or not at all."""
    document = {"format": FORMAT, "version": VERSION, "made by": f"newron {__version__}"}
    text = _pretty({**document, **to_dict(model)}, "") + "\n"
    try:
        text.encode("utf-8")
    except UnicodeEncodeError as error:
        raise ModelFileError(
            f"{path}: expected names and labels that are Unicode text, got "
            f"{error.object[error.start]!r} without its other half; rename the column or label"
        ) from None
    write_whole(escape_unprintable(text).encode("utf-8"), path)


def load(path: str | PathLike[str]) -> Model:
    """Read a model's file.

    Parameters
    ----------
    path : str or path-like

    Returns
    -------
    Model

    Raises
    ------
    ModelFileError
        If the file is not a model of a version that this newron reads. A file
        that does not exist raises the usual OSError.

    Examples
    --------
    >>> import tempfile, pathlib, newron
    >>> from newron.model import Classes, Column, Layer, Model, Schema
    >>> layer = Layer("heaviside", "sum", "identity", 1, [0], [0], [[1.0]], [[54.0]], centre=[0.5])
    >>> model = Model(Schema((Column("age", 0.0, 99.0),)), [layer], Classes(("well", "ill")))
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     path = pathlib.Path(folder) / "model.json"
    ...     model.save(path)
    ...     newron.load(path) == model
    True
    """
    raw = Path(path).read_bytes()
    try:
        document = json.loads(
            raw.decode("utf-8"), parse_constant=_reject_constant, object_pairs_hook=_no_duplicates
        )
    except ModelFileError as error:
        raise ModelFileError(f"{path}: {shorten(str(error))}") from None
    except (ValueError, RecursionError) as error:  # also numbers of thousands of digits
        raise ModelFileError(f"{path}: expected a model in JSON, got {_reason(error)}") from None
    try:
        return from_dict(document)
    except ModelError as error:
        raise ModelFileError(f"{path}: {shorten(str(error))}") from None


def _reason(error: Exception) -> str:
    if isinstance(error, RecursionError):
        return "lists nested too deep"
    return "text that is not UTF-8" if isinstance(error, UnicodeDecodeError) else f"{error}"


def _reject_constant(constant: str) -> float:
    raise ModelFileError(f"expected finite numbers, got {constant}")


def _no_duplicates(pairs: list[tuple[str, Any]]) -> Json:
    out: Json = {}
    for key, value in pairs:
        if key in out:
            raise ModelFileError(f"expected each key once, got {key!r} twice")
        out[key] = value
    return out
