"""Ways in which an operator can be wrong. Each function returns a replacement for `tests.support.faulty`."""

from __future__ import annotations

import dataclasses
import math
from collections.abc import Callable
from typing import Any

from tests.support.faulty import FaultyTorch, Replacement

Change = Callable[[Any], Any]
Test = Callable[[], Any]


@dataclasses.dataclass(frozen=True)
class Wrong:
    """A replacement at `path` below torch, and its plainest test, `body`."""

    name: str
    path: str
    replacement: Replacement
    body: Test

    def candidate(self) -> FaultyTorch:
        return FaultyTorch({self.path: self.replacement})


def torch() -> Any:
    import torch as real

    return real


def off(result: Any) -> Any:
    """Return a clearly wrong result in place of `result`."""
    return (
        ~result if result.dtype == torch().bool else result * 1.25 + 0.25 if result.is_floating_point() else result + 1
    )


def of_first(change: Callable[[Any, Any], Any]) -> Replacement:
    """Return an operator with the result ``change(result, first argument)``."""

    def replacement(original: Any) -> Any:
        def wrong(x: Any, *args: Any, **kwargs: Any) -> Any:
            result = original(x, *args, **kwargs)
            return change(result, x)

        return wrong

    return replacement


def of_two(change: Callable[[Any, Any, Any], Any]) -> Replacement:
    """Return an operator with the result ``change(result, first argument, second argument)``."""

    def replacement(original: Any) -> Any:
        def wrong(x: Any, y: Any, *args: Any, **kwargs: Any) -> Any:
            return change(original(x, y, *args, **kwargs), x, y)

        return wrong

    return replacement


def where(condition: Change, change: Change = off) -> Replacement:
    """Return an operator that changes the elements of its result for which ``condition(first argument)`` is true."""
    return of_first(lambda result, x: torch().where(condition(x), change(result), result))


def when(condition: Change, change: Change = off) -> Replacement:
    """Return an operator that changes its whole result if ``condition(first argument)`` is true."""
    return of_first(lambda result, x: change(result) if condition(x) else result)


def given(prepare: Change) -> Replacement:
    """Return the right operator, applied to ``prepare(first argument)``."""
    return lambda original: lambda x, *args, **kwargs: original(prepare(x), *args, **kwargs)


def both_given(prepare: Change) -> Replacement:
    """Return the right operator, applied to both prepared arguments."""
    return lambda original: lambda x, y, *args, **kwargs: original(prepare(x), prepare(y), *args, **kwargs)


def fills(x: Any, number: float = 0.0) -> Any:
    return x.nan_to_num(nan=number, posinf=math.inf, neginf=-math.inf)


def in_single(original: Any) -> Any:
    """Return an operator that computes float64 in float32."""

    def wrong(*args: Any, **kwargs: Any) -> Any:
        double = [arg for arg in args if isinstance(arg, torch().Tensor) and arg.dtype == torch().float64]
        narrow = [arg.float() if any(arg is one for one in double) else arg for arg in args]
        result = original(*narrow, **kwargs)
        return result.double() if double else result

    return wrong


def as_it_lies(x: Any) -> Any:
    """Return the elements of `x` that are read from its offset if it is wrongly assumed to be contiguous."""
    strides = []
    step = 1
    for size in reversed(x.shape):
        strides.append(step)
        step *= size
    held = x.untyped_storage().nbytes() // x.element_size()
    return x if x.storage_offset() + x.numel() > held else x.as_strided(x.shape, strides[::-1])


def from_the_start(x: Any) -> Any:
    """Return the elements of `x` that are read if its offset is ignored."""
    return x.as_strided(x.shape, x.stride(), 0)


def repeats(x: Any) -> bool:
    return any(size > 1 and stride == 0 for size, stride in zip(x.shape, x.stride(), strict=True))


def through(change: Callable[[Any, Any], Any]) -> Change:
    """Return the identity with the gradient ``change(cotangent, argument)``."""
    real = torch()

    class Through(real.autograd.Function):
        @staticmethod
        def forward(ctx: Any, x: Any) -> Any:
            ctx.save_for_backward(x)
            return x.view_as(x)

        @staticmethod
        def backward(ctx: Any, gradient: Any) -> Any:
            (x,) = ctx.saved_tensors
            return change(gradient, x)

    return Through.apply  # type: ignore[no-any-return]


def tail(block: int) -> Replacement:
    """Return an operator that is wrong for the elements after the last whole block."""

    def change(result: Any, x: Any) -> Any:
        flat = result.reshape(-1)
        whole = flat.numel() // block * block
        if not 0 < whole < flat.numel():
            return result
        return torch().cat([flat[:whole], off(flat[whole:])]).reshape(result.shape)

    return of_first(change)


def row_tail(block: int) -> Replacement:
    """Return an operator that ignores the last element of rows longer than `block` that are no multiple of it."""
    return given(lambda x: x[..., :-1] if x.shape[-1] > block and x.shape[-1] % block else x)


def beyond(count: int) -> Replacement:
    """Return an operator that is wrong from element `count` on."""

    def change(result: Any, x: Any) -> Any:
        flat = result.reshape(-1)
        return torch().cat([flat[:count], off(flat[count:])]).reshape(result.shape)

    return of_first(change)


def gradient_where(condition: Change, factor: float = 1.5, change: Change | None = None) -> Replacement:
    """Return an operator whose gradient is multiplied by `factor` (or changed) where ``condition(first argument)``."""
    real = torch()

    class Through(real.autograd.Function):
        @staticmethod
        def forward(ctx: Any, x: Any) -> Any:
            ctx.save_for_backward(x)
            return x.view_as(x)

        @staticmethod
        def backward(ctx: Any, gradient: Any) -> Any:
            (x,) = ctx.saved_tensors
            wrong = gradient * factor if change is None else change(gradient)
            found = condition(x)
            return (
                real.where(found, wrong, gradient) if isinstance(found, real.Tensor) else wrong if found else gradient
            )

    return given(Through.apply)
