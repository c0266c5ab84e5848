"""``make fuzz``: many mutants of every target; findings are kept in build/fuzz.

Usage: python -m fuzz [--mutants 10000] [--seed 0] [--target models] [--atheris SECONDS | --keep N]

With --atheris (where ``pip install atheris`` works) one target is fuzzed guided by coverage, with
our mutations as its own; what reached new code is in build/fuzz/corpus/TARGET. `make test` runs our
own mutations alone: they need no further package, and a number gives the same mutant again.
A finding that is mended goes to tests/fuzz/corpus/TARGET/ as a seed. With --keep the mutants of a
target are run once, and the smallest ones of up to N further kinds of errors go there, too: a kind
is an error's text without what it quotes. So the kept inputs reach what refuses them.
"""

import argparse
import random
import re
import sys
import tempfile
from pathlib import Path

from fuzz.runner import fuzz

FOUND = Path(__file__).resolve().parents[2] / "build" / "fuzz"


def main() -> None:
    """Fuzz, print what was found, and fail if there was anything."""
    parser = argparse.ArgumentParser()
    parser.add_argument("--mutants", type=int, default=10_000)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--target", action="append")
    parser.add_argument("--atheris", type=int, metavar="SECONDS")
    parser.add_argument("--keep", type=int, metavar="N")
    options = parser.parse_args()
    if options.atheris:
        run_atheris((options.target or ["models"])[0], options.atheris)
        return
    from fuzz.targets import TARGETS

    names = options.target or list(TARGETS)
    if options.keep is not None:
        for name in names:
            print(f"{name}: {keep_mutants(name, options.mutants, options.keep)} kept", flush=True)
        return
    if set(names) - TARGETS.keys():
        parser.error(f"--target: expected one of {', '.join(TARGETS)}")
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


def keep_mutants(name: str, mutants: int, most: int) -> int:
    """Keep the smallest mutants of errors that no kept input has; return how many."""
    from fuzz.targets import CORPUS, TARGETS, describe_error

    target, smallest = TARGETS[name](), {}
    with tempfile.TemporaryDirectory() as folder:
        scratch = Path(folder)
        known = {describe_error(target, seed, scratch) for seed in target.seeds}
        for number in range(mutants):
            rng = random.Random(f"{name} 0 {number}")
            data = target.mutate(rng.choice(target.seeds), rng)
            error = describe_error(target, data, scratch)
            if error not in known and len(data) < len(smallest.get(error, data + b" ")):
                smallest[error] = data
    chosen = sorted(smallest.items(), key=lambda item: len(item[1]))[:most]
    (CORPUS / name).mkdir(exist_ok=True)
    for error, data in chosen:
        (CORPUS / name / re.sub(r"\W+", "-", error).strip("-").lower()[-60:]).write_bytes(data)
    return len(chosen)


def run_atheris(name: str, seconds: int) -> None:
    """Fuzz one target with atheris; it ends at the first finding."""
    import atheris  # type: ignore[import-not-found]

    from fuzz.targets import TARGETS, check

    scratch, target = Path(tempfile.mkdtemp()), TARGETS[name]()
    for seed in target.seeds:  # imports what is imported when it is used
        check(target, seed, scratch)
    # Its hook of imports does not see what an editable install loads.
    atheris.instrument_all()
    corpus = FOUND / "corpus" / name
    corpus.mkdir(parents=True, exist_ok=True)
    for i, seed in enumerate(target.seeds):
        (corpus / f"seed-{i}").write_bytes(seed)

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
    limits += ["-len_control=0"]  # whole seeds from the first mutant on
    atheris.Setup([sys.argv[0], str(corpus), *limits], run, custom_mutator=mutate)
    atheris.Fuzz()


if __name__ == "__main__":
    main()
