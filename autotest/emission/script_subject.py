"""The subject of a script, and how it imports the frameworks."""

from __future__ import annotations

import dataclasses
import textwrap
from collections.abc import Iterable, Sequence
from typing import NamedTuple

from autotest.program import Program


@dataclasses.dataclass(frozen=True, slots=True)
class Script:
    """How a reproducer imports and uses one framework.

    Attributes:
        name: the name of the framework in messages, such as ``"oneflow"``.
        lines: source lines that import it, in order. They may also define objects: a framework without torch's names
            can define an object here that has them. An ImportError or OSError in them means that the framework is
            missing.
        namespace: an expression for its namespace after `lines` have run, such as ``"oneflow"``.
        graph: source of a class ``Replay`` that runs ``program`` in its graph mode; empty if it has none.
        mode: the name of its graph mode, such as ``"nn.Graph"``.
        graphs_forward: whether ``Replay`` runs ``program`` with its own ``forward``, and the backward pass is outside
            the graph.
        on_cpu: whether its results are on the CPU, as those of the reference are.
    """

    name: str
    lines: tuple[str, ...]
    namespace: str
    graph: str = ""
    mode: str = ""
    graphs_forward: bool = False
    on_cpu: bool = True


class ScriptSubject(NamedTuple):
    """The subject of a script: a program and its sides, and the title and notes at the top."""

    program: Program
    sides: tuple[Script, Script]
    title: str
    notes: Sequence[str]

    @property
    def root(self) -> str:
        """The expression for the reference's namespace, which is also the name of the program function's argument."""
        return self.sides[0].namespace

    @property
    def fields(self) -> dict[str, str]:
        """The names of the sides, by field of the templates of checks."""
        reference, candidate = self.sides
        return {"namespace": candidate.namespace, "reference": reference.name, "candidate": candidate.name}

    def imports_then(self, statement: str = "") -> str:
        """Return code that imports both sides, runs `statement`, and exits with 2 if any of this raises."""
        lines = [*imported_once((*self.sides[0].lines, *self.sides[1].lines)), *([statement] if statement else [])]
        body = textwrap.indent("\n".join(lines), "    ")
        return f'try:\n{body}\nexcept Exception as error:\n    sys.exit(print("cannot tell:", error) or 2)\n'


def imported_once(lines: Iterable[str]) -> list[str]:
    """Return `lines` without repeated import statements, and without that of `sys`, which every script begins with.

    Repeated lines of other code are kept.
    """
    kept = ["import sys"]
    for line in lines:
        if not (line.startswith(("import ", "from ")) and line in kept):
            kept.append(line)
    return kept[1:]


def docstring(title: str, notes: Sequence[str]) -> str:
    """Return the docstring of a short script."""
    what = " ".join(title.split())
    lines = [f"{what} Exits with 1 if the difference still exists, 0 if it is gone, 2 if it cannot tell.", *notes]
    return '"""' + quotable("\n".join(lines)) + '"""'


def quotable(text: str) -> str:
    """Return `text` so that it can be written between quotes of any kind."""
    return text.replace("\\", "\\\\").replace('"', "'")
