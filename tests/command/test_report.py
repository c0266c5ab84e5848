"""``newron report``."""

import json

from builders.tables import write_csv


class TestReport:
    def test_a_page_with_and_without_the_truth(self, run, model, data, tmp_path):
        done = run("report", model, data, "-o", "r.html", "-t", "sick", "--noun", "patient")
        assert done.exit_code == 0, done.output
        page = (tmp_path / "r.html").read_text("utf-8")
        assert page.startswith("<!doctype html>")
        assert "patient" in page
        printed = json.loads(run("report", model, data, "--json").stdout)
        assert printed == {"file": "report.html", "rows": 60}

    def test_what_cannot_be(self, fails, model, data, tmp_path):
        assert "did you mean 'sick'" in fails("report", model, data, "-t", "sik")
        write_csv(tmp_path / "none.csv", [["age", "colour"]])
        assert "expected rows, got none" in fails("report", model, "none.csv")
