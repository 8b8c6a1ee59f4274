"""Reads the reference's databases when it is imported, so that processes forked afterwards need not."""

from __future__ import annotations

import contextlib

from autotest.base.errors import AutotestError
from autotest.frameworks import chosen
from autotest.sweeping import worker

# What is wrong with the choice of frameworks, or with a database, is told where it is used.
with contextlib.suppress(AutotestError):
    for database in chosen().reference.sample_databases():
        with contextlib.suppress(AutotestError):
            database.entries()

__all__ = ["worker"]
