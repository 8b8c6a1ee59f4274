"""Proxies for a framework's namespace and objects, which record an adapter's operations on them as source code."""

from __future__ import annotations

import contextlib
import importlib
import operator
import re
from collections.abc import Callable, Iterator, Mapping
from types import ModuleType
from typing import Any, Final, NamedTuple

import numpy as np

from autotest.base.errors import NotReplayable
from autotest.emission import literals
from autotest.emission.code import ARITHMETIC, COMPARISONS
from autotest.emission.native_script import DTYPE_TEXT, LIST_TEXT
from autotest.emission.quoting import bracketed
from autotest.frameworks.traced_numpy import source_of
from autotest.program.numpy_scalars import is_scalar

#: A variable name in a statement.
NAME: Final = re.compile(r"\b[a-z]+\d+\b")
#: What a script imports that has a compressed array.
_NEEDED: Final = "import zlib"
#: A temporary name, which programs do not use for their values.
_TEMPORARY = re.compile(r"\bt\d+\b")


class Transcript:
    """The recorded statements: for each, the name of its result (empty if it has none) and its source.

    Args:
        kinds: classes of the framework's objects that are traced.
        imports: the statements that import the framework, one a line.
        pure: whether statements have no side effects, so that those whose results are unused can be left out.
    """

    def __init__(self, kinds: tuple[type, ...], imports: str, *, pure: bool) -> None:
        self.imports, self.pure = imports, pure
        #: How a script reads an array and its dtype, see `autotest.emission.native_script`.
        self.list_text, self.dtype_text = LIST_TEXT, DTYPE_TEXT
        #: The backward pass, if there was one.
        self.differentiated: TracedGradient | None = None
        self.kinds = kinds
        self.statements: list[tuple[str, str]] = []
        #: `varying`: names of statements through which gradients flow. `varies`: whether they flow through the
        #: statements that are recorded now.
        self.varying: set[str] = set()
        self.varies = False
        #: id of a constant, such as a dtype -> its source, and the constant, which is kept alive by this.
        self._constants: dict[int, tuple[str, Any]] = {}
        self._count = 0
        #: Whether recording is off.
        self.muted = False
        #: How the source of a call begins that is recorded but not made, since it kills the process; empty for none.
        self.stops = ""
        #: Whether the last statement raised.
        self.raised = False
        #: Whether calls are made again: each has the name of the earlier statement that is the same.
        self._repeats = False

    def constant(self, value: Any, text: str) -> None:
        self._constants[id(value)] = (text, value)

    def text(self, value: Any) -> str:
        """Return the source of an operand.

        Raises:
            NotReplayable: if the operand has no source.
        """
        if isinstance(value, _Named):
            found: str = object.__getattribute__(value, "_text")
            if not found:
                raise NotReplayable("a call uses a value that was not recorded")
            return found
        if id(value) in self._constants:
            return self._constants[id(value)][0]
        if isinstance(value, np.ndarray):
            return literals.array(value) or self._compressed(value)
        if isinstance(value, np.dtype):
            return f'np.dtype("{value.name}")'
        if isinstance(value, type) and issubclass(value, np.generic):
            return source_of(value)
        if isinstance(value, (list, tuple)):
            inside = ", ".join(map(self.text, value))
            if isinstance(value, list):
                return f"[{inside}]"
            return f"({inside}{',' if len(value) == 1 else ''})"
        if isinstance(value, dict):
            return "{" + ", ".join(f"{self.text(key)}: {self.text(item)}" for key, item in value.items()) + "}"
        if isinstance(value, slice):
            return f"slice({', '.join(self.text(part) for part in (value.start, value.stop, value.step))})"
        if value is Ellipsis:
            return "..."
        if isinstance(value, (bool, int, float, complex, str, bytes, type(None))) or is_scalar(value):
            return literals.plain(value)
        raise NotReplayable(f"{type(value).__name__} has no source text")

    def _compressed(self, value: np.ndarray[Any, Any]) -> str:
        text = literals.compressed(value)
        if text is None:
            raise NotReplayable(f"an array of {value.size} numbers is too large for one line")
        if _NEEDED not in self.imports.splitlines():
            self.imports = f"{_NEEDED}\n{self.imports}"
        return text

    def key(self, value: Any) -> str:
        """Return the source of an index."""
        if isinstance(value, slice):
            parts = ["" if part is None else self.text(part) for part in (value.start, value.stop, value.step)]
            return ":".join(parts[:2] if value.step is None else parts)
        if isinstance(value, tuple) and value:
            return ", ".join(map(self.key, value)) + ("," if len(value) == 1 else "")
        return self.text(value)

    def call(self, function: Callable[..., Any], text: str, args: tuple[Any, ...], kwargs: Mapping[str, Any]) -> Any:
        """Make a call, record it, and return its result. A call that raises is recorded, too.

        Raises:
            NotReplayable: if the call is a statement with an operand that has no source.
            Stopped: if the call is the one that `stops` describes.
        """
        given = [opened(item) for item in args]
        named = {key: opened(item) for key, item in kwargs.items()}
        # The functions may be methods of an object, as those of a backend that the adapter makes. NumPy's are values.
        if isinstance(function, type) and function.__module__.partition(".")[0] not in ("builtins", "numpy"):
            self.kinds = (*self.kinds, function)
        if self.muted:
            return self._followed(function(*given, **named), "")
        try:
            parts = [*map(self.text, args), *(f"{key}={self.text(item)}" for key, item in kwargs.items())]
        except NotReplayable:
            # An operand, such as a dtype of MLX's, has no source. A call that only asks about it is no statement.
            answer = function(*given, **named)
            if answer is None or self._holds(answer):
                raise
            return answer
        whole = f"{text}({', '.join(parts)})"
        if self.stops and text.startswith(self.stops) and not self._earlier(whole):
            self._keep(whole)
            raise Stopped
        return self.evaluated(lambda: function(*given, **named), whole)

    def evaluated(self, action: Callable[[], Any], text: str) -> Any:
        """Return the result of `action`, whose source is `text`, and record it, also if it raises."""
        if self.muted:
            return self._followed(action(), "")
        try:
            made = action()
        except Exception:
            self._keep(text)
            self.raised = True
            raise
        if made is None:
            if not (self._repeats and ("", text) in self.statements):
                self.statements.append(("", text))
            return None
        if not self._holds(made):
            return made
        return self._followed(made, self._keep(text))

    @contextlib.contextmanager
    def repeated(self) -> Iterator[None]:
        """Return a context in which calls that were made before are made again, and not recorded again."""
        self._repeats = True
        try:
            yield
        finally:
            self._repeats = False

    def _earlier(self, text: str) -> str:
        """Return the name of the statement that is made again; "" if it is a new one."""
        again = self._repeats or self.stops
        found = [name for name, known in self.statements if known == text] if again else []
        return found[-1] if found else ""

    def _keep(self, text: str) -> str:
        earlier = self._earlier(text)
        if earlier:
            return earlier
        name = f"t{self._count}"
        self._count += 1
        self.statements.append((name, text))
        if self.varies:
            self.varying.add(name)
        return name

    def _holds(self, value: Any) -> bool:
        if isinstance(value, (tuple, list)):
            return any(map(self._holds, value))
        return isinstance(value, self.kinds) or hasattr(type(value), "__enter__")

    def _followed(self, value: Any, text: str) -> Any:
        if isinstance(value, self.kinds) or hasattr(type(value), "__enter__"):
            return Traced(value, text, self)
        if isinstance(value, (tuple, list)):
            items = [self._followed(item, f"{text}[{at}]") for at, item in enumerate(value)]
            return items if isinstance(value, list) else tuple(items)
        return value

    def rename(self, value: Any, name: str) -> None:
        """Name the last statement's result `name`, if that is `value` and its name is a temporary one."""
        if not isinstance(value, Traced) or not self.statements:
            return
        old = object.__getattribute__(value, "_text")
        if self.statements[-1][0] == old and _TEMPORARY.fullmatch(old):
            self.statements[-1] = (name, self.statements[-1][1])
            if old in self.varying:
                self.varying.add(name)
            object.__setattr__(value, "_text", name)


class TracedGradient(NamedTuple):
    """The differentiation of a function from `leaves` to `outputs`; all values are given by their source."""

    outputs: tuple[str, ...]
    leaves: tuple[str, ...]
    cotangents: tuple[str, ...]
    #: The lines after ``def forward(...)``, and the names that they assign the gradients to.
    lines: tuple[str, ...]
    gradients: tuple[str, ...]
    #: Number of statements that belong to the function.
    end: int
    #: Why no function has these gradients; empty if one has.
    trouble: str


class Stopped(Exception):
    """Raised instead of making a call that was to be recorded only."""


class _Named:
    """A proxy for an object that has source text. Its ``__class__`` is the object's class."""

    def __init__(self, real: Any, text: str, written: Transcript) -> None:
        for name, value in (("_real", real), ("_text", text), ("_written", written)):
            object.__setattr__(self, name, value)

    @property  # type: ignore[misc]
    def __class__(self) -> Any:
        return type(object.__getattribute__(self, "_real"))

    def __getattr__(self, name: str) -> Any:
        real, text, written = self._real, self._text, self._written
        try:
            found = getattr(real, name)
        except AttributeError:
            if not isinstance(real, ModuleType):
                raise
            try:  # a submodule that is not imported yet
                found = importlib.import_module(f"{real.__name__}.{name}")
            except ImportError:
                raise AttributeError(f"{text} has no {name}") from None
        path = f"{text}.{name}"
        if isinstance(found, ModuleType):
            return TracedNamespace(found, path, written)
        if isinstance(found, written.kinds):
            return Traced(found, path, written)
        if callable(found):
            return TracedFunction(found, path, written)
        if isinstance(real, (ModuleType, type)):
            written.constant(found, path)
        return found

    def __hash__(self) -> int:
        return id(self._real)


class TracedNamespace(_Named):
    """A proxy for a module of the framework."""


class TracedFunction(_Named):
    """A proxy for a function, method or class of the framework."""

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        return self._written.call(self._real, self._text, args, kwargs)

    def __instancecheck__(self, value: Any) -> bool:
        return isinstance(value, self._real)

    def __eq__(self, other: object) -> bool:
        return bool(self._real == opened(other))

    __hash__ = _Named.__hash__


class Traced(_Named):
    """A proxy for a tensor, neural-network module or context manager of the framework."""

    def __setattr__(self, name: str, value: Any) -> None:
        setattr(self._real, name, opened(value))
        if not self._written.muted:
            self._written.statements.append(("", f"{self._text}.{name} = {self._written.text(value)}"))

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        return self._written.call(self._real, self._text, args, kwargs)

    def __getitem__(self, key: Any) -> Any:
        written = self._written
        return written.evaluated(
            lambda: self._real[opened(key)], "" if written.muted else f"{self._text}[{written.key(key)}]"
        )

    def __setitem__(self, key: Any, value: Any) -> None:
        written = self._written
        text = "" if written.muted else f"{self._text}[{written.key(key)}] = {written.text(value)}"
        written.evaluated(lambda: operator.setitem(self._real, opened(key), opened(value)), text)

    def __array_function__(self, function: Any, types: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
        return self._written.call(function, source_of(function), args, kwargs)

    def __array_ufunc__(self, ufunc: Any, method: str, *args: Any, **kwargs: Any) -> Any:
        return self._written.call(getattr(ufunc, method), source_of(ufunc, method), args, kwargs)

    @property
    def __array_struct__(self) -> Any:  # NumPy asks for this first
        raise NotReplayable("NumPy reads an array, and does with it what is not recorded")

    def __len__(self) -> int:
        return len(self._real)

    def __iter__(self) -> Any:
        return (self[at] for at in range(len(self._real)))

    def __bool__(self) -> bool:
        return bool(self._real)

    def __int__(self) -> int:
        return int(self._real)

    def __index__(self) -> int:
        return int(operator.index(self._real))

    def __float__(self) -> float:
        return float(self._real)

    def __enter__(self) -> Any:
        return self.__getattr__("__enter__")()

    def __exit__(self, *details: Any) -> Any:
        return self.__getattr__("__exit__")(None, None, None)

    __hash__ = _Named.__hash__


def _install_operators() -> None:
    def binary(function: Callable[[Any, Any], Any], sign: str, *, swapped: bool = False) -> Any:
        def apply(self: Traced, other: Any) -> Any:
            one, two = (other, self) if swapped else (self, other)
            written = self._written
            text = "" if written.muted else f"{bracketed(written.text(one))} {sign} {bracketed(written.text(two))}"
            return written.evaluated(lambda: function(opened(one), opened(two)), text)

        return apply

    def unary(function: Callable[[Any], Any], sign: str) -> Any:
        return lambda self: self._written.evaluated(lambda: function(self._real), f"{sign}{self._text}")

    for name, sign in ARITHMETIC.items():
        plain, special = getattr(operator, name), name.rstrip("_")
        setattr(Traced, f"__{special}__", binary(plain, sign))
        setattr(Traced, f"__r{special}__", binary(plain, sign, swapped=True))
        setattr(Traced, f"__i{special}__", _in_place(getattr(operator, f"i{special}"), f"{sign}="))
    for name, sign in COMPARISONS.items():
        setattr(Traced, f"__{name}__", binary(getattr(operator, name), sign))
    for name, sign in {"neg": "-", "pos": "+", "invert": "~"}.items():
        setattr(Traced, f"__{name}__", unary(getattr(operator, name), sign))
    Traced.__abs__ = lambda self: self._written.call(abs, "abs", (self,), {})  # type: ignore[attr-defined]
    Traced.__hash__ = _Named.__hash__  # type: ignore[method-assign, assignment]  # __eq__ took it away


def _in_place(function: Callable[[Any, Any], Any], sign: str) -> Any:
    def apply(self: Traced, other: Any) -> Any:
        made = function(self._real, opened(other))
        if not self._written.muted:
            self._written.statements.append(("", f"{self._text} {sign} {self._written.text(other)}"))
        return self if made is self._real else Traced(made, self._text, self._written)

    return apply


def opened(value: Any) -> Any:
    """Return `value` with each proxy in it replaced by its object."""
    if isinstance(value, _Named):
        return object.__getattribute__(value, "_real")
    if type(value) in (list, tuple):
        return type(value)(map(opened, value))
    if type(value) is dict:
        return {key: opened(item) for key, item in value.items()}
    if type(value) is slice:
        return slice(opened(value.start), opened(value.stop), opened(value.step))
    return value


_install_operators()
