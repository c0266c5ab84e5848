"""``newron explain``."""

import json

import pytest

from builders.tables import write_csv


class TestExplain:
    def test_rows_are_counted_from_1(self, run, model, tmp_path):
        write_csv(tmp_path / "t.csv", [["colour", "age"], ["red", "30"], ["blue", "60"]])
        first, second = (run("explain", model, "t.csv", "--row", n).stdout for n in (1, 2))
        assert first.startswith("t.csv, row 1\n")
        assert "→ no" in first
        assert "One change would make it yes, for example age: 30 → 50." in first
        assert "→ yes" in second

    def test_what_is_fixed_and_where_to(self, run, model, data):
        done = run("explain", model, data, "--row", "1", "--fix", "age", "--to", "no")
        assert done.exit_code == 0
        assert "Held fixed: age" in done.stdout

    def test_json(self, run, model, data):
        printed = json.loads(run("explain", model, data, "-r", "2", "--json").stdout)
        assert printed["row number"] == 2
        assert printed["prediction"] in ("no", "yes")

    @pytest.mark.parametrize(
        ("words", "message"),
        [
            (["--row", "61"], "--row: expected a number from 1 to 60, got 61"),
            (["--row", "1", "--fix", "moon"], "--fix: expected an input of the model"),
            (["--row", "1", "--to", "moon"], "--to: expected one of the classes no, yes"),
        ],
    )
    def test_what_cannot_be(self, fails, model, data, words, message):
        assert message in fails("explain", model, data, *words)
