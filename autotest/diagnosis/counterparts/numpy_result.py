"""Computes the result of an operator's call with its NumPy counterpart."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from types import MappingProxyType
from typing import Any

import numpy as np

from autotest.diagnosis.counterparts.algebra import ALGEBRA, LINALG
from autotest.diagnosis.counterparts.elementwise import COUNTERPARTS
from autotest.diagnosis.counterparts.indexing import INDEXING
from autotest.diagnosis.counterparts.initialisation import INITIALISATION
from autotest.diagnosis.counterparts.layers import LAYERS
from autotest.diagnosis.counterparts.losses import LOSSES
from autotest.diagnosis.counterparts.masked import MASKED
from autotest.diagnosis.counterparts.ordering import ORDERING
from autotest.diagnosis.counterparts.polynomials import POLYNOMIALS
from autotest.diagnosis.counterparts.renamed import RENAMED, SPECIAL
from autotest.diagnosis.counterparts.resizing import RESIZING
from autotest.diagnosis.counterparts.statistics import STATISTICS
from autotest.diagnosis.counterparts.tapers import TAPERS
from autotest.diagnosis.counterparts.values import OrderDependent
from autotest.diagnosis.counterparts.windows import WINDOWS
from autotest.diagnosis.counterparts.writing import WRITING
from autotest.program import leaves, map_operand

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
#: Counterparts for sub-namespaces of ``torch`` in which a name may have another meaning than in ``torch``.
_FOLDERS: Mapping[str, Mapping[str, Callable[..., Any]]] = MappingProxyType(
    {"linalg": LINALG, "masked": MASKED, "signal.windows": TAPERS, "nn.init": INITIALISATION}
)

#: Operators in which an integer of Python takes the dtype of the array, so that the result wraps around in it.
_IN_THE_DTYPE = frozenset("add sub mul floor_divide remainder fmod bitwise_and bitwise_or bitwise_xor".split())

#: The magnitude below which no product of two numbers overflows, nor a sum of such products.
_ORDINARY = 1e150


def numpy_result(name: str, args: Sequence[Any], kwargs: Mapping[str, Any]) -> Any:
    """Return the result of operator `name`.

    Args:
        name: the path of the operator below ``torch``, such as ``"linalg.inv"`` or ``"Tensor.where"``.
        args: the positional arguments, with arrays for tensors.
        kwargs: the keyword arguments.

    Returns:
        An array, a tuple of arrays for several results, or None if there is no counterpart for the call.

    Raises:
        OrderDependent: the result depends on the order of computation for these numbers.
    """
    folder, _, plain = name.rpartition(".")
    if folder == "fft" and not _is_ordinary(args, kwargs):
        raise OrderDependent
    if folder == "fft" or (folder, plain) == ("Tensor", "unfold"):
        return None  # these have another meaning than their namesakes in ``torch``
    plain = plain.rstrip("_")
    plain = SPECIAL.get(plain, "") if folder == "special" else plain
    if folder == "Tensor" and plain == "where":
        if len(args) < 2:
            return None  # the condition is given by keyword
        args = (args[1], args[0], *args[2:])  # x.where(condition, y)
    plain = _ALIASES.get(plain, plain)
    function = _FOLDERS.get(folder, _ALL).get(plain)
    if function is None:
        return None
    args, kwargs = map_operand((tuple(args), dict(kwargs)), _python_number)
    args = _in_the_dtype(args) if plain in _IN_THE_DTYPE and not folder else args
    with np.errstate(all="ignore"):
        try:
            found = function(*args, **kwargs)
            settled = _is_ordinary(args, kwargs) or _keeps_with_range(found, function, args, kwargs)
        except OrderDependent:
            raise
        except Exception:  # noqa: BLE001 - the counterpart does not support these arguments
            return None
    if not settled:
        raise OrderDependent
    return found


def _python_number(value: Any) -> Any:
    return value.item() if isinstance(value, np.generic) else value


def _in_the_dtype(args: Sequence[Any]) -> Sequence[Any]:
    """Return `args` with integers of Python as integers of the dtype of the array beside them, if that is integral.

    NumPy would give uint8 and -1 a result of int16.
    """
    kinds = {item.dtype for item in args if isinstance(item, np.ndarray)}
    if len(kinds) != 1 or not all(kind.kind in "iu" for kind in kinds):
        return args
    (dtype,) = kinds
    return tuple([np.asarray(item).astype(dtype) if type(item) is int else item for item in args])


def _is_ordinary(args: Sequence[Any], kwargs: Mapping[str, Any]) -> bool:
    """Whether all numbers are finite, and so small that intermediate results do not overflow."""
    return all((np.abs(item) < _ORDINARY).all() for item in leaves((tuple(args), dict(kwargs))) if _is_double(item))


def _keeps_with_range(found: Any, function: Callable[..., Any], args: Sequence[Any], kwargs: Mapping[str, Any]) -> bool:
    """Whether `found` is the same in long double, whose exponent range prevents intermediate overflow.

    Matrix products then also are summed in another order, without BLAS, which treats zero times NaN in its own way.
    """
    wide = function(*_widened(tuple(args)), **_widened(dict(kwargs)))
    several = isinstance(found, tuple)
    pairs = zip(found if several else (found,), wide if several else (wide,), strict=True)
    return all(_agree(one, other) for one, other in pairs)


def _widened(value: Any) -> Any:
    return map_operand(value, lambda item: item.astype(np.longdouble) if _is_double(item) else item)


def _is_double(value: Any) -> bool:
    return isinstance(value, np.ndarray) and value.dtype == np.float64


def _agree(one: Any, other: Any) -> bool:
    if one is None or other is None or np.asarray(one).dtype.kind not in "fc":
        return True
    narrow = np.asarray(other).astype(np.asarray(one).dtype)
    return bool(np.allclose(one, narrow, rtol=1e-9, atol=0.0, equal_nan=True))
