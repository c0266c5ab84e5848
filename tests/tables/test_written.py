"""Numbers as people write them, in files and cell by cell."""

import datetime as dt

import numpy as np
import pytest

from builders.tables import write_csv
from newron.tables import Field, read, read_labelled
from newron.tables.cells import CellFormat
from newron.tables.written import parse_written

pa = pytest.importorskip("pyarrow")


def load(tmp_path, *cells, delimiter=";"):
    rows = [["x", "y"], *([cell, "ab"[i % 2]] for i, cell in enumerate(cells))]
    return read_labelled(write_csv(tmp_path / "t.csv", rows, delimiter), "y")


class TestCells:
    @pytest.mark.parametrize(
        ("text", "number", "unit"),
        [
            ("12 %", 12.0, "%"),
            ("-0.5%", -0.5, "%"),
            ("$1,234.50", 1234.5, "$"),
            ("-$5", -5.0, "$"),
            ("$-5", -5.0, "$"),
            ("1 234 567", 1234567.0, ""),
            ("1\xa0234,5"[:5], 1234.0, ""),
            ("CHF 1'200", 1200.0, "CHF"),
            ("3 €", 3.0, "€"),
            ("80 kg", 80.0, "kg"),
            ("37.1 °C", 37.1, "°C"),
            ("-3°C", -3.0, "°C"),
            ("2020-07-02T00:00", 2020.5, "date"),
            ("01.01.2021", 2021.0, "date"),
        ],
    )
    def test_they_are_numbers_with_a_unit(self, text, number, unit):
        assert parse_written(text) == (number, unit)

    @pytest.mark.parametrize(
        "text",
        ["1,23", "12,34,567", "1.2.3", "--5", "-$-5", "€5€", "5 apples", "31.02.2021", "1 23", "%"],
    )
    def test_others_are_none(self, text):
        assert parse_written(text) is None

    def test_dates_with_slashes_may_mean_two_days_and_are_none(self):
        assert parse_written("01/02/2021") is None

    def test_a_point_is_one_of_thousands_where_commas_are_decimal(self):
        form = CellFormat(decimal_comma=True)
        assert form.parse_number("1.234") == 1234.0
        assert form.parse_numbers(["1.234", "1,5", ""])[:2].tolist() == [1234.0, 1.5]
        assert form.parse_number("1.5") == 1.5


class TestColumns:
    def test_percent_stay_percent_and_are_a_unit(self, tmp_path):
        table = load(tmp_path, "12 %", "7.5%", "", "0")
        assert table.X.fields == (Field("x"),)
        assert table.X.rows[:2, 0].tolist() == [12.0, 7.5]
        assert table.units == {"x": "%"}
        assert table.missing == {"x": 1}

    def test_percent_beside_other_numbers_are_text(self, tmp_path):
        assert load(tmp_path, "12 %", "0.5").X.fields[0].categories == ("0.5", "12 %")

    def test_two_currencies_are_text(self, tmp_path):
        assert load(tmp_path, "5 €", "$5").X.fields[0].categories == ("$5", "5 €")

    def test_a_currency_may_be_left_out(self, tmp_path):
        assert load(tmp_path, "$5", "1200").X.rows[:, 0].tolist() == [5.0, 1200.0]

    def test_thousands_by_comma_and_by_point(self, tmp_path):
        assert load(tmp_path, "1,234", "0.5").X.rows[:, 0].tolist() == [1234.0, 0.5]
        table = load(tmp_path, "1.234,5 €", "12,75 €", "999")
        assert table.X.rows[:, 0].tolist() == [1234.5, 12.75, 999.0]
        assert table.form == "CSV with semicolons, decimal commas"

    def test_quoted_commas_between_commas(self, tmp_path):
        thousands = load(tmp_path, '"1,234"', '"2,500"', delimiter=",")
        assert thousands.X.rows[:, 0].tolist() == [1234.0, 2500.0]
        decimals = load(tmp_path, '"1,5"', '"0,25"', delimiter=",")
        assert decimals.X.rows[:, 0].tolist() == [1.5, 0.25]

    def test_dates_are_years_with_a_note(self, tmp_path):
        table = load(tmp_path, "2021-01-01", "2020-07-02")
        assert table.X.rows[:, 0].tolist() == [2021.0, 2020.5]
        assert table.notes == ("dates are read as years, 2021-07-02 as 2021.5: x",)
        assert table.units == {}

    def test_units_are_found_beyond_the_values_that_are_counted(self, tmp_path, monkeypatch):
        monkeypatch.setattr("newron.tables.survey.MAX_CATEGORIES", 3)
        table = load(tmp_path, *(f"{i} %" for i in range(1, 9)))
        assert table.units == {"x": "%"}
        assert table.X.rows[-1, 0] == 8.0

    def test_a_model_reads_its_numbers_alike_in_another_file(self, tmp_path):
        path = write_csv(tmp_path / "t.csv", [["x"], ["12 %"], ["3"]])
        assert read(path, fields=[Field("x")]).rows[:, 0].tolist() == [12.0, 3.0]

    def test_dates_of_arrow_are_years(self, tmp_path):
        import pyarrow.parquet as pq

        days = [dt.date(2021, 1, 1), None]
        pq.write_table(pa.table({"day": days, "x": [1.0, 2.0]}), tmp_path / "t")
        table = read(tmp_path / "t")
        assert table.rows[0].tolist() == [2021.0, 1.0]
        assert np.isnan(table.rows[1, 0])
