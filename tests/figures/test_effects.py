"""Effects by column as Matplotlib plots."""

import numpy as np
import pytest

from builders.models import make_card, make_flowers, make_pair
from newron.errors import InputError
from newron.figures import plot_effects
from newron.shapes.effects import read_effects

matplotlib = pytest.importorskip("matplotlib")
matplotlib.use("Agg")


@pytest.fixture(autouse=True)
def close():
    yield
    matplotlib.pyplot.close("all")


def test_a_pair_is_a_heat_map_of_its_values():
    (ax,) = plot_effects(make_pair(), columns=["x × kind"])
    assert (ax.get_xlabel(), ax.get_ylabel()) == ("x", "kind")
    effect = read_effects(make_pair()).of("x × kind")
    (mesh,) = ax.collections
    assert np.array_equal(np.asarray(mesh.get_array()).reshape(2, 41), effect.values[:41].T)
    assert [label.get_text() for label in ax.get_yticklabels()] == ["a", "b"]


def test_a_column_is_one_curve():
    axes = plot_effects(make_pair())
    assert [ax.get_xlabel() for ax in axes] == ["x", "x", "z"]  # the pair is the largest
    effect = read_effects(make_pair()).of("z")
    assert np.array_equal(axes[2].lines[0].get_ydata(), effect.values)


def test_categories_are_bars_and_missing_values_are_said():
    axes = plot_effects(make_card(), columns=["age", "colour"])
    assert axes[0].get_title(loc="right") == "missing: 0"
    assert len(axes[1].patches) == 3


def test_names_are_checked():
    with pytest.raises(InputError, match="columns: expected some of"):
        plot_effects(make_card(), columns=["weight"])
    with pytest.raises(InputError, match="output: expected one of"):
        plot_effects(make_flowers(), output="huge")
