"""Finds the test that Hypothesis calls with its examples."""

from __future__ import annotations

from typing import Any

import pytest


def is_autotest(item: pytest.Item) -> bool:
    """Return whether `item` is decorated with ``@autotest``, in a class or not."""
    return hasattr(getattr(item, "function", None), "__autotest__")


def given_test(item: pytest.Item) -> Any:
    """Return the function below Hypothesis' ``@given``; None if `item` has no ``@given``."""
    return getattr(getattr(getattr(item, "function", None), "hypothesis", None), "inner_test", None)
