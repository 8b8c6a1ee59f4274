"""torch with an operator that raises in one named process and in forks, and kills any other process.

Forks count if they are made after the import of this module. OneFlow behaves like this: it computes in threads of its
own, except in forks.
"""

from __future__ import annotations

import os
from typing import Any

from tests.support.faulty import FaultyTorch

#: Environment variable with the id of the process in which the operator raises.
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
    """Return torch with this `sinh`."""
    return FaultyTorch({"sinh": _too_small}, origin=f"{__name__}:sinh")
