import numpy as np
import pytest

from builders.engine_tables import name_columns
from newron.engine.binning import LevelBins, NumberBins, bin_rows, bin_table
from newron.tables import Field


def bin_column(x, weight=None, field=None):
    X = np.asarray(x, float)[:, None]
    weight = np.ones(len(X)) if weight is None else np.asarray(weight, float)
    return bin_table(X, weight, [field or Field("x")])


def test_few_values_have_a_bin_each_and_missing_values_the_one_after_the_last():
    table = bin_column([3.0, 1.0, np.nan, 2.0, 1.0])
    (bins,) = table.columns
    assert isinstance(bins, NumberBins)
    assert table.codes.tolist() == [[2, 0, 3, 1, 0]]
    assert bins.mass.tolist() == [2.0, 1.0, 1.0, 1.0]
    assert bins.centers.tolist() == bins.lows.tolist() == bins.highs.tolist() == [1.0, 2.0, 3.0]


def test_bins_are_ordered_and_hold_what_lies_between_their_edges():
    x = np.random.default_rng(0).lognormal(size=7000)
    table = bin_column(x)
    (bins,) = table.columns
    assert bins.n_bins > 200
    assert np.all(np.diff(bins.edges) > 0.0)
    assert np.all(bins.lows[1:] >= bins.edges)
    assert np.all(bins.highs[:-1] < bins.edges)
    expected = np.searchsorted(bins.edges, x, side="right")
    assert np.array_equal(table.codes[0], expected)


def test_a_weight_of_two_is_a_row_twice():
    x = np.random.default_rng(1).normal(size=300)
    weight = np.random.default_rng(2).integers(1, 4, 300)
    weighed, repeated = bin_column(x, weight), bin_column(np.repeat(x, weight))
    assert np.array_equal(weighed.columns[0].edges, repeated.columns[0].edges)
    assert np.array_equal(weighed.columns[0].mass, repeated.columns[0].mass)


def test_each_category_has_a_bin_and_what_was_not_seen_is_missing():
    field = Field("c", ("a", "b", "c"))
    table = bin_column([0, 2, 2, np.nan], field=field)
    (bins,) = table.columns
    assert isinstance(bins, LevelBins)
    codes = bin_rows(table.columns, np.array([[0.0], [2.0], [np.nan], [7.0]]))
    assert codes[0, 0] != codes[0, 1]
    assert codes[0, 2] == codes[0, 3] == bins.n_bins


def test_more_categories_than_codes_are_several_columns_of_codes():
    x = np.arange(600) % 500
    table = bin_column(x, field=Field("c", tuple(range(500))))
    assert len(table.columns) == 2
    both = {tuple(pair) for pair in table.codes.T.tolist()}
    assert len(both) == 500


def test_values_at_the_limits_of_floats_are_binned():
    x = np.array([-1e300, -1e-300, 0.0, 5e-324, 1e300])
    table = bin_column(x)
    assert table.codes.tolist() == [[0, 1, 2, 3, 4]]
    assert np.all(np.isfinite(table.columns[0].centers))


@pytest.mark.parametrize("n_threads", [2, 3])
def test_threads_do_not_change_bins(n_threads):
    X = np.random.default_rng(3).normal(size=(9000, 3))
    X[::7, 1] = np.nan
    one = bin_table(X, np.ones(9000), name_columns(3))
    more = bin_table(X, np.ones(9000), name_columns(3), n_threads=n_threads)
    assert np.array_equal(one.codes, more.codes)
    for a, b in zip(one.columns, more.columns, strict=True):
        assert np.array_equal(a.centers, b.centers)


@pytest.mark.parametrize("field", [Field("x"), Field("x", tuple("abcdefgh"))])
def test_a_rare_value_has_a_bin_of_its_own_on_many_rows(field, monkeypatch):
    monkeypatch.setattr("newron.engine.binning.EDGE_SAMPLE", (500, 0))
    grades = np.random.default_rng(5).integers(0, 7, 90_000).astype(float)
    grades[70_000:70_003] = 7.0
    bins = bin_column(grades, field=field).columns[0]
    assert sorted(bins.mass) == sorted([*np.bincount(grades.astype(int)), 0.0])


def test_of_columns_of_many_values_a_sample_decides_the_edges(monkeypatch):
    monkeypatch.setattr("newron.engine.binning.EDGE_SAMPLE", (5_000, 0))
    monkeypatch.setattr("newron.engine.binning.MOST_COUNTED", 300)
    x = np.random.default_rng(5).lognormal(sigma=3.0, size=90_000)
    counted, sampled = bin_column(np.round(np.log(x), 1)), bin_column(np.sort(x))
    assert counted.columns[0].n_bins == len(np.unique(np.round(np.log(x), 1)))
    part = sampled.columns[0].fraction
    assert len(part) > 250
    assert part.max() < 4.0 / 254
