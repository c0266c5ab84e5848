"""The commands that read a model: rules, prove, explain, inspect, plot, report, export."""

import csv
import json
import re

import pytest

from builders.models import make_card, make_regression
from builders.tables import make_table, write_csv


@pytest.fixture
def model(tmp_path):
    make_card().save(tmp_path / "model.json")
    return "model.json"


@pytest.fixture
def data(tmp_path):
    write_csv(tmp_path / "table.csv", make_table())
    return "table.csv"


class TestRules:
    def test_text_can_be_proved_again(self, run, model, tmp_path):
        done = run("rules", model)
        assert done.exit_code == 0
        assert "age ≥ 50" in done.stdout
        assert "\n# Proved equal to the network in class" in done.stdout
        (tmp_path / "rules.txt").write_text(done.stdout, encoding="utf-8")
        assert run("prove", model, "rules.txt").exit_code == 0

    def test_markdown_json_and_csv(self, run, model):
        assert run("rules", model, "--format", "markdown").stdout.startswith("| rule |")
        printed = json.loads(run("rules", model, "--format", "json").stdout)
        assert printed["proof"]["equal"] is True
        assert json.loads(run("rules", model, "--json").stdout)["rules"] == printed["rules"]
        rows = list(csv.DictReader(run("rules", model, "-f", "csv").stdout.splitlines()))
        assert [row["rule"] for row in rows] == [rule["rule"] for rule in printed["rules"]]

    def test_points_instead_of_rules(self, run, model):
        assert run("rules", model, "--form", "points").stdout.startswith("Points for yes\n")

    def test_smooth_networks_are_printed_as_fuzzy_rules(self, run, fails, tmp_path):
        make_regression().save(tmp_path / "m.json")
        assert "x > 5" in run("rules", "m.json").stdout
        assert json.loads(run("rules", "m.json", "--json").stdout)
        assert "expected text or json" in fails("rules", "m.json", "-f", "csv")

    def test_a_file_is_written_and_not_overwritten(self, run, fails, model, tmp_path):
        assert run("rules", model, "-o", "rules.txt").stdout == ""
        text = (tmp_path / "rules.txt").read_text("utf-8")
        assert text.startswith(run("rules", model).stdout.split("#")[0])
        assert "--force" in fails("rules", model, "-o", "rules.txt")

    def test_a_format_that_is_none(self, fails, model):
        assert "--format: expected one of text" in fails("rules", model, "-f", "xml")
        assert "form" in fails("rules", model, "--form", "xml")


class TestProve:
    def prove(self, run, tmp_path, text, *words):
        (tmp_path / "r.txt").write_text(text, encoding="utf-8")
        return run("prove", "model.json", "r.txt", *words)

    def test_equal_rules_are_proved(self, run, model, tmp_path):
        done = self.prove(run, tmp_path, "# mine\nIf age ≥ 50, then yes\nOtherwise no\n")
        assert done.exit_code == 0
        assert "  ✓ proved   the rules equal the network for all" in done.stdout

    def test_others_are_refuted_with_an_input(self, run, model, tmp_path):
        text = "If age ≥ 60, then yes\nOtherwise no\n"
        done = self.prove(run, tmp_path, text)
        assert done.exit_code == 1
        assert re.search(r"! refuted  for age = 5\d", done.stdout)
        printed = json.loads(self.prove(run, tmp_path, text, "--json").stdout)
        assert printed["equal"] is False
        assert 50 <= printed["counterexample"]["age"] < 60
        assert printed["predicted"] == {"rules": "no", "network": "yes"}

    def test_what_was_not_shown_is_neither(self, run, model, tmp_path, monkeypatch):
        from newron.rules.proof import Proof

        monkeypatch.setattr(
            "newron.rules.prove", lambda *_: Proof(None, "SAT", 9, 60.0, note="no time")
        )
        done = self.prove(run, tmp_path, "Always yes\n")
        assert done.exit_code == 3
        assert done.stdout == "  ! not proved  no time.\n"

    def test_text_that_is_no_rule(self, fails, model, tmp_path):
        (tmp_path / "r.txt").write_text("# a remark\nIf moon, then yes\nOtherwise no\n")
        assert fails("prove", model, "r.txt").startswith("r.txt: rules, line 2: ")
        (tmp_path / "r.txt").write_bytes(b"\xff\xfe\x00")
        assert "expected rules as text in UTF-8" in fails("prove", model, "r.txt")
        assert "nothing.txt" in fails("prove", model, "nothing.txt")


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


class TestInspect:
    def test_inputs_layers_and_output(self, run, model):
        lines = [line.split() for line in run("inspect", model).stdout.splitlines()]
        assert ["age", "0", "to", "100,", "or", "missing", "1", "function"] in lines
        assert ["colour", "3", "categories:", "blue,", "green,", "red", "1", "function"] in lines
        assert ["2", "classes:", "no,", "yes"] in lines

    def test_json(self, run, tmp_path):
        make_regression().save(tmp_path / "m.json")
        printed = json.loads(run("inspect", "m.json", "--json").stdout)
        assert printed["fingerprint"] == make_regression().fingerprint
        assert printed["output"] == {"targets": ["price"]}
        assert printed["layers"][0]["processing"] == "sigmoid"


class TestPlot:
    def test_a_picture(self, run, model, data, tmp_path):
        assert run("plot", model, "-o", "a.svg").stderr == "written to a.svg\n"
        words = ("plot", model, "-o", "b.svg", "--data", data, "--row", "3", "--title", "Here")
        assert run(*words).exit_code == 0
        plain, with_row = ((tmp_path / name).read_text("utf-8") for name in ("a.svg", "b.svg"))
        assert plain.startswith("<svg")
        assert "Here" in with_row
        assert len(with_row) > len(plain)

    def test_what_cannot_be(self, fails, run, model, data):
        run("plot", model, "-o", "a.svg")
        assert "--force" in fails("plot", model, "-o", "a.svg")
        assert "--data" in fails("plot", model, "-o", "b.svg", "--row", "1")
        assert ".svg, .png, .pdf" in fails("plot", model, "-o", "b.gif")
        assert "layout" in fails("plot", model, "-o", "b.svg", "--layout", "round")


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


class TestExport:
    def test_text_goes_to_standard_output_or_a_file(self, run, model, tmp_path):
        done = run("export", model, "--to", "python")
        assert make_card().fingerprint in done.stdout
        assert run("export", model, "--to", "python", "-o", "m.py").stdout == ""
        assert (tmp_path / "m.py").read_text("utf-8") == done.stdout

    def test_sql_has_its_own_options(self, run, model):
        pytest.importorskip("sqlglot")
        words = ("--dialect", "postgres", "--table", "patients", "--keep", "id", "--rules")
        done = run("export", model, "--to", "sql", *words)
        assert done.exit_code == 0, done.output
        assert "patients" in done.stdout
        assert "CASE" in done.stdout

    def test_what_cannot_be(self, fails, model, tmp_path):
        assert "expected a target among" in fails("export", model, "--to", "cobol")
        assert "--to sql" in fails("export", model, "--to", "c", "--dialect", "duckdb")
        (tmp_path / "m.py").write_text("mine")
        assert "--force" in fails("export", model, "--to", "python", "-o", "m.py")

    def test_onnx_needs_a_file(self, fails, run, model, tmp_path):
        pytest.importorskip("onnx")
        assert "name it with -o" in fails("export", model, "--to", "onnx")
        assert run("export", model, "--to", "onnx", "-o", "m.onnx").exit_code == 0
        assert (tmp_path / "m.onnx").stat().st_size > 100
