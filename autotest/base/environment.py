"""Variables of the environment, for as long as something needs them."""

from __future__ import annotations

import contextlib
import os
from collections.abc import Iterator, Mapping


@contextlib.contextmanager
def variables(given: Mapping[str, str]) -> Iterator[None]:
    """`given` stands in the environment inside the block; what was there before does again after it."""
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


__all__ = ["variables"]
