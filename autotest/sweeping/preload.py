"""Reads the reference's databases on import, so that processes forked afterwards need not read them."""

from __future__ import annotations

import contextlib

from autotest.base.errors import AutotestError
from autotest.frameworks import chosen_pair
from autotest.sweeping import worker

# An invalid choice of frameworks, or a broken database, is reported when it is used.
with contextlib.suppress(AutotestError):
    pair = chosen_pair()
    # torch's database queries CUDA, and a process forked after that cannot use CUDA.
    for database in () if pair.candidate.shares_driver else pair.reference.sample_databases():
        with contextlib.suppress(AutotestError):
            database.entries()

__all__ = ["worker"]
