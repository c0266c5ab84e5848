"""What the tests of estimators share."""

import pytest

from estimators.support import make_subjects


@pytest.fixture(scope="module")
def subjects():
    return make_subjects()
