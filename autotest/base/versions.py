"""Looks up installed versions, and compares a version with a range such as ``>=3.3,<3.4``."""

from __future__ import annotations

import contextlib
import itertools
import operator
import re
import sys
from collections.abc import Callable, Mapping
from types import MappingProxyType
from typing import Any, Final

_CLAUSE: Final = re.compile(r"(>=|<=|==|!=|<|>)\s*(\d+(?:\.\d+)*)")
_COMPARED: Final[Mapping[str, Callable[[Any, Any], bool]]] = MappingProxyType(
    {
        ">=": operator.ge,
        "<=": operator.le,
        "==": operator.eq,
        "!=": operator.ne,
        "<": operator.lt,
        ">": operator.gt,
    }
)


def installed(name: str) -> str:
    """Return the version of the distribution `name` without importing it; empty if it is not installed."""
    import importlib.metadata  # takes 20 ms

    with contextlib.suppress(importlib.metadata.PackageNotFoundError, ValueError):
        return importlib.metadata.version(name)
    return ""


def version_of(module: str, root: Any) -> str:
    """Return the version of the package of `module`, imported as `root`; "unknown" if it says none.

    A module inside of a package may have the names of another one, as ``autograd.numpy`` has NumPy's version.
    """
    package = module.partition(".")[0]
    own = getattr(root, "__version__", None)
    if package == module:
        return str(own or installed(package) or "unknown")
    return str(getattr(sys.modules.get(package), "__version__", None) or installed(package) or own or "unknown")


def within(version: str, allowed: str) -> bool:
    """Whether `version` satisfies every clause of `allowed`.

    Only the numbers of a release count: ``2.0.1+cu117`` is 2.0.1. A version without numbers, such as the empty text of
    an unknown version, satisfies every range.

    Raises:
        ValueError: `allowed` is no range.
    """
    clauses = [_CLAUSE.fullmatch(part.strip()) for part in allowed.split(",") if part.strip()]
    if None in clauses:
        raise ValueError(f"versions {allowed!r}: expected a range such as '>=3.3,<3.4'")
    found = re.search(r"\d+(?:\.\d+)*", version)
    if found is None:
        return True
    return all(_fits(found[0], clause[1], clause[2]) for clause in clauses if clause is not None)


def _fits(version: str, compared: str, bound: str) -> bool:
    numbers = [[int(part) for part in text.split(".")] for text in (version, bound)]
    own, other = zip(*itertools.zip_longest(*numbers, fillvalue=0), strict=True)
    return _COMPARED[compared](own, other)
