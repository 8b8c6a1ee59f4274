"""A whole framework, where a dual namespace itself is asked for one side."""

from __future__ import annotations

from typing import Any

from autotest.frameworks import Pair


class SideNamespace:
    """Side 0 or 1 of a pair, by the names that test bodies use."""

    def __init__(self, pair: Pair, side: int) -> None:
        self.framework = (pair.reference, pair.candidate)[side]

    def __getattr__(self, name: str) -> Any:
        return self.framework.resolve(name)
