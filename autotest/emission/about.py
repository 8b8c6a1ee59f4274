"""What a script is about, and how it gets at the frameworks."""

from __future__ import annotations

import dataclasses
import textwrap
from collections.abc import Iterable, Sequence
from typing import NamedTuple

from autotest.program import Program


@dataclasses.dataclass(frozen=True, slots=True)
class Script:
    """How a reproducer gets at one framework.

    Attributes:
        name: how messages call it, such as ``"oneflow"``.
        lines: source lines that import it, in order; they may define what they like (a framework that does
            not speak torch's names can define an object here that does). An ImportError or OSError in them
            means that the framework is missing.
        namespace: an expression for its namespace once `lines` have run, such as ``"oneflow"``.
        graph: source of a class ``Replay`` that runs ``program`` in its graph mode; empty where there is none.
        mode: what that is called, such as ``"nn.Graph"``.
        graphs_forward: whether ``Replay`` runs ``program`` with a ``forward`` of its own, gradients being pushed back
            outside of the graph.
        on_cpu: whether its results are on the CPU, as the reference's are.
    """

    name: str
    lines: tuple[str, ...]
    namespace: str
    graph: str = ""
    mode: str = ""
    graphs_forward: bool = False
    on_cpu: bool = True


class About(NamedTuple):
    """What a script is about, and what stands at its top: a title, and further lines."""

    program: Program
    sides: tuple[Script, Script]
    title: str
    notes: Sequence[str]

    @property
    def root(self) -> str:
        """The expression for the reference's namespace, which the program's function calls its argument, too."""
        return self.sides[0].namespace

    @property
    def fields(self) -> dict[str, str]:
        """What the checks call the sides."""
        reference, candidate = self.sides
        return {"namespace": candidate.namespace, "reference": reference.name, "candidate": candidate.name}

    def imports_then(self, statement: str = "") -> str:
        """Imports both sides, and carries out a `statement` of the reference; 2 is the status where that fails."""
        lines = [*imported_once((*self.sides[0].lines, *self.sides[1].lines)), *([statement] if statement else [])]
        body = textwrap.indent("\n".join(lines), "    ")
        return f'try:\n{body}\nexcept Exception as error:\n    sys.exit(print("cannot tell:", error) or 2)\n'


def imported_once(lines: Iterable[str]) -> list[str]:
    """`lines` without the import statements that stand there before; of what a side defines, every line counts."""
    kept: list[str] = []
    for line in lines:
        if not (line.startswith(("import ", "from ")) and line in kept):
            kept.append(line)
    return kept


def docstring(title: str, notes: Sequence[str]) -> str:
    """The top of a short script."""
    what = " ".join(title.split())
    lines = [f"{what} Exits 1 while that is so, 0 when it is gone, 2 when it cannot tell.", *notes]
    return '"""' + quotable("\n".join(lines)) + '"""'


def quotable(text: str) -> str:
    """`text` as it may stand between quotes of any kind."""
    return text.replace("\\", "\\\\").replace('"', "'")
