"""Reports a call of a public function with wrong arguments in one sentence that suggests the argument meant."""

from __future__ import annotations

import functools
import inspect
import re
from collections.abc import Callable
from typing import Any, TypeVar

from autotest.base.errors import UsageError, nearest

# Hide the frames of this module, so that pytest and unittest show the caller's line.
__tracebackhide__ = True
__unittest = True

F = TypeVar("F", bound=Callable[..., Any])


def raises_at_caller(function: F) -> F:
    """Decorate `function` so that its usage errors point to the line that calls it.

    Arguments that do not fit the signature raise `UsageError` instead of `TypeError`.
    """

    @functools.wraps(function)
    def call(*args: Any, **kwargs: Any) -> Any:
        try:
            return function(*args, **kwargs)
        except UsageError as error:
            raise error.with_traceback(None) from None
        except TypeError:
            if (said := _refused(function, args, kwargs)) is not None:
                raise UsageError(said) from None
            raise  # the arguments fit: the error comes from inside the function

    return call  # type: ignore[return-value]


def _refused(function: Callable[..., Any], args: tuple[Any, ...], kwargs: dict[str, Any]) -> str | None:
    """Return the error message if these arguments do not fit the signature of `function`, else None."""
    signature = inspect.signature(function)
    try:
        signature.bind(*args, **kwargs)
    except TypeError as error:
        return unknown_argument(function, kwargs) or f"{function.__name__}(): {error}; {_expected(signature)}"
    return None


def unknown_argument(function: Callable[..., Any], named: Any) -> str | None:
    """Return the error message if `function` has no parameter for one of the keywords `named`, else None."""
    signature = inspect.signature(function)
    if any(parameter.kind is parameter.VAR_KEYWORD for parameter in signature.parameters.values()):
        return None
    wrong = next((name for name in named if name not in signature.parameters), None)
    if wrong is None:
        return None
    meant = nearest(wrong, signature.parameters) or f": {_expected(signature)}"
    return f"{function.__name__}() has no argument {wrong!r}{meant}"


def misspelt_argument(error: TypeError, function: Callable[..., Any] | None) -> str | None:
    """Return a better message for `error`, with which Python rejected a call of `function`.

    Return None if the error names an unexpected keyword that `function` does accept, or if `function` is None.
    """
    if function is None:
        return None
    said = re.search(r"got an unexpected keyword argument '(\w+)'", str(error))
    if said is not None:
        return unknown_argument(function, (said[1],))
    text = str(error).replace(".__init__", "", 1)
    if isinstance(function, type):  # Python counts the object itself as an argument
        text = re.sub(r"takes (.*) positional arguments? but (\d+) (?:was|were) given", _without_self, text)
    return f"{text}; {_expected(inspect.signature(function))}"


def _without_self(said: re.Match[str]) -> str:
    taken, given = (re.sub(r"\d+", lambda count: str(int(count[0]) - 1), counts) for counts in said.groups())
    several = "argument" if taken == "1" else "arguments"
    return f"takes {taken} positional {several} but {given} {'was' if given == '1' else 'were'} given"


def misused_function(error: TypeError) -> str:
    """Return the name of the function whose arguments `error` reports as wrong; empty if it reports none."""
    misfit = r"(?:got an unexpected keyword|takes .* positional|missing \d+ required .*) argument"
    said = re.match(rf"(\w+)(?:\.__init__)?\(\) {misfit}", str(error))
    return "" if said is None else said[1]


def _expected(signature: inspect.Signature) -> str:
    if not signature.parameters:
        return "expected no arguments"
    named = [name for name, one in signature.parameters.items() if one.kind is one.KEYWORD_ONLY]
    first = [name for name in signature.parameters if name not in named]
    if not (first and named):
        return f"expected some of {', '.join(signature.parameters)}"
    return f"expected some of {', '.join(first)}, and by keyword only {', '.join(named)}"


def joined(function: str, **given: bool | None) -> bool | None:
    """Return what the arguments `given` of `function` say, two names of one argument; None if neither is given.

    Raises:
        UsageError: if they contradict one another.
    """
    said = [value for value in given.values() if value is not None]
    if any(value != said[0] for value in said):
        listed = ", ".join(f"{name}={value!r}" for name, value in given.items())
        raise UsageError(f"{function}({listed}): expected only one of them, because they are two names of one argument")
    return said[0] if said else None
