"""Records whether the tensors that a test draws are global tensors."""

from __future__ import annotations

import functools
from collections.abc import Callable
from contextvars import ContextVar, Token
from typing import Any, TypeVar

F = TypeVar("F", bound=Callable[..., Any])
_global: ContextVar[bool] = ContextVar("autotest_oneflow_global", default=False)


def is_global() -> bool:
    """Return whether `random_tensor` and similar functions now make global tensors."""
    return _global.get()


class GlobalScope:
    """A context manager in which drawn tensors are global; it can be nested."""

    def __init__(self) -> None:
        self._tokens: list[Token[bool]] = []

    def __enter__(self) -> GlobalScope:
        self._tokens.append(_global.set(True))
        return self

    def __exit__(self, *details: object) -> None:
        _global.reset(self._tokens.pop())


def globaltest(f: F) -> F:
    """Decorate test `f` so that it runs in a global scope on every rank. If it fails on any rank, it fails on all."""

    @functools.wraps(f)
    def run(*args: Any, **kwargs: Any) -> Any:
        from autotest.oneflow.ranks import together

        with GlobalScope(), together(f.__qualname__):
            return f(*args, **kwargs)

    return run  # type: ignore[return-value]


__all__ = ["GlobalScope", "globaltest", "is_global"]
