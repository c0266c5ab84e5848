"""One model by every reader: the numbers that appear are those that are stored."""

import json
import re
from functools import cache

import numpy as np
import pytest

import newron
from newron import NewronClassifier, NewronRegressor
from newron.command.printing import print_model, write_card
from newron.command.terminal import Console
from newron.construct import from_rules
from newron.explanations import name_contributions
from newron.figures import draw
from newron.figures.diagram_reader import read_diagram
from newron.model import Classes, Column, Schema
from newron.model.terms import split_terms
from newron.report.facts import gather
from newron.rules.extraction import extract
from newron.rules.scorecard import read_card
from newron.shapes.shape_reader import read_shapes

SCHEMA = Schema(
    (
        Column("age", 20.0, 90.0),
        Column("bmi", 10.0, 60.0),
        Column("pain", 0.0, 2.0, categories=("none", "some", "much")),
        Column("pulse", 40.0, 180.0),
    )
)
TEXT = """
Points for ill
    +5  age ≥ 54
    +3  bmi ≥ 31
    +4  pain = much
    +2  pulse ≥ 97
    +7  age ≥ 72
Sum ≥ 9: ill
Otherwise: well
"""
POINTS = {5, 3, 4, 2, 7}
ROW = {"age": 60.0, "bmi": 35.0, "pain": "none", "pulse": 60.0}


@pytest.fixture(scope="module")
def model():
    return from_rules(TEXT, SCHEMA, Classes(("well", "ill"), unit=0.35, offset=0.12))


def find_points(text):
    """Return the signed whole numbers of a text; no other number may have a sign."""
    found = re.findall(r"(?<![\w.])[+](\d+(?:\.\d+)?)(?!\w)", text)
    assert all("." not in number for number in found), found
    return set(map(int, found))


def expect_probability(total):
    return 1.0 / (1.0 + np.exp(-(0.35 * (total - 9) + 0.12)))


def test_the_file_has_points_unit_and_offset(model, tmp_path):
    document = model.to_dict()
    (neuron,) = document["layers"][-1]["neurons"]
    assert {function["alpha"] for function in neuron["functions"]} == POINTS
    assert neuron["centre"] == 9
    assert document["output"] == {"classes": ["well", "ill"], "unit": 0.35, "offset": 0.12}
    model.save(tmp_path / "m.json")
    assert newron.load(tmp_path / "m.json") == model
    assert json.loads((tmp_path / "m.json").read_text())["output"]["unit"] == 0.35


def test_rules_card_and_terminal_print_the_points_and_the_threshold(model, capsys):
    rules = model.rules()
    print_model(Console(), model, rules, "rules.txt")
    card = read_card(model)
    for text in (str(rules), str(card), write_card(card), capsys.readouterr().out):
        assert find_points(text) == POINTS
        assert re.search(r"[Ss]um ≥ 9: ", text)
    assert rules.proof.covers == ("class", "score", "probability")
    assert card.rules.proof.covers == ("class", "score", "probability")


def test_explanations_and_probabilities_are_those_of_the_points(model):
    explanation = model.explain(ROW)
    text = str(explanation)
    assert find_points(text) <= POINTS
    assert "sum 8, 1 short of 9" in text
    well = 1.0 - expect_probability(8)
    assert f"probability {100 * well:.0f} %" in text
    assert model.predict_proba([list(ROW.values())])[0, 1] == pytest.approx(expect_probability(8))
    assert read_card(model).get_probability(8) == pytest.approx(expect_probability(8))
    assert read_card(model).get_probability(9) == pytest.approx(expect_probability(9))


def test_shapes_and_contributions_are_the_points(model):
    assert {shape.weight for shape in read_shapes(model)} == POINTS
    parts = model.contributions([list(ROW.values())])
    total = np.asarray(parts, float).sum()
    assert total == pytest.approx(model.scores([list(ROW.values())])[0, 0])


@pytest.mark.parametrize("kind", ["model", "card"])
def test_the_figure_shows_the_points(model, kind):
    figure = draw(model if kind == "model" else read_card(model), row=ROW)
    texts = [label.text for label in figure.labels]
    assert "8" in texts
    assert f"probability {100 * (1 - expect_probability(8)):.0f} %" in texts
    assert texts[texts.index("9", texts.index("total of points")) + 1] == (
        f"{100 * expect_probability(9):.0f} %"
    )
    assert any("from 9 on" in text for text in texts)


def test_the_report_shows_the_points(model, tmp_path):
    rng = np.random.default_rng(0)
    rows = [
        [float(a), float(b), p, float(c)]
        for a, b, p, c in zip(
            rng.integers(20, 90, 40), rng.integers(10, 60, 40),
            rng.choice(["none", "some", "much"], 40), rng.integers(40, 180, 40), strict=True,
        )
    ]  # fmt: skip
    model.report(tmp_path / "r.html", rows, model.predict(rows))
    page = (tmp_path / "r.html").read_text("utf-8")
    rules = page.split('id="rules"')[1].split("</section>")[0]
    assert find_points(re.sub("<[^>]*>", " ", rules)) == POINTS
    assert "≥ 9" in rules


def test_sql_and_javascript_add_the_points(model):
    query = model.export("sql", rules=extract(model, form="points")).text
    added = set(map(int, re.findall(r"THEN (\d+)", query)))
    assert added >= POINTS
    assert "-9 AS BIGINT" in query
    script = model.export("javascript").text
    assert "0.35" in script
    assert "0.12" in script


# ---- networks of every kind ----


@cache
def fit(kind):
    rng = np.random.default_rng(1000)
    X = rng.integers(0, 40, size=(90, 3)).astype(float)
    total = 2.0 * (X[:, 0] > 20) + (X[:, 1] > 10) - (X[:, 2] > 25)
    noisy = total + rng.normal(0.0, 0.5, 90)
    grown = {"recipe": "grow", "hidden_layer_sizes": (), "max_terms": 5, "random_state": 0}
    trained = {"recipe": "gradient", "max_iter": 40, "n_init": 1, "random_state": 0}
    estimator, y = {
        "card": (NewronClassifier("heaviside", **grown), noisy > 1.2),
        "deep": (NewronClassifier("heaviside", hidden_layer_sizes=(3,), **trained), total > 1),
        "smooth": (NewronClassifier("sigmoid", hidden_layer_sizes=(), **trained), total > 1),
        "pairs": (
            NewronClassifier("smooth", size="whole", random_state=0),
            X[:, 0] * X[:, 1] > 350 + 4 * X[:, 2],
        ),
        "regression": (NewronRegressor("heaviside", **grown), noisy),
        "classes": (NewronClassifier("heaviside", **grown), np.digitize(total, [0.5, 1.5])),
        "ordered": (
            NewronClassifier(objective="ordinal", size=4, random_state=0),
            np.digitize(noisy, [0.5, 1.5]),
        ),
    }[kind]
    return estimator.fit(X, y).model_, X, y


KINDS = ["card", "deep", "smooth", "pairs", "regression", "classes", "ordered"]


@pytest.fixture(scope="module", params=KINDS)
def fitted(request):
    return fit(request.param)


def find_numbers(text):
    """Return the sizes of all decimals of a text."""
    return set(map(float, re.findall(r"\d+\.\d+", text)))


def list_stored(model):
    """Return the sizes of the last layer's weights and intercepts."""
    last = model.layers[-1]
    return set(np.abs([*last.alpha, *last.centre]).tolist()) - {0.0}


def test_weights_and_intercepts_are_in_every_text(fitted):
    model, _, _ = fitted
    for text in (str(model), model.export("javascript").text):
        assert list_stored(model) <= find_numbers(text)


def check_rules(model):
    rules = model.rules(form="points")
    assert set(rules.proof.covers) & {"score", "target"}
    points = {abs(float(weight)) for rule in rules.rules for weight in rule.points}
    assert points - {0.0} == set(np.abs(model.layers[-1].alpha).tolist())
    assert list_stored(model) <= find_numbers(rules.to_text(notes=False))


@pytest.mark.parametrize("kind", ["card", "deep", "regression", "classes", "ordered"])
def test_rules_have_the_stored_weights_and_no_others(kind):
    check_rules(fit(kind)[0])


def test_shapes_figures_and_reports_have_the_stored_weights(fitted):
    model, X, y = fitted
    alpha, centre = model.layers[-1].alpha.tolist(), model.layers[-1].centre.tolist()
    n = len(alpha)
    assert [shape.weight for shape in read_shapes(model)][-n:] == alpha
    diagram = read_diagram(model, X)
    # What adds next to nothing is folded or left out.
    drawn = [f.weight for neuron in diagram.layers[-1] for f in neuron.functions]
    kept = [weight for weight in alpha if weight in drawn]
    assert drawn == kept
    assert all(abs(w) < 0.01 * max(map(abs, alpha)) for w in alpha if w not in drawn)
    assert [neuron.centre for neuron in diagram.layers[-1]] == centre
    facts = gather(model, X, y)
    last = [f.weight for neuron in facts.diagram.layers[-1] for f in neuron.functions]
    if len(last) == n:  # otherwise functions of one input are one curve
        assert last == alpha


def test_explanations_and_contributions_add_up_to_the_score(fitted):
    model, X, _ = fitted
    scores = model.scores(X)
    for k in range(scores.shape[1]):
        parts = _read_contributions(model, X, k)
        assert np.allclose(parts.sum(axis=1), scores[:, k], rtol=1e-12, atol=1e-12)
    text = str(model.explain(X[3]))
    assert "− −" not in text
    assert "less −" not in text
    shown = split_terms(model).intercept if model.means else model.layers[-1].centre
    for size in np.abs(shown).tolist():
        digits = 4 if model.means else 6
        assert float(f"{size:.{digits}g}") in find_numbers(text) | {0.0}


def test_ordered_classes_have_one_set_of_points_and_limits(tmp_path):
    model, X, y = fit("ordered")
    assert np.all(model.layers[-1].alpha > 0.0)
    rules = model.rules(form="points").to_text(notes=False)
    limits = [float(limit) for limit in re.findall(r"Sum ≥ (\S+):", rules)]
    assert limits == list(model.output.bands[::-1])
    model.report(tmp_path / "r.html", X, y)
    section = (tmp_path / "r.html").read_text("utf-8").split('id="rules"')[1].split("</section>")[0]
    assert re.findall(r"<b>≥ ([\d.]+)</b>", section) == [f"{limit:g}" for limit in limits]
    lowest = next(r for r in [str(model.explain(row)) for row in X] if "short of" in r)
    assert f"short of {limits[-1]:g}" in lowest


@pytest.mark.parametrize("kind", ["smooth", "pairs"])
def test_smooth_curves_and_surfaces_have_mean_0_in_every_reader(kind, tmp_path):
    model, X, _ = fit(kind)
    model.save(tmp_path / "m.json")
    stored = json.loads((tmp_path / "m.json").read_text())["means"]
    again = newron.load(tmp_path / "m.json")
    assert (
        again.means == model.means == {tuple(one["inputs"]): tuple(one["values"]) for one in stored}
    )
    parts = np.asarray(again.contributions(X))[:, :-1]
    assert np.all(np.abs(parts.mean(axis=0)) <= 2e-3 * parts.std(axis=0))
    effects = again.shapes(by="column")
    intercept = effects.intercepts[True]
    assert intercept == pytest.approx(np.asarray(again.contributions(X))[0, -1], abs=0)
    explanation = again.explain(X[5], max_changes=0)
    assert explanation.intercepts == (intercept,)
    added = {" × ".join(one.columns): one.added[0] for one in explanation.contributions}
    assert list(added.values()) == sorted(added.values(), key=lambda value: -abs(value))
    own = dict(zip(name_contributions(again), np.asarray(again.contributions(X))[5], strict=True))
    assert added == {name: own[name] for name in added}
    assert sum(added.values()) + intercept == pytest.approx(again.scores(X)[5, 0], abs=1e-12)
    for effect in effects:
        if effect.kind == "curve":
            (scale,) = effect.scales
            curve = np.interp(X[:, int(effect.name[1:]) - 1], scale.positions, effect.values)
            assert abs(curve.mean()) < 0.05 * effect.size


@pytest.mark.parametrize("kind", ["smooth", "pairs"])
def test_the_report_of_a_smooth_network_has_the_numbers_of_its_curves(kind, tmp_path):
    model, X, y = fit(kind)
    model.report(tmp_path / "r.html", X, y)
    page = (tmp_path / "r.html").read_text("utf-8")
    data = json.loads(page.split('id="data">')[1].split("</script>")[0])
    effects = model.shapes(by="column")
    assert data["intercepts"] == list(effects.intercepts.values())
    assert {term["name"] for term in data["terms"]} == set(name_contributions(model)[:-1])
    for term in data["terms"]:
        assert tuple(term["means"]) == model.means[tuple(term["name"].split(" × "))]
    for effect in effects:
        assert effect.description in page


def test_pairs_are_functions_of_two_named_columns():
    model, X, _ = fit("pairs")
    names = name_contributions(model)
    assert "x1 × x2" in names
    assert "x1 × x2: least" in str(model.shapes(by="column"))
    text = str(model.explain(X[0], max_changes=0))
    assert f"x1 = {X[0, 0]:g} and x2 = {X[0, 1]:g}" in text
    assert "neuron" not in text


def _read_contributions(model, X, k):
    labels = model.output.labels if isinstance(model.output, Classes) else ()
    several = len(labels) > 2 and model.output.n_scores > 1
    return np.asarray(model.contributions(X, output=labels[k] if several else None))


def test_rules_do_not_replace_points_by_others_that_are_as_short():
    model = from_rules(TEXT, SCHEMA, Classes(("well", "ill")))
    rules = model.rules()
    assert find_points(rules.to_text(notes=False)) == POINTS
    assert rules.proof.covers == ("class", "score", "probability")
