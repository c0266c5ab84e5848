"""Workbooks of Excel, and tables without names of columns."""

import sys
import zipfile

import numpy as np
import pytest

from builders.tables import make_table, write_csv, write_xlsx
from newron.errors import InputError
from newron.tables import read, read_labelled

pytest.importorskip("python_calamine")
ROWS = make_table()


@pytest.fixture
def book(tmp_path):
    numbers = [[float(age) if age else "", *rest] for age, *rest in ROWS[1:]]
    return write_xlsx(tmp_path / "t.xlsx", [ROWS[0], *numbers])


def test_a_sheet_is_what_its_csv_is(tmp_path, book):
    table = read_labelled(book, "sick")
    other = read_labelled(write_csv(tmp_path / "t.csv", ROWS), "sick")
    assert table.X.fields == other.X.fields
    np.testing.assert_array_equal(table.X.rows, other.X.rows)
    assert table.missing == other.missing
    assert table.form == "Excel, sheet 'People'"


def test_texts_may_be_numbers_as_people_write_them(tmp_path):
    path = write_xlsx(tmp_path / "t.xlsx", [["x"], ["12 %"], ["7 %"]])
    assert read(path).rows[:, 0].tolist() == [12.0, 7.0]


def test_empty_rows_are_left_out(tmp_path):
    path = write_xlsx(tmp_path / "t.xlsx", [["x", "z"], [1, "a"], ["", ""], [2.5, "b"]])
    assert read(path).rows[:, 0].tolist() == [1.0, 2.5]


def test_other_archives_are_one_clear_error(tmp_path):
    with zipfile.ZipFile(tmp_path / "t.zip", "w") as file:
        file.writestr("a.txt", "a")
    with pytest.raises(InputError, match="got a ZIP archive or a damaged workbook"):
        read(tmp_path / "t.zip")


def test_without_calamine_the_extra_is_named(book, monkeypatch):
    monkeypatch.setitem(sys.modules, "python_calamine", None)
    with pytest.raises(InputError, match=r"newron-ian\[files\]"):
        read(book)


@pytest.mark.parametrize("write", [write_csv, write_xlsx])
def test_without_header_columns_are_numbered(tmp_path, write):
    table = read_labelled(write(tmp_path / "t", ROWS[1:]), "x3", header=False)
    assert table.X.names == ("x1", "x2")
    assert len(table) == len(ROWS) - 1
    assert table.y.labels == ("no", "yes")


def test_numbers_without_names_are_an_error_that_says_how(tmp_path):
    path = write_csv(tmp_path / "t.csv", [["1", "2"], ["3", "4"]])
    with pytest.raises(InputError, match="--no-header"):
        read(path)
    assert read(path, header=False).rows.tolist() == [[1.0, 2.0], [3.0, 4.0]]
