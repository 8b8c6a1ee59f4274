"""What a test is called, and the seeds of its trials: the same under unittest, under pytest and in campaigns."""

from __future__ import annotations

import hashlib
import unittest
from collections.abc import Callable
from pathlib import Path
from typing import Any


def test_id(function: Callable[..., Any], file: Path, args: tuple[Any, ...], kwargs: dict[str, Any]) -> str:
    """``file.py::Class.method[arguments]``: the same under unittest, pytest and fuzz."""
    if args and (isinstance(args[0], unittest.TestCase) or _is_class_of(function, args[0])):
        args = args[1:]
    shown = [*(repr(item) for item in args), *(f"{key}={value!r}" for key, value in sorted(kwargs.items()))]
    # An object whose repr is an address would give other seeds in every run.
    plain = [item if " at 0x" not in item else "object" for item in shown]
    qualified = function.__qualname__.rpartition("<locals>.")[2]
    return f"{file.name}::{qualified}" + (f"[{', '.join(plain)}]" if plain else "")


def _is_class_of(function: Callable[..., Any], owner: Any) -> bool:
    """Whether `function` is the class method that `owner` was given to."""
    return isinstance(owner, type) and isinstance(vars(owner).get(function.__name__), classmethod)


test_id.__test__ = False  # type: ignore[attr-defined]  # pytest would take it for a test


def trial_seed(base: int, test: str, index: int) -> int:
    """The seed of one trial: the same on every machine and in every process."""
    digest = hashlib.blake2b(f"{base}\0{test}\0{index}".encode(), digest_size=8).digest()
    return int.from_bytes(digest, "big")
