"""The source of NumPy's functions: an adapter may call them on arrays whose operations are recorded."""

from __future__ import annotations

import functools
from typing import Any

import numpy as np

from autotest.base.errors import NotReplayable


def source_of(function: Any, method: str = "__call__") -> str:
    """Return the source of a function of NumPy, or of the method `method` of one of its ufuncs: ``np.add.reduce``.

    Raises:
        NotReplayable: NumPy has no public name for it.
    """
    module = getattr(function, "__module__", None) or "numpy"  # a ufunc has none
    if isinstance(function, np.ufunc):
        module = "numpy"
    path = [*module.split(".")[1:], function.__name__]
    try:
        found = functools.reduce(getattr, path, np)
    except AttributeError:
        found = None
    if found is not function or module.split(".")[0] != "numpy":
        raise NotReplayable(f"{function!r} has no source text")
    return ".".join(["np", *path, *([] if method == "__call__" else [method])])
