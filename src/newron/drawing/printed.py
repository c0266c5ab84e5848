"""What readers return: text, in notebooks too, and often a sequence of parts."""

from __future__ import annotations

from collections.abc import Sequence
from typing import ClassVar, TypeVar, overload

from newron.drawing.markup import write_plain

T = TypeVar("T")


class Printed:
    """Something whose text notebooks show as it is."""

    def _repr_html_(self) -> str:
        return write_plain(str(self))


class Listing(Printed, Sequence[T]):
    """A sequence of the parts that one of its attributes holds."""

    _parts: ClassVar[str]
    """The name of that attribute."""

    @overload
    def __getitem__(self, index: int) -> T: ...
    @overload
    def __getitem__(self, index: slice) -> tuple[T, ...]: ...
    def __getitem__(self, index: int | slice) -> T | tuple[T, ...]:
        """Return one part, or some."""
        parts: tuple[T, ...] = getattr(self, self._parts)
        return parts[index]

    def __len__(self) -> int:
        """Count the parts."""
        return len(getattr(self, self._parts))
