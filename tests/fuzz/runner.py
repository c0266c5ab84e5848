"""Runs mutants in processes that may die: whatever a mutant does, the next one is run."""

import json
import os
import subprocess
import sys
import tempfile
from dataclasses import dataclass
from pathlib import Path

TESTS = Path(__file__).resolve().parents[1]


@dataclass(frozen=True)
class Finding:
    """A mutant that did something else than work or raise one clear error."""

    target: str
    number: int
    wrong: str
    data: bytes


def fuzz(name: str, mutants: int, seed: int = 0) -> list[Finding]:
    """Run mutants of one target; return what was found."""
    found: list[Finding] = []
    first = 0
    with tempfile.TemporaryDirectory() as temporary:
        folder = Path(temporary)
        while first < mutants:
            (folder / "number").write_text("-1")
            done = _run_worker(name, seed, first, mutants, folder)
            number = int((folder / "number").read_text())
            if number < first:
                raise RuntimeError(f"mutant {first} of {name} could not be made:\n{done.stderr}")
            if number < mutants:  # it died on this one
                reason = done.stderr.strip() or f"exit code {done.returncode}"
                data = (folder / "current").read_bytes()
                found.append(Finding(name, number, f"died: {reason[-1500:]}", data))
            first = number + 1
        log = folder / "log"
        for line in log.read_text().splitlines() if log.exists() else []:
            entry = json.loads(line)
            data = (folder / f"{name}-{seed}-{entry['number']}").read_bytes()
            found.append(Finding(name, entry["number"], entry["wrong"], data))
    return sorted(found, key=lambda finding: finding.number)


def _run_worker(
    name: str, seed: int, first: int, end: int, folder: Path
) -> subprocess.CompletedProcess[str]:
    paths = os.pathsep.join([str(TESTS), *filter(None, [os.environ.get("PYTHONPATH")])])
    return subprocess.run(
        [sys.executable, "-m", "fuzz.worker", name, str(seed), str(first), str(end), str(folder)],
        capture_output=True, text=True, check=False, env={**os.environ, "PYTHONPATH": paths},
    )  # fmt: skip
