"""What new users trip over: names, missing classes, extra columns, lists of choices, notebooks."""

import numpy as np
import pandas as pd
import pytest

from newron import NewronClassifier, NewronRegressor
from newron.errors import InputError, NewronWarning

QUICK = {"recipe": "grow", "max_terms": 3, "random_state": 0}


@pytest.fixture(scope="module")
def table():
    rng = np.random.default_rng(0)
    X = pd.DataFrame(rng.normal(size=(60, 3)), columns=["a", "b", "c"])
    return X, np.where(X["a"] > 0, "yes", "no")


@pytest.fixture(scope="module")
def card(table):
    return NewronClassifier(hidden_layer_sizes=(), **QUICK).fit(*table)


def test_whole_numbers_are_names_of_columns(table):
    X, y = table
    X = X.set_axis([0, 1, 2], axis=1)
    network = NewronClassifier(**QUICK).fit(X, y)
    assert network.model_.schema.names == ("0", "1", "2")
    assert (network.predict(X) == network.predict(X[[2, 1, 0]])).all()
    assert (network.predict(X) == network.predict(X.to_numpy())).all()


def test_further_columns_are_ignored(table, card):
    X, _ = table
    assert (card.predict(X.assign(extra="text")) == card.predict(X)).all()
    assert (card.model_.predict(X.assign(extra="text")) == card.predict(X)).all()


def test_a_missing_class_is_named_with_its_row(table):
    X, y = table
    wrong = y.astype(object)
    wrong[7] = None
    with pytest.raises(InputError, match=r"y: expected a class in every row, got 1 missing.*row 7"):
        NewronClassifier(**QUICK).fit(X, wrong)


def test_the_choices_of_processing_name_smooth(table):
    with pytest.raises(ValueError, match=r"among .*heaviside.*smooth, got 'Smooth'"):
        NewronClassifier("Smooth").fit(*table)


def test_a_named_series_names_the_target(table):
    X, _ = table
    y = pd.Series(X["a"].to_numpy(), name="price")
    assert NewronRegressor(**QUICK).fit(X, y).model_.output.names == ("price",)
    assert NewronRegressor(**QUICK).fit(X, y.to_numpy()).model_.output.names == ("y",)


def test_text_and_categories_are_in_the_tags():
    tags = NewronClassifier().__sklearn_tags__().input_tags
    assert tags.string
    assert tags.categorical
    assert tags.allow_nan


def test_every_object_has_html(table, card):
    X, y = table
    row = X.iloc[0]
    objects = [
        card.model_, card.rules(), card.rules().proof, card.scorecard(), card.shapes(),
        card.shapes(by="column"), card.importance(X, y), card.explain(row),
        card.explain(row).changes,
    ]  # fmt: skip
    for one in objects:
        text = one._repr_html_()
        assert text.startswith("<"), type(one)
        assert "<script" not in text


def test_pictures_fit_the_width_of_a_notebook(card):
    figure = card.plot()
    assert 'style="max-width:100%;height:auto"' in figure._repr_svg_()
    assert 'style="max-width:100%;height:auto"' in card._repr_mimebundle_()["text/html"]
    assert "max-width" not in figure.svg.split(">")[0]


def test_the_html_of_points_has_no_empty_column(card):
    text = card.rules(form="points")._repr_html_()
    assert "<th>points</th>" in text
    assert "<td></td>" not in text


def test_a_model_has_no_double_minus_and_no_plural_of_one(card):
    text = str(card.model_)
    assert "+ -" not in text
    assert "less -" not in text
    assert "1 functions" not in text


def test_inputs_that_are_read_are_not_called_unused():
    from newron.model import Classes, Column, Layer, Model, Schema

    layer = Layer(
        "heaviside", "sum", "identity", 1, [0, 0], [0, 1], [[1.0]] * 2, [[0.5]] * 2,
        alpha=[5.0, 0.001],
    )  # fmt: skip
    columns = tuple(Column(name, 0.0, 1.0) for name in ("big", "small", "none"))
    model = Model(Schema(columns), [layer], Classes(("no", "yes")))
    notes = [label.text for label in model.plot().labels if label.text.startswith("Not used")]
    assert notes == ["Not used: none"]


def test_words_of_the_grammar_that_cannot_be_misread_are_names_without_quotes():
    rng = np.random.default_rng(1)
    names = ["class", "true", "counts", "least sum", "most"]
    X = pd.DataFrame(rng.integers(0, 9, size=(80, 5)), columns=names)
    y = (X["class"] > 4) & (X["most"] > 2) | (X["true"] > 7)
    rules = NewronClassifier("heaviside", **QUICK).fit(X, y).rules(form="points")
    text = rules.to_text(notes=False)
    assert '"class"' not in text
    assert "class ≥" in text or "class ≤" in text or "class >" in text or "class <" in text
    assert rules.proof


def test_missing_values_of_a_later_part_count_as_the_median_with_a_warning(table):
    X, y = table
    network = NewronClassifier("heaviside", hidden_layer_sizes=(2,), random_state=0)
    network.partial_fit(X, y, classes=["no", "yes"])
    later = X.copy()
    later.loc[3, "b"] = np.nan
    with pytest.warns(NewronWarning, match="column 'b', row 3 .* counts as the median"):
        network.partial_fit(later, y)
    assert network.predict(later)[3] in ("no", "yes")


def test_pruning_leaves_an_estimator_and_says_so(table, card):
    before = card.model_
    pruned = card.prune(*table, nested=False)
    assert card.model_ == before
    assert pruned is not card
    assert "stays as it is" in NewronClassifier.prune.__doc__
