"""The journal: what it keeps, and what it refuses."""

import json
import math

import pytest

from newron import InputError
from newron.search import journal as module
from newron.search.exploration import Outcome, Trial
from newron.search.journal import Journal
from newron.search.structure import Candidate

PRINTS = {"data": "d", "folds": "f", "settings": "s"}
TRIALS = {
    Trial(Candidate(()), 0): Outcome(0.1 + 0.2, 0.5, 0.25),
    Trial(Candidate((2, 1)), 3): Outcome(math.inf, 0.5, 0.25),
    Trial(Candidate((4,), (("processing", "sigmoid"), ("weight_decay", 0.3))), 1): Outcome(
        -1e-300, 1e9, 0.0
    ),
}


@pytest.fixture
def path(tmp_path):
    return tmp_path / "search.jsonl"


@pytest.fixture
def written(path):
    journal = Journal(path, PRINTS)
    for trial, outcome in TRIALS.items():
        journal.on_outcome(trial, outcome)
    return path


def test_what_was_written_is_known_again_to_the_last_bit(written):
    assert Journal(written, PRINTS).outcomes == TRIALS


def test_a_failure_is_kept_too(path):
    trial = Trial(Candidate((1,)), 0)
    Journal(path, PRINTS).on_outcome(trial, Outcome(math.nan, 1.0, 0.0))
    assert math.isnan(Journal(path, PRINTS).outcomes[trial].score)


def test_every_line_is_json(written):
    lines = written.read_text().splitlines()
    assert len(lines) == 1 + len(TRIALS)
    assert all(isinstance(json.loads(line), dict) for line in lines)
    assert json.loads(lines[0])["journal"] == "newron search journal 1"


def test_it_goes_on_where_it_was(written):
    more = Trial(Candidate((8,)), 0)
    Journal(written, PRINTS).on_outcome(more, Outcome(0.5, 1.0, 1.0))
    assert set(Journal(written, PRINTS).outcomes) == {*TRIALS, more}


def test_a_torn_last_line_is_dropped_wherever_it_was_torn(written):
    whole = written.read_bytes()
    last = whole.rindex(b"\n", 0, -1) + 1
    for end in range(last, len(whole)):
        written.write_bytes(whole[:end])
        journal = Journal(written, PRINTS)
        assert len(journal.outcomes) == len(TRIALS) - 1
        assert written.read_bytes() == whole[:last]


def test_an_empty_file_is_a_new_one(path):
    path.touch()
    assert Journal(path, PRINTS).outcomes == {}
    assert path.stat().st_size > 0


def refuse(path, match, prints=PRINTS):
    before = path.read_bytes() if path.is_file() else None
    with pytest.raises(InputError, match=match) as caught:
        Journal(path, prints)
    assert "\n" not in str(caught.value)
    assert str(path) in str(caught.value)
    if before is not None:
        assert path.read_bytes() == before


class TestItRefuses:
    @pytest.mark.parametrize("name", sorted(PRINTS))
    def test_another_search(self, written, name):
        refuse(written, f"with other {name}; give a new path", PRINTS | {name: "x"})

    def test_another_version(self, written, monkeypatch):
        monkeypatch.setattr(module, "__version__", "99.0")
        refuse(written, "it is of newron .* and this is 99.0")

    @pytest.mark.parametrize("content", [b"hello", b"hello\n", b"{}\n", b"[1]\n", b"\xff\xfe\n"])
    def test_another_file(self, path, content):
        path.write_bytes(content)
        refuse(path, "first line is not that of a journal")

    def test_a_changed_digit(self, written):
        content = written.read_bytes().replace(b"0.30000000000000004", b"0.40000000000000004")
        written.write_bytes(content)
        refuse(written, "line 2 is damaged")

    def test_a_line_that_is_cut_in_the_middle_of_the_file(self, written):
        lines = written.read_bytes().split(b"\n")
        lines[2] = lines[2][:20]
        written.write_bytes(b"\n".join(lines))
        refuse(written, "line 3 is damaged")

    def test_a_damaged_head(self, written):
        written.write_bytes(written.read_bytes().replace(b'"data"', b'"dada"', 1))
        refuse(written, "first line is not that of a journal")

    @pytest.mark.parametrize(
        "change",
        [
            {"fold": "0"},
            {"fold": -1},
            {"fold": True},
            {"score": "0.9"},
            {"score": math.nan},
            {"score": [0.9]},
            {"score": 10**400},
            {"fit_time": None},
            {"fit_time": -1.0},
            {"hidden_layer_sizes": 3},
            {"hidden_layer_sizes": [0]},
            {"hidden_layer_sizes": [[1]]},
            {"hidden_layer_sizes": [2.5]},
            {"choice": [1]},
            {"choice": {"processing": ["sigmoid"]}},
            {"surplus": 1},
        ],
        ids=str,
    )
    def test_a_sealed_line_that_is_no_trial(self, path, change):
        entry = {
            "hidden_layer_sizes": [2], "choice": {}, "fold": 0, "score": 0.5, "fit_time": 1.0,
            "score_time": 0.1,
        }  # fmt: skip
        Journal(path, PRINTS)
        with path.open("ab") as file:
            file.write(module._seal({**entry, **change}))
        refuse(path, "line 2 is not a trial")

    def test_a_sealed_line_without_a_part(self, path):
        Journal(path, PRINTS)
        with path.open("ab") as file:
            file.write(module._seal({"fold": 0}))
        refuse(path, "line 2 is not a trial")

    def test_a_trial_that_comes_twice(self, written):
        lines = written.read_bytes().splitlines(keepends=True)
        written.write_bytes(b"".join([*lines, lines[1]]))
        refuse(written, "line 5 repeats a trial")

    def test_a_folder(self, tmp_path):
        refuse(tmp_path, "it cannot be read")

    def test_a_folder_that_is_not_there(self, tmp_path):
        refuse(tmp_path / "nowhere" / "search.jsonl", "it cannot be made")
