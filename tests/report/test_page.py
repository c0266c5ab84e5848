"""The page as text: self-contained, harmless, honest."""

import base64
import hashlib
import json
import re
from html.parser import HTMLParser

import numpy as np
import pytest

from newron.report import Origin
from newron.report.facts import gather
from newron.report.labels import Labels
from newron.report.page import render
from report.models import HOSTILE, MODELS, make_count, make_example


class Page(HTMLParser):
    """Reads a page as a browser would: elements, attributes and texts."""

    def __init__(self, text):
        super().__init__()
        self.elements, self.texts, self.open, self.inside = [], [], [], {}
        self.feed(text)

    def handle_starttag(self, tag, attrs):
        self.elements.append((tag, dict(attrs)))
        self.open.append(tag)

    def handle_endtag(self, tag):
        while self.open and self.open.pop() != tag:
            pass

    def handle_data(self, data):
        here = self.open[-1] if self.open else ""
        if here in ("script", "style"):
            self.inside.setdefault(here, []).append(data)
        else:
            self.texts.append(data)

    @property
    def words(self):
        return re.sub(r"\s+", " ", "".join(self.texts).replace("\u00a0", " "))


def make_page(kind, **settings):
    model, X, y = make_example(kind)
    return render(gather(model, X, y, **settings))


@pytest.fixture(scope="module", params=MODELS)
def page(request):
    return make_page(request.param)


def test_nothing_is_asked_for_from_outside(page):
    for tag, attributes in Page(page).elements:
        assert "src" not in attributes
        if "href" in attributes:
            assert attributes["href"].startswith(("#", "data:")), (tag, attributes)
    outside = re.sub(r"http://www\.w3\.org/(2000/svg|1999/xlink)", "", page)
    assert not re.search(r"(?<!alert\()https?://", outside)


def test_the_policy_names_exactly_what_is_inside(page):
    parsed = Page(page)
    policy = next(a["content"] for t, a in parsed.elements if "http-equiv" in a)
    assert policy.startswith("default-src 'none'")
    assert "unsafe" not in policy
    code = re.findall(r'<script type="module">(.*?)</script>', page, re.DOTALL)
    style = re.findall(r"<style>(.*?)</style>", page, re.DOTALL)
    hashes = [base64.b64encode(hashlib.sha256(x.encode()).digest()).decode() for x in code + style]
    assert sorted(re.findall(r"sha256-([^']+)", policy)) == sorted(hashes)


def test_no_element_has_a_handler_or_a_style_of_its_own(page):
    for tag, attributes in Page(page).elements:
        assert not [name for name in attributes if name.startswith("on") or name == "style"], tag


def test_names_are_text_everywhere():
    page = make_page("hostile")
    parsed = Page(page)
    kinds = [attributes.get("type") for tag, attributes in parsed.elements if tag == "script"]
    assert kinds == ["application/json", "module", "module"]
    assert not [tag for tag, _ in parsed.elements if tag == "img"]
    assert "<script>alert(1)</script>" in parsed.words
    assert not any("\u2028" in code for code in parsed.inside["script"])
    data = json.loads(re.search(r'id="data">(.*?)</script>', page, re.DOTALL)[1])
    assert [column["name"] for column in data["columns"][:6]] == list(HOSTILE)


def test_every_identifier_is_there_once(page):
    found = [a["id"] for _, a in Page(page).elements if "id" in a]
    assert len(found) == len(set(found))


def test_an_accuracy_has_its_interval_and_a_baseline():
    words = Page(make_page("card", seen=0)).words
    assert re.search(r"right for \d+ of 100 new rows", words)
    assert re.search(r"The 95 % interval is \d+ to \d+ of 100", words)
    assert re.search(r"Always saying “(well|ill)” would be right for \d+", words)


@pytest.mark.parametrize(
    ("seen", "told"),
    [
        (None, "Whether the model was trained on any of these 80 patients is not known here"),
        (0, "None of these 80 patients is among those of training."),
        (1, "1 of these 80 patients is among those of training."),
        (40, "40 of these 80 patients are among those of training: for new ones expect less."),
        (80, "These are the patients that the model was trained on: for new ones expect less."),
    ],
)
def test_it_is_said_whether_rows_were_seen(seen, told):
    assert told in Page(make_page("card", seen=seen, labels=Labels(noun="patient"))).words


def test_all_possible_inputs_need_no_interval():
    model = make_count()
    values = [1.0, 2.0, 3.0]
    rows = np.array([[a, b, c] for a in values for b in values for c in values])
    words = Page(render(gather(model, rows, model.predict(rows)))).words
    assert "right for all 27 possible inputs" in words
    assert "This is not an estimate" in words
    assert "95 %" not in words


def test_rules_stand_with_their_proof():
    words = Page(make_page("count")).words
    assert "Proved equal to the network in class" in words
    assert "exactly 2 of" in words
    assert "Otherwise class 0" in words


def test_a_card_is_told_in_its_points():
    words = Page(make_page("whole")).words
    assert "At 6 points or more the model says ill." in words
    assert "Sum ≥ 6: ill. Otherwise: well." in words
    for points in ("+2", "+3", "+4", "+5"):
        assert points in words
    assert "limit: 6" in words


def test_a_soft_network_is_not_called_proved():
    words = Page(make_page("soft")).words
    assert "Proved" not in words
    assert "% faithful" in words
    assert "there is nothing to prove" in words


def test_amounts_have_r2_and_error():
    words = Page(make_page("amounts", seen=0)).words
    assert "R², the part of the variation that is explained" in words
    assert "Always saying the middle value would be off by" in words


def test_without_answers_nothing_is_said_about_quality():
    model, X, _ = make_example("card")
    page = render(gather(model, X))
    assert "how good it is is not known here" in Page(page).words
    assert 'id="performance"' not in page


def test_the_card_tells_how_the_model_was_trained():
    origin = Origin(
        "grow", {"max_terms": 5}, "7", {"newron": "0.1.0"}, 123, "ab" * 32, "newron fit x.csv"
    )
    words = Page(make_page("card", origin=origin, labels=Labels(purpose="A test."))).words
    for told in ("grow", "max_terms = 5", "123 rows", "ab" * 32, "newron fit x.csv", "A test."):
        assert told in words
    assert "any number, observed 29 to 77 y" in words
    assert "unusedany number, observed 0 to 1 (not used)" in words


def test_a_title_of_ones_own_is_the_headline():
    page = make_page("card", labels=Labels(title="Who is <ill>?"))
    assert "<h1><bdi>Who is &lt;ill&gt;?</bdi></h1>" in page
    assert "<title>Who is &lt;ill&gt;?</title>" in page


def test_many_classes_and_columns_fit():
    model, X, y = make_example("soft", 3000)
    page = render(gather(model, X, y))
    assert len(page.encode()) < 500_000
    assert "300 of them, drawn at random" in Page(page).words


def test_a_file_appears_whole_or_not_at_all(tmp_path):
    model, X, y = make_example("card")
    path = tmp_path / "report.html"
    model.report(path, X, y)
    first = path.read_text("utf-8")
    assert first.endswith("</html>\n")
    with pytest.raises(Exception, match="classes"):
        model.report(path, X, ["?"] * len(X))
    assert path.read_text("utf-8") == first
    assert [one.name for one in tmp_path.iterdir()] == ["report.html"]


def test_the_same_rows_give_the_same_page():
    first, second = make_page("soft"), make_page("soft")
    assert first == second


@pytest.mark.parametrize("seen", [None, 40, 80])
@pytest.mark.parametrize("kind", ["card", "amounts"])
def test_a_figure_of_training_rows_is_no_headline(kind, seen):
    page = make_page(kind, seen=seen)
    top, below = page.split('id="performance"')
    assert "How good it is on new rows was not measured." in top
    assert not re.search(r"right for|off by \d|of 100", re.search("<h1>.*?</h1>", top)[0])
    assert 'class="stats"' in below
    assert 'class="stats"' not in top.split('id="rules"')[0]


def test_curves_have_bands_that_shrink_with_the_rows_of_training():
    model, X, y = make_example("soft")
    facts = gather(model, X, y)
    page = render(facts)
    assert 'class="band"' in page
    assert "how sure that is" in page
    assert "band" not in re.findall(r'class="([a-z]+)"', render(gather(model, X)))
    many = gather(model, X, y, origin=Origin(n_rows=100 * len(X)))
    for effect, narrow in zip(facts.effects, many.effects, strict=True):
        if effect.deviation is not None:
            assert np.all(narrow.deviation <= effect.deviation)
            assert narrow.deviation.max() < 0.5 * effect.deviation.max()


def test_hidden_neurons_are_folded_and_named_by_what_they_count():
    page = make_page("count")
    table = page.split('<table class="margins">')
    assert "hidden-neurons" in page
    assert " of: " in table[1]
    assert "neuron 1.1" in table[2]


def test_the_domain_has_no_digits_that_nobody_measured():
    page = Page(make_page("soft")).words
    assert not re.findall(r"\d\.\d{7,}", page.split("Model card")[1])
