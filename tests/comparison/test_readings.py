"""One reading of a table: what the terminal prints is in the report, and no number is cut."""

import pandas as pd
from benchmarks.readings import TARGET, find_cut, find_lost, list_numbers, read_table

from newron import datasets


def test_numbers_are_read_as_they_are_printed():
    assert list_numbers("3\u202f072 combinations, −2.5 and x1, 83.3 %") == ["3072", "-2.5", "83.3"]


def test_a_number_that_the_page_lacks_is_lost_and_times_are_not_looked_at():
    printed = "Accuracy 83.3 %, interval 78.4 to 87.3 (0.02 s)\nwrote m.json 12"
    assert find_lost(printed, "<p>83.32, then 78.4</p>") == ["87.3"]
    assert find_lost(printed, "<p>83.32, 78.4 and 87.3</p>") == []


def test_the_axis_of_the_chart_is_not_looked_at_and_other_numbers_are():
    axis = "                65    67.5     70     72.5    75     77.5     80 %"
    assert find_lost(axis, "") == []
    assert find_lost(axis.replace("75 ", "76 "), "") != []
    assert find_lost("   points   11   15   19 │ 23", "") == ["11", "15", "19", "23"]


def test_a_number_that_is_cut_is_found_and_a_text_is_not():
    cut = "<text x='1'>400…<title>400000</title></text>"
    assert find_cut(cut) == ["400…"]
    assert find_cut("<text>steps at 99.5…<title>steps at 99.5, 110</title></text>") == []
    assert find_cut("<text>0…30000</text>") == []
    assert find_cut("<text>0…</text>") == ["0…"]
    assert find_cut("<text>occupation…<title>occupation 1</title></text>") == []


def test_a_table_of_categories_and_missing_values_is_sound(tmp_path):
    heart = datasets.load("heart")
    frame = pd.DataFrame(heart.X).assign(**{TARGET: heart.y})
    frame["pain"] = frame["chest_pain"].map({1: "none", 2: "some", 3: "much"})
    reading = read_table("heart", frame, tmp_path, rows=90)
    assert reading.is_sound, str(reading)


def test_an_error_of_the_command_is_told(tmp_path):
    frame = pd.DataFrame({"a": [1.0, 2.0], TARGET: ["x", "x"]})
    assert not read_table("few", frame, tmp_path).is_sound
