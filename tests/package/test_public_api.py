"""The public interface changes on purpose alone, and all of it is documented."""

import pytest

import newron
from package.public_api import LIST, find_problems, list_names, list_packages, split_sections


@pytest.mark.parametrize("package", list_packages())
def test_the_public_names_are_the_listed_ones(package):
    listed = LIST.read_text(encoding="utf-8").split(f"# {package}\n")[1].split("\n\n")[0]
    assert "\n".join(list_names(package)) == listed.rstrip(), "on purpose? make public-api"


@pytest.mark.parametrize("package", list_packages())
def test_every_public_name_is_documented(package):
    assert find_problems(package) == []


def test_all_public_packages_are_there_after_importing_newron():
    for name in list_packages()[1:]:
        package = getattr(newron, name.removeprefix("newron."))
        assert package.__name__ == name
        assert package.__all__


def test_sections_of_a_docstring_are_found():
    text = "Do it.\n\nParameters\n----------\na, b : int\n    Both.\n\nReturns\n-------\nint"
    assert split_sections(text) == {
        "Parameters": "\na, b : int\n    Both.\n\n",
        "Returns": "\nint",
    }
