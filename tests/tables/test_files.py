"""Tables in files: what they are, how they are read, and what raises."""

import codecs
import gzip
import json
import os

import numpy as np
import pytest

from builders.tables import COLOURS, make_table, write_csv
from newron.errors import InputError, NewronWarning
from newron.tables import Field, delimited, lines, read
from newron.tables.files import open_table
from tables.support import load

pa = pytest.importorskip("pyarrow")

ROWS = make_table()


@pytest.fixture
def plain(tmp_path):
    return load(write_csv(tmp_path / "plain.csv", ROWS))


def assert_same(table, other):
    assert table.X.fields == other.X.fields
    np.testing.assert_array_equal(table.X.rows, other.X.rows)
    assert table.y.labels == other.y.labels
    np.testing.assert_array_equal(table.y.values, other.y.values)
    assert table.missing == other.missing


class TestForms:
    def test_a_table_is_numbers_categories_and_missing_values(self, plain):
        assert plain.X.fields == (Field("age"), Field("colour", COLOURS))
        assert len(plain) == 60
        assert plain.missing == {"age": 3}
        assert int(np.isnan(plain.X.rows[:, 0]).sum()) == 3
        assert plain.y.labels == ("no", "yes")
        assert plain.notes == ()

    @pytest.mark.parametrize("delimiter", [",", ";", "\t", "|"])
    def test_delimiters_are_found(self, tmp_path, plain, delimiter):
        path = write_csv(tmp_path / "t.txt", ROWS, delimiter)
        assert_same(load(path), plain)

    @pytest.mark.parametrize(
        "encoding", ["utf-8", "utf-8-sig", "utf-16", "utf-16-le", "utf-16-be", "utf-32", "cp1252"]
    )
    def test_encodings_are_found(self, tmp_path, encoding):
        rows = [["größe", "art"], *([str(i), "süß" if i % 2 else "herb"] for i in range(30))]
        table = load(write_csv(tmp_path / "t.csv", rows, encoding=encoding), "art")
        assert table.X.fields == (Field("größe"),)
        assert table.y.labels == ("herb", "süß")

    def test_bytes_that_are_not_utf8_are_reported(self, tmp_path):
        rows = [["n", "art"], *([str(i), "süß" if i % 2 else "herb"] for i in range(30))]
        table = load(write_csv(tmp_path / "t.csv", rows, encoding="cp1252"), "art")
        assert table.notes[:1] == ("30 bytes that are not UTF-8: read as cp1252 (Windows)",)

    def test_bytes_that_mean_nothing_in_cp1252_are_read_all_the_same(self, tmp_path):
        path = tmp_path / "t.csv"
        path.write_bytes(b"n,art\n" + b"1,a\x81\n2,b\n" * 10)
        assert load(path, "art").y.labels == ("a\x81", "b")

    def test_gzip_is_found_by_content(self, tmp_path, plain):
        path = tmp_path / "t.csv"
        path.write_bytes(gzip.compress(write_csv(tmp_path / "u.csv", ROWS).read_bytes()))
        assert_same(load(path), plain)

    def test_json_lines(self, tmp_path, plain):
        path = tmp_path / "t.jsonl"
        records = [dict(zip(ROWS[0], row, strict=True)) for row in ROWS[1:]]
        for record in records:
            record["age"] = float(record["age"]) if record["age"] else None
        path.write_text("\n".join(map(json.dumps, records)) + "\n\n")
        assert_same(load(path), plain)

    @pytest.mark.parametrize("form", ["parquet", "arrow", "stream"])
    def test_files_of_arrow(self, tmp_path, plain, form):
        columns = list(zip(*ROWS[1:], strict=True))
        table = pa.table(
            {
                "age": [float(x) if x else None for x in columns[0]],
                "colour": pa.array(columns[1]).dictionary_encode(),
                "sick": columns[2],
            }
        )
        path = tmp_path / "t"
        if form == "parquet":
            import pyarrow.parquet as pq

            pq.write_table(table, path)
        else:
            new = pa.ipc.new_file if form == "arrow" else pa.ipc.new_stream
            with pa.OSFile(str(path), "wb") as file, new(file, table.schema) as writer:
                writer.write_table(table, max_chunksize=7)
        assert_same(load(path), plain)

    def test_batches_do_not_matter(self, tmp_path, plain, monkeypatch):
        path = write_csv(tmp_path / "t.csv", ROWS)
        for module in (delimited, lines):
            monkeypatch.setattr(module, "BATCH_ROWS", 7)
        assert_same(load(path), plain)

    def test_quotes_hold_delimiters_and_lines_together(self, tmp_path):
        path = tmp_path / "t.csv"
        path.write_text('"a, b",c\n1,"x\ny"\n2, "z; w"\n3,"x\ny"\n')
        table = load(path, "c")
        assert table.X.fields == (Field("a, b"),)
        assert table.y.labels == ("x\ny", "z; w")

    def test_spaces_around_cells_do_not_count(self, tmp_path, plain):
        path = tmp_path / "t.csv"
        path.write_text("".join(" , ".join(row) + "  \n" for row in ROWS))
        assert_same(load(path), plain)

    def test_decimal_commas(self, tmp_path):
        path = tmp_path / "t.csv"
        path.write_text("x;y\n1,5;a\n2;b\n-0,25;a\n")
        table = load(path, "y")
        assert table.form == "CSV with semicolons, decimal commas"
        assert table.X.rows[:, 0].tolist() == [1.5, 2.0, -0.25]

    def test_empty_lines_and_windows_lines(self, tmp_path, plain):
        path = tmp_path / "t.csv"
        path.write_bytes(b"\r\n\r\n".join(",".join(row).encode() for row in ROWS) + b"\r\n")
        assert_same(load(path), plain)


class TestKinds:
    def write(self, tmp_path, *cells, n=1):
        rows = [["x", "y"], *([cell, "ab"[i % 2]] for i, cell in enumerate(cells * n))]
        return write_csv(tmp_path / "t.csv", rows)

    @pytest.mark.parametrize("word", ["", "NA", "?", "NaN", "null", "N/A"])
    def test_usual_words_for_missing_values(self, tmp_path, word):
        table = load(self.write(tmp_path, "1", word, "2.5"), "y")
        assert table.missing == {"x": 1}
        assert table.X.fields[0].categories is None

    def test_none_is_a_category_unless_it_is_listed_as_missing(self, tmp_path):
        path = self.write(tmp_path, "None", "some")
        assert load(path, "y").X.fields[0].categories == ("None", "some")
        assert load(path, "y", missing=["None"]).X.fields[0].categories == ("some",)

    def test_codes_with_underscores_are_no_numbers(self, tmp_path):
        assert load(self.write(tmp_path, "1_2", "3_4"), "y").X.fields[0].categories == (
            "1_2",
            "3_4",
        )

    def test_a_word_among_numbers_is_reported(self, tmp_path):
        table = load(self.write(tmp_path, *map(str, range(30)), "unknown"), "y")
        assert table.X.fields[0].categories is not None
        assert table.odd_words == {"x": [("unknown", 1)]}

    def test_numbers_can_be_categories(self, tmp_path):
        path = self.write(tmp_path, "10", "2", "2.0")
        assert load(path, "y", categories=["x"]).X.fields[0].categories == (2, 10)

    def test_identifiers_are_left_out_and_reported(self, tmp_path):
        names = [f"name {i}" for i in range(60)]
        rows = [["name", "x", "y"], *([name, "1", "ab"[i % 2]] for i, name in enumerate(names))]
        table = load(write_csv(tmp_path / "t.csv", rows), "y")
        assert table.left_out == {"name": "60 different texts in 60 rows"}
        assert [field.name for field in table.X.fields] == ["x"]
        assert load(tmp_path / "t.csv", "y", categories=["name"]).left_out == {}

    def test_columns_without_values_are_left_out(self, tmp_path):
        path = write_csv(tmp_path / "t.csv", [["x", "e", "y"], ["1", "", "a"], ["2", "", "b"]])
        assert load(path, "y").left_out == {"e": "no values"}

    def test_columns_without_a_name_are_left_out(self, tmp_path):
        path = write_csv(tmp_path / "t.csv", [["", "x", "y"], ["0", "1", "a"], ["1", "2", "b"]])
        table = load(path, "y")
        assert [field.name for field in table.X.fields] == ["x"]
        assert table.notes == ("1 column without a name: left out",)

    def test_more_values_than_are_counted_are_still_numbers(self, tmp_path, monkeypatch):
        monkeypatch.setattr("newron.tables.survey.MAX_CATEGORIES", 5)
        monkeypatch.setattr(delimited, "BATCH_ROWS", 4)
        path = self.write(tmp_path, *map(str, range(20)), "", *map(str, range(20, 30)))
        table = load(path, "y")
        assert table.X.fields == (Field("x"),)
        assert table.missing == {"x": 1}

    def test_more_texts_than_are_counted_are_left_out(self, tmp_path, monkeypatch):
        monkeypatch.setattr("newron.tables.survey.MAX_CATEGORIES", 5)
        monkeypatch.setattr("newron.tables.files.MAX_CATEGORIES", 5)
        rows = [["t", "x", "y"], *([f"t{i % 9}", "1", "ab"[i % 2]] for i in range(40))]
        table = load(write_csv(tmp_path / "t.csv", rows), "y")
        assert table.left_out == {"t": "more than 5 different texts"}

    def test_in_typed_files_text_is_never_a_number(self, tmp_path):
        path = tmp_path / "t.jsonl"
        path.write_text('{"zip": "02139", "y": "a"}\n{"zip": "10115", "y": "b"}\n')
        assert load(path, "y").X.fields == (Field("zip", ("02139", "10115")),)

    def test_truths_are_words(self, tmp_path):
        path = tmp_path / "t.jsonl"
        path.write_text('{"f": true, "y": 1.5}\n{"f": false, "y": 2.5}\n{"y": 3}\n')
        table = load(path, "y")
        assert table.X.fields == (Field("f", ("false", "true")),)
        assert np.isnan(table.X.rows[2, 0])


class TestFieldsOfAModel:
    def test_labels_are_found_however_a_file_writes_them(self, tmp_path):
        path = tmp_path / "t.csv"
        path.write_text("n,f,t\n1,true,a\n1.0,TRUE, a\n2.50,0,b\n7,x,\n")
        fields = [Field("n", (1, 2.5)), Field("f", (False, True)), Field("t", ("a", "b"))]
        with pytest.warns(NewronWarning) as caught:
            table = read(path, fields=fields)
        nan = np.nan
        np.testing.assert_array_equal(
            table.rows, [[0, 1, 0], [0, 1, 0], [1, 0, 1], [nan, nan, nan]]
        )
        assert str(caught[0].message) == (
            "column 'n': unknown categories in 1 row: '7'; "
            "column 'f': unknown categories in 1 row: 'x'; they are read as missing"
        )

    def test_a_label_comes_before_a_word_for_missing_values(self, tmp_path):
        path = write_csv(tmp_path / "t.csv", [["c"], ["NA"], ["x"], ["?"]])
        table = read(path, fields=[Field("c", ("NA", "x"))])
        np.testing.assert_array_equal(table.rows[:, 0], [0.0, 1.0, np.nan])

    def test_a_null_is_missing_also_where_none_is_a_label(self, tmp_path):
        path = tmp_path / "t.jsonl"
        path.write_text('{"c": "None"}\n{"c": null}\n')
        rows = read(path, fields=[Field("c", ("None", "a"))]).rows
        np.testing.assert_array_equal(rows, [[0.0], [np.nan]])

    def test_numbers_of_typed_files_match_labels_that_are_text(self, tmp_path):
        path = tmp_path / "t.jsonl"
        path.write_text('{"c": 1}\n{"c": "2"}\n')
        assert read(path, fields=[Field("c", ("1", "2"))]).rows[:, 0].tolist() == [0.0, 1.0]

    def test_unknown_texts_are_not_kept(self, tmp_path):
        path = write_csv(tmp_path / "t.csv", [["c"], *([f"t{i}"] for i in range(500))])
        source = open_table(path)
        encoder = source.make_encoder([Field("c", ("a",))])
        for batch in source.read():
            assert np.isnan(batch.encode(encoder).rows).all()
        assert len(encoder._codes["c"]) == 1
        with pytest.warns(NewronWarning, match="in 500 rows: 't0', 't1', 't2', ...;"):
            encoder.warn_unknown()

    @pytest.mark.parametrize("cell", ["abc", "1e400", "-inf"])
    def test_cells_that_are_no_numbers_are_named_with_their_row(self, tmp_path, cell):
        path = write_csv(tmp_path / "t.csv", [["x"], ["1"], ["2"], [cell]])
        with pytest.raises(InputError, match=r"row 3 \(counted from 1.*column 'x': expected a num"):
            read(path, fields=[Field("x")])

    def test_rows_are_counted_over_batches(self, tmp_path, monkeypatch):
        monkeypatch.setattr(delimited, "BATCH_ROWS", 2)
        path = write_csv(tmp_path / "t.csv", [["x"], *([str(i)] for i in range(6)), ["abc"]])
        with pytest.raises(InputError, match=r"row 7 \(counted from 1"):
            read(path, fields=[Field("x")])

    def test_a_column_that_lacks_is_named_with_those_like_it(self, tmp_path):
        path = write_csv(tmp_path / "t.csv", [["blood pressure"], ["1"]])
        with pytest.raises(InputError, match="did you mean 'blood pressure'"):
            read(path, fields=[Field("blood_pressure")])


class TestRead:
    def test_all_columns_are_inputs_where_none_is_the_target(self, tmp_path):
        table = read(write_csv(tmp_path / "t.csv", ROWS))
        assert table.names == ("age", "colour", "sick")
        assert table.categorical == (1, 2)
        assert len(table) == 60

    def test_the_first_rows_alone(self, tmp_path):
        path = write_csv(tmp_path / "t.csv", ROWS)
        np.testing.assert_array_equal(read(path, max_rows=7).rows, read(path).rows[:7])

    def test_columns_are_dropped_and_words_are_missing(self, tmp_path):
        path = write_csv(tmp_path / "t.csv", ROWS)
        table = read(path, drop=["age"], missing=["red"])
        assert table.fields == (Field("colour", ("blue", "green")), Field("sick", ("no", "yes")))

    def test_numbers_can_be_categories_and_identifiers_are_left_out(self, tmp_path):
        rows = [["n", "id"], *([str(i % 3), f"name {i}"] for i in range(60))]
        path = write_csv(tmp_path / "t.csv", rows)
        assert read(path, categories=["n"]).fields == (Field("n", (0, 1, 2)),)


class TestErrors:
    @pytest.mark.parametrize(
        ("content", "message"),
        [
            (b"", "empty file"),
            (b"\n\n", "empty file"),
            (b"a,b\n", "a header alone"),
            (b"a,b\n1,2\n3\n", r"row 2 .*expected 2 cells, as in the header, got 1"),
            (b"a,b\n1,2,3\n", r"row 1 .*expected 2 cells"),
            (b"a,a,b\n1,2,3\n", "'a' twice"),
            (b"5.1,3.5,1\n4.9,3.0,2\n", "got numbers"),
            (b",,\n1,2,3\n", "expected the names of columns"),
            (b"\x00\x01\x02\xff" * 50, "binary file"),
            (b'a,b\n1,"' + b"x" * 200_000, "expected cells of CSV"),
            (b"PK\x03\x04 and so on", "save the table as CSV"),
            (b"SQLite format 3\x00", "save the table as CSV"),
            (b"PAR1 damaged", "damaged"),
            (b"ARROW1\x00\x00 damaged", "damaged"),
            (b"\x1f\x8b damaged", "damaged"),
            (gzip.compress(b"a,b\n" * 5000, mtime=0)[:-20], "damaged"),
            (gzip.compress(b"PAR1", mtime=0), "got it in gzip"),
            (codecs.BOM_UTF16_LE + "a,b\n1,2\n".encode("utf-16-le") + b"\x00", "UTF-16"),
            (b'[{"a": 1}]', "one object on every line"),
            (b'{"a": 1, "b": 2}\n{"a": 1,', "line 2: expected a JSON object"),
            (b'{"a": 1, "b": 2}\n[1]\n', "line 2: expected a JSON object, got list"),
            (b'{"a": [1], "b": 2}\n', "nested"),
            (b'{"a": 1, "b": 2}\n{"a": "x", "b": 3}\n', "expected texts or numbers.*got both"),
            (b"{}\n", "expected the names of columns"),
        ],
    )
    def test_files_that_are_no_tables(self, tmp_path, content, message):
        path = tmp_path / "t.csv"
        path.write_bytes(content)
        with pytest.raises(InputError, match=message) as caught:
            load(path, "b", task="regression")
        assert str(path) in str(caught.value)
        assert "\n" not in str(caught.value)

    def test_a_folder_and_no_file(self, tmp_path):
        with pytest.raises(InputError, match="got a folder"):
            open_table(tmp_path)
        with pytest.raises(InputError, match="expected a file, got none"):
            open_table(tmp_path / "nothing")

    @pytest.mark.skipif(os.geteuid() == 0, reason="root may read everything")
    def test_a_file_that_may_not_be_read(self, tmp_path):
        path = write_csv(tmp_path / "t.csv", ROWS)
        path.chmod(0)
        with pytest.raises(InputError, match="may be read"):
            open_table(path)

    def test_times_of_parquet_raise_only_where_they_are_used(self, tmp_path):
        import pyarrow.parquet as pq

        table = pa.table(
            {"day": pa.array([1, 2], pa.time32("s")), "x": [1.0, 2.0], "y": ["a", "b"]}
        )
        pq.write_table(table, tmp_path / "t.parquet")
        with pytest.raises(InputError, match="numbers or texts in column 'day'"):
            load(tmp_path / "t.parquet", "y")
        assert len(load(tmp_path / "t.parquet", "y", drop=["day"])) == 2

    def test_without_pyarrow_parquet_names_the_extra(self, tmp_path, monkeypatch):
        import sys

        monkeypatch.setitem(sys.modules, "pyarrow", None)
        (tmp_path / "t.parquet").write_bytes(b"PAR1")
        with pytest.raises(InputError, match=r"newron-ian\[files\]"):
            open_table(tmp_path / "t.parquet")


def test_a_parquet_file_is_never_whole_in_memory(tmp_path):
    import pyarrow.parquet as pq

    part = pa.table({f"x{i}": np.random.default_rng(i).random(20_000) for i in range(4)})
    path = tmp_path / "long.parquet"
    with pq.ParquetWriter(path, part.schema, compression="none", use_dictionary=False) as file:
        for _ in range(60):
            file.write_table(part)
    before, held, n_rows = pa.total_allocated_bytes(), [], 0
    for batch in open_table(path).read():
        n_rows += batch.n_rows
        held.append(pa.total_allocated_bytes() - before)
    assert n_rows == 1_200_000
    # A buffer of 1 MB for each column, and the batch: that does not depend on the file's length.
    assert max(held) < path.stat().st_size / 3
