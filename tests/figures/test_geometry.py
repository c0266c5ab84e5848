"""Labels never overlap and never leave the picture, whatever the network."""

from xml.etree import ElementTree as ET

import pytest

from figures.geometry import find_colliding_boxes, find_problems
from figures.networks import draw_any, make_card, make_hostile, make_patients, make_wide
from newron.drawing.shapes import Label
from newron.figures import draw
from newron.model import Classes, Column, Layer, Model, Schema

SIDE = 16  # of the margin, which a report cuts off
WAYS = ("plain", "with rows", "with a row", "folded", "narrow", "few inputs")


def draw_in(way, model, table):
    if way == "plain":
        return draw(model)
    if way == "with rows":
        return draw(model, table)
    settings = {
        "with a row": {},
        "folded": {"layout": "folded"},
        "narrow": {"narrow": True},
        "few inputs": {"max_inputs": 1},
    }[way]
    return draw(model, table, row=table[:1], **settings)


@pytest.mark.parametrize("way", WAYS)
@pytest.mark.parametrize("first", range(0, 40, 20))
def test_labels_of_random_networks_have_their_own_places(first, way):
    for seed in range(first, first + 20):
        model, table = draw_any(seed)
        figure = draw_in(way, model, table)
        side = 0 if way == "narrow" else SIDE
        assert not find_problems(figure.labels, figure.width - side, figure.height), seed
        assert not find_colliding_boxes(figure.svg, figure.width, figure.height), seed
        assert figure.n_drawn + figure.n_folded + figure.n_left_out == model.n_functions


@pytest.mark.parametrize("way", WAYS)
def test_labels_with_hostile_names_have_their_own_places(way):
    model = make_hostile()
    table = [[1, 2, None] * 3 + [0.5, 3.0]] * 5
    figure = draw_in(way, model, table)
    assert not find_problems(figure.labels, figure.width, figure.height)
    assert not find_colliding_boxes(figure.svg, figure.width, figure.height)


def test_labels_of_ordered_classes_stay_within_the_figure_of_a_report():
    step = {"w": [[1.0]] * 2, "b": [[30.0], [60.0]], "alpha": [1.0, 2.0]}
    last = Layer("heaviside", "sum", "identity", 1, target=[0, 0], source=[0, 0], **step)
    names = ("none at all", "moderate complaints", "severe complaints")
    model = Model(Schema((Column("age", 0.0, 90.0),)), [last], Classes(names, limits=(0.5, 1.5)))
    figure = draw(model, [[20.0], [40.0], [80.0]], row=[40.0])
    assert any(label.text.startswith("at least") for label in figure.labels)
    assert not find_problems(figure.labels, figure.width - SIDE, figure.height)


@pytest.mark.parametrize("direct", [0, 3, 14])
@pytest.mark.parametrize("narrow", [False, True])
def test_labels_of_large_networks_have_their_own_places(direct, narrow):
    model = make_wide(20, 14, direct=direct)
    figure = draw(model, row=[50.0] * 20, narrow=narrow)
    assert figure.layout == "folded"
    assert not find_problems(figure.labels, figure.width, figure.height)
    assert not find_colliding_boxes(figure.svg, figure.width, figure.height)


def test_texts_are_as_the_labels_say():
    figure = draw(make_card(), make_patients(), row=make_patients()[:1])
    elements = ET.fromstring(figure.svg).iter("{http://www.w3.org/2000/svg}text")
    assert [element.text or "" for element in elements] == [label.text for label in figure.labels]


def test_colliding_boxes_are_found():
    svg = '<svg xmlns="http://www.w3.org/2000/svg">{}</svg>'
    rect = '<rect x="{}" y="0" width="40" height="20" class="box-blue"/>'
    apart, over = svg.format(rect.format(0) + rect.format(40)), svg.format(rect.format(0) * 2)
    assert find_colliding_boxes(apart, 80, 20) == []
    assert len(find_colliding_boxes(over, 80, 20)) == 1
    assert len(find_colliding_boxes(apart, 70, 20)) == 1


def test_overlaps_and_escapes_are_found():
    first, second = Label(10, 20, "one"), Label(20, 22, "two")
    assert find_problems([first, Label(100, 20, "far")], 200, 40) == []
    assert len(find_problems([first, second], 200, 40)) == 1
    assert len(find_problems([Label(190, 20, "wide text")], 200, 40)) == 1
    assert len(find_problems([Label(-3, 20, "left")], 200, 40)) == 1
    assert len(find_problems([Label(10, 5, "high")], 200, 40)) == 1
    assert len(find_problems([Label(10, 39.5, "low")], 200, 40)) == 1
