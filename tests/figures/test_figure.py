"""Figures: files of each kind, and notebooks."""

import struct
import sys
from xml.etree import ElementTree as ET

import pytest

from figures.networks import CARD_ROW, make_card, make_hostile, make_monk2
from newron import InputError, Model
from newron.figures import Figure, draw
from newron.figures.conversion import fit_fonts, resolve_colours


@pytest.fixture(scope="module")
def figure() -> Figure:
    return draw(make_card(), row=CARD_ROW)


def test_an_svg_is_the_text(figure, tmp_path):
    path = tmp_path / "card.SVG"
    figure.save(path)
    assert path.read_text(encoding="utf-8") == figure.svg
    assert [file.name for file in tmp_path.iterdir()] == ["card.SVG"]


@pytest.mark.parametrize("make", [make_card, make_monk2, make_hostile])
def test_a_png_has_the_size_of_the_figure(make, tmp_path):
    pytest.importorskip("typst")
    figure = draw(make())
    figure.save(tmp_path / "figure.png", scale=1.5)
    content = (tmp_path / "figure.png").read_bytes()
    assert content.startswith(b"\x89PNG")
    width, height = struct.unpack(">II", content[16:24])
    assert width == pytest.approx(1.5 * figure.width, abs=1)
    assert height == pytest.approx(1.5 * figure.height, abs=1)


def test_a_pdf_is_one_page(figure, tmp_path):
    pytest.importorskip("typst")
    figure.save(tmp_path / "figure.pdf")
    content = (tmp_path / "figure.pdf").read_bytes()
    assert content.startswith(b"%PDF")
    assert b"/Count 1/" in content


@pytest.mark.parametrize("name", ["figure.jpg", "figure", "figure.svg.gz"])
def test_other_suffixes_are_refused(figure, name, tmp_path):
    with pytest.raises(InputError, match=r"ends in \.svg, \.png, \.pdf, got"):
        figure.save(tmp_path / name)
    assert not list(tmp_path.iterdir())


def test_a_figure_that_cannot_be_written_leaves_the_old_one(figure, tmp_path, monkeypatch):
    path = tmp_path / "figure.png"
    path.write_text("old")
    monkeypatch.setitem(sys.modules, "typst", None)
    with pytest.raises(InputError, match=r"pip install 'newron-ian\[figures\]'"):
        figure.save(path)
    assert path.read_text() == "old"
    assert [file.name for file in tmp_path.iterdir()] == ["figure.png"]


def test_a_folder_that_is_not_there_is_told(figure, tmp_path):
    with pytest.raises(FileNotFoundError):
        figure.save(tmp_path / "none" / "figure.svg")


@pytest.mark.parametrize("theme", ["auto", "light", "dark"])
def test_no_variable_is_left_for_conversion(theme):
    svg = resolve_colours(draw(make_card(), theme=theme).svg)
    assert "var(" not in svg
    assert "@media" not in svg
    page = "#11161C" if theme == "dark" else "#FFFFFF"
    assert f".nw .page{{fill:{page}}}" in svg
    ET.fromstring(svg)


def test_other_fonts_are_held_to_the_widths_of_the_labels(figure):
    assert fit_fonts(figure.svg, figure.labels, ["Arial", "DejaVu Sans"]) == figure.svg
    svg = fit_fonts(figure.svg, figure.labels, ["DejaVu Sans Mono", "DejaVu Sans"])
    assert '.nw{font-family:"DejaVu Sans";' in svg
    texts = [e for e in ET.fromstring(svg).iter() if e.tag.endswith("text")]
    lengths = [float(element.get("textLength")) for element in texts]
    assert lengths == [round(label.width, 1) for label in figure.labels]


def test_notebooks_show_the_svg(figure):
    assert figure._repr_svg_() == figure.to_html()
    bundle = figure._repr_mimebundle_(include=None, exclude=None)
    assert bundle["image/svg+xml"] == figure.to_html()
    assert bundle["text/plain"].startswith("Figure(width=1200")


def test_a_model_draws_itself():
    model = make_card()
    assert model.plot(row=CARD_ROW).svg == draw(model, row=CARD_ROW).svg
    assert isinstance(model, Model)
