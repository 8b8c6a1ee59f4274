"""Explains errors in a test body, at the body's own line and without the frames of functions that it called."""

from __future__ import annotations

import builtins
import inspect
import linecache
import os
import re
import sys
import traceback
from collections.abc import Collection, Iterable
from pathlib import Path
from types import FrameType, TracebackType
from typing import Any

import generators
from autotest.base.calling import misspelt_argument, misused_function
from autotest.base.errors import AutotestError, UsageError
from autotest.comparison.rejection import first_line
from autotest.recording import tensors
from autotest.recording.dual import DualObject

_OWN = ("autotest.", "generators.")
_STANDARD = f"{Path(os.__file__).parent}{os.sep}"
#: Functions that NumPy and torch have under the same name.
_SHARED = frozenset(
    "amax amin argmax argmin argsort clip concatenate cumprod cumsum diff dot einsum flip hstack max mean median min "
    "prod quantile ravel reshape roll sort split stack std sum swapaxes tile transpose unique var vstack where".split()
)


def explained(error: Exception, packages: Collection[str]) -> Exception | None:
    """Return the error to raise instead of `error` if a body gave a dual object to a function that cannot use it.

    Args:
        error: the exception that the body raised.
        packages: the packages of the frameworks, and NumPy.

    Returns:
        An error with an explanation and a traceback of the body's own lines; None if `error` shall be raised unchanged.
    """
    if isinstance(error, AutotestError):
        return None
    # If NumPy's own code passed on a wrong argument, the test cannot see that mistake in its line.
    asked = ["numpy"] if getattr(error, "is_test_mistake", False) else packages
    said = _said(error, asked)
    own = (
        traceback_of_test(error.__traceback__, packages)
        if said is not None or isinstance(error, RecursionError)
        else None
    )
    if isinstance(error, RecursionError) and own is not None:
        inner = own
        while inner.tb_next is not None and inner.tb_frame.f_code is not inner.tb_next.tb_frame.f_code:
            inner = inner.tb_next
        code = inner.tb_frame.f_code
        where = f"{code.co_name} ({Path(code.co_filename).name}:{inner.tb_lineno})"
        said = f"{error}: {where} calls itself without end"
        own = TracebackType(None, own.tb_frame, own.tb_lasti, own.tb_lineno)
    return None if said is None else UsageError(said).with_traceback(own)


def traceback_of_test(entry: TracebackType | None, packages: Collection[str]) -> TracebackType | None:
    """Return a traceback without the frames of this library, of `packages` and of the standard library."""
    entries = []
    while entry is not None:
        frame = entry.tb_frame
        if not (is_library(frame) or _package(frame) in packages or _is_standard(frame)):
            entries.append((frame, entry.tb_lasti, entry.tb_lineno))
        entry = entry.tb_next
    own = None
    for frame, instruction, line in reversed(entries):
        own = TracebackType(own, frame, instruction, line)
    return own


def is_library(frame: FrameType) -> bool:
    """Return whether `frame` runs code of this library."""
    return str(frame.f_globals.get("__name__", "")).startswith(_OWN)


def _is_standard(frame: FrameType) -> bool:
    """Return whether `frame` runs code of the standard library. The file decides, since a test may have any name."""
    file = frame.f_code.co_filename
    return file.startswith(_STANDARD) and "site-packages" not in file


def brief_traceback(error: BaseException, packages: Collection[str]) -> str:
    """Return `error` formatted with a traceback of the body's own lines."""
    shown = traceback.TracebackException(type(error), error, traceback_of_test(error.__traceback__, packages))
    shown.__context__ = None
    if isinstance(error, AutotestError):  # its message says what its cause was
        shown.__cause__ = None
    return "".join(shown.format()).rstrip()


def _said(error: Exception, packages: Collection[str]) -> str | None:
    """Return what to write instead of the line at which `error` was raised; None if nothing is known of it."""
    before: FrameType | None = None
    line = 0
    for frame, at in traceback.walk_tb(error.__traceback__):
        package = _package(frame)
        called = package in packages and before is not None and not is_library(before)
        if called and _holds_dual(frame):
            return _foreign(package, frame, error)
        before, line = frame, at
    return None if before is None or is_library(before) else _advice(error, before, line)


def _advice(error: Exception, raising: FrameType, line: int) -> str | None:
    """Return the advice about `error`, which was raised in `line` of the frame `raising`; None if there is none."""
    if isinstance(error, TypeError) and "unsupported format string passed to" in str(error) and _is_dual_format(error):
        return (
            'a format such as .3f needs a number: write f"{x.item():.3f}" of a tensor with one element, or '
            f'f"{{x}}", which shows the whole tensor on both sides ({error})'
        )
    if "does not support ufuncs" in str(error):
        return (
            "a NumPy function got a dual tensor, but NumPy computes on one side only: write torch's function, such "
            "as torch.exp(x), with the torch of `from autotest import torch`; or pass np.asarray(x.detach()), the "
            "reference's numbers"
        )
    written = linecache.getline(raising.f_code.co_filename, line) if isinstance(error, AssertionError) else ""
    if re.search(r"\bisinstance\(.*\bTensor\b", written) and _holds_dual(raising):
        return (
            "a dual tensor is not a Tensor of one framework: write isinstance(x, torch.Tensor) with the torch of `from "
            "autotest import torch`, or test one side, as in isinstance(x.reference, ...)"
        )
    if str(error).startswith("Cannot | a SearchStrategy with "):
        return (
            "the left operand of `|` is a Hypothesis strategy, which accepts only strategies: write `generator | "
            "strategy`, or oneof(strategy, generator)"
        )
    if isinstance(error, TypeError):
        named = misused_function(error)
        ours = next((getattr(home, named) for home in (tensors, generators) if named in vars(home)), None)
        said = misspelt_argument(error, ours) or _generator_for_one_framework(error)
        if said is not None:
            return said
    own = r"\bautotest\.recording\.|(?<![\w.'])'?(Value|Symbol|Method)\b'?(?!\()"
    if isinstance(error, TypeError) and re.search(own, str(error)):
        first = first_line(error)
        return (
            f"a function that does not support dual objects got one ({first}): use the functions of `from autotest "
            "import torch`, or pass one side only, such as x.reference"
        )
    return None


def _generator_for_one_framework(error: TypeError) -> str | None:
    """Return the message for a built-in function of one framework that got a generator; None for other errors."""
    first = first_line(error)
    got = re.search(r"\bnot (\w+)$|\bfound element of type (\w+)|\bgot \(([^)]*)\)", first)
    if got is None or not _names_of_generators().intersection(re.findall(r"\w+", " ".join(filter(None, got.groups())))):
        return None
    name = re.match(r"(\w+)\(\)", first)
    return (
        f"a function of one framework got a generator, which has no value for it: call {name[1] if name else 'it'} of "
        "the torch of `from autotest import torch`, which draws one, or pass a number, as in random(1, 5).value() "
        f"({first})"
    )


def _names_of_generators() -> set[str]:
    """Return the names of the classes of generators, without those that Python's own types have, too."""
    found, ahead = set[str](), [generators.Generator]
    while ahead:
        below = ahead.pop().__subclasses__()
        ahead += below
        found |= {one.__name__ for one in below}
    return found - vars(builtins).keys()


def _is_dual_format(error: Exception) -> bool:
    """Return whether formatting failed for a dual object."""
    frames = [frame for frame, _ in traceback.walk_tb(error.__traceback__)]
    return any(frame.f_code.co_name == "__format__" and _holds_dual(frame) for frame in frames)


def _holds_dual(frame: FrameType) -> bool:
    """Return whether the function in `frame` has a dual object among its local variables."""
    return any(isinstance(item, DualObject) for item in _flat(frame.f_locals.values()))


def _foreign(package: str, frame: FrameType, error: Exception) -> str:
    """Return the message for a dual object that was passed to the function in `frame`, which is of `package`."""
    first = (str(error).strip().splitlines() or [""])[0][:160]
    why = f"({type(error).__name__}: {first})" if first else f"({type(error).__name__})"
    module = str(frame.f_globals.get("__name__", ""))
    if module.startswith("torch._dynamo"):
        return (
            "torch.compile traces Python code, but each call of a dual object runs on both sides: call the function "
            f"directly; to test compiled code, choose a candidate that compiles, such as torch+compile=BACKEND {why}"
        )
    name = _public_name(frame)
    if name.startswith("torch.testing."):
        return (
            f"{name} of PyTorch itself got a dual tensor: both sides are compared automatically, so return the "
            f"tensors to compare; to compare one side with your own numbers, pass x.reference or x.candidate {why}"
        )
    if name.startswith("numpy.testing."):
        return (
            f"{name} got a dual tensor: both sides are compared automatically, so return the tensors to compare; to "
            "compare one side with your own numbers, pass x.reference.detach().numpy() or "
            f"x.candidate.detach().numpy() {why}"
        )
    if package == "numpy":
        own = name.rpartition(".")[2]
        return (
            f"{name} got a dual tensor, but NumPy computes on one side only: write torch's function, such as "
            f"torch.{own if own in _SHARED else 'sum'}(...), with the torch of `from autotest import torch`, or pass "
            f"x.detach().numpy() {why}"
        )
    rest = name.partition(".")[2]
    return (
        f"{name} of {package} itself got a dual object: write torch.{rest} with the torch of `from autotest import "
        f"torch`, or pass one side only, such as x.reference {why}"
    )


def _public_name(frame: FrameType) -> str:
    """Return the shortest dotted name of the function in `frame`."""
    function, module = frame.f_code.co_name, str(frame.f_globals.get("__name__", ""))
    made = type(frame.f_locals.get("self")) if function == "__init__" else None
    if made is not None:
        function, module = made.__name__, made.__module__
    parts = module.split(".")
    for count in range(1, len(parts) + 1):
        place = ".".join(parts[:count])
        found: Any = getattr(sys.modules.get(place), function, None)
        if found is not None and (
            found is made
            or getattr(inspect.unwrap(found) if callable(found) else None, "__code__", None) is frame.f_code
        ):
            return f"{place}.{function}"
    return f"{module}.{function}"


def _package(frame: FrameType) -> str:
    return str(frame.f_globals.get("__name__", "")).partition(".")[0]


def _flat(values: Iterable[Any]) -> Iterable[Any]:
    for value in values:
        if type(value) in (tuple, list):
            yield from value
        elif type(value) is dict:
            yield from value.values()
        else:
            yield value
