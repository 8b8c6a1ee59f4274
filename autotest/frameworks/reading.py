"""Makes a `TensorValue` of what an adapter reads from a tensor. A wrong type is the adapter's error, not a finding."""

from __future__ import annotations

from typing import Any

import numpy as np

from autotest.base.errors import AdapterWrong
from autotest.comparison import TensorValue


def read_value(by: str, data: np.ndarray[Any, Any], dtype: str, device: str, requires_grad: bool) -> TensorValue:
    """Return the value of one tensor, whose contents and dtype are checked for their type.

    Args:
        by: the name of the framework, for the message.
        data: the contents.
        dtype: torch's name of the dtype, such as ``"float32"``.
        device: the device type, such as ``"cpu"``.
        requires_grad: whether the tensor requires a gradient.

    Raises:
        AdapterWrong: if `data` is not an ndarray or `dtype` is not a str.
    """
    if type(data) is not np.ndarray and not isinstance(data, np.ndarray):
        raise _wrong(by, "the contents of a tensor are", data, "a numpy.ndarray")
    if type(dtype) is not str and not isinstance(dtype, str):
        raise _wrong(by, "the dtype of a tensor is", dtype, "torch's name of it, a str such as 'float32'")
    return TensorValue(data, dtype, device, requires_grad)


def _wrong(by: str, what: str, came: object, expected: str) -> AdapterWrong:
    return AdapterWrong(
        f"the adapter of {by}: {what} {came!r:.60} ({type(came).__name__}); expected {expected}. Check the adapter "
        "with `autotest conformance`"
    )
