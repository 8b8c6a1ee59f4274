"""What a test case of unittest draws in its set-up, also without pytest: the same whichever tests ran before.

unittest has no hooks around a test. Therefore the test is looked up among the callers of the code that draws.
"""

from __future__ import annotations

import inspect
import sys
import unittest
from pathlib import Path
from types import CodeType, FrameType
from typing import Any, Final

from autotest.recording.outside_trials import OutsideDraws, find_draws_with
from autotest.sources.outside_draws import draws_of_class, draws_of_module, draws_of_test
from autotest.sources.test_names import current_name, path_of

#: The attribute with the latest series of a test case, or of what unittest reports its results to.
_SERIES: Final = "_autotest_draws"


def draw_by_test_case() -> None:
    """From now on, draw in the set-up of a test case, its class and its module what these draw under pytest."""
    find_draws_with(_of_callers)


def _code(owner: type, name: str) -> CodeType | None:
    return getattr(getattr(owner, name, None), "__code__", None)


#: The code that runs a test case, and the code that sets up a class and a module before the first of its tests.
_RUN: Final = (_code(unittest.TestCase, "run"), _code(unittest.TestCase, "debug"))
_CLASS: Final = _code(unittest.TestSuite, "_handleClassSetUp")
_MODULE: Final = _code(unittest.TestSuite, "_handleModuleFixture")


def _of_callers() -> OutsideDraws | None:
    """Return the series of the innermost test, or set-up of a class or module, that is running; None if none is."""
    frame: FrameType | None = sys._getframe(1)
    while frame is not None:
        code = frame.f_code
        if code in _RUN:
            return _of_case(frame.f_locals["self"])
        if code is _CLASS or code is _MODULE:
            return _of_set_up(frame.f_locals.get("test"), frame.f_locals.get("result"), of_class=code is _CLASS)
        frame = frame.f_back
    return None


def _of_case(case: unittest.TestCase) -> OutsideDraws | None:
    """Return the series of a test case, if its test is decorated."""
    function = inspect.getattr_static(type(case), case._testMethodName, None)
    if isinstance(function, (staticmethod, classmethod)):
        function = function.__func__
    if not hasattr(function, "__autotest__"):
        return None
    found: OutsideDraws | None = vars(case).get(_SERIES)
    if found is None:
        written: Any = inspect.unwrap(function)
        called = current_name(function, written, path_of(inspect.getfile(written)), (case,))
        found = draws_of_test(called.id((), {}), function)
        setattr(case, _SERIES, found)
    return found


def _of_set_up(test: Any, result: Any, *, of_class: bool) -> OutsideDraws | None:
    """Return the series of a class or of a module, which is being set up before `test`."""
    owner = type(test)
    file = getattr(sys.modules.get(owner.__module__), "__file__", None)
    if file is None:
        return None
    place = Path(file)
    key = (place, owner if of_class else None)
    latest = getattr(result, _SERIES, None)
    if latest is None or latest[0] != key:
        latest = (key, draws_of_class(owner, place) if of_class else draws_of_module(place))
        setattr(result, _SERIES, latest)
    found: OutsideDraws = latest[1]
    return found
