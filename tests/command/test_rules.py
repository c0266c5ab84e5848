"""``newron rules``."""

import csv
import json

from builders.models import make_regression


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
