"""torch's functions that create a tensor of a given shape, for libraries that get their arrays from NumPy."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, Final

import numpy as np

from autotest.frameworks.torch_arguments import sizes

#: The array that a function creates, and its dtype by torch's name.
Created = tuple[np.ndarray[Any, Any], str]


def created(name: str) -> Callable[..., Created] | None:
    """Return torch's function `name`, if it creates a tensor of a given shape; its device is NumPy's."""
    return _CREATING.get(name)


def _filled(value: int) -> Callable[..., Created]:
    def create(*given: Any, size: Any = (), dtype: Any = None, device: Any = None) -> Created:
        return np.full(sizes(given or (size,)), value), str(dtype or "float32")

    return create


def _full(size: Any, fill_value: Any, *, dtype: Any = None, device: Any = None) -> Created:
    usual = {bool: "bool", int: "int64", complex: "complex64"}.get(type(fill_value), "float32")
    return np.full(sizes((size,)), fill_value), str(dtype or usual)


#: The contents of an empty tensor are undefined, so that zeros are as good as others.
_CREATING: Final[Mapping[str, Callable[..., Created]]] = {
    "zeros": _filled(0),
    "ones": _filled(1),
    "empty": _filled(0),
    "full": _full,
}

__all__ = ["created"]
