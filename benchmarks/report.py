"""Tables on the terminal and in Markdown, with what is needed to make them again."""

from __future__ import annotations

import argparse
import platform
import shlex
import sys
import warnings
from collections.abc import Sequence
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path

import newron
from newron import _core

__all__ = ["Report", "open_report"]


class Report:
    """Collects lines, prints them as they come, and writes them at the end."""

    def __init__(self, title: str, command: str, packages: Sequence[str]) -> None:
        self.lines = [f"# {title}", ""]
        versions = [f"newron {newron.__version__}", f"Python {platform.python_version()}"]
        versions += [f"{name} {_version(name)}" for name in packages]
        self.lines += [
            f"Made by `{command}` on {_machine()}, with {', '.join(versions)}; "
            f"core for {_core.instruction_set()}."
        ]
        print("\n".join(self.lines), flush=True)

    def add(self, text: str = "") -> None:
        """Add a line."""
        self.lines.append(text)
        print(text, flush=True)

    def table(self, head: Sequence[str], rows: Sequence[Sequence[str]]) -> None:
        """Add a table."""
        widths = [max(len(row[i]) for row in [head, *rows]) for i in range(len(head))]
        self.add()
        for row in [head, ["-" * w for w in widths], *rows]:
            cells = [
                c.ljust(w) if i == 0 else c.rjust(w)
                for i, (c, w) in enumerate(zip(row, widths, strict=True))
            ]
            self.add("| " + " | ".join(cells) + " |")
        self.add()

    def write(self, path: str | None) -> None:
        """Write the collected lines as Markdown."""
        if path is not None:
            Path(path).write_text("\n".join(self.lines) + "\n", encoding="utf-8")
            print(f"written to {path}", file=sys.stderr)


def open_report(
    title: str,
    parser: argparse.ArgumentParser,
    arguments: Sequence[str] | None,
    packages: Sequence[str],
) -> Report:
    """Begin a report with the whole command; warnings are for users, not for benchmarks."""
    warnings.simplefilter("ignore")
    words = sys.argv[1:] if arguments is None else arguments
    return Report(title, f"{parser.prog} {shlex.join(words)}".rstrip(), packages)


def _version(name: str) -> str:
    try:
        return version(name)
    except PackageNotFoundError:
        return "not installed"


def _machine() -> str:
    model = platform.processor() or platform.machine()
    try:
        for line in Path("/proc/cpuinfo").read_text().splitlines():
            if line.startswith("model name"):
                model = line.split(":", 1)[1].strip()
                break
    except OSError:
        pass
    return f"{platform.system()}, {model}"
