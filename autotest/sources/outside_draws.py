"""What a test draws outside of its trials, in its set-up and in fixtures, which must not depend on other tests.

Under pytest, in campaigns and in worker processes it is the same. A fixture of a class, a module or a session is set up
for whichever test needs it first, so it has draws of its own.
"""

from __future__ import annotations

import contextlib
import sys
from pathlib import Path
from typing import Any, Final

from autotest.recording.outside_trials import OutsideDraws
from autotest.sources.test_names import without_folders

#: Name of the attribute in which `@autotest` stores the function that returns a test's own frameworks.
SIDES: Final = "__autotest_sides__"


def draws_of_test(test: str, function: Any) -> OutsideDraws:
    """Return the draws of the decorated `function`, the test with this id, before and between its trials."""
    sides = getattr(function, SIDES, None)
    return OutsideDraws(without_folders(test), *([] if sides is None else [sides]))


def drawing_of_fixture(fixture: Any, request: Any) -> contextlib.AbstractContextManager[None]:
    """Return the context in which pytest sets up `fixture`, a ``FixtureDef``; nothing changes if it is of one test."""
    if fixture.scope == "function" or "autotest.recording.dual" not in sys.modules:
        return contextlib.nullcontext()
    name, owner = fixture.argname, getattr(request, "cls", None) if fixture.scope == "class" else None
    if name.startswith("_unittest_setUpClass"):
        return draws_of_class(owner, Path(request.path)).drawing()
    if name.startswith("_xunit_setup_module"):
        return draws_of_module(Path(request.path)).drawing()
    place = Path(request.path).name if fixture.scope in ("class", "module") else ""
    parts = (fixture.scope, place, getattr(owner, "__qualname__", ""), name, getattr(request, "param_index", 0))
    return OutsideDraws("\0".join(map(str, parts))).drawing()


def draws_of_class(owner: Any, file: Path) -> OutsideDraws:
    """Return the draws of ``setUpClass`` of a test case in `file`."""
    return OutsideDraws(f"{file.name}::{owner.__qualname__}.setUpClass")


def draws_of_module(file: Path) -> OutsideDraws:
    """Return the draws of the function that sets up the module in `file`."""
    return OutsideDraws(f"{file.name}::setUpModule")
