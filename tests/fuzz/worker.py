"""A process of its own that runs mutants under limits of memory and time.

Each mutant is in the folder before it runs, so that whoever kills the process has it.
"""

import faulthandler
import json
import random
import sys
import tempfile
from pathlib import Path

from fuzz.targets import TARGETS, check

SECONDS = 10.0
MEMORY = 1 << 30


def limit_memory() -> None:
    """Let the process take no more than MEMORY beyond what it has now."""
    import resource

    pages = int(Path("/proc/self/statm").read_text().split()[0])
    limit = pages * resource.getpagesize() + MEMORY
    resource.setrlimit(resource.RLIMIT_AS, (limit, limit))


def main(name: str, seed: int, first: int, end: int, findings: Path) -> None:
    """Run mutants first..end-1 of a target; the findings are lines of JSON."""
    target = TARGETS[name]()
    target.seeds  # noqa: B018 - made before the limit
    if sys.platform == "linux":
        limit_memory()
    with tempfile.TemporaryDirectory() as folder, (findings / "log").open("a") as log:
        for number in range(first, end):
            rng = random.Random(f"{name} {seed} {number}")  # each mutant by its number alone
            data = target.mutate(rng.choice(target.seeds), rng)
            (findings / "current").write_bytes(data)
            (findings / "number").write_text(str(number))
            faulthandler.dump_traceback_later(SECONDS, exit=True)
            wrong = check(target, data, Path(folder))
            faulthandler.cancel_dump_traceback_later()
            if wrong is not None:
                (findings / f"{name}-{seed}-{number}").write_bytes(data)
                print(json.dumps({"number": number, "wrong": wrong}), file=log, flush=True)
    (findings / "number").write_text(str(end))


if __name__ == "__main__":
    main(sys.argv[1], *map(int, sys.argv[2:5]), Path(sys.argv[5]))
