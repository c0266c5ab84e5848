"""The slider for the threshold: its counts are those of the rows."""

import numpy as np

from newron.report.facts import gather
from newron.report.page import render
from newron.report.threshold_section import count_cuts
from report.models import make_example


def test_counts_are_those_of_the_rows():
    model, X, y = make_example("card")
    cuts = np.array(count_cuts(gather(model, X, y)))
    assert cuts.shape == (99, 4)
    second = model.output.labels[1]
    probability, truth = model.predict_proba(X)[:, 1], np.asarray(y) == second
    for k in (0, 29, 49, 98):
        said = probability >= (k + 1) / 100
        cells = (said & truth, said & ~truth, ~said & truth, ~said & ~truth)
        assert cuts[k].tolist() == [int(cell.sum()) for cell in cells]
    assert cuts[49, 0] + cuts[49, 1] == (model.predict(X) == second).sum()


def test_only_two_classes_with_true_answers_have_a_slider():
    model, X, y = make_example("card")
    assert 'id="cut"' in render(gather(model, X, y))
    assert 'id="cut"' not in render(gather(model, X))
    assert 'id="cut"' not in render(gather(*make_example("amounts")))
