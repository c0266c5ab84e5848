"""Reports in a real browser: the model in the page, its controls, and what a reader needs."""

import re
from contextlib import contextmanager
from pathlib import Path

import numpy as np
import pytest

from newron.report.facts import gather
from newron.report.labels import Labels
from newron.report.page import render
from report.models import HOSTILE, make_example, make_table

BACKGROUND = "getComputedStyle(document.body).backgroundColor"
WIDE, PHONE = {"width": 1280, "height": 900}, {"width": 390, "height": 800}


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    return tmp_path_factory.mktemp("reports")


@pytest.fixture(scope="module")
def show(browser, folder):
    """Open the report of a model; what goes wrong or out is kept."""

    @contextmanager
    def open_page(kind, *, viewport=WIDE, **context):
        path = folder / f"{kind}.html"
        if not path.exists():
            model, X, y = make_example(kind)
            noun = "patient" if kind == "card" else "row"
            path.write_text(render(gather(model, X, y, labels=Labels(noun=noun))), "utf-8")
        page = browser.new_page(viewport=viewport, **context)
        troubles, asked = [], []
        page.on("console", lambda told: troubles.append(told.text))
        page.on("pageerror", lambda error: troubles.append(str(error)))
        page.on("dialog", lambda dialog: troubles.append(dialog.message))
        page.on("request", lambda request: asked.append(request.url))
        try:
            page.goto(path.as_uri())
            page.wait_for_selector('#flips[aria-busy="false"]', state="attached")
            yield page
        finally:
            page.close()
        assert troubles == []
        assert asked == [path.as_uri()]

    return open_page


def as_json(table):
    return [[None if x is None or x != x else x for x in row] for row in table.tolist()]


# ---- the model ----


@pytest.mark.parametrize("kind", ["card", "whole", "count", "soft", "hostile"])
def test_the_page_gives_the_probabilities_of_python(show, kind):
    model, _, _ = make_example(kind)
    model = model.model if kind == "whole" else model
    table = make_table(model, 1000, seed=7)
    with show(kind) as page:
        found = page.evaluate("rows => rows.map(row => newron.predictProba(row))", as_json(table))
    assert np.abs(np.array(found) - model.predict_proba(table)).max() <= 1e-9


def test_the_page_gives_the_amounts_of_python(show):
    model, _, _ = make_example("amounts")
    table = make_table(model, 1000, seed=7)
    with show("amounts") as page:
        found = page.evaluate("rows => rows.map(row => newron.scores(row))", as_json(table))
    assert np.abs(np.array(found) - model.predict(table)).max() <= 1e-9


# ---- controls ----


def test_a_slider_changes_the_answer_and_the_network(show):
    with show("card") as page:
        before = page.inner_text("#live")
        dot = page.locator('.wide g.fn[data-fn="1:0"] circle.dot')
        place = dot.evaluate("dot => dot.style.cx")
        slider = page.get_by_label("age, slider")
        slider.press("Home")
        low = page.inner_text("#live")
        slider.press("End")
        high = page.inner_text("#live")
        assert low != high
        assert before in (low, high)
        assert dot.evaluate("dot => dot.style.cx") != place
        assert page.locator('.wide path.edge.on[data-fn="1:0"]').count() == 1
        assert page.text_content('.wide [data-val="0"]') == "77 y"
        assert page.inner_text("#summary").startswith("Your own values")


def test_a_number_can_be_typed_and_a_gap_chosen(show):
    with show("card") as page:
        page.get_by_label("age", exact=True).fill("54.5")
        page.get_by_label("age", exact=True).press("Enter")
        assert page.inner_text('td [data-margin="1:0"]') == "at the limit of 54.5"
        gap = page.locator(".control", has_text="oldpeak").get_by_label("missing")
        gap.check()
        assert page.inner_text('td [data-margin="1:2"]') == "missing"
        assert "on" in page.locator('tr[data-fn="1:2"]').get_attribute("class")


def test_a_category_is_chosen_by_keyboard(show):
    with show("card") as page:
        page.get_by_role("radio", name="none").check()
        page.get_by_role("radio", name="none").press("ArrowLeft")
        assert page.get_by_role("radio", name="much").is_checked()
        assert page.text_content('.wide [data-val="1"]') == "much"


def test_a_row_is_picked_and_its_truth_told(show):
    model, X, y = make_example("card")
    with show("card") as page:
        page.select_option("#pick", "7")
        told = page.inner_text("#summary")
        assert told.startswith("Patient 8:")
        said = model.predict(X[7:8])[0]
        assert f"the model says {said}" in told
        right = "That is right." if said == y[7] else f"In truth it is {y[7]}."
        assert told.endswith(right)
        page.click("#wrong")
        assert "In truth it is" in page.inner_text("#summary")


def test_a_card_counts_whole_points(show):
    card, X, _ = make_example("whole")
    with show("whole") as page:
        for k in range(5):
            page.select_option("#pick", str(k))
            score = card.model.scores(X[k : k + 1])[0, 0]
            total = round(float(score + 6.0))
            assert page.text_content('.wide [data-sum="1:1"]') == str(total)
            assert f"the sum is {total}, " in page.inner_text("#summary")
            risk = round(100 * card.get_probability(total))
            said = max(risk, 100 - risk)
            assert f"probability {said}\u00a0%" in page.inner_text("#live")


def test_rules_follow_the_row(show):
    with show("count") as page:
        for name, value in (("a1", "1"), ("a2", "1"), ("a3", "2")):
            page.get_by_role("group", name=name).get_by_role("radio", name=value).check()
        assert page.inner_text(".rule.decides").startswith("If exactly 2 of")
        assert page.locator(".lit.on").count() == 2
        page.get_by_role("group", name="a3").get_by_role("radio", name="1").check()
        assert page.inner_text('[aria-current="true"]').startswith("Otherwise")


# ---- what must change ----


def read_flips(page, k):
    page.select_option("#pick", str(k))
    page.wait_for_selector('#flips[aria-busy="false"]', state="attached")
    return [item.split(" · ")[0] for item in page.locator("#flips li").all_inner_texts()]


def test_changes_are_those_that_python_finds(show):
    model, X, _ = make_example("card")
    with show("card") as page:
        for k in range(12):
            shown = read_flips(page, k)
            changes = model.explain(X[k], limit=6).changes
            # Of several categories that do the same, the two may name another.
            wanted = [{step.column for step in change.steps} for change in changes]
            found = [{c.name for c in model.schema.columns if c.name in line} for line in shown]
            assert sorted(map(sorted, found)) == sorted(map(sorted, wanted)), k


def test_the_smallest_change_of_a_number_is_exact(show):
    model, X, _ = make_example("card")
    with show("card") as page:
        for k in range(12):
            shown = " ".join(read_flips(page, k))
            for change in model.explain(X[k], limit=6).changes:
                for step in change.steps:
                    if isinstance(step.new, float) and step.unit:
                        assert f"{step.new:g} {step.unit}" in shown, (k, str(change))


def test_amounts_tell_how_far_one_input_moves_them(show):
    model, X, _ = make_example("amounts")
    with show("amounts") as page:
        told = page.inner_text("#flips")
    row = dict(zip(model.schema.names, X[0], strict=True))
    ends = [model.predict([[row["x"], kind]])[0, 0] for kind in ("a", "b")]
    numbers = [
        float(x.replace("−", "-")) for x in re.search(r"kind (\S+) .* to (\S+) ", told).groups()
    ]
    assert numbers == pytest.approx(sorted(ends), abs=0.01)


# ---- functions ----


def test_a_function_is_told_on_focus_and_enlarged_by_enter(show):
    with show("card") as page:
        plot = page.locator('.wide g.fn[data-fn="1:0"]')
        plot.focus()
        assert page.inner_text("#tip").startswith("age: 1 from 54.5 y on, 0 below, times 1")
        page.keyboard.press("Enter")
        assert page.locator("dialog[open] svg g.fn").count() == 1
        assert "54.5" in page.inner_text("#large-words")
        page.keyboard.press("Escape")
        assert page.locator("dialog[open]").count() == 0
        assert plot.evaluate("plot => plot === document.activeElement")


def test_a_function_is_told_on_hover_and_enlarged_by_click(show):
    with show("soft") as page:
        plot = page.locator(".wide g.fn").first
        plot.hover()
        assert page.locator("#tip").is_visible()
        plot.click()
        assert page.locator("dialog[open]").count() == 1
        page.get_by_label("Close").click()
        assert page.locator("dialog[open]").count() == 0


# ---- names ----


OVERLAPS = """() => {
  const texts = [...document.querySelectorAll(".wide svg text")].map(
    (text) => [text.textContent, text.getBBox()]);
  const meet = (a, b) => a.x < b.x + b.width - 1 && b.x < a.x + a.width - 1
    && a.y < b.y + b.height * 0.7 && b.y < a.y + a.height * 0.7;
  return texts.flatMap(([one, a], k) => texts.slice(k + 1)
    .filter(([, b]) => meet(a, b)).map(([other]) => [one, other]));
}"""


@pytest.mark.parametrize("kind", ["card", "hostile"])
def test_labels_of_the_live_figure_never_overlap(show, kind):
    with show(kind) as page:
        for k in ("3", "11", "20"):
            page.select_option("#pick", k)
            assert page.evaluate(OVERLAPS) == []


def test_hostile_names_stay_text(show):
    with show("hostile") as page:
        text = page.inner_text("body")
        for name in HOSTILE[:5]:
            assert re.sub(r"\s", "", name) in re.sub(r"\s", "", text)
        assert page.locator("img").count() == 0
        assert page.evaluate("document.querySelectorAll('script').length") == 3
        page.click("#another")
        assert page.evaluate("document.documentElement.scrollWidth") <= WIDE["width"]


# ---- readers ----


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_axe_finds_no_serious_problem(show, scheme):
    axe = pytest.importorskip("axe_playwright_python", reason="needs axe-playwright-python")
    script = Path(axe.__file__).with_name("axe.min.js").read_text("utf-8")
    with show("card", color_scheme=scheme, reduced_motion="reduce") as page:
        page.evaluate(script)
        found = page.evaluate("axe.run()")["violations"]
    serious = [one for one in found if one["impact"] in ("serious", "critical")]
    assert [(one["id"], one["nodes"][0]["html"]) for one in serious] == []


@pytest.mark.parametrize("kind", ["card", "soft", "hostile"])
def test_a_phone_scrolls_down_alone(show, kind):
    with show(kind, viewport=PHONE) as page:
        assert page.evaluate("document.documentElement.scrollWidth") <= PHONE["width"]
        assert page.locator(".narrow svg").is_visible()
        assert not page.locator(".wide svg").is_visible()


def test_dark_is_chosen_by_button(show):
    with show("card", color_scheme="light") as page:
        before = page.evaluate(BACKGROUND)
        page.click("#theme")
        assert page.evaluate(BACKGROUND) != before
        page.click("#theme")
        assert page.evaluate(BACKGROUND) == before


def test_paper_is_light_and_without_controls(show):
    with show("card", color_scheme="dark") as page:
        page.emulate_media(media="print")
        assert page.evaluate(BACKGROUND) == "rgb(255, 255, 255)"
        assert not page.locator(".panel").first.is_visible()
        assert page.locator(".wide svg").is_visible()


def test_without_motion_nothing_moves_slowly(show):
    with show("card", reduced_motion="reduce") as page:
        time = "getComputedStyle(document.querySelector('.wide circle.dot')).transitionDuration"
        assert page.evaluate(time) == "0s"


def test_the_line_between_two_classes_can_be_moved(show):
    model, X, y = make_example("card")
    truth = np.asarray(y) == model.output.labels[1]
    said = model.predict_proba(X)[:, 1] >= 0.2
    with show("card") as page:
        page.locator("#cut").evaluate(
            "x => { x.value = 20; x.dispatchEvent(new Event('input', { bubbles: true })); }"
        )
        assert page.inner_text("#cut-at") == "20\u00a0%"
        found = page.inner_text('[data-cut="found"]')
        assert found.endswith(f"({(said & truth).sum()} of {truth.sum()})")
        page.fill("#cost-missed", "5")
        missed, alarms = (~said & truth).sum(), (said & ~truth).sum()
        assert page.inner_text('[data-cut="cost"]') == str(5 * missed + alarms)


# ---- rows of the reader's own ----


def write_csv(model, table, separator=","):
    names = separator.join(
        f'"{name}"' if separator in name else name for name in model.schema.names
    )
    lines = [separator.join("" if x is None or x != x else str(x) for x in row) for row in table]
    return "\n".join([names, *lines])


def test_pasted_rows_are_answered_as_python_answers_them(show):
    model, table, _ = make_example("soft")
    with show("soft") as page:
        page.fill("#paste", write_csv(model, table[:30].tolist(), ";"))
        page.click("#answer")
        cells = page.locator("#answers tbody tr").evaluate_all(
            "rows => rows.map((row) => [...row.querySelectorAll('td')].map((td) => td.textContent))"
        )
        assert [row[0] for row in cells] == [str(label) for label in model.predict(table[:30])]
        said = np.array([[float(x) for x in row[1:]] for row in cells])
        np.testing.assert_allclose(said, model.predict_proba(table[:30]), atol=5.1e-5)
        assert "30 of 30 rows answered." in page.inner_text("#drop-notes")
        page.click("#answers tbody tr:nth-child(7) button")
        assert page.input_value("#pick") == "-1"
        with page.expect_download() as download:
            page.click("#keep")
        lines = Path(download.value.path()).read_text("utf-8").splitlines()
        assert len(lines) == 31
        assert lines[0].startswith("row,answer,")


def test_a_dropped_file_with_faults_is_told_line_by_line(show):
    model, table, _ = make_example("card")
    rows = table[:3].tolist()
    numbers = [i for i, c in enumerate(model.schema.columns) if not c.n_categories]
    rows[1][numbers[0]] = "<b>many</b>"
    name = model.schema.names[numbers[0]]
    with show("card") as page:
        page.set_input_files(
            "#file",
            {"name": "r.csv", "mimeType": "text/csv", "buffer": write_csv(model, rows).encode()},
        )
        page.wait_for_selector("#answers table")
        assert "2 of 3 rows answered." in page.inner_text("#drop-notes")
        told = page.inner_text("#answers tbody tr:nth-child(2)")
        assert f"Row 2, {name}: expected a number, got “<b>many</b>”." in told
        page.fill("#paste", "a,b\n1,2")
        page.click("#answer")
        assert "missing: " in page.inner_text("#drop-notes")
        assert page.locator("#answers table").count() == 0
