"""``newron export``."""

import pytest

from builders.models import make_card


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
