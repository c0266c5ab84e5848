"""``python -m newron demo``."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Sequence


def main(arguments: Sequence[str] | None = None) -> int:
    """Run a command; give the exit code."""
    parser = argparse.ArgumentParser(
        prog="python -m newron", description="Neural networks that can be read."
    )
    commands = parser.add_subparsers(dest="command", required=True)
    commands.add_parser("demo", help="train on the MONK-2 problem and show the network")
    parser.parse_args(arguments)
    from newron.demo import run_demo

    print(run_demo())
    return 0


if __name__ == "__main__":
    sys.exit(main())
