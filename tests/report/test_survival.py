"""Reports of survival models: curves, how good they are, and the network of hazards."""

import re
from html import unescape

import numpy as np
import pandas as pd
import pytest

import newron
from newron import NewronSurvival
from newron.evaluation import estimate_concordance, measure_model
from newron.formatting import format_rounded
from newron.report.facts import gather


@pytest.fixture(scope="module")
def table():
    rng = np.random.default_rng(2)
    age, smokes = rng.uniform(30, 80, 300).round(1), rng.choice(["yes", "no"], 300)
    death = rng.exponential(20 * np.exp(-0.05 * (age - 50) - 0.8 * (smokes == "yes")))
    lost = rng.uniform(5, 40, 300)
    y = pd.DataFrame({"died": death <= lost, "months": np.minimum(death, lost).round(2)})
    return pd.DataFrame({"age": age, "smokes": smokes}), y


@pytest.fixture(scope="module", params=["heaviside", "sigmoid"])
def fitted(request, table):
    X, y = table
    model = NewronSurvival(
        request.param, hidden_layer_sizes=(), max_terms=8, domains={"months": "mo"}, random_state=0,
        recipe="grow" if request.param == "heaviside" else "default",
    )  # fmt: skip
    return model.fit(X[:200], y[:200])


def write(model, path, *rows, **settings):
    model.report(path, *rows, **settings)
    return path.read_text("utf-8").replace("\u00a0", " ")


def find_cells(page, head):
    """Return the numbers of the line of a table."""
    line = re.search(rf'<tr><th scope="row">{re.escape(head)}</th>(.*?)</tr>', page)
    return [unescape(cell) for cell in re.findall(r"<td[^>]*>(.*?)</td>", line.group(1))]


def test_the_page_has_concordance_and_curves(fitted, table, tmp_path):
    X, y = table
    page = write(fitted, tmp_path / "r.html", X[200:], y[200:], noun="patient", groups="smokes")
    risk = fitted.predict(X[200:])
    want = estimate_concordance(y["died"][200:], y["months"][200:], risk).value
    assert f"Died until months: concordance {format_rounded(want)} for patients" in page
    assert "None of these 100 patients is among those of training." in page
    assert "200 rows" in page
    assert f"{int(y['died'][200:].sum())} of 100 rows had" in page
    assert "Brier score by time" in page
    assert "Calibration: " in page
    assert "By <bdi>smokes</bdi>" in page
    assert "the model says" not in page.split("<script", 1)[0]


def test_a_card_has_a_curve_for_each_total(table, fitted, tmp_path):
    if fitted.processing == "sigmoid":
        pytest.skip("curves are no card")
    X, _ = table
    page = write(fitted, tmp_path / "r.html", X)
    card = fitted.riskcard()
    for row in card.rows:
        assert row.text in unescape(page)
    total = card.list_totals()[-1]
    cells = find_cells(page, f"{newron.formatting.format_fraction(total)} points")
    assert len(cells) <= 5
    last = card.find_survival(total)[-1]
    assert cells[-1] == newron.formatting.format_percent(float(last))
    assert "No true answers were given" in page


def test_curves_of_fifths_are_means(table, fitted):
    X, y = table
    if fitted.processing == "heaviside":
        pytest.skip("cards have totals")
    found = gather(fitted.model_, X, (y["died"], y["months"])).survival
    curves = fitted.predict_survival_function(X, return_array=True)
    order = np.argsort(fitted.predict(X), kind="stable")
    np.testing.assert_allclose(found.curves[0][1], curves[order[:60]].mean(axis=0))
    assert found.curves[0][0] == "lowest fifth"


def test_the_network_is_that_of_the_hazards(table, fitted):
    X, y = table
    facts = gather(fitted.model_, X, (y["died"], y["months"]))
    at = fitted.at(X)
    np.testing.assert_allclose(facts.scores[:, 0], fitted.model_.scores(at)[:, 0])
    assert facts.fixed == (fitted.model_.schema.names.index("months"),)
    assert facts.fingerprint == fitted.model_.fingerprint


def test_what_was_measured_heads_the_page(table, fitted, tmp_path):
    X, y = table
    found = measure_model(fitted.model_, X[200:], y[200:])
    page = write(fitted.model_.attach(found), tmp_path / "r.html", X[:200], y[:200])
    value = format_rounded(found.value.value)
    assert f"Died until months: concordance {value} for new rows" in page
    assert "How good it is" in page or "How good is it?" in page


def test_names_and_whole_points_are_those_of_the_page(table, fitted, tmp_path):
    X, y = table
    names = {"months": "time since surgery", "age": "age at surgery"}
    settings = {} if fitted.processing == "sigmoid" else {"max_points": 5}
    page = write(
        fitted, tmp_path / "r.html", X, y, names=names, classes={"died": "death"}, **settings
    )
    assert "Death until time since surgery" in page
    assert "age at surgery" in page
    assert "Every one" not in page
    assert "time since surgery (mo)" in page


def test_hidden_neurons_and_few_events_have_a_page(table, tmp_path):
    X, y = table
    model = NewronSurvival(random_state=0, max_terms=4, recipe="grow").fit(X, y)
    page = write(model, tmp_path / "r.html", X[:30], (np.zeros(30), y["months"][:30]))
    assert "0 of 30 rows had" not in page
    assert "Survival curves" in page
