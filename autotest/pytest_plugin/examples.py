"""Finds the test that Hypothesis calls with its examples."""

from __future__ import annotations

from typing import Any

import pytest


def given_test(item: pytest.Item) -> Any:
    """Return the function below Hypothesis' ``@given``; None if `item` has no ``@given``."""
    return getattr(getattr(getattr(item, "function", None), "hypothesis", None), "inner_test", None)
