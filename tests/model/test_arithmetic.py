"""Elementary functions that give the same bits everywhere."""

import numpy as np

from newron.model.arithmetic import exp, sigmoid, softmax, tanh


class TestArithmetic:
    def test_exp_is_right_to_the_last_place_or_two(self):
        x = np.linspace(-700, 700, 100_001)
        np.testing.assert_allclose(exp(x), np.exp(x), rtol=5e-16)

    def test_extreme_arguments_stay_finite(self):
        x = np.array([-np.inf, -1e308, -709.0, 0.0, 709.0, 1e308, np.inf])
        with np.errstate(over="ignore"):
            for function in (exp, sigmoid, tanh):
                assert np.all(np.isfinite(function(x)))
        assert sigmoid(x)[0] < 1e-300
        assert sigmoid(x)[-1] == 1.0

    def test_sigmoid_tanh_and_softmax_are_right(self):
        x = np.linspace(-40, 40, 10_001)
        np.testing.assert_allclose(sigmoid(x), 1 / (1 + np.exp(-x)), rtol=1e-15)
        np.testing.assert_allclose(tanh(x), np.tanh(x), atol=2e-16)
        np.testing.assert_allclose(softmax(np.array([[0.0, np.log(3.0)]])), [[0.25, 0.75]])
