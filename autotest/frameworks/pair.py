"""A pair of reference and candidate, with a cache of what is looked up in both."""

from __future__ import annotations

import contextlib
import dataclasses
import functools
import operator
import types
import warnings
from collections.abc import Callable, Iterator, Mapping
from typing import Any, NamedTuple, TypeAlias

from autotest.base.errors import AutotestError, UsageError, as_test_mistake, is_test_mistake, nearest
from autotest.emission import Script
from autotest.frameworks.base import Framework
from autotest.frameworks.failures import ABSENT, CandidateDied
from autotest.frameworks.registered_operators import registering_lines
from autotest.program import Call, CallKind, Program, Root, leaves

# An error that the test itself causes is reported at the test's line: pytest hides the frames of this module then.
__tracebackhide__ = is_test_mistake


@contextlib.contextmanager
def warnings_shown() -> Iterator[None]:
    """Show the warnings that would be raised as errors: a warning of a framework is not the outcome of a call.

    Under ``-W error`` a warning would be raised in the middle of a call, and one side would seem to reject what the
    other accepts. Warnings that are ignored stay ignored.
    """
    if not _raises_warnings():
        yield
        return
    with warnings.catch_warnings():
        filters: list[Any] = list(warnings.filters)
        warnings.resetwarnings()
        for action, message, category, module, line in filters:
            kept: Any = "default" if action == "error" else action
            patterns = [str(getattr(pattern, "pattern", pattern or "")) for pattern in (message, module)]
            warnings.filterwarnings(kept, patterns[0], category, patterns[1], line, append=True)
        yield


def _raises_warnings() -> bool:
    return "error" in map(operator.itemgetter(0), warnings.filters)


@contextlib.contextmanager
def warnings_ignored() -> Iterator[None]:
    """Ignore the frameworks' warnings on programs that no user wrote, such as the candidates of shrinking."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        yield


class ScriptImports(NamedTuple):
    """The lines by which a reproducer imports both frameworks, and those of them that may run before a fork."""

    lines: tuple[str, ...]
    passive: tuple[str, ...]


#: The parts of a call that decide what its parameters are: kind, target, class of the owner, number of positional
#: arguments, keywords. Modules of different classes are all called by ``__call__``.
_CallSite: TypeAlias = tuple[CallKind, str, type, int, tuple[str, ...]]


#: Classes whose objects have parameters of their own, and are too short-lived to be kept in a cache.
_FUNCTIONS = (types.FunctionType, types.BuiltinFunctionType, types.MethodType, functools.partial)


class Both(NamedTuple):
    """An object of the namespace on both sides; `actual` is `ABSENT` if the candidate lacks it."""

    expected: Any
    actual: Any


class Pair:
    """The two frameworks of a run.

    ``autotest.frameworks.pair("torch", "oneflow")`` returns that of two registered names. One that is made by hand, of
    two adapters, cannot run trials in worker processes, because these make it of its names.

    Args:
        reference: the framework whose results are the expected ones.
        candidate: the framework under test.
        names: the registered names of both, by which another process can make them too; None if they have none.
    """

    def __init__(self, reference: Framework, candidate: Framework, names: tuple[str, str] | None = None) -> None:
        self.names = names
        #: The other candidates of the run. They may run a program on which these two differ, and vote on its result.
        self.others: tuple[Framework, ...] = ()
        self.reference = reference
        self.candidate = candidate
        self.sides = (reference.name, candidate.name)
        if reference is not candidate:  # paired with itself, a framework needs none and keeps those of another pair
            reference.stand_ins = candidate.own_names()
        self._resolved: dict[str, Both] = {}
        self._usual_paths: dict[str, str] = {}
        self._operations: dict[tuple[CallKind, str], Both] = {}
        self._methods: dict[tuple[type, str], bool] = {}
        self._annotations: dict[_CallSite, Mapping[int | str, Any]] = {}
        self._argument_names: dict[
            tuple[CallKind, str, type, tuple[bool | None, ...], tuple[str, ...]], tuple[str, ...]
        ] = {}

    def names_elsewhere(self) -> tuple[str, str]:
        """Return the registered names of both frameworks, by which another process makes this pair.

        Raises `UsageError` if the pair was made by hand: another process would use the pair that its environment names.
        """
        if self.names is None:
            raise UsageError(
                f"trials of {self.sides[0]} and {self.sides[1]} cannot run in other processes, because these create "
                "a pair from names; expected candidate=NAME, where NAME is registered or MODULE:FACTORY, got a Pair"
            )
        return self.names

    @property
    def frameworks(self) -> tuple[Framework, Framework]:
        """The reference and the candidate."""
        return self.reference, self.candidate

    @property
    def versions(self) -> dict[str, str]:
        """The version of each framework, by name."""
        return {side.name: side.version for side in self.frameworks}

    @property
    def forkable(self) -> bool:
        """Whether a process that has used both frameworks can be forked; see `Framework.forkable`."""
        return self.reference.forkable and self.candidate.forkable

    def load(self) -> None:
        """Import both frameworks now, which takes seconds; raise `FrameworkMissing` if that fails."""
        self.reference.load()
        self.candidate.load()

    def resolve(self, path: str) -> Both:
        """Return the object at `path` on both sides; raise `AttributeError` if the reference lacks it."""
        both = self._resolved.get(path)
        if both is None:
            try:
                expected = self.reference.resolve(path)
            except AttributeError as error:
                # `from None`: newer torch raises it in a function of its own, which would clutter the traceback.
                raise as_test_mistake(AttributeError(f"{error}{self._suggested(path)}")) from None
            actual = _found(lambda: self.candidate.resolve(path))
            both = self._resolved[path] = Both(expected, actual)
        return both

    def usual_path(self, path: str) -> str:
        """Return the usual path of the object at `path`, such as ``int64`` for ``long``.

        Returns `path` itself unless both sides have the same object at the usual path.
        """
        known = self._usual_paths.get(path)
        if known is None:
            usual = self.reference_path(path)
            alike = usual != path and self.resolve(usual).actual is self.resolve(path).actual
            known = self._usual_paths[path] = usual if alike else path
        return known

    def reference_path(self, path: str) -> str:
        """Return the usual path of the reference's object at `path`, whatever the candidate has there."""
        usual = self.reference.literal(self.resolve(path).expected)
        return usual.path if isinstance(usual, Root) else path

    def _suggested(self, path: str) -> str:
        """Return a hint at the reference's member whose name resembles the last part of `path`; empty if none does."""
        parent, _, name = path.rpartition(".")
        try:
            owner = self.reference.resolve(parent) if parent else getattr(self.reference, "root", None)
        except AttributeError:
            return ""
        return nearest(name, dir(owner))

    def operation(self, kind: CallKind, target: str) -> Both:
        """Return the functions that run calls of this kind and target on both sides; see `Framework.operation`."""
        both = self._operations.get((kind, target))
        if both is None:
            if kind == "function":
                self.resolve(target)  # a name that the reference lacks is raised as an error of the test
            expected = self.reference.operation(kind, target)
            actual = _found(lambda: self.candidate.operation(kind, target))
            both = self._operations[kind, target] = Both(expected, actual)
        return both

    def is_method(self, owner: Any, name: str) -> bool:
        """Return whether `name` is a method of the reference's object `owner`, and not a plain attribute."""
        key = (type(owner), name)
        known = self._methods.get(key)
        if known is None:
            known = self._methods[key] = self.reference.is_method(owner, name)
        return known

    @contextlib.contextmanager
    def around_trials(self, patience: float | None = None) -> Iterator[None]:
        """Enter the `around_trials` contexts of both sides, and show warnings that would be raised.

        Inside the block the candidate's `patience` is that of the argument.
        """
        candidate, before = self.candidate, self.candidate.patience
        with (
            self.reference.around_trials(),
            candidate.around_trials(),
            warnings_shown() if _raises_warnings() else contextlib.nullcontext(),
        ):
            candidate.patience = patience
            try:
                yield
            finally:
                candidate.patience = before

    def scripts(self, program: Program) -> tuple[Script, Script]:
        """Return how the reproducer of `program` imports and names both frameworks."""
        reference, stand_ins = self.reference.script(), self.reference.stand_ins
        called = any(name in stand_ins.all_names for call in program.calls for name in _names(call))
        lines = (*reference.lines, *(stand_ins.lines if called else ()), *registering_lines(program))
        return dataclasses.replace(reference, lines=lines), self.candidate.script()

    def script_imports(self, program: Program) -> ScriptImports:
        """Return the lines by which the reproducer of `program` imports both frameworks."""
        written = self.scripts(program)
        passive = {*self.reference.passive_imports, *self.candidate.passive_imports}
        lines = tuple(line for side in written for line in side.lines)
        return ScriptImports(lines, tuple(line for line in dict.fromkeys(lines) if line in passive))

    def annotations(
        self, kind: CallKind, target: str, owner: Any, positional: int, keywords: tuple[str, ...]
    ) -> Mapping[int | str, Any]:
        """Return the reference's annotations of the parameters of a call; see `Framework.annotations`.

        Args:
            kind: the kind of the call.
            target: its target.
            owner: the reference's object whose method is called; unused for other kinds.
            positional: the number of positional arguments.
            keywords: the names of the keyword arguments.
        """
        key = (kind, target, type(owner), positional, keywords)
        known = self._annotations.get(key)
        if known is None or type(owner) in _FUNCTIONS:
            known = self.reference.annotations(target, self._called(kind, target, owner), positional, keywords)
            self._annotations[key] = known
        return known

    def argument_names(
        self, kind: CallKind, target: str, owner: Any, tensors: tuple[bool | None, ...], keywords: tuple[str, ...]
    ) -> tuple[str, ...]:
        """Return the reference's names of the positional arguments of a call; empty if unknown.

        A starred parameter is the last one and has its star. `tensors` says of each positional argument whether it is
        a tensor, with None for another object of the framework; the other arguments are those of `annotations`.
        """
        key = (kind, target, type(owner), tensors, keywords)
        known = self._argument_names.get(key)
        if known is None or type(owner) in _FUNCTIONS:
            called, method = self._called(kind, target, owner), kind == "method"
            known = self.reference.argument_names(target, called, tensors, keywords, method=method)
            self._argument_names[key] = known
        return known

    def _called(self, kind: CallKind, target: str, owner: Any) -> Any:
        """Return the reference's function or bound method that a call calls; `owner` is used for methods only."""
        if kind != "method":
            return self.operation(kind, target).expected
        return owner if target == "__call__" else self.reference.member(owner, target)

    @functools.cached_property
    def packages(self) -> frozenset[str]:
        """The packages whose own code cannot handle dual objects: those of the frameworks, and NumPy."""
        kinds = (*self.reference.tensor_types, *self.candidate.tensor_types)
        # An adapter may have tensors of this library, or its own class beside the tests of the same package.
        adapters = (type(self.reference), type(self.candidate))
        frameworks, own = ({kind.__module__.partition(".")[0] for kind in some} for some in (kinds, adapters))
        return frozenset((frameworks | {"numpy"}) - own - {"autotest"})

    def needs_own_import(self, asked: bool) -> bool:
        """Return whether a process that runs a test's trials has to import the candidate itself, for its graph mode."""
        return self.checks_graph(asked) and not self.candidate.graph_works_in_forks

    def checks_graph(self, asked: bool) -> bool:
        """Return whether programs also run in the candidate's graph mode: if it has one, always or if `asked` for."""
        return bool(self.candidate.graph_mode) and (asked or self.candidate.always_in_graph)

    def side(self, alias: str) -> int | None:
        """Return 0 for an alias of the reference, 1 for an alias of the candidate, None for any other name."""
        return self._aliases.get(alias)

    @functools.cached_property
    def _aliases(self) -> dict[str, int]:
        named = {name: 1 for name in (self.candidate.alias, self.candidate.name) if not self._is_of_torch(name)}
        return {"candidate": 1, **named, "reference": 0, self.reference.alias: 0}

    def _is_of_torch(self, name: str) -> bool:
        """Return whether a test means the reference's own name: a candidate may be called `fft`, `sub` or `data`."""
        reference = self.reference
        return reference.declares(name, modules=True) or reference.provides("function", name, None)

    @functools.cached_property
    def devices(self) -> tuple[str, ...]:
        """The device types that both sides can use."""
        return tuple(kind for kind in self.reference.devices() if kind in self.candidate.devices())


def _found(find: Callable[[], Any]) -> Any:
    """Return the object of the candidate that `find` returns: absent, or raising when called, if finding it fails."""
    try:
        return find()
    except AttributeError:
        return ABSENT
    except (AutotestError, CandidateDied):
        raise
    except Exception as error:  # noqa: BLE001 - a module that is imported on first use may raise anything
        return _raising(error)


def _raising(error: Exception) -> Callable[..., Any]:
    """Return a function that raises `error` when it is called."""

    def function(*args: Any, **kwargs: Any) -> Any:
        raise error

    return function


def _names(call: Call) -> Iterator[str]:
    """Yield the first part of each name of the namespace, and of each member, that `call` uses."""
    if call.kind in ("function", "method", "getattr", "setattr"):
        yield call.target.partition(".")[0]
    yield from (leaf.path.partition(".")[0] for leaf in leaves((call.args, call.kwargs)) if type(leaf) is Root)
