"""Removes the settings of the outer run."""

from __future__ import annotations

import pytest


@pytest.fixture(autouse=True)
def _quick(quick: object) -> None:
    """Disable verification and shrinking."""
