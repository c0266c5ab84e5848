"""CSV in blocks: pyarrow and ``csv`` say the same, and lines have a limit."""

import gzip

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from newron.errors import InputError, NewronWarning
from newron.tables import Field, blocks, delimited
from newron.tables.blocks import is_simple
from newron.tables.files import open_table

pytest.importorskip("pyarrow")

FIELDS = (Field("size"), Field("colour", ("red", "NA", "b c")))
NUMBERS = [
    "1",
    " 2.5",
    "-0",
    "+3",
    "1e3",
    "1e400",
    "nan",
    "nan(1)",
    "inf",
    "1_0",
    "١",
    "0x10",
    "\t7",
]
WORDS = ["red", " red ", "b c", "NA", "", " ", "?", "é", "x", "1,5", "\x0b"]
QUOTED = ['"red"', '"a ""b"""', '"b\nc"', ' "red"', '" red"', 'a"b', "a\rb"]
CELLS = st.sampled_from([*NUMBERS, *WORDS, *QUOTED])
ENDS = st.sampled_from(["\n", "\r\n", "\n\n"])


def read_all(path):
    """Return rows and kept cells of a file, or the line of its error."""
    try:
        source = open_table(path)
        encoder = source.make_encoder(FIELDS)
        rows, kept = [np.empty((0, 2))], []
        for batch in source.read(encoder, ["note"]):
            rows.append(batch.encode(encoder).rows)
            kept += list(batch.columns["note"])
    except InputError as error:
        return str(error)
    return np.concatenate(rows).tolist(), kept


def compare(path, monkeypatch):
    """Return what is read, after looking that both readers say so."""
    results = []
    for size, fast in ((40, True), (40, False), (1 << 20, False)):
        monkeypatch.setattr(blocks, "BLOCK", size)
        monkeypatch.setattr(delimited, "BLOCK", 0)
        monkeypatch.setattr(delimited, "_has_pyarrow", lambda fast=fast: fast)
        results.append(read_all(path))
    assert repr(results[0]) == repr(results[1])
    if not isinstance(results[0], str):  # of two errors, that of the first block comes first
        assert repr(results[0]) == repr(results[2])
    return results[0]


@pytest.mark.filterwarnings("ignore::newron.errors.NewronWarning")
@given(st.lists(st.tuples(CELLS, CELLS, CELLS, ENDS), min_size=1, max_size=8))
@settings(max_examples=80, deadline=None)
def test_pyarrow_and_csv_read_the_same_cells_and_raise_the_same_errors(tmp_path_factory, rows):
    path = tmp_path_factory.mktemp("blocks") / "t.csv"
    text = "".join(f"{a},{b},{c}{end}" for a, b, c, end in rows)
    path.write_bytes(f"size,colour,note\n{text}".encode())
    with pytest.MonkeyPatch.context() as patch:
        compare(path, patch)


@pytest.mark.parametrize("encoding", ["utf-8-sig", "utf-16", "cp1252"])
def test_encodings_and_kept_cells(tmp_path, monkeypatch, encoding):
    path = tmp_path / "t.csv"
    path.write_bytes("size,colour,note\n1.5,red,süß\n?,NA, x\n".encode(encoding))
    rows, kept = compare(path, monkeypatch)
    assert repr(rows) == "[[1.5, 0.0], [nan, 1.0]]"
    assert kept == ["süß", "x"]


def test_unknown_categories_are_named_by_both(tmp_path, monkeypatch):
    path = tmp_path / "t.csv"
    path.write_text("size,colour,note\n1,blue,a\n")
    monkeypatch.setattr(delimited, "BLOCK", 0)
    source = open_table(path)
    encoder = source.make_encoder(FIELDS)
    for batch in source.read(encoder):
        batch.encode(encoder)
    with pytest.warns(NewronWarning, match="'blue'"):
        encoder.warn_unknown()


def test_simple_blocks_are_parsed_by_pyarrow(tmp_path, monkeypatch):
    path = tmp_path / "t.csv"
    path.write_text('size,colour,note\n1,"red","a, b"\n')
    monkeypatch.setattr(delimited, "BLOCK", 0)
    monkeypatch.setattr(blocks.RowParser, "parse", None)  # csv would fail
    assert read_all(path) == ([[1.0, 0.0]], ["a, b"])


@pytest.mark.parametrize(
    "block", [b'a "b"\n', b"a\rb\n", b"a\0\n", b"\xff\n", b'"a\nb"\n', b'"a\n']
)
def test_what_readers_may_take_differently_is_not_simple(block):
    assert not is_simple(block, ",")


@pytest.mark.parametrize("head", [b"size,colour,note\n1,red,", b'{"size": 1}\n{"size": "'])
def test_a_line_without_end_is_an_error_and_not_kept_in_memory(tmp_path, monkeypatch, head):
    monkeypatch.setattr(blocks, "BLOCK", 1 << 12)
    monkeypatch.setattr(blocks, "MAX_LINE", 1 << 14)
    path = tmp_path / "t.csv.gz"
    path.write_bytes(gzip.compress(head + b"x" * 100_000))
    assert "expected lines of at most" in read_all(path)


def test_a_long_header_is_read_whole(tmp_path):
    names = [f"a column with a long name {i}" for i in range(5000)]
    path = tmp_path / "t.csv"
    path.write_text(",".join(names) + "\n" + ",".join("1" * 5000) + "\n")
    assert path.stat().st_size > delimited.SAMPLE
    assert open_table(path).names == tuple(names)
