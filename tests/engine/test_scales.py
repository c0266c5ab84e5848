"""The rank scale on which functions read a column, beyond the values of training."""

import numpy as np
import pytest

from builders.engine_tables import name_columns
from newron.engine.binning import bin_table
from newron.engine.scales import make_scales


def make_rank(values):
    table = bin_table(values[:, None], np.ones(len(values)), name_columns(1))
    return make_scales(table.columns[0])[-1].rank


def test_ranks_of_outliers_of_a_skewed_column_go_on_as_slowly_as_those_of_its_tail():
    values = np.exp(np.linspace(0.0, 5.0, 400))
    rank = make_rank(values)
    last, tenth = values[-1], values[-40]
    slope = 0.1 / (last - tenth)
    beyond = rank.rank(np.array([last, 1.5 * last]))
    assert beyond[1] - beyond[0] == pytest.approx(0.5 * last * slope, rel=0.1)
    assert beyond[1] - beyond[0] < 0.5 * 0.5  # half of what the average slope would give


def test_ranks_of_even_values_go_on_with_their_slope():
    rank = make_rank(np.linspace(0.0, 1.0, 400))
    assert rank.rank(np.array([-0.5, 1.5])) == pytest.approx([-0.5, 1.5], abs=0.02)
