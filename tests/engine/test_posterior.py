"""Posteriors by rows and by coefficients are the same normal distribution."""

import numpy as np
import pytest

from newron.engine.basis import Group
from newron.engine.design import DenseDesign, find_tied
from newron.engine.posterior import CovariancePosterior, FactorPosterior, KernelPosterior
from newron.engine.rows import MemoryRows


@pytest.fixture
def design() -> DenseDesign:
    rng = np.random.default_rng(0)
    groups = [
        Group("line", (0,), rng.normal(size=(4, 1)), tied=True),
        Group("smooth", (1,), rng.normal(size=(4, 3))),
        Group("line", (2,), rng.normal(size=(4, 1)), tied=True),
    ]
    return DenseDesign(rng.normal(size=(5, 6)), MemoryRows([]), find_tied(groups))


PRIOR = np.array([1e3, 0.3, 0.2, 0.2, 0.2, 0.3])  # both lines have 0.3


def make_posterior(design: DenseDesign) -> tuple[KernelPosterior, np.ndarray]:
    """Return the posterior of unit curvatures, and its covariance by the plain formula."""
    inner = np.linalg.inv(design.kernel(PRIOR) + np.eye(5))
    covariance = np.linalg.inv(design.matrix.T @ design.matrix + np.diag(1.0 / PRIOR))
    return KernelPosterior(PRIOR, design, inner), covariance


def test_positions_of_tied_groups_are_found_by_kind(design: DenseDesign) -> None:
    assert [part.tolist() for part in design.tied] == [[1, 5]]
    assert design.free.tolist() == [0, 2, 3, 4]


def test_the_kernel_of_rows_has_every_function_by_its_prior(design: DenseDesign) -> None:
    assert design.kernel(PRIOR) == pytest.approx((design.matrix * PRIOR) @ design.matrix.T)


def test_variances_are_those_of_the_covariance_and_tied_ones_their_mean(
    design: DenseDesign,
) -> None:
    posterior, covariance = make_posterior(design)
    expected = np.diag(covariance).copy()
    expected[[1, 5]] = expected[[1, 5]].mean()
    assert posterior.variances() == pytest.approx(expected)


def test_the_spread_of_sums_is_that_of_the_covariance(design: DenseDesign) -> None:
    posterior, covariance = make_posterior(design)
    functions = np.random.default_rng(1).normal(size=(7, 6))
    expected = np.sqrt(np.einsum("ij,jk,ik->i", functions, covariance, functions))
    assert posterior.spread(functions, slice(None)) == pytest.approx(expected)
    part = np.array([1, 3])
    some = np.zeros((7, 6))
    some[:, part] = functions[:, part]
    assert posterior.spread(functions[:, part], part) == pytest.approx(
        np.sqrt(np.einsum("ij,jk,ik->i", some, covariance, some))
    )


def test_larger_prior_variances_make_the_posterior_of_these_variances(design: DenseDesign) -> None:
    target = np.random.default_rng(2).normal(size=5)
    factor = np.array([1.0, 3.0, 2.0, 2.0, 2.0, 3.0])
    kernel, covariance = make_posterior(design)
    values = covariance @ design.matrix.T @ target
    larger = np.linalg.inv(design.matrix.T @ design.matrix + np.diag(1.0 / (PRIOR * factor)))
    functions = np.random.default_rng(1).normal(size=(7, 6))
    expected = np.sqrt(np.einsum("ij,jk,ik->i", functions, larger, functions))
    factors = FactorPosterior(np.linalg.cholesky(np.linalg.inv(covariance)), 1.0 / PRIOR)
    assert factors.variances() == pytest.approx(np.diag(covariance))
    for posterior in (kernel, CovariancePosterior(covariance, 1.0 / PRIOR), factors):
        relaxed, moved = posterior.relax(factor, values)
        assert moved == pytest.approx(larger @ design.matrix.T @ target)
        assert relaxed.spread(functions, slice(None)) == pytest.approx(expected)
