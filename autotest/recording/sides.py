"""One side of the dual namespace ``torch`` itself: the namespace of a whole framework."""

from __future__ import annotations

from typing import Any

from autotest.frameworks import Pair


class SideNamespace:
    """Looks up the names that test bodies use in one framework of a pair: 0 is the reference, 1 the candidate."""

    def __init__(self, pair: Pair, side: int) -> None:
        self.framework = (pair.reference, pair.candidate)[side]

    def __getattr__(self, name: str) -> Any:
        return self.framework.resolve(name)
