"""Differential autotesting: runs a test body as random trials on two frameworks, and compares all that they compute.

The names that test files import are here. Each is imported from its module when it is first used: the pytest plugin
belongs to this package, so that every run of pytest in the environment imports the package. The smallest test::

    from autotest import autotest, random_tensor, torch

    @autotest(n=20)
    def test_relu():
        return torch.relu(random_tensor())
"""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from autotest.aligning.alignment import Alignment, align
    from autotest.base.errors import (
        AutotestError,
        FrameworkMissing,
        GradcheckError,
        GradientNotCompared,
        NothingCompared,
        StaleLedgerEntry,
        TooFewAccepted,
        UsageError,
    )
    from autotest.base.settings import Settings
    from autotest.decorator import autotest, skip_grad_check
    from autotest.frameworks import Framework, Pair
    from autotest.frameworks.harvesting import harvest
    from autotest.gradients.public import gradcheck, gradgradcheck
    from autotest.program import Program
    from autotest.recording.dual import DualObject, torch
    from autotest.recording.tensors import broadcast_tensors, choice_tensor, random_device, random_tensor
    from autotest.results.divergence import Divergence
    from autotest.results.finding import Finding
    from generators import (
        Generator,
        constant,
        nothing,
        oneof,
        random,
        random_bool,
        random_or_nothing,
    )

__all__ = [
    "Alignment",
    "AutotestError",
    "Divergence",
    "DualObject",
    "Finding",
    "Framework",
    "FrameworkMissing",
    "Generator",
    "GradcheckError",
    "GradientNotCompared",
    "NothingCompared",
    "Pair",
    "Program",
    "Settings",
    "StaleLedgerEntry",
    "TooFewAccepted",
    "UsageError",
    "align",
    "autotest",
    "broadcast_tensors",
    "choice_tensor",
    "constant",
    "gradcheck",
    "gradgradcheck",
    "harvest",
    "nothing",
    "oneof",
    "random",
    "random_bool",
    "random_device",
    "random_or_nothing",
    "random_tensor",
    "skip_grad_check",
    "torch",
]

#: Module -> the public names that are imported from it; names that are not listed are from the package `generators`.
_HOME = {
    "autotest.aligning.alignment": ("Alignment", "align"),
    "autotest.decorator": ("autotest", "skip_grad_check"),
    "autotest.recording.dual": ("DualObject", "torch"),
    "autotest.base.errors": (
        "AutotestError",
        "FrameworkMissing",
        "GradcheckError",
        "GradientNotCompared",
        "NothingCompared",
        "StaleLedgerEntry",
        "TooFewAccepted",
        "UsageError",
    ),
    "autotest.base.settings": ("Settings",),
    "autotest.frameworks": ("Framework", "Pair"),
    "autotest.frameworks.harvesting": ("harvest",),
    "autotest.gradients.public": ("gradcheck", "gradgradcheck"),
    "autotest.program": ("Program",),
    "autotest.results.divergence": ("Divergence",),
    "autotest.results.finding": ("Finding",),
    "autotest.recording.tensors": ("broadcast_tensors", "choice_tensor", "random_device", "random_tensor"),
}


def __getattr__(name: str) -> Any:
    if name == "__version__":
        from importlib.metadata import PackageNotFoundError, version  # takes 20 ms

        try:
            return version("dual-autotest")
        except PackageNotFoundError:
            return "unknown"  # a checkout that was never installed
    if name not in __all__:
        from autotest.base.errors import nearest

        raise AttributeError(f"module {__name__!r} has no attribute {name!r}{nearest(name, __all__)}")
    home = next((module for module, names in _HOME.items() if name in names), "generators")
    value = getattr(importlib.import_module(home), name)
    globals()[name] = value  # later accesses do not call `__getattr__`
    return value


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})
