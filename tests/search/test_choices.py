"""What the search chooses among."""

import pytest

from newron import InputError
from search.support import search_corner


class TestChoices:
    def test_the_function_may_be_chosen_too(self):
        search = search_corner(
            processing=["sigmoid", "tanh_prod"], n_factors=[1, 2], functions_per_input=[1, 2],
            max_structures=1,
        )  # fmt: skip
        params = search.cv_results_["params"]
        assert len(params) == 2 + 4
        assert {each["processing"] for each in params} == {"sigmoid", "tanh_prod"}
        assert search.cv_results_["n_functions"].tolist() == [3, 6, 3, 6, 3, 6]
        for name, value in search.best_params_.items():
            assert getattr(search.best_estimator_, name) == value

    @pytest.mark.parametrize(
        ("wrong", "match"),
        [
            ({"processing": ["sigmoid", "nothing"]}, "nothing"),
            ({"processing": [("sigmoid", "linear")]}, "one function for all layers"),
            ({"weight_decay": []}, "weight_decay: expected at least one value"),
        ],
    )
    def test_wrong_ones_are_refused(self, wrong, match):
        with pytest.raises(InputError, match=match):
            search_corner(**wrong)

    def test_one_value_is_no_list(self):
        with pytest.raises(ValueError, match="processing"):
            search_corner(processing="sigmoid")
