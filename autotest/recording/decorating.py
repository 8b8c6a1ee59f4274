"""Contexts that decorate a function, such as ``@torch.no_grad()``: each call of it is inside of a new one."""

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
    """What `made`, which `call` returned on `framework`, makes of a function in `args`; None where it decorates none.

    `context` makes the call once more.
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
