"""Which structure is taken."""

import math

import numpy as np
import pytest

from newron import TrainingError
from newron.search.exploration import Exploration, Outcome, Trial
from newron.search.results import choose_node, make_table, measure_error
from newron.search.structure import GrowthRule, Tree

SCORES = np.array([[0.80, 0.90], [0.84, 0.94], [0.85, 0.95]])


class TestTies:
    def test_the_smallest_within_one_standard_error_is_taken(self):
        assert measure_error(SCORES[2]) == pytest.approx(0.05)
        assert choose_node(SCORES, [5, 10, 20]) == 0
        assert choose_node(SCORES, [30, 10, 20]) == 1

    def test_or_the_highest_score_if_so_told(self):
        assert choose_node(SCORES, [5, 10, 20], "best") == 2

    def test_equal_scores_go_to_the_smaller_network(self):
        equal = np.array([[0.8, 0.9], [0.8, 0.9]])
        assert choose_node(equal, [7, 3], "best") == 1
        assert choose_node(equal, [3, 3], "best") == 0

    def test_of_equal_size_the_better_is_taken(self):
        assert choose_node(SCORES, [5, 5, 20]) == 1

    def test_one_fold_has_no_spread(self):
        assert choose_node(SCORES[:, :1], [5, 10, 20]) == 2
        assert choose_node(SCORES[:, :1], [5, 10, 20], 0.02) == 1

    def test_what_failed_is_not_taken(self):
        scores = np.array([[math.nan, 0.99], [0.5, 0.6]])
        assert choose_node(scores, [1, 2]) == 1
        with pytest.raises(TrainingError, match="got none"):
            choose_node(scores[:1], [1])


def test_the_table_has_the_names_of_scikit_learn():
    choices = [(("processing", "sigmoid"),), (("processing", "tanh_prod"), ("n_factors", 3))]
    tree = Tree.start(GrowthRule(max_structures=1), choices)
    outcomes = {
        Trial(candidate, fold): Outcome(0.5 + fold / 10 + place, 1.0, 2.0)
        for place, candidate in enumerate(tree.candidates)
        for fold in range(2)
    }
    tree = tree.advance(dict.fromkeys(tree.candidates, 0.0))
    table = make_table(Exploration(tree, outcomes, 2), {"recipe": "gradient"}, [4, 8])
    assert table["params"][1] == {
        "hidden_layer_sizes": (), "processing": "tanh_prod", "n_factors": 3, "recipe": "gradient",
    }  # fmt: skip
    assert table["param_n_factors"].mask.tolist() == [True, False]
    assert table["split1_test_score"].tolist() == [0.6, 1.6]
    assert table["mean_test_score"].tolist() == pytest.approx([0.55, 1.55])
    assert table["rank_test_score"].tolist() == [2, 1]
    assert table["n_functions"].tolist() == [4, 8]
    assert table["mean_fit_time"].tolist() == [1.0, 1.0]
    assert table["mean_score_time"].tolist() == [2.0, 2.0]
    assert table["parent"].tolist() == [-1, -1]
