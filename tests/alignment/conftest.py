"""Everything in this folder needs OneFlow, unless another candidate is chosen: marked so, and skipped without it."""

from __future__ import annotations

import importlib.util
import os
import sys
from pathlib import Path

import pytest

HERE = Path(__file__).parent


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    # On newer Pythons the registry has an `oneflow` without a core, which can be found but not used.
    missing = sys.version_info >= (3, 11) or importlib.util.find_spec("oneflow") is None
    for item in items:
        if HERE not in item.path.parents:
            continue
        item.add_marker(pytest.mark.oneflow)
        # That one framework warns and the other does not is no divergence; an error made of it would be one.
        item.add_marker(pytest.mark.filterwarnings("ignore"))
        if missing and os.environ.get("AUTOTEST_CANDIDATE", "oneflow") == "oneflow":
            item.add_marker(pytest.mark.skip(reason="needs OneFlow, that is CPython 3.10"))
