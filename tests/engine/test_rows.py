import numpy as np
import pytest

from builders.engine_tables import name_columns
from newron.engine import Options, fit
from newron.engine.basis import list_groups
from newron.engine.design import BinnedDesign
from newron.engine.rows import Block, MemoryRows, cut_rows, run_ahead
from newron.model import Classes, Targets
from newron.tables import Field

BLOCK = 700
FIELDS = [Field("a"), Field("b", ("p", "q", "r")), *name_columns(2)]


def make_table(n=4000):
    random = np.random.default_rng(0)
    X = random.normal(size=(n, 4))
    X[:, 1] = random.integers(0, 3, n)
    X[random.random(n) < 0.1, 2] = np.nan
    score = np.sin(2.0 * X[:, 0]) + (X[:, 1] == 2.0) + X[:, 0] * np.nan_to_num(X[:, 2])
    return X, score + random.normal(size=n)


def make_rows(n=10, size=4):
    codes = np.arange(2 * n, dtype=np.uint8).reshape(2, n)
    return MemoryRows([Block(np.ascontiguousarray(codes[:, at])) for at in cut_rows(n, size)])


def fit_blocks(n_threads=1, block_rows=BLOCK, output=None, processing="smooth"):
    X, score = make_table()
    y = score if output is None else np.digitize(score, [0.0, 1.5][: len(output.labels) - 1])
    weight = np.random.default_rng(1).integers(1, 4, len(X)).astype(float)
    options = Options(processing, n_threads=n_threads, block_rows=block_rows)
    return fit(X, y, output or Targets(("y",)), FIELDS, weight=weight, options=options)


def test_values_of_rows_are_taken_in_the_order_that_is_asked_for():
    rows = make_rows()
    index = np.array([9, 0, 5, 4])
    assert rows.take(index, rows.cut(10.0 * np.arange(10))).tolist() == [90.0, 0.0, 50.0, 40.0]
    assert rows.take_codes(index).tolist() == [[9, 0, 5, 4], [19, 10, 15, 14]]
    assert np.array_equal(rows.take_codes(None)[0], np.arange(10))


def test_sums_are_added_in_the_order_of_blocks():
    rows = make_rows()
    big = rows.cut(np.array([1e16, 0, 0, 0, 1, 0, 0, 0, -1e16, 1]))
    assert rows.total(lambda _, part: float(part.sum()), big) == ((1e16 + 1.0) + (-1e16 + 1.0))
    assert rows.total(lambda _, part: (part.sum(), 1), big)[1] == 3


def test_results_come_in_order_whatever_the_threads_and_errors_come_out():
    calls = [(i,) for i in range(20)]
    assert list(run_ahead(lambda i: i * i, calls, 3)) == [i * i for i in range(20)]
    with pytest.raises(ZeroDivisionError):
        list(run_ahead(lambda i: 1 / (i - 7), calls, 3))


@pytest.mark.parametrize("processing", ["smooth", "heaviside"])
@pytest.mark.parametrize("output", [None, Classes(("n", "y")), Classes(("l", "m", "h"))])
def test_threads_change_no_bit_of_a_fit_of_several_blocks(output, processing):
    one, more = (fit_blocks(n, output=output, processing=processing) for n in (1, 3))
    assert one.model.fingerprint == more.model.fingerprint
    assert len(one.parts[0].table.rows.sizes) == 6


def test_blocks_change_last_digits_alone():
    whole, cut = fit_blocks(block_rows=10_000), fit_blocks()
    X, _ = make_table(300)
    assert np.allclose(whole.parts[0].score(X), cut.parts[0].score(X), atol=1e-3)


def test_the_constants_of_an_objective_come_from_a_sample_of_very_many_rows(monkeypatch):
    X, score = make_table()
    output = Targets(("y",), objective="huber")

    def measure_spread():
        found = fit(X, score, output, FIELDS, options=Options(block_rows=BLOCK))
        return found.parts[0].likelihood.objective.spread

    of_all = measure_spread()
    monkeypatch.setattr("newron.engine.likelihood.STATISTICS_ROWS", 1000)
    of_some = measure_spread()
    assert of_some != of_all
    assert of_some == pytest.approx(of_all, rel=0.1)


def test_a_design_goes_on_with_what_the_one_before_has_expanded():
    X, score = make_table(6000)
    bins = fit(X, score, Targets(("y",)), FIELDS).parts[0].table
    groups = list(list_groups(bins, rough=False))
    sample = np.arange(0, 6000, 2)
    curvature = 1.0 + np.random.default_rng(2).random(3000)
    before = BinnedDesign(bins, groups[:6], sample)
    before.gram(curvature, 0)
    for chosen in (groups[:9], [*groups[1:3], *groups[4:8]], groups[2:5]):
        fresh = BinnedDesign(bins, chosen, sample).gram(curvature, 0)
        later = BinnedDesign(bins, chosen, sample, before).gram(curvature, 0)
        assert np.allclose(np.tril(later), np.tril(fresh), rtol=1e-4, atol=1e-5 * fresh[0, 0])
