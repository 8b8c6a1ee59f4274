"""The frameworks of a test, as the argument ``pair`` of its decorator gives them."""

from __future__ import annotations

import dataclasses
import functools
import inspect
from collections.abc import Callable
from typing import Any

from autotest.base.errors import FrameworkMissing, UsageError
from autotest.base.settings import Settings
from autotest.frameworks import Pair
from autotest.frameworks.registry import takes_own
from autotest.sources.source_locations import source_location


def maker_of(given: Any) -> Callable[[], Pair]:
    """Return a function that returns the frameworks `given`.

    Raises:
        UsageError: `given` is neither a pair nor a function without parameters.
    """
    if isinstance(given, Pair):
        return lambda: given
    if not callable(given) or not _takes_nothing(given):
        raise UsageError(
            f"autotest(pair={given!r:.80}): expected an autotest.Pair, or a function without arguments that makes one"
        )
    return functools.cache(given)


def _takes_nothing(function: Callable[..., Any]) -> bool:
    try:
        inspect.signature(function).bind()
    except TypeError:
        return False
    except ValueError:  # a function written in C may have no signature
        return True
    return True


def found(
    pair: Callable[[], Pair | tuple[Pair, ...]], candidate: str, written: Callable[..., Any]
) -> Pair | tuple[Pair, ...]:
    """Return the frameworks that `pair` gives for a test.

    Raises:
        UsageError, FrameworkMissing: there are none. An error about the test's own candidate or pair names its line.
    """
    try:
        sides: Any = pair()
    except (UsageError, FrameworkMissing) as error:
        said = f"{source_location(written)}: autotest({candidate=}): {error}" if takes_own(candidate) else str(error)
        raise type(error)(said) from None
    if all(isinstance(each, Pair) for each in (sides if isinstance(sides, tuple) else (sides,))):
        return sides  # type: ignore[no-any-return]
    made = f"the function returned {sides!r:.80}; expected an autotest.Pair"
    raise UsageError(f"{source_location(written)}: autotest(pair=...): {made}")


def for_candidates(asks: Settings, sides: Pair | tuple[Pair, ...]) -> Settings:
    """Return the settings of a test of `sides`, without a backward of each trial if no candidate computes gradients.

    A test that asks for a further check of gradients keeps its settings: it needs what the candidates lack.
    """
    pairs = sides if isinstance(sides, tuple) else (sides,)
    if asks.asks_of_gradients or any(each.candidate.has_gradients for each in pairs):
        return asks
    names = ", ".join(each.candidate.name for each in pairs)
    return dataclasses.replace(asks, auto_backward=False, skip_grad=asks.skip_grad or f"{names} has no gradients")


def with_graph_mode(sides: Pair | tuple[Pair, ...]) -> Pair | tuple[Pair, ...]:
    """Return `sides`; raise `UsageError` if a candidate has no graph mode, since `check_graph` would check nothing."""
    for each in sides if isinstance(sides, tuple) else (sides,):
        if not each.candidate.graph_mode:
            raise UsageError(
                f"autotest(check_graph=True): {each.candidate.name} has no graph mode, so nothing would be checked; "
                "omit check_graph, or choose a candidate with a graph mode, such as oneflow"
            )
    return sides
