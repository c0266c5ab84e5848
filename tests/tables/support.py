"""Builders that several modules of tests here share."""

import numpy as np
import pytest

from newron.errors import InputError
from newron.tables import Field, read_labelled
from newron.tables.table import encode_rows, learn_fields

pd = pytest.importorskip("pandas")


pl = pytest.importorskip("polars")


NAN = np.nan


FRAMES = pytest.mark.parametrize("make", [pd.DataFrame, pl.DataFrame], ids=["pandas", "polars"])


def learn_one(make, cells, categorical="from_dtype", **how):
    (field,) = learn_fields(make({"c": cells}), categorical, **how)
    return field.categories


def encode_one(X, labels=None, **how):
    return encode_rows(X, [Field("c", labels)], **how)[:, 0].tolist()


def objects(*cells):
    column = np.empty((len(cells), 1), object)
    column[:, 0] = cells
    return column


def raises(*parts):
    """Expect one line with these parts, in this order."""
    return pytest.raises(InputError, match="(?s)^(?!.*\n).*" + ".*".join(parts))


def load(path, target="sick", **options):
    return read_labelled(path, target, **options)
