"""Imports torch's own testing modules, also if two small packages that they import are missing.

`torch.testing._internal` imports expecttest and PyYAML for parts that are not used here. If they are not installed,
stub modules replace them during the import.
"""

from __future__ import annotations

import contextlib
import functools
import importlib
import importlib.util
import random
import sys
import types
import unittest
from collections.abc import Iterator
from typing import Any, Final

import numpy as np
import torch

from autotest.base.errors import FrameworkMissing
from autotest.frameworks.lazy_imports import lazily_imported
from autotest.frameworks.pair import warnings_ignored

#: Operators that write out of bounds on the CPU if lengths, targets, pivots or `out=` do not fit. After that, no result
#: of the process can be trusted. Most mutations of their samples do not fit.
UNCHECKED: Final = frozenset(("nn.CTCLoss", "nn.functional.ctc_loss", "linalg.ldl_solve", "narrow_copy"))
#: Modules that the databases import, which takes seconds, and that drawing samples does not use: reference
#: implementations of operators, and torch's compiler.
_SELDOM: Final = ("scipy.fft", "scipy.signal", "scipy.spatial", "scipy.special", "scipy.stats", "torch._inductor.utils")


@functools.cache
def internal(name: str) -> Any:
    """Return the module `name` below ``torch.testing._internal``. Its import leaves torch's generator as it is.

    Raises:
        FrameworkMissing: if this torch has no such module, or if it cannot be imported.
    """
    full = f"torch.testing._internal.{name}"
    with _stand_ins(), warnings_ignored(), torch.random.fork_rng(devices=[]):
        # If the import fails because it needs one of the postponed modules, import it again with them.
        with contextlib.suppress(Exception), lazily_imported(*_SELDOM):
            return importlib.import_module(full)
        try:
            return importlib.import_module(full)
        except Exception as error:  # a private module: it may raise anything
            said = f"this torch has no database {full} ({type(error).__name__}: {error})"
            raise FrameworkMissing(said) from error


@contextlib.contextmanager
def seeding_the_cpu_only() -> Iterator[None]:
    """Make torch's databases seed only the CPU's random generators while they draw samples.

    Newer torch seeds again before each sample, and also every accelerator. For an accelerator that is not in use, it
    records the pending call and the whole stack. This takes longer than the sample, and for some accelerators the
    record is never freed. torch also derives the seed from the name of a unittest that it finds in the stack; this is
    turned off, so that samples do not depend on the caller.
    """
    common = internal("common_utils")
    usual = {name: vars(common)[name] for name in ("set_rng_seed", "extract_test_fn") if name in vars(common)}

    def seed_the_cpu(seed: int | None = None) -> None:
        chosen: int = common.SEED if seed is None else seed
        torch.default_generator.manual_seed(chosen)
        random.seed(chosen)
        np.random.seed(chosen)  # noqa: NPY002 - the databases draw from it

    instead = {"set_rng_seed": seed_the_cpu, "extract_test_fn": lambda: None}
    vars(common).update({name: instead[name] for name in usual})
    try:
        yield
    finally:
        vars(common).update(usual)


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
