"""Takes names of frameworks; returns adapters and pairs, and is the only package that imports a framework."""

from autotest.frameworks.base import Framework, Made
from autotest.frameworks.failures import ABSENT, Absent
from autotest.frameworks.namespace import Namespace
from autotest.frameworks.operations import StandIns
from autotest.frameworks.pair import Both, Pair, warnings_ignored, warnings_shown
from autotest.frameworks.registry import (
    all_chosen_names,
    chosen_names,
    chosen_pair,
    chosen_pairs,
    framework,
    names,
    pair,
    speaking_torch,
)

__all__ = [
    "ABSENT",
    "Absent",
    "Both",
    "Framework",
    "Made",
    "Namespace",
    "Pair",
    "StandIns",
    "all_chosen_names",
    "chosen_names",
    "chosen_pair",
    "chosen_pairs",
    "framework",
    "names",
    "pair",
    "speaking_torch",
    "warnings_ignored",
    "warnings_shown",
]
