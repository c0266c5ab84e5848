"""From a packed table of text to typed columns."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from newron.datasets.catalogue import DATA, Entry

if TYPE_CHECKING:
    import pandas as pd


def read_table(entry: Entry) -> pd.DataFrame:
    """Read a shipped table; its last column is the target.

    Sets with official parts have a first column ``part``.
    """
    import pandas as pd

    with (DATA / f"{entry.name}.csv.gz").open("rb") as file:
        # All is read as text, and only an empty field is missing: pandas takes NA for one too.
        texts = pd.read_csv(
            file, compression="gzip", dtype=str, keep_default_na=False, na_values=[""]
        )
    *columns, target = texts.columns
    typed = {name: _read_column(texts[name], entry) for name in columns}
    return pd.DataFrame({**typed, target: _read_target(texts[target])})


def _read_column(texts: pd.Series[Any], entry: Entry) -> pd.Series[Any]:
    name = str(texts.name)
    if name == "part":
        return texts
    if name in entry.categories:
        return _read_category(texts)
    if name in entry.numbers:
        return texts.map(entry.numbers[name]).astype("int64")
    if name in entry.missing:
        # A mark such as 0 is a number in other columns.
        texts = texts.mask(texts == entry.missing[name])
    return _read_number(texts)


def _read_number(texts: pd.Series[Any]) -> pd.Series[Any]:
    """Return int64 if all values are whole, else float64."""
    numbers = texts.astype("float64")
    whole = bool((numbers % 1 == 0).all())
    return numbers.astype("int64") if whole else numbers


def _read_category(texts: pd.Series[Any]) -> pd.Series[Any]:
    labels = _read_labels(texts)
    words = sorted(labels, key=labels.__getitem__)
    return texts.astype("category").cat.set_categories(words).cat.rename_categories(labels)


def _read_target(texts: pd.Series[Any]) -> pd.Series[Any]:
    return texts.map(_read_labels(texts))


def _read_labels(texts: pd.Series[Any]) -> dict[str, Any]:
    """Return the label of each word: whole numbers if all words are, such as 4.0."""
    words = [str(word) for word in texts.dropna().unique()]
    try:
        numbers = {word: float(word) for word in words}
    except ValueError:
        return {word: word for word in words}
    return {word: int(number) for word, number in numbers.items()}
