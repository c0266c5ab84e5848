"""Rules as tables of Markdown and HTML."""

import re
from html.parser import HTMLParser

import pytest

from newron.model import Model, Targets
from newron.rules import Rule
from newron.rules.extraction import extract
from newron.rules.rule import RuleTable

from .networks import make_monk2, make_score


class _Cells(HTMLParser):
    def __init__(self):
        super().__init__()
        self.tags, self.texts = [], []

    def handle_starttag(self, tag, attrs):
        self.tags.append(tag)
        self.texts.append("")

    def handle_data(self, data):
        self.texts[-1] += data


@pytest.mark.parametrize("form", ["rules", "points"])
def test_html_is_escaped(patients, form):
    rules = extract(patients, form=form)
    cells = _Cells()
    cells.feed(rules._repr_html_())
    assert set(cells.tags) == {"table", "thead", "tbody", "tr", "th", "td", "p"}
    told = " ".join(cells.texts)
    for record in rules.to_records():
        assert record["rule"] in told
    assert str(rules.proof) in told
    assert rules.to_html() == rules._repr_html_()


@pytest.mark.parametrize("form", ["rules", "points"])
def test_markdown_has_straight_rows(patients, form):
    rules = extract(patients, form=form)
    lines = [line for line in rules.to_markdown().splitlines() if line.startswith("|")]
    bars = {len(re.findall(r"(?<!\\)\|", line)) for line in lines}
    assert len(bars) == 1
    assert len(lines) == 2 + len(rules.to_records())
    assert str(rules.proof) in rules.to_markdown()


def test_tables_of_points_tell_how_to_decide():
    rules = extract(make_score(2, [2.0, 1.0], 3.0), form="points")
    for told in (rules.to_markdown(), rules.to_html()):
        assert "Sum ≥ 3: ill" in told
        assert "Otherwise: well" in told
    amounts = Model(
        make_score(1, [2.0], 3.0).schema, make_score(1, [2.0], 3.0).layers, Targets(("y",))
    )
    assert "−3" in extract(amounts).to_markdown()


def test_groups_are_told_in_tables_too():
    monk = make_monk2()
    last = monk.layers[-1].replace(alpha=[1.0, 2.0])
    rules = extract(Model(monk.schema, [monk.layers[0], last], monk.output), form="points")
    assert "Let A be" in rules.to_text()
    for told in (rules.to_markdown(), rules.to_html()):
        assert "A counts: a1 = 1; a2 = 1" in told


def test_columns_in_which_nothing_stands_are_left_out():
    rules = [Rule("x ≥ 1", "ill", (), 1, support=3), Rule("otherwise", "well", (), 0, support=2)]
    lines = RuleTable(rules, "prediction", True, ["before"], ["after"]).to_markdown().splitlines()
    assert lines[:3] == ["before", "", "| rule | prediction | rows |"]
    assert lines[4:] == ["| x ≥ 1 | ill | 3 |", "| otherwise | well | 2 |", "", "after"]
