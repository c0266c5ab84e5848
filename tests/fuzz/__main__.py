"""``make fuzz``: many mutants of every target; findings are kept in build/fuzz.

Usage: python -m fuzz [--mutants 10000] [--seed 0] [--target models] [--atheris SECONDS]

With --atheris (where ``pip install atheris`` works) one target is fuzzed guided by coverage, with
our mutations as its own. A finding that is mended goes to tests/fuzz/corpus/TARGET/ as a seed.
"""

import argparse
import random
import sys
import tempfile
from pathlib import Path

from fuzz.runner import fuzz

FOUND = Path(__file__).resolve().parents[2] / "build" / "fuzz"


def main() -> None:
    """Fuzz, print what was found, and fail if there was anything."""
    from fuzz.targets import TARGETS

    parser = argparse.ArgumentParser()
    parser.add_argument("--mutants", type=int, default=10_000)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--target", choices=sorted(TARGETS), action="append")
    parser.add_argument("--atheris", type=int, metavar="SECONDS")
    options = parser.parse_args()
    names = options.target or list(TARGETS)
    if options.atheris:
        run_atheris(names[0], options.atheris)
        return
    FOUND.mkdir(parents=True, exist_ok=True)
    total = 0
    for name in names:
        found = fuzz(name, options.mutants, options.seed)
        total += len(found)
        print(f"{name}: {options.mutants:,} mutants, {len(found)} findings", flush=True)
        for finding in found:
            path = FOUND / f"{name}-{options.seed}-{finding.number}"
            path.write_bytes(finding.data)
            print(f"  {path}: {finding.wrong}")
    sys.exit(total > 0)


def run_atheris(name: str, seconds: int) -> None:
    """Fuzz one target with atheris; it ends at the first finding."""
    import atheris  # type: ignore[import-not-found]

    with atheris.instrument_imports(include=["newron"]):
        from fuzz.targets import TARGETS, check
    target = TARGETS[name]()
    corpus = Path(tempfile.mkdtemp())
    for i, seed in enumerate(target.seeds):
        (corpus / f"{i}").write_bytes(seed)
    scratch = Path(tempfile.mkdtemp())

    def run(data: bytes) -> None:
        wrong = check(target, data, scratch)
        if wrong is not None:
            raise AssertionError(wrong)

    def mutate(data: bytes, max_size: int, seed: int) -> bytes:
        rng = random.Random(seed)
        if rng.random() < 0.3:
            return bytes(atheris.Mutate(data, max_size))
        return target.mutate(data, rng)[:max_size]

    limits = [f"-max_total_time={seconds}", "-timeout=10", "-rss_limit_mb=2048", "-max_len=100000"]
    atheris.Setup([sys.argv[0], str(corpus), *limits], run, custom_mutator=mutate)
    atheris.Fuzz()


if __name__ == "__main__":
    main()
