"""One side of a pair as a whole namespace, for a call that gets the dual namespace itself as an argument."""

from __future__ import annotations

from typing import Any

from autotest.frameworks import Pair


class SideNamespace:
    """The namespace of the reference (side 0) or the candidate (side 1), by the names that test bodies use."""

    def __init__(self, pair: Pair, side: int) -> None:
        self.framework = (pair.reference, pair.candidate)[side]

    def __getattr__(self, name: str) -> Any:
        return self.framework.resolve(name)
