"""Measures the error of matrix factors against their definition, for factorizations that are not unique."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from types import MappingProxyType
from typing import Any, NamedTuple

import numpy as np

from autotest.diagnosis.counterparts.values import Unsupported, Values

#: A function of the matrix, its factors and the further arguments of the call; its arrays are zero for right factors.
FactorDefinition = Callable[..., Iterable[Values]]


class Property(NamedTuple):
    """The definition of the factors that a function returns, in words and as differences that must be zero."""

    words: str
    #: The number of factors.
    parts: int
    differences: FactorDefinition


def _turned(x: Values) -> Values:
    return np.asarray(np.conj(np.swapaxes(x, -1, -2)))


def _orthonormal(x: Values) -> Values:
    return np.asarray(_turned(x) @ x - np.eye(x.shape[-1]))


def _qr(a: Values, q: Values, r: Values, mode: str = "reduced") -> Iterable[Values]:
    if mode not in ("reduced", "complete"):
        raise Unsupported
    yield from (q @ r - a, _orthonormal(q), np.tril(r, -1))


def _eigh(a: Values, values: Values, vectors: Values, UPLO: str = "L") -> Iterable[Values]:  # noqa: N803 - its own name
    part = np.tril(a, -1) if UPLO == "L" else np.triu(a, 1)
    whole = part + _turned(part) + np.real(np.diagonal(a, axis1=-2, axis2=-1))[..., None] * np.eye(a.shape[-1])
    yield from (whole @ vectors - vectors * values[..., None, :], _orthonormal(vectors))
    yield np.minimum(np.diff(values, axis=-1), 0)


def _eig(a: Values, values: Values, vectors: Values) -> Iterable[Values]:
    yield a @ vectors - vectors * values[..., None, :]
    yield np.linalg.norm(vectors, axis=-2) - 1


def _svd(a: Values, u: Values, s: Values, vh: Values, full_matrices: bool = True) -> Iterable[Values]:
    k = s.shape[-1]
    yield (u[..., :k] * s[..., None, :]) @ vh[..., :k, :] - a
    yield from (_orthonormal(u), _orthonormal(_turned(vh)), np.minimum(-np.diff(s, axis=-1), 0), np.minimum(s, 0))


PROPERTIES: Mapping[str, Property] = MappingProxyType(
    {
        "linalg.qr": Property("Q R = A, an orthonormal Q and an upper triangular R", 2, _qr),
        "linalg.eigh": Property("A V = V diag(L), an orthonormal V and an ascending L", 2, _eigh),
        "linalg.eig": Property("A V = V diag(L) and columns of length 1 in V", 2, _eig),
        "linalg.svd": Property("U diag(S) Vh = A, orthonormal U and V and a descending S", 3, _svd),
    }
)


def distances(
    path: str, args: Sequence[Any], kwargs: Mapping[str, Any], sides: Sequence[Sequence[Values]]
) -> tuple[float, ...] | None:
    """Return the error of each side's factors against their definition, relative to the magnitude of the matrix.

    Args:
        path: the name of the function, a key of `PROPERTIES`.
        args: the positional arguments of the call, of which the first is the matrix.
        kwargs: the keyword arguments of the call.
        sides: the factors of each side.

    Returns:
        One error for each side; None if the call is not supported, or the matrix is empty or not finite.
    """
    try:
        matrix = np.asarray(args[0])
        if not matrix.size or not np.isfinite(matrix).all():
            return None
        size = max(1.0, float(np.abs(matrix).max()))
        definition = PROPERTIES[path].differences
        rest = args[1:]
        return tuple(
            max(float(np.abs(one).max(initial=0)) for one in definition(matrix, *side, *rest, **kwargs)) / size
            for side in sides
        )
    except (Unsupported, ValueError, TypeError, IndexError):  # unsupported arguments, or unexpected shapes
        return None
