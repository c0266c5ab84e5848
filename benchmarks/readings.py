"""``python -m benchmarks.readings``: one reading of each table, in the terminal and in the page.

Each table of ``newron.datasets`` and each development table is written as CSV and fitted by
``newron fit`` with all its files. A table fails where the command ends with a traceback, where a
number that it printed is not in the report, or where a picture has a number that is cut off::

    python -m benchmarks.readings                     # all tables, 300 rows of each
    python -m benchmarks.readings heart Wage --rows 1000
"""

from __future__ import annotations

import argparse
import html
import itertools
import re
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

import pandas as pd

from newron import datasets

__all__ = ["Reading", "find_cut", "find_lost", "read_table"]

TARGET = "the target"
_THOUSANDS = r"[−-]?\d{1,3}(?:[\u00a0\u202f ]\d{3})+(?!\d)"
_NUMBER = re.compile(rf"(?<![\w.]){_THOUSANDS}|(?<![\w.])[−-]?\d+(?:\.\d+)?")
_LABEL = re.compile(r"<text[^>]*>([^<]*[\d.])…(?=<)(?:<title>([^<]*)</title>)?")
# Lines of the terminal alone: the second are those of other sizes than the report's network has.
_OWN = re.compile(
    r"^\s*(newron |wrote|files|time|next|took)|\.(json|html|svg|csv|txt|sql)\b"
    r"|^  (Conditions|Curves|Accuracy, %|R²) {2}"
)


@dataclass(frozen=True)
class Reading:
    """What came of one table.

    Parameters
    ----------
    name : str
    error : str
        The last line of a traceback or of an error; empty if there was none.
    lost : tuple of str
        Numbers of the terminal that the report does not have.
    cut : tuple of str
        Texts of the figure in which a number is cut off.
    seconds : float
    """

    name: str
    error: str
    lost: tuple[str, ...]
    cut: tuple[str, ...]
    seconds: float

    @property
    def is_sound(self) -> bool:
        """Whether nothing is wrong."""
        return not (self.error or self.lost or self.cut)

    def __str__(self) -> str:
        faults = [self.error] if self.error else []
        faults += [f"not in the report: {', '.join(self.lost)}"] if self.lost else []
        faults += [f"cut off: {', '.join(self.cut)}"] if self.cut else []
        return f"{self.name:16} {self.seconds:6.1f} s  {'; '.join(faults) or 'sound'}"


# ---- numbers ----


def list_numbers(text: str) -> list[str]:
    """Return the numbers of a text, thousands joined, with a plain minus."""
    found = _NUMBER.findall(text)
    return [re.sub(r"[\u00a0\u202f ]", "", number).replace("−", "-") for number in found]


def find_lost(printed: str, page: str) -> list[str]:
    """Return the numbers of the terminal that the page has not, to the digits that are printed.

    Times, versions, lines about files and commands, what networks of other sizes reach, and the
    axis of the terminal's chart are not looked at: the page has a chart, and so an axis, of its
    own, and is of one network.
    """
    lines = [line for line in printed.splitlines() if not _OWN.search(line) and not _is_axis(line)]
    text = re.sub(r"\d+(?:\.\d+)?(?:e-\d+)? s\b", "", "\n".join(lines))
    known = [float(number) for number in list_numbers(html.unescape(re.sub(r"<[^>]*>", " ", page)))]
    lost = []
    for number in dict.fromkeys(list_numbers(text)):
        digits = len(number.partition(".")[2])
        near = 0.5000001 * 10.0**-digits
        if not any(abs(abs(value) - abs(float(number))) <= near for value in known):
            lost.append(number)
    return lost


def _is_axis(line: str) -> bool:
    """Whether a line is four or more ticks at even distances, and their unit."""
    ticks = re.fullmatch(r"((?:\s+[−-]?[\d.]+(?:e[−-]?\d+)?){4,}) (?:%|error)", line)
    if ticks is None:
        return False
    values = [float(tick.replace("−", "-")) for tick in ticks[1].split()]
    steps = [b - a for a, b in itertools.pairwise(values)]
    return max(steps) - min(steps) <= 1e-6 * max(map(abs, values))


def find_cut(picture: str) -> list[str]:
    """Return the texts of a picture that end within a number; the whole text is their title."""
    found = []
    for text, title in _LABEL.findall(picture):
        kept, whole = html.unescape(text), html.unescape(title)
        if not whole.startswith(kept) or re.match(r"[\d.]\d*", whole[len(kept) :]):
            found.append(f"{kept}…")
    return found


# ---- tables ----


def read_table(name: str, frame: pd.DataFrame, folder: Path, *, rows: int = 300) -> Reading:
    """Fit some rows of a table by the command, and compare what it printed with its files."""
    begin = time.perf_counter()
    few = frame if len(frame) <= rows else frame.sample(rows, random_state=0)
    path = folder / f"{name}.csv"
    few.to_csv(path, index=False)
    out = folder / name
    command = ["fit", str(path), "--target", TARGET, "-o", str(out), "--folds", "2", "--force"]
    done = subprocess.run(
        [sys.executable, "-m", "newron", *command], capture_output=True, text=True, check=False
    )
    seconds = time.perf_counter() - begin
    told = done.stderr.strip().splitlines()
    if done.returncode or "Traceback" in done.stderr:
        return Reading(name, told[-1] if told else f"code {done.returncode}", (), (), seconds)
    page = next(out.glob("*.html")).read_text("utf-8")
    pictures = [picture.read_text("utf-8") for picture in out.glob("*.svg")]
    cut = [text for picture in [*pictures, page] for text in find_cut(picture)]
    lost = find_lost(done.stdout, page)
    return Reading(name, "", tuple(lost), tuple(dict.fromkeys(cut)), seconds)


def list_tables(names: Sequence[str]) -> Iterator[tuple[str, pd.DataFrame]]:
    """Yield the tables with their target, those of ``newron.datasets`` first."""
    for name in datasets.names():
        if not names or name in names:
            table = datasets.load(name)
            yield name, pd.DataFrame(table.X).assign(**{TARGET: table.y})
    from benchmarks.development import CLASSIFICATION, REGRESSION, load_development

    for name in (*CLASSIFICATION, *REGRESSION):
        if names and name not in names:
            continue
        try:
            own = load_development(name)
        except ImportError as error:
            print(f"{name:16} not read: {error}", flush=True)
            continue
        yield name, own.X.assign(**{TARGET: own.y.to_numpy()})


def main(arguments: Sequence[str] | None = None) -> int:
    """Read the tables, print a line for each, and return how many are not sound."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("names", nargs="*", help="tables; all by default")
    parser.add_argument("--rows", type=int, default=300, help="of each table at most")
    given = parser.parse_args(arguments)
    faults = n = 0
    with tempfile.TemporaryDirectory() as folder:
        for name, frame in list_tables(given.names):
            reading = read_table(name, frame, Path(folder), rows=given.rows)
            print(reading, flush=True)
            n += 1
            faults += not reading.is_sound
    print(f"{n - faults} of {n} tables are sound")
    return faults


if __name__ == "__main__":
    sys.exit(min(main(), 1))
