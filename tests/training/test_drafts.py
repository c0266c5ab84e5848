"""Networks that are finished when they are first looked at."""

import pickle
from dataclasses import dataclass, field

import numpy as np
import pytest

from builders.models import make_card, make_regression
from newron import NewronClassifier
from newron.model import Model
from newron.training.drafts import Drafts
from newron.training.path import count_lines


@dataclass
class Finisher:
    """Counts the networks that it finishes, and gives them other weights."""

    seen: list[Model] = field(default_factory=list)

    def __call__(self, model: Model) -> Model:
        self.seen.append(model)
        last = model.layers[-1]
        return model.replace(layers=[*model.layers[:-1], last.replace(centre=last.centre + 1.0)])


class TestDrafts:
    def test_only_what_is_looked_at_is_finished_and_once(self):
        finish = Finisher()
        first, second = make_regression(), make_regression()
        drafts = Drafts([first, second], finish)
        assert not finish.seen
        assert drafts[-1] is drafts[1]
        assert finish.seen == [second]
        assert drafts[1] != second
        assert drafts.drafts[0] is first

    def test_parts_keep_how_they_are_finished(self):
        finish = Finisher()
        first = make_regression()
        drafts = Drafts([first, first], finish).append(first).map(finish).take([2, 0])
        centre = first.layers[-1].centre
        added = [model.layers[-1].centre - centre for model in drafts]
        assert np.ravel(added).tolist() == pytest.approx([1.0, 2.0])

    def test_they_compare_and_pickle_finished(self):
        drafts = Drafts([make_regression()] * 2, Finisher())
        again = pickle.loads(pickle.dumps(drafts))
        assert again == drafts
        assert again.drafts == tuple(drafts) == drafts[:]

    def test_conditions_that_may_become_more_are_finished_at_once(self):
        finish = Finisher()
        Drafts([make_card()], finish)
        assert len(finish.seen) == 1


@pytest.mark.parametrize("processing", ["heaviside", "smooth"])
@pytest.mark.parametrize("kind", ["numbers", "windows", "points"])
def test_sizes_of_a_path_are_those_of_its_finished_networks(processing, kind):
    rng = np.random.default_rng(71)
    X = rng.normal(size=(400, 3))
    score = X[:, 0] + (np.abs(X[:, 1]) < 0.5)
    if kind == "windows":
        score = 2.0 * np.cos(3.0 * X[:, 0]) + (X[:, 1] > 0) * (X[:, 2] > 0)
    y = (score + 0.5 * rng.normal(size=400) > 0.5).astype(int)
    if kind == "points":
        X[rng.random(X.shape) < 0.1] = np.nan
    path = NewronClassifier(processing, random_state=0).fit(X, y).path_
    assert path.sizes == tuple(count_lines(model) for model in path)
