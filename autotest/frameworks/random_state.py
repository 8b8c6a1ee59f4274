"""Keeps the state of a framework's random generators while this library seeds them in a user's own script."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator
from typing import Any

from autotest.frameworks.base import Framework
from autotest.frameworks.namespace import Namespace


@contextlib.contextmanager
def random_state_kept(framework: Framework) -> Iterator[None]:
    """Restore the default random generators of `framework` at the end of the block, if they can be read and set."""
    root = framework.root if isinstance(framework, Namespace) else None
    read, write = getattr(root, "get_rng_state", None), getattr(root, "set_rng_state", None)
    if read is None or write is None:
        yield
        return
    cuda: Any = getattr(root, "cuda", None)
    used = getattr(cuda, "is_initialized", bool)()
    state, states = read(), cuda.get_rng_state_all() if used else []
    try:
        yield
    finally:
        write(state)
        if states:
            cuda.set_rng_state_all(states)
