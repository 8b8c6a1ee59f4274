"""The environment variables of OneFlow's own harness.

=====================================  ==================================================================
``ONEFLOW_TEST_CPU_ONLY``              no generator draws a device or placement other than CPU
``ONEFLOW_TEST_VERBOSE``               print on stderr what each test did
``ONEFLOW_TEST_ALIGN_EXCEPTION``       OneFlow must refuse the calls that torch refuses, or it is a finding
``ONEFLOW_TEST_TENSOR_SIZE_LIMIT_MB``  largest tensor that a test may make, in units of 2**20 bytes; 32
=====================================  ==================================================================

The first is on when set to any text but an empty one, and the next two when set at all, as they always were.
"""

from __future__ import annotations

import os

from autotest.base.errors import UsageError


def cpu_only() -> bool:
    return bool(os.environ.get("ONEFLOW_TEST_CPU_ONLY"))


def verbose() -> bool:
    return "ONEFLOW_TEST_VERBOSE" in os.environ


def align_exception() -> bool:
    return "ONEFLOW_TEST_ALIGN_EXCEPTION" in os.environ


def tensor_size_limit() -> float:
    """Return the largest size in bytes of a drawn tensor. Raises `UsageError` if the variable is not a number."""
    text = os.environ.get("ONEFLOW_TEST_TENSOR_SIZE_LIMIT_MB", "32")
    try:
        limit = float(text)
    except ValueError:
        raise UsageError(f"ONEFLOW_TEST_TENSOR_SIZE_LIMIT_MB={text!r}: expected a number of MB") from None
    return limit * 2**20
