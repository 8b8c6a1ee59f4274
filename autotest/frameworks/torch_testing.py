"""Imports torch's own testing modules, for which two small packages may be missing.

`torch.testing._internal` imports expecttest and PyYAML for parts that are not used here. Where they are not installed,
empty modules stand in for them while it is imported.
"""

from __future__ import annotations

import contextlib
import functools
import importlib
import importlib.util
import sys
import types
import unittest
import warnings
from collections.abc import Iterator
from typing import Any, Final

from autotest.base.errors import FrameworkMissing

#: What writes beyond its memory on the CPU when lengths, targets, pivots or an `out=` do not fit, so that nothing that
#: this process gives afterwards can be trusted. Small changes of its samples do not fit mostly.
UNCHECKED: Final = frozenset(("nn.CTCLoss", "nn.functional.ctc_loss", "linalg.ldl_solve", "narrow_copy"))


@functools.cache
def internal(name: str) -> Any:
    """The module `name` below ``torch.testing._internal``; raises `FrameworkMissing` where there is none."""
    with _stand_ins(), warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            return importlib.import_module(f"torch.testing._internal.{name}")
        except Exception as error:  # a private module: it may raise anything
            raise FrameworkMissing(
                f"this torch has no database torch.testing._internal.{name} ({type(error).__name__}: {error})"
            ) from error


@contextlib.contextmanager
def _stand_ins() -> Iterator[None]:
    stand_ins: dict[str, dict[str, Any]] = {
        "expecttest": {"TestCase": unittest.TestCase, "ACCEPT": False},
        "yaml": dict.fromkeys(("CSafeLoader", "SafeLoader", "CSafeDumper", "SafeDumper"), object),
    }
    made = [name for name in stand_ins if importlib.util.find_spec(name) is None]
    for name in made:
        sys.modules[name] = types.ModuleType(name)
        vars(sys.modules[name]).update(stand_ins[name])
    try:
        yield
    finally:
        for name in made:
            sys.modules.pop(name, None)
