"""NumPy counterparts for matrices, distances and products."""

from __future__ import annotations

import functools
import operator
from collections.abc import Mapping
from types import MappingProxyType
from typing import Any

import numpy as np

from autotest.diagnosis.counterparts.values import (
    NumpyFunction,
    OrderDependent,
    Unsupported,
    Values,
    of_finite,
    p_norm,
    sum_with_product,
)
from autotest.frameworks.torch_arguments import operands_of

#: The condition number above which results are not compared, as their last digits depend on the algorithm.
_CONDITION = 1e6


def _well(x: Values) -> Values:
    """Return `x`. Raise `Unsupported` if a matrix in it is ill-conditioned."""
    if x.size and not (np.linalg.cond(x) < _CONDITION).all():
        raise Unsupported
    return x


def _solve(a: Values, b: Values, *, left: bool = True) -> Values:
    if not left or b.ndim not in (1, a.ndim):
        raise Unsupported
    return np.asarray(np.linalg.solve(_well(a), b[:, None])[..., 0] if b.ndim == 1 else np.linalg.solve(_well(a), b))


def _solve_triangular(a: Values, b: Values, *, upper: bool, left: bool = True, unitriangular: bool = False) -> Values:
    part = np.triu(a, int(unitriangular)) if upper else np.tril(a, -int(unitriangular))
    part = _well(part + np.eye(a.shape[-1]) if unitriangular else part)
    if left:
        return np.asarray(np.linalg.inv(part) @ b)
    return np.asarray(b @ np.linalg.inv(part))


def _sign_and_log(x: Values) -> tuple[Values, Values]:
    sign, size = np.linalg.slogdet(_well(x))
    return np.asarray(sign), np.asarray(size)


def _cholesky(x: Values, upper: bool = False) -> Values:
    lower = np.linalg.cholesky(_well(x))
    return np.asarray(lower.swapaxes(-1, -2).conj() if upper else lower)


def _hermitian_eigenvalues(x: Values, UPLO: str = "L") -> Values:  # noqa: N803 - the operator's own name
    return np.asarray(np.linalg.eigvalsh(x, "U" if UPLO.upper() == "U" else "L"))


def _chain(*matrices: Any) -> Values:
    return np.asarray(functools.reduce(operator.matmul, operands_of(matrices)))


def _kronecker(x: Values, y: Values) -> Values:
    return np.asarray(np.kron(x, y))


def _cross_product(x: Values, y: Values, *, dim: int = -1) -> Values:
    x, y = np.broadcast_arrays(x, y)
    return np.asarray(np.cross(x, y, axis=dim))


def _sums_of_products(x: Values, y: Values, *, dim: int = -1) -> Values:
    return np.asarray((np.conj(x) * y).sum(axis=dim))


def _distances(x: Values, y: Values, p: float = 2.0, compute_mode: Any = None) -> Values:
    apart = x[..., :, None, :] - y[..., None, :, :]
    if p == 0 and np.isnan(apart).any():
        raise OrderDependent  # whether NaN counts as a difference is unspecified
    return p_norm(apart, p)


def _limited(x: Values, p: float, dim: int, maxnorm: float) -> Values:
    """Scale the slices along `dim` whose norm exceeds `maxnorm` to that norm, as torch documents for ``renorm``."""
    rows = np.moveaxis(x, dim, 0)
    norms = p_norm(rows.reshape(rows.shape[0], -1), p)
    factors = np.where(norms > maxnorm, maxnorm / (norms + 1e-7), 1.0)
    return np.asarray(np.moveaxis(rows * factors.reshape(-1, *[1] * (rows.ndim - 1)), 0, dim))


def _bilinear(x: Values, y: Values, weight: Values, bias: Any = None) -> Values:
    return np.asarray(np.einsum("...i,kij,...j->...k", x, weight, y) + (0 if bias is None else bias))


def _block_diagonal(*blocks: Any) -> Values:
    matrices = [np.atleast_2d(block) for block in blocks]
    whole = np.zeros(
        (sum(one.shape[0] for one in matrices), sum(one.shape[1] for one in matrices)), np.result_type(*matrices)
    )
    row = column = 0
    for one in matrices:
        whole[row : row + one.shape[0], column : column + one.shape[1]] = one
        row, column = row + one.shape[0], column + one.shape[1]
    return whole


def _powers(x: Values, N: Any = None, increasing: bool = False) -> Values:  # noqa: N803 - the operator's own name
    return np.asarray(np.vander(x, N, increasing))


def _product_of_all(*tensors: Values) -> Values:
    if len(tensors) == 1:
        return tensors[0]
    return np.stack([grid.ravel() for grid in np.meshgrid(*tensors, indexing="ij")], axis=1)


def _power(x: Values, n: int) -> Values:
    return np.asarray(np.linalg.matrix_power(x if n >= 0 else _well(x), n))


ALGEBRA: Mapping[str, NumpyFunction] = MappingProxyType(
    {
        "det": lambda x: np.linalg.det(_well(x)),
        "slogdet": _sign_and_log,
        "logdet": lambda x: np.log(np.linalg.det(_well(x))),
        "inverse": lambda x: np.linalg.inv(_well(x)),
        "pinverse": lambda x: np.linalg.pinv(_well(x)),
        "cholesky": _cholesky,
        "matrix_power": _power,
        "chain_matmul": _chain,
        "kron": _kronecker,
        "inner": lambda x, y: np.inner(x, y),  # noqa: PLW0108 - it takes nothing else
        "vdot": lambda x, y: np.vdot(x, y),  # noqa: PLW0108
        "cdist": _distances,
        "renorm": _limited,
        "bilinear": of_finite(_bilinear),
        "block_diag": _block_diagonal,
        "vander": _powers,
        "cartesian_prod": _product_of_all,
        "addmv": lambda c, a, b, *, beta=1, alpha=1: sum_with_product(c, a @ b, beta, alpha),
        "addbmm": lambda c, a, b, *, beta=1, alpha=1: sum_with_product(c, (a @ b).sum(axis=0), beta, alpha),
    }
)
#: Functions of ``torch.linalg``, where some names have another meaning than in ``torch``.
LINALG: Mapping[str, NumpyFunction] = MappingProxyType(
    {
        "inv": ALGEBRA["inverse"],
        "det": ALGEBRA["det"],
        "slogdet": _sign_and_log,
        "solve": _solve,
        "solve_triangular": _solve_triangular,
        "cholesky": lambda x, *, upper=False: _cholesky(x, upper),
        "eigvalsh": _hermitian_eigenvalues,
        "pinv": lambda x: np.linalg.pinv(_well(x)),
        "matrix_power": _power,
        "multi_dot": _chain,
        "matmul": lambda x, y: np.matmul(x, y),  # noqa: PLW0108
        "cross": _cross_product,
        "vecdot": _sums_of_products,
        "vander": lambda x, *, N=None: _powers(x, N, True) if x.ndim == 1 else None,  # noqa: N803
        "diagonal": lambda x, *, offset=0, dim1=-2, dim2=-1: np.diagonal(x, offset, dim1, dim2),
        "tensorinv": lambda x, ind=2: np.linalg.tensorinv(x, ind),
    }
)
