"""How networks are measured."""

import re

import numpy as np
import pytest

from newron.command.chart import draw_chart
from newron.command.learning import Settings
from newron.command.measuring import measure, plan_measurement
from newron.command.tables import Table, Target
from newron.command.terminal import Page
from newron.evaluation import Estimate, SplitPlan
from newron.model.frame import Field


def make(values, labels=("a", "b"), n_columns=2):
    values = np.asarray(values)
    rng = np.random.default_rng(0)
    rows = rng.normal(size=(len(values), n_columns))
    rows[:, 0] += 4.0 * values
    fields = tuple(Field(f"x{i}") for i in range(n_columns))
    return Table(fields, rows, Target("y", labels, values), {}, {}, ())


@pytest.mark.parametrize(
    ("n", "folds", "share", "plan"),
    [
        (100, None, None, SplitPlan(n_folds=5)),
        (2001, None, None, SplitPlan(test_size=0.2)),
        (100, 3, None, SplitPlan(n_folds=3)),
        (100, None, 0.5, SplitPlan(test_size=0.5)),
        (100, None, 0.0, SplitPlan()),
        (100, 0, None, SplitPlan()),
        (10, None, None, SplitPlan()),
    ],
)
def test_how_to_measure_is_decided_by_the_rows(n, folds, share, plan):
    assert plan_measurement(make(np.arange(n) % 2), folds, share) == plan


def test_a_class_of_few_rows_gets_as_few_folds():
    values = np.zeros(50, int)
    values[:3] = 1
    assert plan_measurement(make(values), None, None) == SplitPlan(n_folds=3)


def test_every_row_is_measured_once_in_folds():
    table = make(np.arange(60) % 2)
    settings = Settings(recipe="gradient", hidden=(), jobs=1)
    measured, model = measure(table, settings, SplitPlan(n_folds=3), lambda *_: None)
    assert sorted(measured.index.tolist()) == list(range(60))
    assert model is None
    assert sum(n for n, _ in measured.missed.values()) == 60
    wrong = sum(missed for _, missed in measured.missed.values())
    assert measured.scores["network"].value == pytest.approx(1.0 - wrong / 60)
    assert measured.scores["constant"].value == pytest.approx(0.5)
    assert measured.scores["logistic regression"].value > 0.9


def test_amounts_are_measured_by_their_mean_distance():
    table = make(np.linspace(0.0, 5.0, 60), labels=None)
    settings = Settings(recipe="gradient", hidden=(), jobs=1)
    measured, _ = measure(table, settings, SplitPlan(test_size=0.5), lambda *_: None)
    assert measured.n_rows == 30
    assert measured.explained <= 1.0
    truth = table.target.values
    rest = np.setdiff1d(np.arange(60), measured.index)
    middle = np.median(truth[rest])
    assert measured.scores["constant"].value == pytest.approx(
        np.abs(truth[measured.index] - middle).mean()
    )


def test_a_chart_has_a_line_for_each_estimate(capsys):
    rows = [
        ("this", Estimate(83.8, 79.3, 87.5)),
        ("a rather long name of a model", Estimate(54.1, 48.5, 59.6)),
    ]
    draw_chart(Page(), rows, unit="%", most=100.0)
    axis, first, second = capsys.readouterr().out.splitlines()
    assert axis.split() == ["40", "50", "60", "70", "80", "90", "%"]
    assert re.fullmatch(r"    this +├─+●─+┤ +83\.8", first)
    assert re.fullmatch(r"    a rather long name of… +├─+●─+┤ +54\.1", second)
    at = [line.index("●") for line in (first, second)]
    assert axis.index("80") < at[0] < axis.index("90")
    assert axis.index("50") < at[1] < axis.index("60")


def test_estimates_that_are_all_the_same_can_be_drawn(capsys):
    draw_chart(Page(), [("this", Estimate(0.0, 0.0, 0.0)), ("that", Estimate(0.0, 0.0, 0.0))])
    assert capsys.readouterr().out.count("●") == 2
