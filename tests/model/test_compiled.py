"""The compiled path gives the bits of the definition."""

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from model.networks import make_model, make_rows, with_ranks

SEEDS = st.integers(0, 10**6)


class TestCompiledPath:
    @given(SEEDS)
    @settings(max_examples=300, deadline=None)
    def test_it_gives_the_same_bits_on_any_network_and_row(self, seed):
        model = with_ranks(make_model(seed), seed)
        rows = make_rows(model, seed)
        slow, fast = model.scores(rows, compiled=False), model.scores(rows)
        assert model._evaluator is not None
        np.testing.assert_array_equal(slow, fast)
        assert np.all(np.isfinite(fast))

    @given(SEEDS)
    @settings(max_examples=50, deadline=None)
    def test_a_row_does_not_depend_on_the_rows_beside_it(self, seed):
        model = with_ranks(make_model(seed), seed)
        rows = make_rows(model, seed)
        for compiled in (True, False):
            whole = model.scores(rows, compiled=compiled)
            single = [model.scores(row[None], compiled=compiled)[0] for row in rows]
            np.testing.assert_array_equal(whole, single)

    def test_many_rows_and_threads_give_the_same(self):
        model = make_model(5)
        rows = np.random.default_rng(0).normal(size=(40_000, len(model.schema)))
        once = model.scores(rows)
        np.testing.assert_array_equal(once, model.scores(rows, n_threads=3))
        np.testing.assert_array_equal(once, model.scores(np.asfortranarray(rows)))
        np.testing.assert_array_equal(once, model.scores(rows, compiled=False))

    def test_single_precision_rows_are_read_as_they_are(self):
        model = make_model(5)
        rows = np.random.default_rng(0).normal(size=(100, len(model.schema))).astype(np.float32)
        np.testing.assert_array_equal(model.scores(rows), model.scores(rows.astype(np.float64)))
