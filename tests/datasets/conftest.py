"""What the tests of the tables share."""

import pytest

from newron import datasets


@pytest.fixture(scope="package")
def loaded():
    """All sets, loaded once."""
    return {name: datasets.load(name) for name in datasets.names()}
