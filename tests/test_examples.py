"""The scripts of ``examples`` and their page in the docs."""

import re
import runpy
import xml.etree.ElementTree as ET
from importlib.util import module_from_spec, spec_from_file_location
from pathlib import Path

import pytest

pytest.importorskip("pandas")

ROOT = Path(__file__).resolve().parents[1]


@pytest.fixture
def run(capsys):
    def run_example(name):
        """Run an example; give what it prints, after checks that hold for all of them."""
        runpy.run_path(str(ROOT / "examples" / f"{name}.py"))["main"]()
        printed = capsys.readouterr().out
        assert printed.count("Proved equal to the network in class") == 1
        assert re.search(r"→ [\w ]+ \(probability .*%\)", printed)  # where one row ends
        return printed

    return run_example


def find_numbers(pattern, text):
    return [float(number) for number in re.search(pattern, text).groups()]


def test_heart_becomes_a_card_of_few_conditions(run):
    printed = run("heart")
    right, n_patients = find_numbers(r"Right for (\d+) of (\d+) patients", printed)
    assert n_patients == 90
    assert right >= 63
    left, grown = find_numbers(r"Pruning left (\d+) of (\d+)", printed)
    assert 0 < left < grown <= 60
    card = printed.split("whole points")[1].split("One patient")[0]
    points = [int(point) for point in re.findall(r"^ +[+−](\d+) ", card, re.MULTILINE)]
    assert 0 < len(points) <= left
    assert 1 <= min(points) <= max(points) <= 5


@pytest.mark.parametrize(
    ("name", "n_rows", "least_right", "least_faithful", "n_bells"),
    [("xor", 250, 235, 85, 0), ("iris", 50, 45, 85, 1), ("circle", 250, 230, 75, 2)],
)
def test_soft_networks_are_told_with_their_fidelity(
    run, name, n_rows, least_right, least_faithful, n_bells
):
    printed = run(name)
    right, n_held_out = find_numbers(r"Right for (\d+) of (\d+)", printed)
    assert n_held_out == n_rows
    assert right >= least_right
    (percent,) = find_numbers(r"([\d.]+) % faithful", printed)
    assert percent >= least_faithful
    assert printed.count("bell, ") >= n_bells


def test_monk2_becomes_its_rule(run):
    printed = run("monk2")
    assert "Right for 432 of all 432 robots." in printed
    assert "If exactly 2 of\n    a1 = 1\n" in printed


NAMES = ["monk2", "heart", "xor", "iris", "circle"]


@pytest.mark.parametrize("name", NAMES)
def test_the_docs_show_the_figure_of_an_example(name):
    """Drawn by ``scripts/draw_figures docs``; what it looks like is for people to judge."""
    page = (ROOT / "docs" / "examples.md").read_text(encoding="utf-8")
    assert f"(figures/{name}.svg)" in page
    figure = ET.parse(ROOT / "docs" / "figures" / f"{name}.svg").getroot()
    assert figure.findtext("{http://www.w3.org/2000/svg}title")
    assert hasattr(import_example(name), "draw_figure")


def import_example(name):
    spec = spec_from_file_location(f"example_{name}", ROOT / "examples" / f"{name}.py")
    module = module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


@pytest.mark.parametrize("name", NAMES)
def test_the_docs_hold_what_an_example_prints(name):
    page = (ROOT / "docs" / "examples.md").read_text(encoding="utf-8")
    pattern = rf"<!-- begin {name} -->\n```\n(.*?)\n```\n<!-- end {name} -->"
    told = re.search(pattern, page, re.DOTALL).group(1)
    assert told.startswith(f"$ python examples/{name}.py\nRight for ")
