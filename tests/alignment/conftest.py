"""Marks all tests of this folder as needing OneFlow, unless another candidate is chosen, and skips them without it."""

from __future__ import annotations

import importlib.util
import os
import sys
from pathlib import Path

import pytest

#: Beginning of the paths of this folder's files. As text, because a comparison with the parents of ten thousand paths
#: takes a quarter of a second.
HERE = f"{Path(__file__).parent}{os.sep}"


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    # On newer Pythons, the package `oneflow` is a placeholder without a core: it can be found but not imported.
    missing = sys.version_info >= (3, 11) or importlib.util.find_spec("oneflow") is None
    for item in items:
        if not str(item.path).startswith(HERE):
            continue
        item.add_marker(pytest.mark.oneflow)
        # A warning of one framework only is not a divergence, but as an error it would be one.
        item.add_marker(pytest.mark.filterwarnings("ignore"))
        if missing and os.environ.get("AUTOTEST_CANDIDATE", "oneflow") == "oneflow":
            item.add_marker(pytest.mark.skip(reason="needs OneFlow, that is CPython 3.10"))
