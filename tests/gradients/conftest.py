"""Tests of gradients run on the pair torch/torch unless they choose another, and remove their files."""

from __future__ import annotations

from tests.core.conftest import _torch_with_itself  # noqa: F401 - the same fixture
