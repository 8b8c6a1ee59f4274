"""A decorated test, ready to run."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable
from pathlib import Path
from typing import Any

from autotest.base.settings import Settings
from autotest.trials.body_generators import BodyGenerators


@dataclasses.dataclass(frozen=True, slots=True)
class Test:
    """A decorated test, ready to run: `body` takes no arguments and returns the test's return value."""

    #: "file.py::Class.method", followed by the arguments of the call if there are any.
    id: str
    body: Callable[[], Any]
    settings: Settings
    #: The file of the test, from which another process can load it.
    file: Path | None = None
    #: State of Python's and NumPy's generators, for callers that run many trials in a row.
    own_generators: BodyGenerators = dataclasses.field(default_factory=BodyGenerators, compare=False)
