"""Reads the reference's databases when it is imported, so that processes forked afterwards need not."""

from __future__ import annotations

import contextlib

from autotest.base.errors import AutotestError
from autotest.frameworks import chosen
from autotest.sweeping import worker

# What is wrong with the choice of frameworks, or with a database, is told where it is used.
with contextlib.suppress(AutotestError):
    pair = chosen()
    # torch's database asks CUDA what there is, and a process that is forked after that cannot use it.
    for database in () if pair.candidate.shares_driver else pair.reference.sample_databases():
        with contextlib.suppress(AutotestError):
            database.entries()

__all__ = ["worker"]
