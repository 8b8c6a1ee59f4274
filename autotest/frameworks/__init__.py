"""Takes names of frameworks; leaves adapters and pairs, and is the only room that imports a framework."""

from autotest.frameworks.base import ABSENT, Framework, Made, StandIns
from autotest.frameworks.namespace import Namespace
from autotest.frameworks.pair import Both, Pair, warnings_shown
from autotest.frameworks.registry import chosen, framework, names, pair

__all__ = [
    "ABSENT",
    "Both",
    "Framework",
    "Made",
    "Namespace",
    "Pair",
    "StandIns",
    "chosen",
    "framework",
    "names",
    "pair",
    "warnings_shown",
]
