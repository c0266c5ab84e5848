import numpy as np
import pandas as pd
import polars as pl
import pytest

from newron.errors import InputError, NewronWarning
from newron.tables.files import ColumnOptions
from newron.tables.labelled import survey_labelled
from newron.tables.parts import BatchSource, PartsSource, list_files, open_parts


def write(folder, *texts, suffix=".csv"):
    folder.mkdir(exist_ok=True)
    for i, text in enumerate(texts):
        (folder / f"{i}{suffix}").write_text(text)
    return folder


def read_blocks(source, target, size, weight=None):
    found = survey_labelled(source, target, ColumnOptions(), weight=weight)
    return found, list(found.read_blocks(size))


def test_files_of_a_folder_a_pattern_and_a_list_are_found_in_order(tmp_path):
    folder = write(tmp_path / "a", "x\n1\n", "x\n2\n")
    (folder / "_SUCCESS").touch()
    (folder / ".hidden").touch()
    files = [folder / "0.csv", folder / "1.csv"]
    assert list_files(folder) == list_files(f"{folder}/*.csv") == files
    assert list_files(files[::-1]) == files[::-1]
    assert list_files(files[0]) == files[:1]


def test_a_pattern_without_files_is_an_error(tmp_path):
    with pytest.raises(InputError, match="expected files of a table, got none"):
        list_files(str(tmp_path / "*.parquet"))
    with pytest.raises(InputError, match="got an empty list"):
        open_parts([])


def test_rows_of_several_files_are_cut_into_blocks_by_their_number_alone(tmp_path):
    source = open_parts(
        write(tmp_path / "a", "x,y\n1,a\n2,b\n", "y,x\n", "y,x\nb,3\n,4\na,5\na,6\na,7\n")
    )
    found, blocks = read_blocks(source, "y", 4)
    assert isinstance(source, PartsSource)
    assert found.n_used == 6
    assert [block[0].ravel().tolist() for block in blocks] == [[1.0, 2.0, 3.0, 5.0], [6.0, 7.0]]
    assert [block[1].tolist() for block in blocks] == [[0.0, 1.0, 1.0, 0.0], [0.0, 0.0]]


def test_rows_without_weight_are_left_out_and_wrong_weights_are_errors(tmp_path):
    text = "x,w,y\n1,2,a\n2,0,b\n3,0.5,b\n"
    _, blocks = read_blocks(open_parts(write(tmp_path / "a", text)), "y", 10, "w")
    assert blocks[0][0].ravel().tolist() == [1.0, 3.0]
    assert blocks[0][2].tolist() == [2.0, 0.5]
    for wrong in ("-1", ""):
        source = open_parts(write(tmp_path / "b", f"{text}4,{wrong},a\n"))
        with pytest.raises(InputError, match=r"row 4 .*column 'w': expected a weight from 0 on"):
            read_blocks(source, "y", 10, "w")


def test_files_whose_columns_differ_are_errors(tmp_path):
    folder = write(tmp_path / "a", "x,y\n1,a\n", "x,z\n1,a\n")
    with pytest.raises(InputError, match=r"1\.csv: expected the columns of .*0\.csv, got others"):
        open_parts(folder)


def test_a_file_that_disappears_or_changes_between_two_readings_is_an_error(tmp_path):
    folder = write(tmp_path / "a", "x,y\n1,a\n", "x,y\n2,b\n")
    found = survey_labelled(open_parts(folder), "y", ColumnOptions())
    (folder / "1.csv").write_text("x,y\n2,b\n3,b\n")
    with pytest.raises(InputError, match=r"1\.csv: expected the file that was read before"):
        list(found.read_blocks(10))
    (folder / "1.csv").unlink()
    with pytest.raises(InputError, match=r"1\.csv"):
        list(found.read_blocks(10))


def test_batches_of_any_library_are_one_table():
    rows = {"x": [1.0, None, 3.0], "c": ["red", "NA", None], "b": [True, False, True]}
    source = BatchSource([pd.DataFrame(rows), pl.DataFrame(rows)[["b", "x", "c"]]])
    found, blocks = read_blocks(source, "b", 4)
    assert found.fields[1].categories == ("NA", "red")
    assert found.target.categories == ("false", "true")
    X = np.concatenate([block[0] for block in blocks])
    assert np.array_equal(X[:3], [[1.0, 1.0], [np.nan, 0.0], [3.0, np.nan]], equal_nan=True)
    assert np.array_equal(X[:3], X[3:], equal_nan=True)


def test_batches_that_are_tuples_have_a_target_and_weights():
    parts = [(np.ones((2, 3)), np.array([0, 1]), np.array([1.0, 2.0]))] * 2
    source = BatchSource(parts)
    assert source.names == ("x1", "x2", "x3", "y", "weight")
    _, (block,) = read_blocks(source, "y", 10, "weight")
    assert block[2].tolist() == [1.0, 2.0, 1.0, 2.0]


def test_batches_that_cannot_be_read_again_or_differ_are_errors():
    with pytest.raises(InputError, match="read more than once, got an iterator"):
        BatchSource(iter([np.ones((2, 2))]))
    with pytest.raises(InputError, match="expected batches of a table, got none"):
        BatchSource([])
    source = BatchSource([pd.DataFrame({"a": [1]}), pd.DataFrame({"b": [1]})])
    with pytest.raises(InputError, match=r"batch 1 .*expected the columns of the first one"):
        list(source.read())


def test_what_are_no_batches_and_no_files_is_said_in_one_line():
    with pytest.raises(InputError, match="expected a file, a folder, a pattern or a list"):
        open_parts(42)
    for wrong in (42, pd.DataFrame({"x": [1.0]})):
        with pytest.raises(InputError, match="expected a list of batches, got"):
            BatchSource(wrong)
    source = BatchSource([(np.zeros((9, 1)), np.zeros(8))])
    with pytest.raises(InputError, match=r"batch 0 .*expected 9 rows in each column, got 8 in 'y'"):
        list(source.read())


class Loader(list):
    """Batches whose number is not what it says."""

    def __len__(self):
        return 7


def test_batches_with_a_wrong_length_are_an_error():
    with pytest.raises(InputError, match="expected 7 batches, which their len says, got 2"):
        list(BatchSource(Loader([np.zeros((2, 1)), np.zeros((2, 1))])).read())


def test_columns_in_names_of_folders_are_warned_of(tmp_path):
    for day in ("day=1", "day=2"):
        write(tmp_path / day, "x,y\n1,a\n2,b\n")
    with pytest.warns(NewronWarning, match="their columns day are left out"):
        source = open_parts(tmp_path)
    assert source.names == ("x", "y")
