"""Makes the cases of a decorated test: their arguments, and a function that runs each with its set-up."""

from __future__ import annotations

import dataclasses
import functools
import inspect
import unittest
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, NamedTuple

from autotest.base.errors import SkipsItself
from autotest.base.settings import Settings
from autotest.results.tasks import LeftOut
from autotest.sources.outside_draws import draws_of_test
from autotest.sources.pytest_marks import cases, marks_of, own_skip, skip_mark, xfail_mark
from autotest.sources.set_up import class_set_up
from autotest.sources.test_names import CollectedName, collected_as
from autotest.sources.with_fixtures import WithFixtures


@dataclasses.dataclass(frozen=True, slots=True)
class Collected:
    """A decorated test with its arguments."""

    id: str
    file: Path
    settings: Settings
    #: Runs the test with its set-up and tear-down.
    body: Callable[[], None] = dataclasses.field(repr=False, compare=False)
    called: CollectedName | None = dataclasses.field(default=None, repr=False, compare=False)
    #: Why the test is expected to fail, by a mark of pytest or unittest; None if it is not.
    failing: str | None = None

    def call(self) -> None:
        """Run the test under its collected name.

        Raises:
            SkipsItself: The test skips itself.
        """
        try:
            with collected_as(self.called), draws_of_test(self.id, self.called and self.called.function).drawing():
                self.body()
        except BaseException as error:
            why = own_skip(error)
            if why is None:
                raise
            raise SkipsItself(why) from error

    @property
    def name(self) -> str:
        """The name within the file: ``Class.attribute``, or the name of a global."""
        return self.id if self.called is None else self.called.name

    def renamed(self, id: str, **changes: Any) -> Collected:  # noqa: A002 - the test's id is called so everywhere
        """Return the same test under another id, with `changes` to the fields of its `CollectedName`."""
        assert self.called is not None
        called = dataclasses.replace(self.called, **changes)
        body = dataclasses.replace(self.body, called=called) if isinstance(self.body, WithFixtures) else self.body
        return dataclasses.replace(self, id=id, called=called, body=body)


class ClassMember(NamedTuple):
    """The class that a test is a method of, and the method's name in it."""

    owner: type
    name: str


def settings_of(value: Any) -> Settings | None:
    """Return what ``@autotest`` asks for on `value`; None if it is no decorated test."""
    found = getattr(value, "__autotest__", None)
    return found if isinstance(found, Settings) and callable(value) else None


def runnable(
    called: CollectedName, member: ClassMember | None, outer: list[Any], *, only_by_pytest: bool
) -> Iterator[Collected | LeftOut]:
    """Yield the cases of one decorated test, each with what runs it, or why it is left out.

    Args:
        called: the test's function and name.
        member: where the function is found; None for a function of a module.
        outer: the marks of its module and classes.
        only_by_pytest: whether only pytest can do the set-up around it.
    """
    function, file = called.function, called.file
    marks = [*outer, *marks_of(function)]
    original = inspect.unwrap(function)
    skip = _skipped(function, member, marks)
    if skip is not None:
        yield LeftOut(called.id((), {}), skip)
        return
    settings = settings_of(function)
    assert settings is not None
    expected = _expected_to_fail(function, member, marks)
    names = {getattr(mark, "name", "") for mark in marks}
    for kwargs, shown, why, failing in cases(marks):
        known = dataclasses.replace(called, arguments=shown)
        if why is not None:
            yield LeftOut(known.id((), kwargs), why)
            continue
        call: Callable[[], None]
        if only_by_pytest or "usefixtures" in names or _needs_fixtures(original, member, kwargs):
            call = WithFixtures(known, kwargs)
        elif member is None:
            call = functools.partial(function, **kwargs)
        elif issubclass(member.owner, unittest.TestCase):
            call = _debugging(member.owner, member.name, file)
        else:
            call = _between(member, kwargs)
        yield Collected(known.id((), kwargs), file, settings, call, known, failing or expected)


def _debugging(owner: type[unittest.TestCase], name: str, file: Path) -> Callable[[], None]:
    """Return a function that calls a TestCase method, with all set-up and tear-down of unittest around each call."""

    def call() -> None:
        with class_set_up(owner, file):
            case = owner(name)
            try:
                case.debug()
            finally:
                case.doCleanups()

    return call


def _between(member: ClassMember, kwargs: dict[str, Any]) -> Callable[[], None]:
    """Return a function that calls a method of a new instance, with pytest's set-up and tear-down around each call."""

    def call() -> None:
        instance = member.owner()
        bound = getattr(instance, member.name)

        def run(hook: str) -> None:
            wanted = getattr(instance, hook, None)
            if wanted is not None:
                wanted(*([bound] if inspect.signature(wanted).parameters else []))

        run("setup_method")
        try:
            bound(**kwargs)
        finally:
            run("teardown_method")

    return call


def _marked(function: Any, member: ClassMember | None) -> tuple[Any, ...]:
    """Return what may have unittest's marks of a test: the function, and its class if it is a method."""
    return (function,) if member is None else (function, member.owner)


def _skipped(function: Any, member: ClassMember | None, marks: list[Any]) -> str | None:
    for holder in _marked(function, member):
        if getattr(holder, "__unittest_skip__", False):
            return f"skipped: {getattr(holder, '__unittest_skip_why__', '')}"
    if member is not None and _has_constructor(member.owner):
        return "pytest collects no class with a constructor"
    return skip_mark(marks)


def _has_constructor(owner: type) -> bool:
    """Return whether a class that is no TestCase has a constructor of its own, which pytest has no arguments for."""
    own = any(getattr(owner, name) is not getattr(object, name) for name in ("__init__", "__new__"))
    return own and not issubclass(owner, unittest.TestCase)


def _expected_to_fail(function: Any, member: ClassMember | None, marks: list[Any]) -> str | None:
    if any(getattr(holder, "__unittest_expecting_failure__", False) for holder in _marked(function, member)):
        return "expected to fail"
    return xfail_mark(marks)


def _needs_fixtures(function: Any, member: ClassMember | None, kwargs: dict[str, Any]) -> bool:
    """Whether a parameter has no value, so that pytest looks up a fixture of the same name."""
    parameters = list(inspect.signature(function).parameters.values())[0 if member is None else 1 :]
    by_name = (inspect.Parameter.POSITIONAL_OR_KEYWORD, inspect.Parameter.KEYWORD_ONLY)
    return any(
        parameter.kind in by_name and parameter.default is parameter.empty and parameter.name not in kwargs
        for parameter in parameters
    )
