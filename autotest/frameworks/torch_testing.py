"""Imports torch's own testing modules, for which two small packages may be missing.

`torch.testing._internal` imports expecttest and PyYAML for parts that are not used here. Where they are not installed,
empty modules stand in for them while it is imported.
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
import warnings
from collections.abc import Iterator
from typing import Any, Final

import numpy as np
import torch

from autotest.base.errors import FrameworkMissing
from autotest.frameworks.importing_later import importing_later

#: What writes beyond its memory on the CPU when lengths, targets, pivots or an `out=` do not fit, so that nothing that
#: this process gives afterwards can be trusted. Small changes of its samples do not fit mostly.
UNCHECKED: Final = frozenset(("nn.CTCLoss", "nn.functional.ctc_loss", "linalg.ldl_solve", "narrow_copy"))
#: What the databases import, for seconds, and what draws samples asks nothing of: other implementations to hold
#: operators against, and torch's compiler.
_SELDOM: Final = ("scipy.fft", "scipy.signal", "scipy.spatial", "scipy.special", "scipy.stats", "torch._inductor.utils")


@functools.cache
def internal(name: str) -> Any:
    """The module `name` below ``torch.testing._internal``; raises `FrameworkMissing` where there is none."""
    full = f"torch.testing._internal.{name}"
    with _stand_ins(), warnings.catch_warnings():
        warnings.simplefilter("ignore")
        # Where it needs after all what was put off, it is imported with that.
        with contextlib.suppress(Exception), importing_later(*_SELDOM):
            return importlib.import_module(full)
        try:
            return importlib.import_module(full)
        except Exception as error:  # a private module: it may raise anything
            said = f"this torch has no database {full} ({type(error).__name__}: {error})"
            raise FrameworkMissing(said) from error


@contextlib.contextmanager
def seeding_the_cpu_only() -> Iterator[None]:
    """While torch's databases make samples, let them seed what draws on the CPU, whoever asks for samples.

    Newer torch seeds anew before each sample, and every accelerator, too. Of one that is not in use it notes what to do
    and the whole stack, which takes longer than the sample and, of some, is kept for good. From the stack it also takes
    the name of a unittest, which then decides on the numbers.
    """
    common = internal("common_utils")
    usual = {name: vars(common)[name] for name in ("set_rng_seed", "extract_test_fn") if name in vars(common)}

    def seed_the_cpu(seed: int | None = None) -> None:
        chosen: int = common.SEED if seed is None else seed
        torch.default_generator.manual_seed(chosen)
        random.seed(chosen)
        np.random.seed(chosen)  # noqa: NPY002 - the databases draw of it

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
