"""From the name of a framework to its adapter."""

from __future__ import annotations

import difflib
import functools
import importlib
import os
import sys
import traceback
from pathlib import Path
from types import ModuleType

from autotest.base.errors import FrameworkMissing, UsageError
from autotest.base.options import DEFAULT_PAIR, in_force, said
from autotest.frameworks.base import Framework
from autotest.frameworks.pair import Pair
from autotest.frameworks.torch_like import TorchLike
from autotest.frameworks.unsearched import unsearched

GROUP = "autotest.frameworks"
#: Where the frameworks that ship with the library are, so that a plain source checkout works too.
SHIPPED = {
    "torch": "autotest.frameworks.torch:framework",
    "oneflow": "autotest.frameworks.oneflow:framework",
    "paddle": "autotest.frameworks.paddle:framework",
    "onnxruntime": "autotest.frameworks.onnxruntime:framework",
    "mlx": "autotest.frameworks.mlx:framework",
    "jax": "autotest.frameworks.jax:framework",
    "tinygrad": "autotest.frameworks.tinygrad:framework",
    "mindspore": "autotest.frameworks.mindspore:framework",
}
#: What makes an adapter of what follows these beginnings of a name.
FAMILIES = {
    "python:": "autotest.frameworks.interpreter:framework",
    "torch:": "autotest.frameworks.torch_device:framework",
    "torch+compile=": "autotest.frameworks.torch_compile:framework",
    "torch+compile": "autotest.frameworks.torch_compile:framework",
}


def framework(name: str) -> Framework:
    """The adapter called `name`; raises `FrameworkMissing` or `UsageError` in one sentence."""
    target, given = _target(name)
    module_name, _, attribute = target.partition(":")
    _look_here_too(module_name)
    what = f"the adapter of framework {name!r} ({target})"
    module = _imported(module_name, what)
    try:
        factory = getattr(module, attribute)
    except AttributeError as error:
        raise UsageError(f"{target!r} names no factory of a framework: {error}") from error
    try:
        made = factory(*given)
    except (FrameworkMissing, UsageError):  # which say in one sentence what is wrong
        raise
    except ImportError as error:
        raise FrameworkMissing(f"{what} cannot be imported: {error}") from error
    except Exception as error:
        own = error.__traceback__ is not None and error.__traceback__.tb_next is not None
        if isinstance(error, TypeError) and not own:
            raise UsageError(f"{target!r} is no factory of a framework, which needs no arguments: {error}") from error
        raise UsageError(f"{target!r} cannot make its framework: {_said(error)}") from error
    if not isinstance(made, Framework):
        kind = type(made).__name__
        raise UsageError(f"{target!r} made something of type {kind}; expected an autotest.frameworks.Framework")
    if not hasattr(made, "name") or not hasattr(made, "alias"):
        kind = type(made).__name__
        raise UsageError(
            f"{target!r} made a {kind} without a name: its __init__ has to call super().__init__(name, ...)"
        )
    made.origin = made.origin or name
    return made


def _imported(module_name: str, what: str) -> ModuleType:
    try:
        with unsearched():  # it may import its framework
            return importlib.import_module(module_name)
    except ImportError as error:
        raise FrameworkMissing(f"{what} cannot be imported: {error}") from error
    except Exception as error:
        raise FrameworkMissing(f"{what} cannot be imported: {_said(error)}") from error


def _said(error: Exception) -> str:
    """What an adapter's own code raised, and where."""
    last = traceback.extract_tb(error.__traceback__)[-1]
    return f"{type(error).__name__}: {error} ({last.filename}, line {last.lineno})"


def _look_here_too(module_name: str) -> None:
    """Let an adapter be found in the folder that the process was started in, as ``python -m`` lets it.

    And in that of the project whose table holds, which may name it, wherever the process was started.
    """
    first = module_name.partition(".")[0]
    if first in sys.modules:
        return
    named = in_force().file
    for place in (Path.cwd(), *([] if named is None else [named.parent])):
        if str(place) in sys.path or ("" in sys.path and place == Path.cwd()):
            continue
        if (place / f"{first}.py").is_file() or (place / first / "__init__.py").is_file():
            sys.path.append(str(place))


def speaking_torch(name: str) -> TorchLike:
    """A namespace of torch's names over the framework called `name`, for programs to run on."""
    return TorchLike(framework(name))


def names() -> list[str]:
    """Every registered name."""
    return sorted({*SHIPPED, *_registered()})


def must_be_known(name: str) -> None:
    """Raise `UsageError` where no framework is called `name`; one that is known need not be installed.

    Raises `FrameworkMissing` for an interpreter that is not there.
    """
    _, given = _target(name)
    if given:  # the adapter of a family looks at what follows, and imports no framework yet
        framework(name)


def _target(name: str) -> tuple[str, tuple[str, ...]]:
    """Where the factory of the framework called `name` is, and what it is called with."""
    for beginning, factory in FAMILIES.items():
        rest = name.removeprefix(beginning)
        if rest != name and (beginning.endswith((":", "=")) or not rest):
            return factory, (rest,)
    if ":" in name:
        return name, ()
    registered = _registered()
    if name in registered:
        return registered[name], ()
    if name in SHIPPED:
        return SHIPPED[name], ()
    near = difflib.get_close_matches(name, [*names(), *FAMILIES], 1)
    meant = f". Did you mean {near[0]!r}?" if near else "."
    raise UsageError(
        f"no framework is called {name!r}{meant} Registered are {', '.join(names())}; there are also torch:DEVICE, "
        "python:PATH, torch+compile=BACKEND and MODULE:FACTORY"
    )


def _registered() -> dict[str, str]:
    import importlib.metadata  # takes 20 ms, and only a process that runs trials needs it

    return {point.name: point.value for point in importlib.metadata.entry_points(group=GROUP)}


@functools.cache
def pair(reference: str, candidate: str) -> Pair:
    """The pair of these names; the same object every time, so that what it looked up stays known."""
    return Pair(framework(reference), framework(candidate), names=(reference, candidate))


@functools.cache
def pairs(reference: str, candidates: tuple[str, ...]) -> tuple[Pair, ...]:
    """The pairs of one reference with each of several candidates, which know of each other."""
    made = tuple(Pair(framework(reference), framework(name), names=(reference, name)) for name in candidates)
    for one in made:
        one.others = tuple(other.candidate for other in made if other is not one)
    return made


def chosen(candidate: str = "") -> Pair:
    """The pair that this process was asked for, which only the doors of a process may ask; see `chosen_names`."""
    return pair(*chosen_names(candidate))


def all_chosen(candidate: str = "") -> tuple[Pair, ...]:
    """The pairs that this process was asked for, one for each candidate."""
    reference, candidates = all_chosen_names(candidate)
    return pairs(reference, candidates) if len(candidates) > 1 else (pair(reference, *candidates),)


def chosen_names(candidate: str = "") -> tuple[str, str]:
    """The names of reference and candidate: AUTOTEST_REFERENCE and AUTOTEST_CANDIDATE, torch and oneflow.

    `candidate` is what a test itself says, which goes before what its project does, and not before the process.
    Raises `UsageError` where there are several.
    """
    reference, (first, *others) = all_chosen_names(candidate)
    if others:
        asked = ",".join((first, *others))
        raise UsageError(f"candidate {asked}: expected one of them here; only pytest and autotest fuzz take several")
    return reference, first


def all_chosen_names(candidate: str = "") -> tuple[str, tuple[str, ...]]:
    """The same with every candidate, of which there may be several with commas between: ``NAME,OTHER``."""
    asked = os.environ.get("AUTOTEST_CANDIDATE") or candidate or said("AUTOTEST_CANDIDATE") or DEFAULT_PAIR[1]
    return said("AUTOTEST_REFERENCE") or DEFAULT_PAIR[0], candidates_in(asked)


def takes_own(candidate: str) -> bool:
    """Whether `candidate`, which a test says, is what it gets: the process goes before that."""
    return bool(candidate) and not os.environ.get("AUTOTEST_CANDIDATE")


def candidates_in(asked: str) -> tuple[str, ...]:
    """The names in ``NAME,OTHER``, each once; raises `UsageError` where there is none."""
    names = tuple(dict.fromkeys(name.strip() for name in asked.split(",") if name.strip()))
    if not names:
        raise UsageError(f"candidate {asked!r}: expected the name of a framework, or several with commas between")
    return names


def variables(names: tuple[str, str]) -> dict[str, str]:
    """The environment by which another process chooses the pair of these names."""
    return {"AUTOTEST_REFERENCE": names[0], "AUTOTEST_CANDIDATE": names[1]}
