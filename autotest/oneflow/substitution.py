"""Replaces the test package that OneFlow ships with this package, for test files that must not be edited."""

from __future__ import annotations

import importlib
import sys

REPLACED = "oneflow.test_utils.automated_test_util"
FILES = ("generators", "global_scope", "profiler", "torch_flow_dual_object", "util")


def stand_in() -> None:
    """Let ``import oneflow.test_utils.automated_test_util``, and its submodules, import those of this package."""
    here = __name__.rpartition(".")[0]
    sys.modules[REPLACED] = importlib.import_module(here)
    for file in FILES:
        sys.modules[f"{REPLACED}.{file}"] = importlib.import_module(f"{here}.{file}")
