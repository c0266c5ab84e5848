"""A search that is interrupted, torn and resumed in any order ends as one that was not."""

import shutil
import tempfile
import warnings
from contextlib import suppress
from functools import cache
from pathlib import Path
from unittest.mock import patch

from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.stateful import (
    RuleBasedStateMachine,
    initialize,
    invariant,
    precondition,
    rule,
    run_state_machine_as_test,
)

from newron import NewronWarning
from newron.search import NewronSearchCV
from newron.search.journal import Journal
from search.tables import make_corner, make_network, tell


def run_search(journal=None):
    X, y = make_corner()
    network = make_network(max_iter=10)
    how = {"cv": 2, "patience": 2, "max_structures": 3, "random_state": 0}
    return NewronSearchCV(network, journal=journal, **how).fit(X, y)


@cache
def get_expected():
    return tell(run_search())


class SearchLife(RuleBasedStateMachine):
    """Whatever happens between, what was tried is kept, and the end is the same."""

    @initialize()
    def begin(self):
        self.folder = Path(tempfile.mkdtemp())
        self.path = self.folder / "search.jsonl"
        self.known = 0  # trials that the journal must have

    def teardown(self):
        shutil.rmtree(self.folder, ignore_errors=True)

    def count(self):
        return self.path.read_bytes().count(b"\n") - 1 if self.path.exists() else 0

    @rule(after=st.integers(1, 4), error=st.sampled_from([KeyboardInterrupt, OSError]))
    def run_for_a_while(self, after, error):
        write, left = Journal.on_outcome, [after]

        def write_some(journal, trial, outcome):
            write(journal, trial, outcome)
            left[0] -= 1
            if not left[0]:
                raise error("now")

        with patch.object(Journal, "on_outcome", write_some), warnings.catch_warnings():
            warnings.simplefilter("ignore", NewronWarning)
            with suppress(KeyboardInterrupt, OSError):
                run_search(self.path)
        self.remember()

    @precondition(lambda self: self.known > 0)
    @rule(cut=st.integers(1, 30))
    def tear_the_last_line(self, cut):
        """As a power failure leaves it: the end of the last line is missing."""
        content = self.path.read_bytes()
        last = content.rstrip(b"\n").rfind(b"\n") + 1
        self.path.write_bytes(content[: max(len(content) - cut, last)])
        self.known -= 1

    @rule()
    def finish(self):
        assert tell(run_search(self.path)) == get_expected()
        self.remember()

    def remember(self):
        assert self.count() >= self.known
        self.known = self.count()

    @invariant()
    def nothing_that_was_tried_is_lost(self):
        if hasattr(self, "known"):
            assert self.count() >= self.known


def test_any_order_of_interruptions_and_torn_lines():
    limits = settings(
        max_examples=8, stateful_step_count=6, deadline=None, derandomize=True, database=None
    )
    run_state_machine_as_test(SearchLife, settings=limits)
