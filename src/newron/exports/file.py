"""An export as a value: text or bytes, and the file that they become."""

from __future__ import annotations

from dataclasses import dataclass
from os import PathLike

from newron.errors import InputError
from newron.model.file import write_whole

__all__ = ["Export"]


@dataclass(frozen=True)
class Export:
    """A model in another language.

    Attributes
    ----------
    content : bytes
        What a file of it holds.
    target : str
        "javascript", "python", "c", "sql" or "onnx".
    suffix : str
        How such files are named: ".js", ".py", ".h", ".sql" or ".onnx".
    """

    content: bytes
    target: str
    suffix: str

    @property
    def text(self) -> str:
        """The content as text; an ONNX graph has none."""
        if self.target == "onnx":
            raise InputError("expected a target that is text, got onnx; use content or save(path)")
        return self.content.decode("utf-8")

    def __str__(self) -> str:
        return repr(self) if self.target == "onnx" else self.text

    def __repr__(self) -> str:
        return f"<Export: {self.target}, {len(self.content)} bytes>"

    def save(self, path: str | PathLike[str]) -> None:
        """Write the file; it appears whole or not at all."""
        write_whole(self.content, path)
