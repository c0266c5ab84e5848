"""Columns and their rank scales."""

import numpy as np
import pytest

from newron.errors import ModelError
from newron.model import RankScale


class TestRankScale:
    def test_values_go_there_and_back(self):
        scale = RankScale((0.0, 1.0, 10.0), (0.1, 0.5, 0.9))
        x = np.array([-5.0, 0.0, 0.3, 1.0, 7.0, 10.0, 99.0])
        np.testing.assert_allclose(scale.value(scale.rank(x)), x, rtol=1e-14)
        assert np.all(np.diff(scale.rank(x)) > 0)

    @pytest.mark.parametrize(
        ("knots", "ranks"),
        [
            ((1.0,), (0.5,)),
            ((1.0, 1.0), (0.0, 1.0)),
            ((0.0, 1.0), (1.0, 0.0)),
            ((0.0, np.inf), (0.0, 1.0)),
            ((0.0, 5e-324), (0.0, 1e300)),
            ((0.0, 1.0), (-1.7e308, 1.7e308)),
        ],
    )
    def test_a_map_that_does_not_increase_is_refused(self, knots, ranks):
        with pytest.raises(ModelError):
            RankScale(knots, ranks)
