"""Plots for Matplotlib: on given axes or new ones, and never shown."""

import sys

import numpy as np
import pytest
from sklearn.exceptions import NotFittedError

from figures.networks import make_card, make_flowers, make_patients, make_perceptron
from newron import InputError, NewronClassifier
from newron.explanations.importance import measure_importance
from newron.figures import (
    plot_boundary,
    plot_functions,
    plot_importance,
    plot_tradeoff,
    plot_training,
)
from newron.model import Classes, Column, Layer, Model, Schema

matplotlib = pytest.importorskip("matplotlib")
matplotlib.use("Agg")
plt = pytest.importorskip("matplotlib.pyplot")


@pytest.fixture(autouse=True)
def _no_show(monkeypatch):
    monkeypatch.setattr(plt, "show", lambda *_, **__: pytest.fail("show was called"))
    yield
    plt.close("all")


@pytest.fixture(scope="module")
def pruned():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(60, 2)).round(1)
    y = (X[:, 0] + 0.5 * X[:, 1] > 0).astype(int)
    settings = {"recipe": "grow", "max_terms": 3, "pruning": True, "random_state": 0}
    return NewronClassifier("heaviside", **settings).fit(X, y), X, y


def render(axes):
    """Draw, so that what cannot be drawn is found."""
    axes.figure.canvas.draw()


def test_functions_have_an_axes_for_each_input():
    axes = plot_functions(make_card(), make_patients())
    assert [ax.get_xlabel() for ax in axes] == [
        "age (y)", "chest pain", "vessels", "cholesterol (mg/dl)",
    ]  # fmt: skip
    assert len(axes[0].get_lines()) == 4  # two steps and their thresholds
    assert next(text.get_text() for text in axes[1].get_xticklabels()) == "typical"
    assert "missing: 3" in axes[2].get_legend().get_texts()[0].get_text()
    render(axes[0])


def test_one_function_goes_onto_a_given_axes():
    _, ax = plt.subplots()
    assert plot_functions(make_flowers(), columns=["petal width"], ax=ax) is ax
    assert len(ax.get_legend().get_texts()) == 3
    x, y = ax.get_lines()[0].get_data()
    row = {"petal length": 3.0, "petal width": float(x[40])}
    part = make_flowers().explain(row).stages[0].parts[1]
    assert y[40] == pytest.approx(part.contribution)


def test_wrong_axes_and_columns_are_told():
    _, ax = plt.subplots()
    with pytest.raises(InputError, match="expected 4 axes, one for each input, got 1"):
        plot_functions(make_card(), ax=ax)
    with pytest.raises(InputError, match="expected names of inputs, got 'size'"):
        plot_functions(make_card(), columns=["size"])
    with pytest.raises(InputError, match="expected a model or a fitted estimator, got dict"):
        plot_functions({})


def test_importance_is_measured_or_given():
    model, table = make_card(), make_patients()
    ax = plot_importance(model, table, kind="drop", max_inputs=3)
    measured = measure_importance(model, table, kind="drop")
    assert [bar.get_width() for bar in ax.patches] == [one.value for one in measured[:3]]
    assert [label.get_text() for label in ax.get_yticklabels()] == [w.name for w in measured[:3]]
    assert "2 more inputs" in ax.get_xlabel().replace("\n", " ")
    _, own = plt.subplots()
    assert plot_importance(measured, ax=own) is own
    with pytest.raises(InputError, match="expected rows X"):
        plot_importance(model)
    render(ax)


def test_an_estimator_draws_its_network(pruned):
    estimator, X, _ = pruned
    assert estimator.plot(X).svg == estimator.model_.plot(X).svg
    with pytest.raises(NotFittedError):
        NewronClassifier().plot()


def test_the_tradeoff_marks_what_was_chosen(pruned):
    estimator, _, _ = pruned
    path = estimator.path_
    ax = plot_tradeoff(estimator)
    curve, chosen = ax.get_lines()
    assert curve.get_xdata().tolist() == list(path.sizes)
    assert chosen.get_xdata().tolist() == [path.chosen]
    render(ax)
    with pytest.raises(InputError, match="or pruning=True"):
        plot_tradeoff(make_card())


def test_training_is_a_curve_of_epochs_or_terms(pruned):
    _, X, y = pruned
    grown = NewronClassifier("heaviside", recipe="grow", max_terms=3, random_state=0).fit(X, y)
    ax = plot_training(grown)
    assert ax.get_lines()[0].get_ydata().tolist() == grown.loss_curve_
    smooth = NewronClassifier("sigmoid", recipe="gradient", max_iter=5, random_state=0).fit(X, y)
    ax = plot_training(smooth)
    assert ax.get_xlabel() == "step of training"
    assert ax.get_lines()[0].get_ydata().tolist() == smooth.loss_curve_
    with pytest.raises(InputError, match="call fit first"):
        plot_training(NewronClassifier())


def test_boundaries_are_of_two_numbers():
    model = make_flowers()
    X = np.array([[1.4, 0.2], [4.5, 1.4], [6.0, 2.2]])
    ax = plot_boundary(model, X, model.predict(X))
    assert (ax.get_xlabel(), ax.get_ylabel()) == ("petal length (cm)", "petal width (cm)")
    assert [text.get_text() for text in ax.get_legend().get_texts()] == list(model.output.labels)
    render(ax)
    render(plot_boundary(make_perceptron(), [[0.0, 1.0]]))
    with pytest.raises(InputError, match="expected a network of two inputs that are numbers"):
        plot_boundary(make_card())


def test_names_are_not_formulas():
    layer = Layer("heaviside", "sum", "identity", 1, [0], [0], [[1.0]], [[1.0]], alpha=[1.0])
    schema = Schema((Column(r"$\frac{1}{0}$", 0.0, 2.0),))
    axes = plot_functions(Model(schema, [layer], Classes(("$no$", "$yes_{$"))))
    render(axes[0])


def test_a_missing_library_is_told(monkeypatch):
    monkeypatch.setitem(sys.modules, "matplotlib.pyplot", None)
    with pytest.raises(InputError, match=r"pip install 'newron-ian\[plot\]'"):
        plot_importance(make_card(), make_patients(), kind="drop")
