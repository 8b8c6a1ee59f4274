"""Tests of networks run on small tensors, where torch's own threads only stand in each other's way."""

from __future__ import annotations

import importlib.util
import sys

from tests.diagnosis.conftest import _one_thread  # noqa: F401 - the same fixture

# Classes over the dual namespace are made while a file is imported, which asks for the default candidate.
if sys.version_info >= (3, 11) or importlib.util.find_spec("oneflow") is None:
    collect_ignore = ["test_classes.py", "test_graphs.py", "test_long_programs.py", "test_network_scripts.py"]
