"""The pair of this package, torch and OneFlow, and the rank of this process among those that were started together.

Everything here reaches OneFlow through this file: its import needs what its adapter prepares.
"""

from __future__ import annotations

from typing import Any

from autotest.frameworks import Pair, registry


def style_pair() -> Pair:
    """torch as the reference, OneFlow as the candidate, whatever the environment chooses for other tests."""
    return registry.pair("torch", "oneflow")


def flow() -> Any:
    """OneFlow's module."""
    return style_pair().candidate.root  # type: ignore[attr-defined]


def world_size() -> int:
    """How many ranks this process is one of."""
    return int(flow().env.get_world_size())


def rank() -> int:
    """Which of them it is."""
    return int(flow().env.get_rank())
