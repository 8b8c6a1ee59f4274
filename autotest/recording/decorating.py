"""Contexts used as decorators, such as ``@torch.no_grad()``: each call of the function enters a new context."""

from __future__ import annotations

import functools
import types
from collections.abc import Callable, Sequence
from contextlib import AbstractContextManager
from typing import Any

from autotest.frameworks import Framework
from autotest.program import Call, refs


def decorated(
    call: Call,
    framework: Framework,
    made: Any,
    args: Sequence[Any],
    context: Callable[[Call], AbstractContextManager[Any]],
) -> Callable[..., Any] | None:
    """Return the function in `args` decorated by `made`, or None if `made` is not used as a decorator here.

    Args:
        call: the call that returned `made`.
        framework: the framework of `made`.
        made: the result of `call`, called as a decorator.
        args: the arguments of the decorator.
        context: makes `call` again, and returns the new dual context.
    """
    if len(args) != 1 or not isinstance(args[0], (types.FunctionType, types.MethodType)):
        return None
    if call.kind != "function" or next(refs(call), None) is not None:
        return None
    if not framework.provides("getattr", "__enter__", made):
        return None
    function = args[0]

    @functools.wraps(function)
    def inside(*given: Any, **named: Any) -> Any:
        with context(call):
            return function(*given, **named)

    return inside
