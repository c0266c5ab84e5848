"""Arrays of Arrow as arrays of NumPy, without pyarrow's own conversion."""

import numpy as np
import pytest

from newron.tables.buffers import has_numbers, make_array, read_dictionary, read_numbers

pa = pytest.importorskip("pyarrow")

KINDS = ["int8", "uint16", "int32", "int64", "uint64", "float32", "float64"]


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("cut", [slice(None), slice(3, 17), slice(8, 8)])
def test_numbers_are_those_of_arrow_also_of_a_part_and_with_nulls(kind, cut):
    cells = [None if i % 5 == 2 else i for i in range(20)]
    for values in (cells, list(range(20))):
        array = pa.array(values, getattr(pa, kind)())[cut.start or 0 : cut.stop or 20]
        assert has_numbers(array)
        expected = [np.nan if one is None else float(one) for one in array.to_pylist()]
        np.testing.assert_array_equal(read_numbers(array), expected)


def test_reading_does_not_write_into_the_array():
    array = pa.array([1.0, None, 3.0])
    assert np.isnan(read_numbers(array)[1])
    assert array.to_pylist() == [1.0, None, 3.0]


def test_texts_are_the_different_ones_and_a_code_each():
    array = pa.array(["b", "a", None, "b"]).dictionary_encode()
    for part, expected in ((array, ["b", "a", None, "b"]), (array[1:3], ["a", None])):
        cells = read_dictionary(part)
        assert list(cells) == expected
    assert not has_numbers(pa.array(["1"]))


@pytest.mark.parametrize("values", [[1.5, np.nan, -2.0], [1, 2, 3], [True, False, True]])
def test_arrays_that_are_made_hold_the_values_and_nan_is_none(values):
    made = np.array(values)
    array = make_array(made, pa.from_numpy_dtype(made.dtype))
    array.validate(full=True)
    assert array.to_pylist() == [None if one != one else one for one in values]
    assert make_array(made[:0], pa.from_numpy_dtype(made.dtype)).to_pylist() == []
