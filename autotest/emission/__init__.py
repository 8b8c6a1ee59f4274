"""Takes Programs and findings; returns Python source of reproducers, and runs nothing."""

from __future__ import annotations

from autotest.emission.findings import emit
from autotest.emission.naming import constants, cotangent_of, cotangents, names, observables
from autotest.emission.script import program_text, reproducer
from autotest.emission.script_subject import Script

__all__ = [
    "Script",
    "constants",
    "cotangent_of",
    "cotangents",
    "emit",
    "names",
    "observables",
    "program_text",
    "reproducer",
]
