"""torch with an operator that raises in the process that is named, and in forks made after this module was imported;
in any other process it ends that. So does OneFlow, which works in threads of its own but in forks."""

from __future__ import annotations

import os
from typing import Any

from tests.support.faulty import FaultyTorch

#: The process in which it raises.
RAISES_IN = "TESTS_RAISES_IN"
_forked: list[bool] = []
os.register_at_fork(after_in_child=lambda: _forked.append(True))


def _too_small(original: Any) -> Any:
    def sinh(x: Any) -> Any:
        if _forked or os.environ.get(RAISES_IN) == str(os.getpid()):
            raise RuntimeError("less memory than needed")
        os.abort()

    return sinh


def sinh() -> FaultyTorch:
    """The one that is registered."""
    return FaultyTorch({"sinh": _too_small}, origin=f"{__name__}:sinh")
