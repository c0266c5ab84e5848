"""Tables of any kind as one: rows of numbers that know what their columns are.

A frame, an array, a list of rows or a file is encoded once, at the door, and the
:class:`EncodedTable` is taken wherever X is: ``fit``, ``predict``, ``rules``, ``report``.

Needs NumPy alone; narwhals is imported for the first frame, pyarrow for Parquet and Arrow.
"""

from newron.tables.field import Field, Label
from newron.tables.files import read
from newron.tables.labelled import read_labelled
from newron.tables.labelled_table import LabelledTable
from newron.tables.table import EncodedTable, Target, encode

__all__ = [
    "EncodedTable",
    "Field",
    "Label",
    "LabelledTable",
    "Target",
    "encode",
    "read",
    "read_labelled",
]
