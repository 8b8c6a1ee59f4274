"""Nothing of the outer run matters where wrong operators are looked for."""

from __future__ import annotations

import pytest


@pytest.fixture(autouse=True)
def _quick(quick: object) -> None:
    """No verification, no shrinking."""
