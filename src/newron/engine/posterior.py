"""The normal distribution of the coefficients, given the rows and the prior variances."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Protocol

import numpy as np
from numpy.typing import NDArray
from scipy.linalg.lapack import dpotri, dtrtri

from newron.engine.design import DenseDesign
from newron.model.arithmetic import Floats


class Posterior(Protocol):
    """The normal distribution of coefficients, around their values."""

    def variances(self) -> Floats:
        """Return the variance of every coefficient."""

    def spread(self, functions: Floats, part: NDArray[np.intp] | slice) -> Floats:
        """Return the standard deviation of sums of some functions, one for each row."""

    def relax(self, factor: Floats, values: Floats) -> tuple[Posterior, Floats]:
        """Return the posterior were the prior variances larger by factors, and its values."""


@dataclass(frozen=True, eq=False)
class CovariancePosterior:
    """A posterior by its covariance, and the prior precisions that are part of it."""

    covariance: Floats
    precision: Floats

    def variances(self) -> Floats:
        """Return the variance of every coefficient."""
        return np.diag(self.covariance)

    def spread(self, functions: Floats, part: NDArray[np.intp] | slice) -> Floats:
        """Return the standard deviation of sums of some functions, one for each row."""
        inner = functions @ self.covariance[part][:, part]
        square = np.einsum("ij,ij->i", inner, functions)
        return np.asarray(np.sqrt(np.maximum(square, 0.0)))

    def relax(self, factor: Floats, values: Floats) -> tuple[Posterior, Floats]:
        """Return the posterior were the prior variances larger by factors, and its values."""
        less = self.precision * (1.0 - 1.0 / factor)
        # As (covariance^-1 - less)^-1, without the inverse of what is nearly singular.
        matrix = np.eye(len(less)) - self.covariance * less
        covariance = np.asarray(np.linalg.solve(matrix, self.covariance), np.float64)
        relaxed = CovariancePosterior(covariance, self.precision / factor)
        return relaxed, np.asarray(values + covariance @ (less * values))


@dataclass(frozen=True, eq=False)
class FactorPosterior:
    """A posterior by the lower factor of its precision, of which the prior's is a part.

    Most are asked for variances alone, which cost a third of the covariance.
    """

    factor: Floats
    precision: Floats

    def variances(self) -> Floats:
        """Return the variance of every coefficient."""
        inverse, _ = dtrtri(self.factor, lower=1)
        return np.asarray(np.einsum("ij,ij->j", inverse, inverse))

    @cached_property
    def _whole(self) -> CovariancePosterior:
        return CovariancePosterior(invert(np.array(self.factor, order="F")), self.precision)

    def spread(self, functions: Floats, part: NDArray[np.intp] | slice) -> Floats:
        """Return the standard deviation of sums of some functions, one for each row."""
        return self._whole.spread(functions, part)

    def relax(self, factor: Floats, values: Floats) -> tuple[Posterior, Floats]:
        """Return the posterior were the prior variances larger by factors, and its values."""
        return self._whole.relax(factor, values)


@dataclass(frozen=True, eq=False)
class KernelPosterior:
    """A posterior by its prior variances, less what the rows tell.

    The covariance is the prior's less its product with ``inner`` between the functions of rows.
    """

    prior: Floats
    design: DenseDesign
    inner: Floats  # (rows, rows)

    def variances(self) -> Floats:
        """Return the variance of every coefficient; of tied ones their mean."""
        out, free = self.prior.copy(), self.design.free
        functions = self.design.matrix[:, free]
        out[free] -= out[free] ** 2 * np.einsum("ij,ij->j", functions, self.inner @ functions)
        for part, kernel in zip(self.design.tied, self.design.kernels, strict=True):
            known = float(np.einsum("ij,ij->", self.inner, kernel)) / len(part)
            out[part] -= out[part] ** 2 * known
        return out

    def spread(self, functions: Floats, part: NDArray[np.intp] | slice) -> Floats:
        """Return the standard deviation of sums of some functions, one for each row."""
        across = (functions * self.prior[part]) @ self.design.matrix[:, part].T
        known = np.einsum("ij,ij->i", across @ self.inner, across)
        square = functions**2 @ self.prior[part] - known
        return np.asarray(np.sqrt(np.maximum(square, 0.0)))

    def relax(self, factor: Floats, values: Floats) -> tuple[Posterior, Floats]:
        """Return the posterior were the prior variances larger by factors, and its values."""
        matrix, prior = self.design.matrix, self.prior * factor
        more = (matrix * (prior - self.prior)) @ matrix.T
        # As (inner^-1 + more)^-1.
        system = np.eye(len(more)) + self.inner @ more
        inner = np.asarray(np.linalg.solve(system, self.inner), np.float64)
        pull = (1.0 / self.prior - 1.0 / prior) * values
        moved = prior * (pull - matrix.T @ (inner @ (matrix @ (prior * pull))))
        return KernelPosterior(prior, self.design, inner), np.asarray(values + moved)


def invert(factor: Floats) -> Floats:
    """Return the inverse of a matrix from its lower Cholesky factor, which is overwritten."""
    inverse, _ = dpotri(factor, lower=1, overwrite_c=True)
    return np.asarray(np.tril(inverse) + np.tril(inverse, -1).T)
