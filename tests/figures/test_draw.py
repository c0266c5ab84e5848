"""Drawing: what is shown, in which layout, and the hooks for pages."""

import re
from xml.etree import ElementTree as ET

import numpy as np
import pytest

from figures.geometry import find_label
from figures.networks import (
    CARD_ROW,
    draw_any,
    list_robots,
    make_card,
    make_flowers,
    make_hostile,
    make_monk2,
    make_patients,
    make_perceptron,
    make_wide,
)
from newron import InputError
from newron.construct import from_rules
from newron.explanations.importance import measure_importance
from newron.explanations.row import open_layers
from newron.figures import draw
from newron.model import Classes, Column, Layer, Model, Schema
from newron.rules.scorecard import read_card

SVG = "{http://www.w3.org/2000/svg}"


def parse(figure):
    return ET.fromstring(figure.svg)


def select(root, tag, **attributes):
    """Give the elements of a tag with these attributes; _ stands for a hyphen."""
    wanted = {name.strip("_").replace("_", "-"): value for name, value in attributes.items()}
    return [
        element
        for element in root.iter(SVG + tag)
        if all(element.get(name) == value for name, value in wanted.items())
    ]


def texts_of(figure):
    return [label.text for label in figure.labels]


class TestLayouts:
    def test_no_hidden_layer_is_a_card(self):
        assert draw(make_card()).layout == "scorecard"

    def test_few_functions_are_drawn_in_layers(self):
        assert draw(make_monk2()).layout == "layered"
        assert draw(make_flowers()).layout == "layered"

    def test_many_functions_are_folded(self):
        figure = draw(make_wide(60, 8), max_inputs=None)
        assert figure.layout == "folded"
        assert (figure.n_drawn, figure.n_folded, figure.n_left_out) == (48, 440, 0)
        assert "48 functions drawn, 440 small ones folded" in texts_of(figure)
        assert texts_of(figure).count("+55") == 8

    def test_influence_in_a_large_network_is_measured_on_some_rows(self):
        model, rows = make_wide(60, 8), np.random.default_rng(1).uniform(0, 100, (4000, 60))
        texts = {label.text for label in draw(model, rows, row=rows[0]).labels}
        assert "4000 rows" in texts
        assert f"line width: influence on {400_000 // model.n_functions} of them" in texts

    def test_a_card_is_refused_for_a_network_with_hidden_neurons(self):
        with pytest.raises(InputError, match="no hidden layer, got 2 hidden layers"):
            draw(make_monk2(), layout="scorecard")

    @pytest.mark.parametrize("settings", [{"layout": "x"}, {"theme": "x"}, {"max_inputs": 0}])
    def test_bad_settings_are_told(self, settings):
        name = next(iter(settings))
        with pytest.raises(InputError, match=f"{name}: expected .* got"):
            draw(make_card(), **settings)

    def test_phones_get_a_narrow_picture(self):
        for model in (make_card(), make_monk2(), make_wide(20, 4)):
            assert draw(model, narrow=True).width == 358


class TestCounts:
    def test_the_most_influential_inputs_are_kept(self):
        figure = draw(make_card(), make_patients(), max_inputs=2)
        names = {"age", "chest pain", "vessels", "cholesterol"} & set(texts_of(figure))
        assert len(names) == 2
        assert figure.n_folded > 0
        assert any(text.startswith("+") and "folded" in text for text in texts_of(figure))

    def test_what_does_not_matter_is_left_out_and_counted(self):
        layer = Layer(
            "heaviside", "sum", "identity", 1, [0, 0], [0, 1], [[1.0], [1.0]], [[5.0], [99.0]],
            alpha=[1.0, 1.0], centre=[0.5],
        )  # fmt: skip
        schema = Schema((Column("a", 0.0, 9.0), Column("b", 0.0, 9.0)))
        figure = draw(Model(schema, [layer], Classes(("no", "yes"))))
        assert (figure.n_drawn, figure.n_left_out) == (1, 1)
        assert "1 function drawn, 1 without effect left out" in texts_of(figure)
        assert "Hardly matters: b" in texts_of(figure)

    def test_a_neuron_that_nothing_reads_is_left_out_with_its_functions(self):
        model = make_monk2()
        last = model.layers[-1]
        cut = last.replace(
            target=[0], source=[7], w=last.w[:1], b=last.b[:1], alpha=[4.0],
            rank=None, missing=None, levels=(),
        )  # fmt: skip
        figure = draw(Model(model.schema, [*model.layers[:-1], cut], model.output))
        assert (figure.n_drawn, figure.n_left_out) == (8, 1)
        assert "neuron 2.2" not in texts_of(figure)

    def test_a_layer_that_nothing_reads_is_not_drawn(self):
        model = make_monk2()
        last = model.layers[-1].replace(source=[0, 1], w=[[1.0], [1.0]], b=[[1.5], [1.5]])
        figure = draw(Model(model.schema, [*model.layers[:-1], last], model.output))
        assert (figure.n_drawn, figure.n_left_out) == (2, 8)
        assert {"a1", "a2", "output layer"} <= set(texts_of(figure))
        assert not {"layer 1", "layer 2", "a3"} & set(texts_of(figure))

    @pytest.mark.parametrize("narrow", [False, True])
    def test_a_network_without_functions_is_drawn(self, narrow):
        layer = Layer(
            "heaviside", "sum", "identity", 1, [], [],
            np.zeros((0, 1)), np.zeros((0, 1)), centre=[-1.0],
        )  # fmt: skip
        model = Model(Schema((Column("a", 0.0, 1.0),)), [layer], Classes(("no", "yes")))
        figure = draw(model, row=[0.5], narrow=narrow)
        assert figure.n_drawn == 0
        assert "always 0" in texts_of(figure)
        assert "out" in [label.size for label in figure.labels if label.text == "yes"]

    def test_a_score_card_is_drawn_with_its_points(self):
        text = """
        Points for ill
            +1  age ≥ 54.5
            −2  bmi < 25
        Sum ≥ 1: ill
        Otherwise: well
        """
        schema = Schema((Column("age", 0.0, 100.0), Column("bmi", 10.0, 60.0)))
        output = Classes(("well", "ill"), unit=0.5, offset=0.25)
        card = read_card(from_rules(text, schema, output))
        row = {"age": 60, "bmi": 30}
        figure, root = draw(card, row=row), parse(draw(card, row=row))
        assert {"+1", "+2"} <= set(texts_of(figure))  # as the card is printed
        share = card.model.predict_proba([[60, 30]])[0, 1]
        (told,) = select(root, "text", data_out="probability")
        assert told.text == f"probability {100 * share:.0f} %"
        assert select(root, "text", data_sum="1:1")[0].text == "3"
        assert any("ill from 3 on, otherwise well" in text for text in texts_of(figure))

    def test_functions_of_one_input_are_one_curve_of_a_card(self):
        root = parse(draw(make_card(), row=CARD_ROW))
        keys = [group.get("data-fn") for group in select(root, "g", _class="fn")]
        assert sorted(keys) == ["1:0 1:1", "1:2", "1:3", "1:4 1:5"]


class TestContent:
    def test_thresholds_are_written_in_the_units_of_the_column(self):
        layer = Layer(
            "heaviside", "sum", "identity", 1, [0], [0], [[1.0]], [[54.5]],
            alpha=[2.0], centre=[1.0],
        )  # fmt: skip
        schema = Schema((Column("age", 29.0, 77.0, unit="years"),))
        figure = draw(Model(schema, [layer], Classes(("no", "yes"))))
        assert find_label(figure, "54.5 years").is_bold
        assert {"≥ 54.5 years", "+2", "29", "77"} <= set(texts_of(figure))

    def test_categories_are_bars_and_members_are_bold(self):
        figure = draw(make_card())
        bold = {label.text: label.is_bold for label in figure.labels if label.size == "tick"}
        assert bold["typical"]
        assert bold["other"]
        assert not bold["none"]

    def test_a_gap_has_its_own_place_if_the_column_has_gaps(self):
        figure = draw(make_card())
        assert find_label(figure, "missing").is_bold  # the condition holds for a gap
        assert texts_of(draw(make_monk2())).count("missing") == 0

    def test_rows_hang_below_the_axis(self):
        assert "rug" not in re.sub("<style>.*</style>", "", draw(make_card()).svg, flags=re.S)
        root = parse(draw(make_card(), make_patients()))
        group = select(root, "g", data_fn="1:2")[0]
        assert len(select(group, "rect", _class="rug")) == 4  # a bar for each category

    def test_line_widths_follow_influence(self):
        rows = make_patients()
        root = parse(draw(make_card(), rows))
        edges = [edge for edge in root.iter(SVG + "path") if edge.get("data-fn")]
        widths = {edge.get("data-fn"): float(edge.get("stroke-width")) for edge in edges}
        measured = measure_importance(make_card(), rows, kind="drop")
        names = {"1:0 1:1": "age", "1:2": "chest pain", "1:3": "vessels", "1:4 1:5": "cholesterol"}
        influence = {key: measured.of(name).value for key, name in names.items()}
        assert sorted(widths, key=widths.get) == sorted(influence, key=influence.get)
        assert 1.0 < min(widths.values()) < max(widths.values()) < 6.0

    def test_title_and_description_tell_the_figure(self):
        root = parse(draw(make_card(), row=CARD_ROW, title="Heart <disease>"))
        assert root.get("role") == "img"
        assert root.find(SVG + "title").text == "Heart <disease>"
        told = root.find(SVG + "desc").text
        assert "age: 1 from 55 y on, 0 below, times 1" in told
        assert "For this row: Σ −2; no disease" in told

    def test_a_theme_can_be_set(self):
        assert 'class="nw nw-dark"' in draw(make_card(), theme="dark").svg
        assert 'class="nw"' in draw(make_card()).svg

    def test_the_picture_needs_nothing_from_outside(self):
        svg = draw(make_hostile(), theme="auto").svg
        assert "href" not in svg
        assert "@import" not in svg
        assert not re.search(r"url\((?!https://example)", svg)


class TestNames:
    def test_hostile_names_stay_text(self):
        root = parse(draw(make_hostile(), narrow=True))
        tags = {element.tag.removeprefix(SVG) for element in root.iter()}
        assert tags == {"svg", "title", "desc", "style", "rect", "path", "g", "text", "circle"} - {
            "circle"
        }
        assert any("<script>" in (element.text or "") for element in root.iter(SVG + "text"))

    def test_a_long_name_is_cut_and_whole_in_its_title(self):
        root = parse(draw(make_hostile()))
        titles = [element.text for element in root.iter(SVG + "title")]
        assert any(title and "a" * 300 in title for title in titles)
        assert all(len(e.text or "") < 200 for e in root.iter(SVG + "text"))


class TestRow:
    def test_values_sums_and_the_outcome_are_written(self):
        root = parse(draw(make_monk2(), list_robots(), row=[1, 3, 1, 2, 4, 2]))
        values = [select(root, "text", data_val=str(i))[0].text for i in range(6)]
        assert values == ["1", "3", "1", "2", "4", "2"]
        assert select(root, "text", data_sum="1:1")[0].text == "2"
        assert select(root, "text", data_out="class")[0].text == "class 1"
        assert select(root, "text", data_out="why")[0].text == "8 ≥ 6"
        parts = [select(root, "text", data_part=f"1:{e}")[0].text for e in range(6)]
        assert parts == ["1", "0", "1", "0", "0", "0"]

    def test_edges_of_what_holds_are_on(self):
        root = parse(draw(make_monk2(), row=[1, 3, 1, 2, 4, 2]))
        on = {e.get("data-fn") for e in root.iter(SVG + "path") if "on" in e.get("class").split()}
        assert {"1:0", "1:2"} <= on
        assert not {"1:1", "1:3", "1:4", "1:5"} & on

    def test_several_classes_have_their_probabilities(self):
        model = make_flowers()
        root = parse(draw(model, row=[4.7, 1.4]))
        expected = model.predict_proba([[4.7, 1.4]])[0]
        for k, share in enumerate(expected):
            (meter,) = select(root, "rect", data_meter=str(k))
            wanted = max(1.5, share * float(meter.get("data-full")))
            assert float(meter.get("width")) == pytest.approx(wanted, abs=0.06)
        on = [e.get("data-class") for e in root.iter(SVG + "path") if e.get("class") == "edge on"]
        assert [k for k in on if k] == [str(int(np.argmax(expected)))]

    def test_margins_are_written_on_a_card(self):
        layer = Layer(
            "heaviside", "sum", "identity", 1, [0, 0], [0, 1], [[1.0], [-1.0]], [[54.5], [-2.0]],
            alpha=[2.0, 1.0], centre=[1.0],
        )  # fmt: skip
        schema = Schema((Column("age", 29.0, 77.0, unit="y"), Column("z", -5.0, 5.0)))
        model = Model(schema, [layer], Classes(("no", "yes")))
        root = parse(draw(model, row=[50, -2]))
        assert select(root, "text", data_margin="1:0")[0].text == "4.5 y below 54.5"
        assert select(root, "text", data_margin="1:1")[0].text == "at the limit of −2"
        assert "≤ −2" in [element.text for element in root.iter(SVG + "text")]

    def test_an_input_read_past_the_first_layer_has_its_value_at_the_plot(self):
        model = make_wide(3, 2, direct=1)
        root = parse(draw(model, row=[40.0, 50.0, 60.0]))
        assert [e.text for e in select(root, "text", data_val="0")] == ["40", "40"]

    def test_an_amount_is_written(self):
        model = make_perceptron()
        root = parse(draw(model, row=[1.0, 3.0]))
        (told,) = select(root, "text", data_out="amount")
        assert float(told.text.replace("−", "-")) == pytest.approx(
            model.predict([[1, 3]])[0], abs=0.1
        )

    def test_a_gap_and_a_value_out_of_range_have_dots_within_the_frame(self):
        row = {**CARD_ROW, "vessels": None, "age": 400}
        root = parse(draw(make_card(), row=row))
        (gap,) = select(root, "g", data_fn="1:3")
        (age,) = select(root, "g", data_fn="1:0 1:1")
        assert gap.find(SVG + "circle").get("cx") == gap.get("data-xm")
        assert age.find(SVG + "circle").get("cx") == age.get("data-x1")
        assert select(root, "text", data_val="2")[0].text == "missing"

    @pytest.mark.parametrize("seed", range(30))
    def test_dots_lie_where_the_attributes_say(self, seed):
        """A page's script can do what the figure did: same places from value and h."""
        model, table = draw_any(seed)
        row = np.asarray(model.read(table[1:2]), float)
        root = parse(draw(model, table, row=table[1:2]))
        h = [part[0] for part in open_layers(model)(row)]
        for group in select(root, "g", _class="fn"):
            keys = [tuple(map(int, key.split(":"))) for key in group.get("data-fn").split()]
            layer = model.layers[keys[0][0] - 1]
            weight = np.ones(len(layer.source)) if layer.alpha is None else layer.alpha
            added = sum(weight[e] * h[k - 1][e] for k, e in keys)
            dot = group.find(SVG + "circle")
            assert float(dot.get("cy")) == pytest.approx(place(group, added, "v", "y"), abs=0.11)
            source = int(layer.source[keys[0][1]])
            # Where training had no missing value the figure has no place for one.
            nowhere = np.isnan(row[0, source]) if source < len(model.schema) else True
            if not nowhere or group.get("data-xm") is not None:
                wanted = place_input(group, row[0, source])
                assert float(dot.get("cx")) == pytest.approx(wanted, abs=0.11)


def place(group, value, axis, side):
    """Do what a page does: from the value to the place, within the ends."""
    low, high = (float(group.get(f"data-{axis}{end}")) for end in ("lo", "hi"))
    first, last = (float(group.get(f"data-{side}{end}")) for end in (0, 1))
    share = (value - low) / (high - low) if high > low else 0.0
    return first + min(max(share, 0.0), 1.0) * (last - first)


def place_input(group, value):
    slots = group.get("data-slots")
    if slots is not None:
        places = dict(slot.split(":") for slot in slots.split())
        known = not np.isnan(value) and str(int(value)) in places
        return float(places[str(int(value))] if known else group.get("data-xm"))
    return float(group.get("data-xm")) if np.isnan(value) else place(group, value, "", "x")
