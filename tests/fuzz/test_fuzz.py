"""A short, fixed run of every fuzzer; ``make fuzz`` is the long one."""

import random

import pytest

from fuzz.mutations import mutate_json
from fuzz.runner import fuzz
from fuzz.targets import CORPUS, TARGETS, Target, check

MUTANTS = 300


@pytest.mark.parametrize("name", sorted(TARGETS))
def test_mutants_work_or_raise_one_clear_error(name):
    found = fuzz(name, MUTANTS)
    assert not found, "\n".join(f"{f.number}: {f.wrong}\n{f.data[:500]!r}" for f in found[:5])


@pytest.mark.parametrize("name", sorted(TARGETS))
def test_the_seeds_work_and_kept_findings_are_mended(name, tmp_path):
    target = TARGETS[name]()
    assert target.seeds
    assert [check(target, seed, tmp_path) for seed in target.seeds] == [None] * len(target.seeds)
    for seed in target.make_seeds():
        target.run(seed, tmp_path)  # without any error


@pytest.mark.parametrize("name", sorted(TARGETS))
def test_what_is_damaged_already_is_damaged_further(name):
    """A fuzzer that is guided by coverage goes on from mutants."""
    target = TARGETS[name]()
    for data in (b"", b"{", b"[]", b"{}\n{", b'{"output": 3}', b"\xff\xfe\n\xff"):
        for k in range(10):
            assert isinstance(target.mutate(data, random.Random(k)), bytes)


@pytest.mark.parametrize("name", sorted(TARGETS))
def test_every_target_has_kept_inputs(name):
    """Among them some that are refused, each with an error of its own."""
    assert len(list((CORPUS / name).glob("*"))) > 5


def test_mutants_are_the_same_in_every_run():
    target = TARGETS["models"]()
    seeds = [target.mutate(target.seeds[0], random.Random(k)) for k in range(20)]
    assert seeds == [target.mutate(target.seeds[0], random.Random(k)) for k in range(20)]
    assert len(set(seeds)) > 15


def test_a_crash_a_hang_and_a_wrong_error_are_findings(tmp_path):
    class Broken(Target):
        name = "broken"

        def make_seeds(self):
            return [b"x"]

        def run(self, data, folder):
            raise IndexError("oh")

    assert check(Broken(), b"x", tmp_path) == "IndexError: oh"
    assert mutate_json(b"[1, 2]", random.Random(0)) != b"[1, 2]"
