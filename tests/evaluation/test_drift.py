"""Population stability: by hand, and how often chance is called a change."""

import numpy as np
import pytest

from builders.models import make_card
from newron.errors import InputError
from newron.evaluation import measure_drift, measure_stability
from newron.tables import encode


def test_the_index_is_the_sum_over_bins():
    found = measure_stability(["a"] * 600 + ["b"] * 400, ["a"] * 300 + ["b"] * 700)
    want = (0.3 - 0.6) * np.log(0.3 / 0.6) + (0.7 - 0.4) * np.log(0.7 / 0.4)
    assert found.psi == pytest.approx(want, rel=0.01)
    assert found.verdict == "much"
    assert [(one.name, one.old, one.new) for one in found.bins] == [
        ("a", 0.6, 0.3),
        ("b", 0.4, 0.7),
    ]


def test_numbers_are_cut_at_the_tenths_of_the_old_rows():
    rng = np.random.default_rng(0)
    old = rng.normal(size=2000)
    found = measure_stability(old, rng.normal(0.5, 1.0, 2000))
    assert len(found.bins) == 10
    np.testing.assert_allclose([one.old for one in found.bins], 0.1, atol=0.002)
    # of two normal distributions half a deviation apart, without bins: 0.25
    assert found.psi == pytest.approx(0.25, abs=0.06)
    assert found.largest.name.startswith(("above", "up to"))


def test_chance_is_seldom_called_a_change():
    rng = np.random.default_rng(1)
    above = [
        (found := measure_stability(rng.normal(size=150), rng.normal(size=100))).psi > found.chance
        for _ in range(400)
    ]
    assert np.mean(above) < 0.09


def test_new_gaps_and_new_categories_count():
    old, new = np.arange(100.0), np.arange(100.0)
    new[::2] = np.nan
    found = measure_stability(old, new)
    assert found.largest.name == "missing"
    assert found.verdict == "much"
    assert measure_stability(["a"] * 50, ["a"] * 25 + ["c"] * 25).largest.new == 0.5


def test_columns_come_by_their_change_after_the_scores():
    rng = np.random.default_rng(2)
    rows = [
        [float(age), colour]
        for age, colour in zip(
            rng.uniform(20, 80, 300), rng.choice(["red", "green", "blue"], 300), strict=True
        )
    ]
    older = [[age + 25.0, colour] for age, colour in rows]
    model = make_card()
    fields = model.fields
    from newron.tables import EncodedTable

    old, new = (EncodedTable(fields, model.read(part)) for part in (rows, older))
    found = measure_drift(old, new, model)
    assert [one.name for one in found] == ["score", "age", "colour"]
    assert [one.verdict for one in found][1:] == ["much", "stable"]
    assert found[0].psi > 0.1


def test_other_columns_and_no_rows_are_refused():
    with pytest.raises(InputError, match="in both tables"):
        measure_drift(encode([[1.0]]), encode([[1.0, 2.0]]))
    with pytest.raises(InputError, match="rows in both"):
        measure_stability([], [1.0])
