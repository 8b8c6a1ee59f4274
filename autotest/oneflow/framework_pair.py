"""The pair of this package, torch and OneFlow, and the rank of this process.

All modules of this package access OneFlow through this file, because importing OneFlow needs the preparations of its
adapter.
"""

from __future__ import annotations

from typing import Any

from autotest.frameworks import Pair, registry


def style_pair() -> Pair:
    """Return the pair of torch (reference) and OneFlow (candidate), whatever the environment selects otherwise."""
    return registry.pair("torch", "oneflow")


def flow() -> Any:
    """Return OneFlow's module."""
    return style_pair().candidate.root  # type: ignore[attr-defined]


def world_size() -> int:
    """Return the number of ranks."""
    return int(flow().env.get_world_size())


def rank() -> int:
    """Return the rank of this process."""
    return int(flow().env.get_rank())
