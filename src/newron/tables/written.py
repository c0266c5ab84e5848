"""Numbers as people write them: percent signs, currencies, thousands, dates.

A cell means the same whatever stands beside it, so that rows of another file are read alike.
"""

from __future__ import annotations

import re
from calendar import isleap
from datetime import UTC, date, datetime

DATE = "date"  # what stands in the place of a date's unit
_SIGNS = "$€£¥₹₽₩₺₫₴"
_CODES = ("USD", "EUR", "GBP", "CHF", "JPY", "CNY", "INR", "SEK", "NOK", "DKK", "PLN", "CZK", "Fr.")
_MONEY = "|".join([f"[{_SIGNS}]", *map(re.escape, _CODES)])
_MEASURES = "kg|mg|µg|g|km|cm|mm|m|ml|l|h|min|mmHg|mm Hg|mg/dl|mmol/l"  # after a space
_CELL = re.compile(
    rf"(?P<sign>[+−-]?)\s*(?P<before>{_MONEY})?\s*(?P<second>[+−-]?)"
    rf"(?P<digits>\d[\d.,'’\s]*?)\s*(?P<after>%|°[CF]|{_MONEY}|(?<=\s)(?:{_MEASURES}))?"
)
_SPACES = re.compile(r"(?<=\d)['’\s](?=\d{3}(?!\d))")  # between thousands
_ISO = re.compile(r"\d{4}-\d\d-\d\d([T ]\d\d:\d\d(:\d\d(\.\d+)?)?(Z|[+-]\d\d:\d\d)?)?")
_DOTTED = re.compile(r"(\d{1,2})\.(\d{1,2})\.(\d{4})")
_GROUPED = {
    ".": re.compile(r"\d{1,3}(,\d{3})+(\.\d+)?"),
    ",": re.compile(r"\d{1,3}(\.\d{3})+(,\d+)?"),
}
_PLAIN = {".": re.compile(r"\d+(\.\d*)?"), ",": re.compile(r"\d+([,.]\d*)?")}


def is_grouped(text: str, decimal: str = ".") -> bool:
    """Whether a number has signs between its thousands, beside a decimal point or comma.

    >>> is_grouped("1,234.5"), is_grouped("1,23"), is_grouped("1.234,5", ",")
    (True, False, True)
    """
    return _GROUPED[decimal].fullmatch(text) is not None


def parse_written(text: str, *, decimal_comma: bool = False) -> tuple[float, str] | None:
    """Return a number and its unit; None of what is neither a number nor a date.

    Percent stay percent: 12 % is 12, with the unit %. A date is its year, and the fraction of
    that year that has passed.

    >>> parse_written("1,234.50 €"), parse_written("-$5"), parse_written("12 %")
    ((1234.5, '€'), (-5.0, '$'), (12.0, '%'))
    >>> parse_written("1.234,5", decimal_comma=True), parse_written("1 000 000")
    ((1234.5, ''), (1000000.0, ''))
    >>> parse_written("2021-07-02"), parse_written("3rd")
    ((2021.4986301369863, 'date'), None)
    """
    text = text.strip()
    match = _CELL.fullmatch(text)
    number = None if match is None else _parse_digits(match["digits"], decimal_comma)
    if match is None or number is None:
        years = _parse_date(text)
        return None if years is None else (years, DATE)
    signs, units = match["sign"] + match["second"], [match["before"], match["after"]]
    if len(signs) > 1 or all(units):
        return None
    unit = units[0] or units[1] or ""
    return (-number if signs in ("-", "−") and signs else number), unit


def _parse_digits(digits: str, decimal_comma: bool) -> float | None:
    decimal = "," if decimal_comma else "."
    digits = _SPACES.sub("", digits)
    if is_grouped(digits, decimal):
        digits = digits.replace("." if decimal_comma else ",", "")
    elif not _PLAIN[decimal].fullmatch(digits):
        return None
    return float(digits.replace(",", "."))


# ---- dates ----


def _parse_date(text: str) -> float | None:
    """Return years; dates with slashes may be meant in two ways, and are none."""
    try:
        if _ISO.fullmatch(text):
            return count_years(datetime.fromisoformat(text))
        dotted = _DOTTED.fullmatch(text)
        if dotted is None:
            return None
        day, month, year = map(int, dotted.groups())
        return count_years(date(year, month, day))
    except ValueError:  # no such day
        return None


def count_years(moment: date) -> float:
    """Return a date, or a time of a date, as its year and the fraction of it that has passed.

    >>> count_years(date(2021, 1, 1)), count_years(datetime(2020, 7, 2))
    (2021.0, 2020.5)
    """
    days = float(moment.timetuple().tm_yday - 1)
    if isinstance(moment, datetime):
        if moment.tzinfo is not None:
            moment = moment.astimezone(UTC)
            days = float(moment.timetuple().tm_yday - 1)
        seconds = 3600 * moment.hour + 60 * moment.minute + moment.second
        days += (seconds + moment.microsecond / 1e6) / 86_400
    return moment.year + days / (366 if isleap(moment.year) else 365)
