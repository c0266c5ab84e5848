"""Names that steer terminals, turn texts around or are formulas do no harm in any output."""

import csv
import io
import json
import os
import re
import subprocess
import sys
import unicodedata

import pytest

from newron.checker import check
from newron.exports.export import export
from newron.model import Classes, Column, Layer, Model, Schema
from newron.rules import prove
from newron.rules.extraction import extract
from newron.shapes.effects import read_effects
from newron.shapes.shape_reader import read_shapes

NAMES = (
    "a\x1b[2Jb", "pay\u202egnp.exe\u2069", "two\nlines", "cr\rname", "tab\tname", "a\u2028b",
    "del\x7f\x85\x9b31m", "\u061carabic", "=cmd|calc", "\ufeff", "NULL", "NAN", "EOF", "INFINITY",
)  # fmt: skip
CATEGORIES = ("\x1b[31mred", "=1+1", "-x", "\u202ereversed", "a\rb")
LABELS = ("well\x1b[31m\u202e", "=ill\r!")
STEERING = {"\u2028", "\u2029", *map(chr, range(0x202A, 0x202F)), "\u2066", "\u2067"}


@pytest.fixture(scope="module")
def hostile() -> Model:
    n = len(NAMES)
    layer = Layer(
        "heaviside", "sum", "identity", 1, target=[0] * (n + 1), source=range(n + 1),
        w=[[1.0]] * n + [[0.0]], b=[[4.5]] * n + [[0.0]], alpha=[1.0] * n + [3.0],
        centre=[8.0], levels=[[]] * n + [[1.0, 1.0, 0.0, 1.0, 0.0]],
    )  # fmt: skip
    columns = [Column(name, 0.0, 9.0, unit=name) for name in NAMES]
    kind = Column("kind\x1b", 0, 4, categories=CATEGORIES)
    return Model(Schema((*columns, kind)), [layer], Classes(LABELS))


@pytest.fixture
def files(hostile, tmp_path):
    hostile.save(tmp_path / "m.json")
    with (tmp_path / "t.csv").open("w", newline="") as file:
        writer = csv.writer(file, quoting=csv.QUOTE_ALL)
        writer.writerow([*(NAMES[:9]), "x\ufeff", *NAMES[10:], "kind\x1b", "sick\x1b"])
        for r in range(8):
            cells = [(r + i) % 10 for i in range(len(NAMES))]
            writer.writerow([*cells, CATEGORIES[r % 5], LABELS[r % 2]])
    return tmp_path


def find_steering(text):
    """Return what a terminal or an editor would not show as it stands."""
    control = {c for c in text if unicodedata.category(c) == "Cc" and c != "\n"}
    return sorted(map(ascii, control | (STEERING & set(text))))


def write_as_before(quoted):
    """Escape what JSON must alone, as texts of 0.1.0 do."""
    return json.dumps(json.loads(quoted), ensure_ascii=False)


def test_texts_quote_them_and_are_read_again(hostile):
    rules = extract(hostile)
    text = rules.to_text()
    assert find_steering(str(rules)) == []
    assert r'"a\u001b[2Jb"' in text
    assert r'"del\u007f\u0085\u009b31m"' in text
    proof = prove(text, hostile)
    assert proof
    check(text, hostile.to_dict(), proof.certificate)
    before = re.sub(r'"(?:[^"\\]|\\.)*"', lambda one: write_as_before(one[0]), text)
    assert "\x85" in before
    assert prove(before, hostile)


def test_a_model_s_file_holds_none_and_gives_them_back(hostile, tmp_path):
    import newron

    hostile.save(tmp_path / "m.json")
    assert find_steering((tmp_path / "m.json").read_text()) == []
    assert newron.load(tmp_path / "m.json") == hostile


def test_what_is_printed_in_python_has_none(hostile):
    row = [5.0] * len(NAMES) + ["=1+1"]
    printed = [
        repr(hostile), hostile.explain([row]),
        hostile.explain([row], fixed=NAMES[0]).changes, read_shapes(hostile), read_effects(hostile),
        hostile.importance([row] * 3), hostile.scorecard(), hostile.rules().domain,
        hostile.rules().to_json(), hostile.rules().to_markdown(),
    ]  # fmt: skip
    assert [find_steering(str(one)) for one in printed] == [[]] * len(printed)


def test_figures_and_reports_have_no_override(hostile, files):
    table = [[5.0] * len(NAMES) + ["=1+1"]] * 4
    hostile.report(files / "r.html", table, [LABELS[0], LABELS[1]] * 2)
    for text in (hostile.plot().svg, (files / "r.html").read_text()):
        assert STEERING & set(text) == set()


@pytest.mark.parametrize("target", ["c", "python", "javascript"])
def test_code_has_none(hostile, target):
    assert find_steering(export(hostile, target).text.replace("\t", "")) == []


COMMANDS = [
    ("rules", "m.json"),
    ("rules", "m.json", "--format", "csv"),
    ("rules", "m.json", "--format", "markdown"),
    ("rules", "m.json", "--format", "json"),
    ("inspect", "m.json"),
    ("inspect", "m.json", "--json"),
    ("compare", "t.csv", "t.csv"),
]


@pytest.mark.parametrize("words", COMMANDS, ids=" ".join)
def test_commands_print_none(files, run, words):
    done = run(*words)
    assert done.exit_code == 0, done.output
    assert find_steering(done.output) == []


def make_small(path):
    """Write a model whose columns a CSV file can name, and a table for it."""
    column = Column("kind", 0, 4, categories=CATEGORIES)
    layer = Layer(
        "heaviside", "sum", "identity", 1, [0], [0], [[0.0]], [[0.0]], centre=[0.5],
        levels=[[1.0, 1.0, 0.0, 0.0, 1.0]],
    )  # fmt: skip
    Model(Schema((column,)), [layer], Classes(LABELS)).save(path / "m.json")
    with (path / "t.csv").open("w", newline="") as file:
        csv.writer(file, quoting=csv.QUOTE_ALL).writerows([["kind"], *([c] for c in CATEGORIES)])


def test_other_programs_get_them_as_they_are(run, tmp_path):
    make_small(tmp_path)
    expected = [LABELS[1], LABELS[1], LABELS[0], LABELS[0], LABELS[1]]
    run("predict", "m.json", "t.csv", "-o", "p.csv", "--keep", "kind")
    with (tmp_path / "p.csv").open(newline="") as file:
        rows = list(csv.reader(file))
    assert rows[1:] == [list(pair) for pair in zip(CATEGORIES, expected, strict=True)]
    assert b"\r\n" not in (tmp_path / "p.csv").read_bytes()
    run("predict", "m.json", "t.csv", "-o", "p.jsonl")
    text = (tmp_path / "p.jsonl").read_text()
    assert find_steering(text) == []
    assert [json.loads(line)["prediction"] for line in text.splitlines()] == expected


def test_formulas_are_defused_on_demand(run, tmp_path):
    make_small(tmp_path)
    (tmp_path / "n.csv").write_text("kind,=x,y\n=1+1,-5,@z\n-x,+1e3,\n")
    done = run("predict", "m.json", "n.csv", "--keep", "kind", "--keep", "=x", "--keep", "y",
               "--no-formulas")  # fmt: skip
    rows = list(csv.reader(io.StringIO(done.stdout, newline="")))
    assert rows == [
        ["kind", "'=x", "y", "prediction"],
        ["'=1+1", "-5", "'@z", "'=ill\r!"],
        ["'-x", "+1e3", "", LABELS[0]],
    ]


@pytest.mark.skipif(sys.platform == "win32", reason="Windows has no pseudo-terminals")
def test_a_terminal_gets_none(tmp_path):
    import pty

    make_small(tmp_path)
    for words in (
        ["predict", "m.json", "t.csv", "--keep", "kind"],
        ["export", "m.json", "--to", "sql"],
    ):
        ours, theirs = pty.openpty()
        command = [sys.executable, "-m", "newron", *words]
        done = subprocess.Popen(command, cwd=tmp_path, stdout=theirs, stdin=subprocess.DEVNULL)
        os.close(theirs)
        text = b""
        while part := _read(ours):
            text += part
        assert done.wait() == 0
        assert "well" in (shown := text.decode().replace("\r\n", "\n"))
        assert find_steering(shown) == []


def _read(handle):
    try:
        return os.read(handle, 65536)
    except OSError:  # the other end was closed
        return b""
