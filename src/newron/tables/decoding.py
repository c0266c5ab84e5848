"""From bytes to text: which encoding a file has, and how wrong bytes are read."""

from __future__ import annotations

import codecs
import gzip
import io
import zlib
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import BinaryIO, TextIO

from newron.errors import InputError

SAMPLE = 65_536  # bytes that are looked at to find out what a file is
_GZIP = b"\x1f\x8b"
_ERRORS = "newron-cp1252"
# The longer marks first: that of UTF-32 begins with that of UTF-16.
_MARKS = (
    (codecs.BOM_UTF8, "utf-8-sig"),
    (codecs.BOM_UTF32_LE, "utf-32"),
    (codecs.BOM_UTF32_BE, "utf-32"),
    (codecs.BOM_UTF16_LE, "utf-16"),
    (codecs.BOM_UTF16_BE, "utf-16"),
)


class Fallback:
    """Reads bytes that are not UTF-8 as cp1252, the usual encoding of older files.

    A file need not be read to its end to know how to read its beginning, and the same
    bytes mean the same in every file; both matter where rows are streamed.
    """

    def __init__(self) -> None:
        self.count = 0  # bytes read so, over all files

    def __call__(self, error: UnicodeError) -> tuple[str, int]:
        """Return what the wrong bytes mean, and where to go on."""
        if not isinstance(error, UnicodeDecodeError):
            raise error
        wrong = error.object[error.start : error.end]
        self.count += len(wrong)
        # Five bytes mean nothing in cp1252; in latin-1 they are control characters.
        text = "".join(bytes([byte]).decode("cp1252", "ignore") or chr(byte) for byte in wrong)
        return text, error.end


FALLBACK = Fallback()
codecs.register_error(_ERRORS, FALLBACK)


def guess_encoding(sample: bytes) -> str:
    """Find the encoding of a text by its first bytes.

    >>> guess_encoding(b"a,b"), guess_encoding("a,b".encode("utf-16"))
    ('utf-8', 'utf-16')
    >>> guess_encoding("a,b".encode("utf-16-le"))
    'utf-16-le'
    """
    for mark, name in _MARKS:
        if sample.startswith(mark):
            return name
    # Without a mark, ASCII in UTF-16 has a zero in every other byte, and in no others.
    even, odd = sample[0::2].count(0), sample[1::2].count(0)
    if max(even, odd) > 0.4 * len(sample) and min(even, odd) <= 0.1 * max(even, odd):
        return "utf-16-be" if even > odd else "utf-16-le"
    return "utf-8"


def decode_sample(sample: bytes, encoding: str) -> str:
    """Return the first bytes of a file as text, as the whole of it will be read."""
    return sample.decode(encoding, _ERRORS if encoding.startswith("utf-8") else "replace")


def decode_utf8(block: bytes) -> str:
    """Return bytes as text; those that are not UTF-8 as cp1252."""
    return block.decode("utf-8", _ERRORS)


@contextmanager
def open_bytes(path: Path) -> Iterator[tuple[BinaryIO, BinaryIO]]:
    """Open a file; yield its bytes, unpacked where they are gzip, and the file itself.

    How far the file itself was read shows how much is done.
    """
    try:
        with path.open("rb") as raw:
            if not raw.seekable():
                raise InputError(
                    f"{path}: expected a file, which is read more than once, got a pipe; write it "
                    "to a file, or redirect one with < to /dev/stdin"
                )
            packed = raw.read(2) == _GZIP
            raw.seek(0)
            with _guard_gzip(path):
                if not packed:
                    yield raw, raw
                    return
                with gzip.GzipFile(fileobj=raw) as unpacked:
                    yield unpacked, raw  # type: ignore[misc]  # as good as a BinaryIO
    except IsADirectoryError:
        raise InputError(f"{path}: expected a file, got a folder") from None
    except FileNotFoundError:
        raise InputError(f"{path}: expected a file, got none") from None
    except PermissionError:
        raise InputError(f"{path}: expected a file that may be read, got none") from None


@contextmanager
def _guard_gzip(path: Path) -> Iterator[None]:
    try:
        yield
    except (EOFError, gzip.BadGzipFile, zlib.error) as error:
        raise InputError(
            f"{path}: expected a whole gzip file, got a damaged one ({error}); copy it again"
        ) from None


@contextmanager
def open_text(path: Path, encoding: str) -> Iterator[tuple[TextIO, BinaryIO]]:
    """Open a file as text; yield that, and the file itself."""
    errors = _ERRORS if encoding.startswith("utf-8") else "strict"
    with open_bytes(path) as (binary, raw):
        text = io.TextIOWrapper(binary, encoding=encoding, errors=errors, newline="")
        try:
            yield text, raw
        except UnicodeDecodeError as error:
            raise InputError(
                f"{path}: expected text in {encoding.upper()}, got bytes that are none "
                f"({error.reason}); save it as UTF-8"
            ) from None
        finally:
            text.detach()  # who opened the bytes closes them
