"""Prepares the items of unittest's test cases, which call their tests by themselves."""

from __future__ import annotations

import contextvars
import unittest
from typing import Any

import pytest


def prepare(item: pytest.Item, *, is_decorated: bool) -> None:
    """Prepare `item`, which is about to be called, if it is of a `unittest.TestCase`.

    Args:
        item: the item.
        is_decorated: whether its test is decorated with ``@autotest``. Otherwise the test fails if it returns dual
            objects, which nothing compares; `pytest_pyfunc_call` is not called for it.
    """
    case: Any = getattr(item, "instance", None)
    if not isinstance(case, unittest.TestCase) or not isinstance(item, pytest.Function):
        return
    if not is_decorated:
        from autotest.pytest_plugin.undecorated import fail_if_dual_returned

        item.obj = fail_if_dual_returned(item.obj)
    elif hasattr(case, "_asyncioTestContext"):
        # From Python 3.11 on, an asynchronous case runs its tests in the context in which it was made, where this
        # plugin had set nothing yet.
        case._asyncioTestContext = contextvars.copy_context()
