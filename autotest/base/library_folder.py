"""Where this library lies."""

from __future__ import annotations

from pathlib import Path
from typing import Final

#: The folder of the package `autotest`.
PACKAGE: Final = Path(__file__).parents[1]
#: The folder from which `autotest` and `generators` are imported.
LIBRARY: Final = PACKAGE.parent
