"""Whether a function can be run as trials, and whether it can be called with the arguments it is given."""

from __future__ import annotations

import functools
import inspect
import types
from typing import Any

from autotest.base.errors import UsageError
from autotest.sources.source_locations import source_location

# Hide the frames of this module in the tracebacks of pytest and unittest.
__tracebackhide__ = True
__unittest = True


def checked(function: Any) -> Any:
    """Return `function` if it can be run repeatedly; else raise `UsageError`, which says what to write instead."""
    written = functools.partial(function).func if callable(function) else function
    if type(written).__name__ == "FixtureFunctionDefinition":  # pytest's class of a fixture
        raise UsageError(f"@autotest cannot decorate the fixture {written.__name__}: a fixture is not a test")
    if hasattr(written, "__autotest__"):
        raise UsageError(f"@autotest decorates {written.__qualname__} twice: remove one of them")
    if getattr(written, "is_hypothesis_test", False):
        raise UsageError(
            f"@autotest is above @given on {written.__qualname__}: write @given(...) above @autotest, so that each "
            "example runs as trials"
        )
    if not inspect.isroutine(written) or inspect.isbuiltin(written):
        what = "a class" if isinstance(written, type) else "a callable object" if callable(written) else "no function"
        raise UsageError(
            f"@autotest decorates test functions and methods, and {written!r:.80} is {what}: write a function with "
            "the test in it, or one that calls it"
        )
    if inspect.iscoroutinefunction(written):
        raise UsageError(f"@autotest cannot run {written.__qualname__}: it is a coroutine function; write `def`")
    if inspect.isgeneratorfunction(written) or inspect.isasyncgenfunction(written):
        raise UsageError(f"@autotest cannot run {written.__qualname__}: it is a generator; return what it yields")
    return function


def taken_by_position(function: Any) -> int | None:
    """Return a number of positional arguments that surely fits `function`; None if its signature must be checked.

    Most tests are called with that many arguments, and computing a signature is slow.
    """
    if not isinstance(function, types.FunctionType) or function.__code__.co_kwonlyargcount:
        return None
    plain = vars(function).keys().isdisjoint(("__wrapped__", "__signature__"))
    return function.__code__.co_argcount if plain else None


def must_fit(
    written: Any, name: str, parameters: inspect.Signature, args: tuple[Any, ...], kwargs: dict[str, Any]
) -> None:
    """Raise `UsageError`, which names the line of the test, if the arguments do not fit its parameters."""
    try:
        parameters.bind(*args, **kwargs)
    except TypeError as error:
        code = inspect.unwrap(written).__code__
        method = "." in name and not code.co_argcount
        said = f"a method needs a parameter for its object: write `def {code.co_name}(self):`" if method else str(error)
        if "missing a required" in said:
            said += "; give it in the call, by a fixture or by parametrize, or draw it in the body"
        raise UsageError(f"{source_location(written)}: {name}: {said}") from None
