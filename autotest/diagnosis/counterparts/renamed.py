"""NumPy counterparts of less common operators that have another name in NumPy, or need only one line."""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType

import numpy as np

from autotest.diagnosis.counterparts.polynomials import POLYNOMIALS
from autotest.diagnosis.counterparts.values import NumpyFunction, Values


def _distance(x: Values, y: Values, p: float = 2.0) -> Values:
    return np.asarray(np.linalg.norm((x - y).ravel(), ord=p))


RENAMED: Mapping[str, NumpyFunction] = MappingProxyType(
    {
        "positive": np.positive,
        "conj": np.conj,
        "conj_physical": np.conj,
        "resolve_conj": np.array,
        "resolve_neg": np.array,
        "real": np.real,
        "adjoint": lambda x: np.conj(x.swapaxes(-1, -2)),
        "fix": np.trunc,
        "fill": np.full_like,
        "dist": _distance,
        "ger": np.outer,
        "msort": lambda x: np.sort(x, axis=0),
        "moveaxis": np.moveaxis,
        "movedim": np.moveaxis,
        "row_stack": np.vstack,
        "diagflat": lambda x, offset=0: np.diagflat(x, offset),
    }
)
#: Functions of ``torch.special`` that are the same as a function of ``torch``, by name.
SPECIAL: Mapping[str, str] = MappingProxyType(
    {
        **{name: name for name in ("log1p", "expm1", "exp2", "softmax", "log_softmax", "xlogy", "logit", "sinc")},
        **{name: name for name in POLYNOMIALS},
        "expit": "sigmoid",
        "round": "round",
    }
)
