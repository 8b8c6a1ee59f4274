"""What NumPy computes for a call of an operator, where it has a counterpart."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from types import MappingProxyType
from typing import Any

import numpy as np

from autotest.diagnosis.numpy_algebra import ALGEBRA, LINALG
from autotest.diagnosis.numpy_counterparts import COUNTERPARTS
from autotest.diagnosis.numpy_indexing import INDEXING
from autotest.diagnosis.numpy_layers import LAYERS
from autotest.diagnosis.numpy_losses import LOSSES
from autotest.diagnosis.numpy_masked import MASKED
from autotest.diagnosis.numpy_ordering import ORDERING
from autotest.diagnosis.numpy_polynomials import POLYNOMIALS
from autotest.diagnosis.numpy_renamed import RENAMED, SPECIAL
from autotest.diagnosis.numpy_resizing import RESIZING
from autotest.diagnosis.numpy_statistics import STATISTICS
from autotest.diagnosis.numpy_tapers import TAPERS
from autotest.diagnosis.numpy_windows import WINDOWS
from autotest.diagnosis.numpy_writing import WRITING

_ALL: Mapping[str, Callable[..., Any]] = MappingProxyType(
    {
        **COUNTERPARTS,
        **INDEXING,
        **LOSSES,
        **WINDOWS,
        **ALGEBRA,
        **LAYERS,
        **STATISTICS,
        **WRITING,
        **ORDERING,
        **RENAMED,
        **RESIZING,
        **POLYNOMIALS,
    }
)
_ALIASES: Mapping[str, str] = MappingProxyType({
    "view": "reshape", "absolute": "abs", "multiply": "mul", "divide": "div", "subtract": "sub", "concat": "cat",
    "mod": "remainder", "floordiv": "floor_divide", "concatenate": "cat",
    "asin": "arcsin", "acos": "arccos", "atan": "arctan", "asinh": "arcsinh", "acosh": "arccosh", "atanh": "arctanh",
    "neg": "negative", "greater": "gt", "less": "lt", "swapaxes": "transpose", "arctan2": "atan2",
    "unsafe_split": "split", "view_copy": "reshape",
    "not_equal": "ne", "greater_equal": "ge", "less_equal": "le", "swapdims": "transpose",
    "Sigmoid": "sigmoid", "ReLU": "relu", "Tanh": "tanh", "SiLU": "silu", "ReLU6": "relu6",
})  # fmt: skip
#: What means something of its own below a name of the namespace.
_FOLDERS: Mapping[str, Mapping[str, Callable[..., Any]]] = MappingProxyType(
    {"linalg": LINALG, "masked": MASKED, "signal.windows": TAPERS}
)


def numpy_result(name: str, args: Sequence[Any], kwargs: Mapping[str, Any]) -> Any:
    """The result of operator `name`, a tuple of arrays for several; None where it has none."""
    folder, _, plain = name.rpartition(".")
    if folder == "fft" or (folder, plain) == ("Tensor", "unfold"):
        return None  # which mean something else
    plain = plain.rstrip("_")
    plain = SPECIAL.get(plain, "") if folder == "special" else plain
    if folder == "Tensor" and plain == "where":
        args = (args[1], args[0], *args[2:])  # x.where(condition, y)
    function = _FOLDERS.get(folder, _ALL).get(_ALIASES.get(plain, plain))
    if function is None:
        return None
    with np.errstate(all="ignore"):
        try:
            return function(*args, **kwargs)
        except Exception:  # noqa: BLE001 - a form of the call that the counterpart does not know
            return None
