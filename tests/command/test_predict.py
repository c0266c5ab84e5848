"""``newron predict``."""

import csv
import gzip
import json
import subprocess
import sys

import numpy as np
import pytest

from builders.models import make_card, make_regression
from builders.tables import make_table, write_csv
from newron.tables import delimited


@pytest.fixture
def files(tmp_path):
    """Write a model and a table of 60 rows; give their names and what is true."""
    model, rows = make_card(), make_table()
    model.save(tmp_path / "model.json")
    write_csv(tmp_path / "table.csv", rows)
    table = [[float(age) if age else None, colour] for age, colour, _ in rows[1:]]
    return "model.json", "table.csv", model, table


def read_csv(text):
    return list(csv.DictReader(text.splitlines()))


def test_predictions_come_in_order_with_a_header(run, files):
    model, data, network, table = files
    done = run("predict", model, data)
    assert done.exit_code == 0
    header, *predicted = done.stdout.splitlines()
    assert header == "prediction"
    assert predicted == network.predict(table).tolist()
    assert done.stderr == ""


def test_batches_do_not_matter(run, files, monkeypatch):
    model, data, _, _ = files
    whole = run("predict", model, data, "--proba").stdout
    monkeypatch.setattr(delimited, "BATCH_ROWS", 7)
    assert run("predict", model, data, "--proba").stdout == whole


def test_probabilities_have_all_their_digits(run, files):
    model, data, network, table = files
    rows = read_csv(run("predict", model, data, "--proba").stdout)
    assert list(rows[0]) == ["prediction", "probability_no", "probability_yes"]
    predicted = [[float(row["probability_no"]), float(row["probability_yes"])] for row in rows]
    np.testing.assert_array_equal(predicted, network.predict_proba(table))


def test_columns_can_be_kept_and_others_are_ignored(run, files):
    model, data, _, _ = files
    rows = read_csv(run("predict", model, data, "--keep", "sick", "--keep", "age").stdout)
    assert list(rows[0]) == ["sick", "age", "prediction"]
    assert [row["sick"] for row in rows] == [row[2] for row in make_table()[1:]]


def test_a_file_is_written_and_noted_on_standard_error(run, files, tmp_path):
    model, data, _, _ = files
    done = run("predict", model, data, "-o", "out.csv")
    assert done.stdout == ""
    assert "60 rows" in done.stderr
    assert "written to out.csv" in done.stderr
    assert (tmp_path / "out.csv").read_text() == run("predict", model, data).stdout
    assert run("predict", model, data, "-o", "quiet.csv", "--quiet").output == ""


def test_json_lines_and_gzip_by_the_name_of_the_file(run, files, tmp_path):
    model, data, network, table = files
    run("predict", model, data, "-o", "out.jsonl.gz", "--proba")
    lines = gzip.decompress((tmp_path / "out.jsonl.gz").read_bytes()).decode().splitlines()
    predicted = [json.loads(line) for line in lines]
    assert [one["prediction"] for one in predicted] == network.predict(table).tolist()
    assert run("predict", model, data, "--proba", "--json").stdout.splitlines() == lines


def test_regression(run, tmp_path):
    model = make_regression()
    model.save(tmp_path / "model.json")
    write_csv(tmp_path / "t.csv", [["y", "x"], ["1", "2"], ["3.5", "4"]])
    rows = read_csv(run("predict", "model.json", "t.csv").stdout)
    expected = model.predict([[2.0, 1.0], [4.0, 3.5]])
    np.testing.assert_array_equal([float(row["prediction"]) for row in rows], expected)


def test_parquet_gives_the_same(run, files, tmp_path):
    pa = pytest.importorskip("pyarrow")
    import pyarrow.parquet as pq

    model, data, _, table = files
    ages, colours = zip(*table, strict=True)
    pq.write_table(pa.table({"id": range(60), "colour": colours, "age": ages}), "t.parquet")
    done = run("predict", model, "t.parquet", "--keep", "id", "--keep", "age")
    rows = read_csv(done.stdout)
    assert [row["id"] for row in rows] == [str(i) for i in range(60)]
    assert [row["age"] for row in rows] == [row[0] for row in make_table()[1:]]
    assert [row["prediction"] for row in rows] == run("predict", model, data).stdout.split()[1:]


def test_unknown_categories_are_warned_of_and_read_as_missing(run, files, tmp_path):
    model, _, network, _ = files
    write_csv(tmp_path / "t.csv", [["age", "colour"], ["60", "violet"], ["30", "violet"]])
    done = run("predict", model, "t.csv", "--quiet")
    assert done.stdout.split()[1:] == network.predict([[60.0, None], [30.0, None]]).tolist()
    assert "column 'colour': unknown categories in 2 rows: 'violet'" in done.stderr


def test_hostile_names_come_through(run, tmp_path):
    from dataclasses import replace

    from newron.model import Classes, Model, Schema

    card, name, label = make_card(), 'a"; DROP TABLE t; --\n,', '\'); --\n"x", ü'
    columns = [replace(card.schema.columns[0], name=name), card.schema.columns[1]]
    Model(Schema(tuple(columns)), card.layers, Classes(("no", label))).save(tmp_path / "m.json")
    with (tmp_path / "t.csv").open("w", newline="") as file:
        csv.writer(file).writerows([[name, "colour"], ["60", "red"]])
    done = run("predict", "m.json", "t.csv", "--keep", name, "--proba")
    header, row = csv.reader(done.stdout.splitlines(keepends=True))
    assert header == [name, "prediction", "probability_no", f"probability_{label}"]
    assert row[:2] == ["60", label]


class TestErrors:
    def test_files_are_not_overwritten(self, fails, run, files, tmp_path):
        model, data, _, _ = files
        (tmp_path / "out.csv").write_text("mine")
        assert "--force" in fails("predict", model, data, "-o", "out.csv")
        assert (tmp_path / "out.csv").read_text() == "mine"
        assert run("predict", model, data, "-o", "out.csv", "--force").exit_code == 0
        assert (tmp_path / "out.csv").read_text().startswith("prediction\n")

    def test_nothing_is_half_written(self, fails, files, tmp_path, monkeypatch):
        monkeypatch.setattr(delimited, "BATCH_ROWS", 7)
        rows = make_table()
        rows[40][0] = "old"
        write_csv(tmp_path / "bad.csv", rows)
        printed = fails("predict", files[0], "bad.csv", "-o", "out.csv")
        assert printed.startswith(
            "bad.csv, row 40 (counted from 1, after the header), column 'age'"
        )

    @pytest.mark.parametrize(
        ("words", "message"),
        [
            (["model.json", "nothing.csv"], "expected a file, got none"),
            (["nothing.json", "table.csv"], "nothing.json: No such file or directory"),
            (["table.csv", "table.csv"], "expected a model in JSON"),
            (["model.json", "table.csv", "--keep", "sic"], "did you mean 'sick'?"),
            (["model.json", "table.csv", "--keep", "age", "--keep", "age"], "not written yet"),
            (["model.json", "table.csv", "-o", "nowhere/out.csv"], "got none; make it"),
            (["model.json", "table.csv", "-o", "."], "got a folder"),
            (["model.json"], "Missing argument"),
            (["model.json", "table.csv", "--nonsense"], "No such option"),
        ],
    )
    def test_what_cannot_be_is_one_line(self, fails, files, words, message):
        assert message in fails("predict", *words)

    def test_regression_has_no_probabilities(self, fails, tmp_path):
        make_regression().save(tmp_path / "model.json")
        write_csv(tmp_path / "t.csv", [["y", "x"], ["1", "2"]])
        assert "--proba" in fails("predict", "model.json", "t.csv", "--proba")

    def test_a_column_that_is_not_there(self, fails, files, tmp_path):
        write_csv(tmp_path / "t.csv", [["age"], ["1"]])
        assert "expected a column 'colour', got none" in fails("predict", files[0], "t.csv")


@pytest.mark.parametrize("source", ["csv", "parquet"])
def test_parquet_is_written_by_the_name_of_the_file(run, files, tmp_path, monkeypatch, source):
    pa = pytest.importorskip("pyarrow")
    import pyarrow.parquet as pq

    model, data, network, table = files
    monkeypatch.setattr(delimited, "BATCH_ROWS", 7)
    ages, colours = zip(*table, strict=True)
    if source == "parquet":
        data = "t.parquet"
        pq.write_table(pa.table({"colour": colours, "age": ages}), data)
    assert run("predict", model, data, "-o", "o.parquet", "--proba", "--keep", "age").exit_code == 0
    columns = pq.read_table("o.parquet").to_pydict()
    assert list(columns) == ["age", "prediction", "probability_no", "probability_yes"]
    written = [row[0] or None for row in make_table()[1:]]
    assert columns["age"] == (written if source == "csv" else list(ages))
    assert columns["prediction"] == network.predict(table).tolist()
    predicted = [columns["probability_no"], columns["probability_yes"]]
    np.testing.assert_array_equal(np.transpose(predicted), network.predict_proba(table))
    assert "expected a new file" in run("predict", model, data, "-o", "o.parquet").stderr


def test_parquet_of_regression_has_numbers_and_of_no_rows_its_columns(run, tmp_path):
    pq = pytest.importorskip("pyarrow.parquet")
    model = make_regression()
    model.save(tmp_path / "model.json")
    write_csv(tmp_path / "t.csv", [["y", "x"], ["1", "2"], ["3.5", "4"]])
    run("predict", "model.json", "t.csv", "-o", "o.parquet")
    predicted = pq.read_table("o.parquet").to_pydict()["prediction"]
    assert predicted == model.predict([[2.0, 1.0], [4.0, 3.5]]).tolist()
    columns = pq.read_table("o.parquet").rename_columns(["x"])
    pq.write_table(columns.append_column("y", columns["x"]).slice(0, 0), "none.parquet")
    assert run("predict", "model.json", "none.parquet", "-o", "none_o.parquet").exit_code == 0
    assert pq.read_table("none_o.parquet").column_names == ["prediction"]


def test_predictions_of_a_large_csv_import_neither_pandas_nor_compute_functions(files, tmp_path):
    pytest.importorskip("pyarrow")
    model, _, _, _ = files
    (tmp_path / "large.csv").write_text("age,colour\n" + "60,red\n" * 200_000)
    code = (
        "import sys; from newron.command.application import main\n"
        f"sys.argv = ['newron', 'predict', {model!r}, 'large.csv', '-o', 'o.csv']\n"
        "try: main()\nexcept SystemExit: pass\n"
        "assert 'pyarrow' in sys.modules\n"
        "assert not {'pandas', 'pyarrow.compute'} & set(sys.modules)\n"
    )
    subprocess.run([sys.executable, "-c", code], check=True, cwd=tmp_path)
