"""Says in one sentence which argument was meant where a public function is called with one that it does not have."""

from __future__ import annotations

import functools
import inspect
import re
from collections.abc import Callable
from typing import Any, TypeVar

from autotest.base.errors import UsageError, nearest

# Whoever called wrongly is shown their own line, not this one.
__tracebackhide__ = True
__unittest = True

F = TypeVar("F", bound=Callable[..., Any])


def told_at_the_call(function: F) -> F:
    """`function`, whose errors of use come from the line that calls it: wrong arguments as `UsageError`, too."""

    @functools.wraps(function)
    def call(*args: Any, **kwargs: Any) -> Any:
        try:
            return function(*args, **kwargs)
        except UsageError as error:
            raise error.with_traceback(None) from None
        except TypeError:
            if (said := _refused(function, args, kwargs)) is not None:
                raise UsageError(said) from None
            raise  # of something else than this call

    return call  # type: ignore[return-value]


def _refused(function: Callable[..., Any], args: tuple[Any, ...], kwargs: dict[str, Any]) -> str | None:
    """What to say where `function` does not have the parameters for these arguments; None where it does."""
    signature = inspect.signature(function)
    try:
        signature.bind(*args, **kwargs)
    except TypeError as error:
        return unknown_argument(function, kwargs) or f"{function.__name__}(): {error}; {_expected(signature)}"
    return None


def unknown_argument(function: Callable[..., Any], named: Any) -> str | None:
    """What to say where one of the keywords `named` is none of `function`'s; None where all are."""
    signature = inspect.signature(function)
    if any(parameter.kind is parameter.VAR_KEYWORD for parameter in signature.parameters.values()):
        return None
    wrong = next((name for name in named if name not in signature.parameters), None)
    if wrong is None:
        return None
    meant = nearest(wrong, signature.parameters) or f": {_expected(signature)}"
    return f"{function.__name__}() has no argument {wrong!r}{meant}"


def misspelt_argument(error: TypeError, function: Callable[..., Any] | None) -> str | None:
    """What to say of `error`, by which Python refused a call of `function`; None where it is about something else."""
    said = re.search(r"got an unexpected keyword argument '(\w+)'", str(error))
    if function is None or said is not None:
        return None if function is None or said is None else unknown_argument(function, (said[1],))
    return f"{error}; {_expected(inspect.signature(function))}".replace(".__init__", "", 1)


def called_by(error: TypeError) -> str:
    """The name of what Python says was called wrongly; empty where `error` says nothing of that."""
    said = re.match(r"(\w+)(?:\.__init__)?\(\) (?:got an unexpected keyword|takes .* positional) argument", str(error))
    return "" if said is None else said[1]


def _expected(signature: inspect.Signature) -> str:
    return f"expected some of {', '.join(signature.parameters)}"


__all__ = ["called_by", "misspelt_argument", "told_at_the_call", "unknown_argument"]
