"""Rows of survival as rows of periods."""

import numpy as np
import pandas as pd
import pytest

from newron.estimators.periods import cut_time, expand
from newron.evaluation.times import Times, read_times
from newron.tables.field import Field


class TestPeriods:
    def test_every_interval_that_a_subject_enters_is_a_row(self):
        times = Times(np.array([True, False, False, True]), np.array([2.0, 3.2, 3.8, 9.0]))
        found = expand(np.arange(4.0)[:, None], times, (1.0, 3.0, 4.0, 9.0), (Field("x"),))
        rows = [
            (int(s), *row[1:], int(y))
            for s, row, (y,) in zip(found.subject, found.X, found.y, strict=True)
        ]
        assert rows == [
            (0, 1.0, 0),
            (0, 3.0, 1),
            (1, 1.0, 0),
            (1, 3.0, 0),  # lost before the middle of (3, 4]
            (2, 1.0, 0),
            (2, 3.0, 0),
            (2, 4.0, 0),  # lost after it
            (3, 1.0, 0),
            (3, 3.0, 0),
            (3, 4.0, 0),
            (3, 9.0, 1),
        ]
        assert [field.name for field in found.fields] == ["x", "time"]

    def test_intervals_have_about_as_many_events_each(self):
        rng = np.random.default_rng(1)
        times = Times(rng.random(1000) < 0.7, rng.exponential(size=1000))
        ends = cut_time(times, None, 10)
        counts = np.histogram(times.time[times.event], [-1.0, *ends])[0]
        assert counts.min() >= 60
        assert ends[-1] == times.time[times.event].max()

    def test_ties_are_never_cut_apart(self):
        times = Times(np.ones(9, bool), np.array([1.0] * 6 + [2.0, 3.0, 3.0]))
        assert cut_time(times, None, 25) == (1.0, 2.0, 3.0)

    @pytest.mark.parametrize("give", [tuple, np.column_stack, pd.DataFrame])
    def test_events_and_times_come_in_many_forms(self, give, subjects):
        _, y = subjects
        event, time = y["death"], y["months"]
        made = give({"death": event, "months": time} if give is pd.DataFrame else (event, time))
        found = read_times(made, len(y))
        np.testing.assert_array_equal(found.event, event)
        np.testing.assert_array_equal(found.time, time)

    def test_fields_come_in_any_order_and_name_event_and_time(self, subjects):
        _, y = subjects
        turned = np.array([(t, e) for e, t in y], [("months", float), ("death", bool)])
        found = read_times(turned, len(y))
        assert (found.event_name, found.time_name) == ("death", "months")
        np.testing.assert_array_equal(found.event, y["death"])
