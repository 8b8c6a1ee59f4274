"""Sets environment variables temporarily."""

from __future__ import annotations

import contextlib
import os
from collections.abc import Iterator, Mapping


@contextlib.contextmanager
def variables(given: Mapping[str, str]) -> Iterator[None]:
    """Set the environment variables `given` inside the block, and restore their previous values after it."""
    before = {name: os.environ.get(name) for name in given}
    os.environ.update(given)
    try:
        yield
    finally:
        for name, value in before.items():
            if value is None:
                os.environ.pop(name, None)
            else:
                os.environ[name] = value
