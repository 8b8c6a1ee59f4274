"""Finds the adapter of a framework, and the pair of a process, by name."""

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
from autotest.base.options import DEFAULT_PAIR, active_project, configured
from autotest.frameworks.base import Framework
from autotest.frameworks.gc_paused import without_gc
from autotest.frameworks.pair import Pair
from autotest.frameworks.torch_like import TorchLike

#: The entry-point group in which packages register adapters.
GROUP = "autotest.frameworks"
#: The adapters that ship with the library. They are listed here so that a source checkout, which is not installed and
#: has no entry points, works too.
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
#: Prefix of a name -> the factory of the adapter, which is called with the rest of the name.
FAMILIES = {
    "python:": "autotest.frameworks.remote.interpreter:framework",
    "torch:": "autotest.frameworks.torch_device:framework",
    "torch+compile=": "autotest.frameworks.torch_compile:framework",
    "torch+compile": "autotest.frameworks.torch_compile:framework",
}


def framework(name: str) -> Framework:
    """Return the adapter called `name`.

    Args:
        name: a registered name, a name with a prefix of `FAMILIES`, or ``MODULE:FACTORY``.

    Raises:
        FrameworkMissing: if the adapter cannot be imported.
        UsageError: if the name is unknown, or does not lead to an adapter. Both messages are one sentence.
    """
    target, given = _target(name)
    module_name, _, attribute = target.partition(":")
    for named in (module_name, *given):  # what is given may be the ``MODULE:FUNCTION`` of a backend
        _look_here_too(named.partition(":")[0])
    what = f"the adapter of framework {name!r} ({target})"
    module = _imported(module_name, what)
    try:
        factory = getattr(module, attribute)
    except AttributeError as error:
        raise UsageError(f"{target!r} is not a factory of a framework: {error}") from error
    try:
        made = factory(*given)
    except (FrameworkMissing, UsageError):  # their messages are one sentence already
        raise
    except ImportError as error:
        raise FrameworkMissing(f"{what} cannot be imported: {error}") from error
    except Exception as error:
        own = error.__traceback__ is not None and error.__traceback__.tb_next is not None
        if isinstance(error, TypeError) and not own:
            raise UsageError(
                f"{target!r} is not a factory of a framework, which must work without arguments: {error}"
            ) from error
        raise UsageError(f"{target!r} cannot make its framework: {_error_in_words(error)}") from error
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
        with without_gc():  # the adapter's module may import its framework
            return importlib.import_module(module_name)
    except ImportError as error:
        raise FrameworkMissing(f"{what} cannot be imported: {error}") from error
    except Exception as error:
        raise FrameworkMissing(f"{what} cannot be imported: {_error_in_words(error)}") from error


def _error_in_words(error: Exception) -> str:
    """Return the type, message and line of an error that an adapter's own code raised."""
    last = traceback.extract_tb(error.__traceback__)[-1]
    return f"{type(error).__name__}: {error} ({last.filename}, line {last.lineno})"


def _look_here_too(module_name: str) -> None:
    """Add the folder that contains a module of the user's own to `sys.path`, if it is one of the following two.

    The working directory, which ``python -m`` searches too; and the folder of the ``pyproject.toml`` in effect, whose
    table may name the module: that works in any working directory.
    """
    first = module_name.partition(".")[0]
    if first in sys.modules:
        return
    named = active_project().file
    for place in (Path.cwd(), *([] if named is None else [named.parent])):
        if str(place) in sys.path:  # an empty entry does not count: it is another folder after `os.chdir`
            continue
        if (place / f"{first}.py").is_file() or (place / first / "__init__.py").is_file():
            sys.path.append(str(place))


def speaking_torch(name: str) -> TorchLike:
    """Return a namespace with torch's names, on which programs can run, for the framework called `name`."""
    return TorchLike(framework(name))


def names() -> list[str]:
    """Return all registered names, sorted."""
    return sorted({*SHIPPED, *_registered()})


def must_be_known(name: str) -> None:
    """Raise `UsageError` if no framework is called `name`. A known framework need not be installed.

    Raises `FrameworkMissing` for an interpreter that does not exist.
    """
    _, given = _target(name)
    if given:  # making the adapter checks the rest of the name, and does not import the framework yet
        framework(name)


def _target(name: str) -> tuple[str, tuple[str, ...]]:
    """Return the ``MODULE:FACTORY`` of the framework called `name`, and the factory's arguments."""
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
        f"no framework is named {name!r}{meant} Registered are {', '.join(names())}; there are also torch:DEVICE, "
        f"python:PATH, torch+compile=BACKEND and MODULE:FACTORY{'' if near else _own(name)}"
    )


def _own(name: str) -> str:
    """Return what to write for a framework of the user's own, if `name` may be one: its module or its adapter's."""
    if not name.isidentifier():
        return ""
    for adapter in (f"{name}_adapter", name):
        if Path(f"{adapter}.py").is_file() and "def factory" in Path(f"{adapter}.py").read_text(errors="replace"):
            return f". For {adapter}.py, write {adapter}:factory"
    return f". For a framework of your own, `autotest adapter new {name}` writes an adapter to begin with"


def _registered() -> dict[str, str]:
    import importlib.metadata  # takes 20 ms, and only a process that runs trials needs it

    return {point.name: point.value for point in importlib.metadata.entry_points(group=GROUP)}


def _as_reference(name: str) -> Framework:
    """Return the adapter called `name`, to be the reference.

    Raises:
        UsageError: the framework runs in another interpreter or runs whole programs, which only a candidate may.
    """
    if _target(name)[0] == FAMILIES["python:"]:
        raise UsageError(
            f"reference {name!r}: expected a framework of this process, because diagnosis works on the reference's own "
            "objects; only the candidate may be in another interpreter, so run pytest in that one to swap the sides"
        )
    made = framework(name)
    if made.always_in_graph:
        raise UsageError(
            f"reference {name!r}: expected a framework that runs call by call, because each call is compared; only the "
            "candidate may run whole programs"
        )
    return made


@functools.cache
def pair(reference: str, candidate: str) -> Pair:
    """Return the pair of these names; the same object in every call, so that its caches are kept."""
    return Pair(_as_reference(reference), framework(candidate), names=(reference, candidate))


@functools.cache
def pairs(reference: str, candidates: tuple[str, ...]) -> tuple[Pair, ...]:
    """Return the pairs of one reference with each of `candidates`; each pair's `others` are the other candidates."""
    first = _as_reference(reference)
    made = tuple(Pair(first, framework(name), names=(reference, name)) for name in candidates)
    for one in made:
        one.others = tuple(other.candidate for other in made if other is not one)
    return made


def chosen_pair() -> Pair:
    """Return the pair chosen for this process. Only the entry points of a process may call this; see `chosen_names`."""
    return pair(*chosen_names())


def chosen_pairs(candidate: str = "") -> tuple[Pair, ...]:
    """Return the pairs chosen for this process, one for each candidate; see `all_chosen_names`."""
    reference, candidates = all_chosen_names(candidate)
    return pairs(reference, candidates) if len(candidates) > 1 else (pair(reference, *candidates),)


def chosen_names() -> tuple[str, str]:
    """Return the names of reference and candidate: AUTOTEST_REFERENCE and AUTOTEST_CANDIDATE, or torch and oneflow.

    Raises:
        UsageError: if there are several candidates.
    """
    reference, (first, *others) = all_chosen_names()
    if others:
        asked = ",".join((first, *others))
        raise UsageError(
            f"candidate {asked}: expected one candidate here; only pytest and autotest fuzz accept several"
        )
    return reference, first


def all_chosen_names(candidate: str = "") -> tuple[str, tuple[str, ...]]:
    """Return the name of the reference and the names of all candidates; see `chosen_names`.

    AUTOTEST_CANDIDATE, or the project's table, may name several candidates, separated by commas: ``NAME,OTHER``.

    Args:
        candidate: the candidate that a test names, or an empty string. It overrides the project's table, and is
            overridden by the environment.
    """
    asked = os.environ.get("AUTOTEST_CANDIDATE") or candidate or configured("AUTOTEST_CANDIDATE") or DEFAULT_PAIR[1]
    return configured("AUTOTEST_REFERENCE") or DEFAULT_PAIR[0], candidates_in(asked)


def takes_own(candidate: str) -> bool:
    """Return whether the `candidate` that a test names takes effect: AUTOTEST_CANDIDATE overrides it."""
    return bool(candidate) and not os.environ.get("AUTOTEST_CANDIDATE")


def candidates_in(asked: str) -> tuple[str, ...]:
    """Return the names in ``NAME,OTHER``; raise `UsageError` if there is none, or one is named twice."""
    names = tuple(name.strip() for name in asked.split(",") if name.strip())
    if not names:
        raise UsageError(f"candidate {asked!r}: expected the name of a framework, or several names separated by commas")
    twice = [name for place, name in enumerate(names) if name in names[:place]]
    if twice:
        raise UsageError(f"candidate {asked!r}: {twice[0]} is named twice; expected each framework once")
    return names


def must_be_known_candidates(asked: str) -> None:
    """Raise as `candidates_in` does for ``NAME,OTHER``, and as `must_be_known` for each name."""
    for name in candidates_in(asked):
        must_be_known(name)


def variables(names: tuple[str, str]) -> dict[str, str]:
    """Return the environment variables with which another process chooses the pair of these names."""
    return {"AUTOTEST_REFERENCE": names[0], "AUTOTEST_CANDIDATE": names[1]}
