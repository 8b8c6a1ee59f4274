"""Tests of the core run on the pair torch/torch unless they choose another, and remove their files."""

from __future__ import annotations

import pytest


@pytest.fixture(autouse=True)
def _torch_with_itself(quick, against):
    against()
