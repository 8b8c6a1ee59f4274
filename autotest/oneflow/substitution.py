"""Puts this package in the place of the one that OneFlow ships, for test files that nobody may edit."""

from __future__ import annotations

import importlib
import sys

REPLACED = "oneflow.test_utils.automated_test_util"
FILES = ("generators", "global_scope", "profiler", "torch_flow_dual_object", "util")


def stand_in() -> None:
    """From now on ``import oneflow.test_utils.automated_test_util`` and its files are this package and its files."""
    here = __name__.rpartition(".")[0]
    sys.modules[REPLACED] = importlib.import_module(here)
    for file in FILES:
        sys.modules[f"{REPLACED}.{file}"] = importlib.import_module(f"{here}.{file}")
