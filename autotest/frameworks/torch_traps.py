"""Refuses the calls of torch that end the process for some arguments, before they are made."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Final

#: Names of functions and methods that trap. The same holds for `remainder`, `fmod` and divisions, but only for the
#: least integer and -1, which `generators.related_numbers.without_overflow` keeps apart.
TRAPPING: Final = frozenset(("lcm", "lcm_"))


def without_trap(lcm: Callable[..., Any]) -> Callable[..., Any]:
    """Return torch's `lcm`, as a function or method, but it refuses the least integer.

    torch divides it by a greatest common divisor that may be -1, for 7 in int64 for example. This overflows, and the
    processor ends the process (SIGFPE, seen in torch 2.0.1).
    """

    def refusing(*operands: Any, **named: Any) -> Any:
        if any(map(_has_least, (*operands, *named.values()))):
            raise RuntimeError("lcm of the least integer is not called, because torch may end the process")
        return lcm(*operands, **named)

    return refusing


def _has_least(value: Any) -> bool:
    import torch

    if not isinstance(value, torch.Tensor) or value.is_meta or value.dtype not in (torch.int32, torch.int64):
        return False
    return bool((value == torch.iinfo(value.dtype).min).any())
