"""Whatever is not markup is text, wherever it enters."""

from xml.etree import ElementTree as ET

import pytest

from figures.networks import HOSTILE
from newron.drawing.markup import Markup, bdi, html, join, svg
from newron.drawing.shapes import Dot, Edge, Group, Label, Line, Rect, Scene
from newron.drawing.svg import write_chart, write_inline, write_svg
from newron.formatting import clean

NAMES = [
    *HOSTILE,
    "</title></svg><script>",
    "' onload='alert(1)",
    "\ud800\x00\x1b[31m",
    "&lt;b&gt;",
]


def read_texts(markup):
    """Give all texts and attributes of some XML."""
    root = ET.fromstring(f"<r>{markup}</r>")
    texts = [text for element in root.iter() for text in (element.text, element.tail) if text]
    return [*texts, *(value for element in root.iter() for value in element.attrib.values())]


@pytest.mark.parametrize("name", NAMES)
def test_a_name_stays_text_wherever_it_enters(name):
    entered = [
        html("td", name, class_=name),
        svg("g", {"data-fn": name}, name),
        bdi(name),
        join([name]),
        Markup("<p>{}</p>").format(name),
        Markup("<b>x</b>") + name,
        Markup(", ").join([name]),
    ]
    for markup in entered:
        assert isinstance(markup, Markup)
        assert set(read_texts(markup)) <= {clean(name), "x", ""}, markup


def test_a_plain_string_of_tags_is_text_too():
    assert html("p", f"<b>{1}</b>") == "<p>&lt;b&gt;1&lt;/b&gt;</p>"
    assert html("p", html("b", 1)) == "<p><b>1</b></p>"


def test_what_is_none_is_left_out():
    assert html("p", None, ["a", None, ("b",)], id=None) == "<p>ab</p>"
    assert svg("rect", {"x": 1.0, "class": None}, None) == '<rect x="1"/>'
    assert svg("text", {}, "") == "<text></text>"


@pytest.mark.parametrize("name", NAMES)
def test_shapes_hold_names_as_text(name):
    at = {"data-val": name}
    scene = Scene(100.0, 50.0, panels=[Rect(0, 0, 9, 9, "panel", title=name, attributes=at)])
    label = Label(1, 10, name, title=f"{name}!", attributes=at)
    scene.add(
        Group(at, (label, Dot(1, 1, attributes=at)), name), Line(((0, 0), (1, 1)), "hair", at)
    )
    scene.add(Edge(0, 0, 5, 5, 2.0, attributes=at))
    for text in (
        write_svg(scene, title=name, description=name),
        write_inline(scene, title=name, description=name, top=3.0, side=1.0),
        write_chart(9, 9, scene.shapes, name),
    ):
        root = ET.fromstring(text)
        assert {e.get("data-val") for e in root.iter()} == {clean(name), None}
        assert not [e for e in root.iter() if e.tag.endswith("script")]
        assert f"{clean(name)}!" in "".join(root.itertext())
