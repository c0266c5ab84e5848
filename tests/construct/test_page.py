"""What docs/construct.md says is so."""

import contextlib
import io
import re
from pathlib import Path

import pytest

from newron.construct import from_function

PAGE = Path(__file__).parents[2] / "docs" / "construct.md"

pytestmark = pytest.mark.skipif(not PAGE.exists(), reason="docs are not part of this install")


def test_its_code_prints_what_it_shows():
    page = PAGE.read_text(encoding="utf-8")
    code = "\n".join(re.findall(r"```python\n(.*?)```", page, re.DOTALL))
    shown = re.findall(r"```\n(heaviside.*?)```", page, re.DOTALL)
    printed = io.StringIO()
    with contextlib.redirect_stdout(printed):
        exec(code, {})
    assert printed.getvalue() == "".join(shown)
    assert len(shown) == 2


def test_its_table_is_true():
    rows = re.findall(r"^\| ([0-9.]+) \| (\d+) \| (\d+) \|$", PAGE.read_text("utf-8"), re.MULTILINE)
    assert len(rows) == 4
    for epsilon, boxes, cells in rows:
        model = from_function(
            lambda x: x[:, 0] * x[:, 1], [0, 0], [1, 1], float(epsilon), lipschitz=[1, 1]
        )
        assert len(model.layers[-1].source) == int(boxes)
        assert round(1 / float(epsilon)) ** 2 == int(cells)
