"""For tests of campaigns on a cluster: a command in its own session, and its results."""

from __future__ import annotations

import dataclasses
import json
import subprocess
from collections.abc import Iterator
from pathlib import Path

from autotest.storage.store import Store, Stored

#: Of six operators one is wrong, two kill the process, and three are right.
SIX = "'relu' or 'sinh' or 'erf' or 'exp' or 'tanh' or 'cos'"


@dataclasses.dataclass
class Campaign:
    """One command in its own session."""

    process: subprocess.Popen[str]
    folder: Path
    output: str = ""

    def ended(self) -> Campaign:
        self.output += self.process.communicate()[0]
        return self

    def read(self) -> Iterator[str]:
        assert self.process.stdout is not None
        for line in self.process.stdout:
            self.output += line
            yield line

    @property
    def announced(self) -> set[str]:
        lines = [line.split() for line in self.output.splitlines() if line.startswith("found ")]
        return {words[1].rstrip(":") for words in lines}

    @property
    def renamed(self) -> set[str]:
        """The announced findings that the diagnosis identified as other findings."""
        return {line.split()[0] for line in self.output.splitlines() if " was diagnosed as " in line}

    @property
    def trials(self) -> dict[str, int]:
        """The number of trials of each test, including those that died."""
        told = json.loads((self.folder / "out.json").read_text())
        return {test["test"]: test["trials"] for test in told["tests"]}

    @property
    def kept(self) -> dict[str, Stored]:
        found = Store(self.folder / ".autotest").list()
        assert all(isinstance(entry, Stored) for entry in found), found
        return {entry.key: entry for entry in found if isinstance(entry, Stored)}
