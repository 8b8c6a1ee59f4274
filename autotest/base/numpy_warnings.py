"""Turns off NumPy's warnings of floating-point operations, before NumPy 2 in a fifth of the time of `np.errstate`.

That takes longer than the arithmetic on small arrays: it was a twelfth of a judgement of rounding.
"""

from __future__ import annotations

from contextlib import AbstractContextManager
from typing import Any

import numpy as np


class _Off:
    """What ``np.errstate(all="ignore")`` does, without its dictionaries of names."""

    __slots__ = ("_before",)

    def __enter__(self) -> None:
        self._before: list[Any] = np.geterrobj()  # noqa: NPY201 - not reached with NumPy 2, as below
        size, _, call = self._before
        np.seterrobj([size, 0, call])  # noqa: NPY201

    def __exit__(self, *details: object) -> None:
        np.seterrobj(self._before)  # noqa: NPY201


def warnings_off() -> AbstractContextManager[None]:
    """Return a context manager inside of which NumPy computes without warnings and exceptions."""
    return _Off() if hasattr(np, "seterrobj") else np.errstate(all="ignore")
