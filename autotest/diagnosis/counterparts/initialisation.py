"""NumPy counterparts of the functions of ``torch.nn.init`` that draw no random numbers."""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType

import numpy as np

from autotest.diagnosis.counterparts.values import NumpyFunction, Values, exactly


def _identity(tensor: Values) -> Values:
    rows, columns = tensor.shape
    return np.eye(rows, columns, dtype=tensor.dtype)


#: By name without its underscore: these functions write into their first operand.
INITIALISATION: Mapping[str, NumpyFunction] = MappingProxyType(
    {
        "constant": np.full_like,
        "zeros": exactly(np.zeros_like, 1),
        "ones": exactly(np.ones_like, 1),
        "eye": _identity,
    }
)
