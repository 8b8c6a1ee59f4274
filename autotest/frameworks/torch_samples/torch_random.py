"""torch's default generator of random numbers, with a state of its own for what is drawn step by step."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import TypeVar

import torch

Item = TypeVar("Item")


def with_own_state(items: Iterable[Item], seed: int) -> Iterator[Item]:
    """Yield `items`, each made with torch's default generator in the state in which the item before left it.

    Nothing is made before the caller asks for it, and the caller's own draws and seeds in between change no item.

    Args:
        items: makes an item at each step, and may draw from the default generator or seed it.
        seed: the seed at the first step.
    """
    state = torch.Generator().manual_seed(seed).get_state()
    remaining = iter(items)
    while True:
        with torch.random.fork_rng(devices=[]):
            torch.set_rng_state(state)
            try:
                item = next(remaining)
            except StopIteration:
                return
            state = torch.get_rng_state()
        yield item
