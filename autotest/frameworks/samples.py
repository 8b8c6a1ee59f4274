"""The interface of a framework's databases of inputs: entries, and a program for each of their samples.

`Framework.sample_databases` returns the databases. All values that they return are plain data.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Iterator, Mapping, Sequence
from typing import Literal, Protocol, TypeAlias

from autotest.program import Program

#: How an operator is called: ``torch.add(x, y)``, ``x.add(y)``, ``x.add_(y)``, ``torch.add(x, y, out=z)``, ``x + y``,
#: ``2 + x``, ``x += y``, ``torch.nn.ReLU()(x)``, ``x.T``.
Form: TypeAlias = Literal[
    "function",
    "method",
    "in-place",
    "out=",
    "operator",
    "reflected",
    "in-place operator",
    "module",
    "attribute",
    "optimizer",
]
#: The kind of inputs that are sampled.
#: - ``sample``: ordinary inputs
#: - ``reference``: the larger set that a reference implementation is compared on
#: - ``error``: inputs that must be rejected
#: - ``noncontiguous``: strided copies of ordinary inputs
#: - ``mutation``: mutations of ordinary inputs
#: - ``hard`` and ``special``: the same calls on hard and on special numbers; like ``mutation``, they need no database
#: - ``option``: ordinary inputs with one more optional argument
#: - ``found``: inputs that showed a divergence before
SampleKind: TypeAlias = Literal[
    "sample", "reference", "error", "noncontiguous", "mutation", "hard", "special", "option", "found"
]


@dataclasses.dataclass(frozen=True, slots=True)
class DatabaseEntry:
    """One operator and variant of a database, and the forms in which it can be called."""

    database: str
    name: str
    #: Distinguishes entries of the same name, such as ``"trunc_rounding"``; empty for most.
    variant: str
    family: str
    forms: tuple[Form, ...]
    dtypes: tuple[str, ...]
    kinds: tuple[SampleKind, ...]
    #: form -> path in the namespace: ``"nn.functional.relu"``, ``"Tensor.add_"``; forms of unknown path are omitted.
    paths: Mapping[str, str]
    #: Whether mutations of its samples are judged, too.
    mutated: bool = True

    @property
    def key(self) -> str:
        return f"{self.name}:{self.variant}" if self.variant else self.name


@dataclasses.dataclass(frozen=True, slots=True)
class Sample:
    """One input of an entry: a program, or the reason why there is none."""

    program: Program | None
    left_out: str = ""


class SampleDatabase(Protocol):
    """Inputs for the operators of a framework, by entry."""

    @property
    def name(self) -> str:
        """Name of the database in reports."""

    def entries(self) -> Sequence[DatabaseEntry]:
        """Return all entries.

        Raises:
            FrameworkMissing: with the reason, if the database is not available.
        """

    def samples(self, key: str, form: Form, dtype: str, kind: SampleKind, seed: int) -> Iterator[Sample]:
        """Yield the samples of one entry. They depend on the arguments and `seed` only, not on earlier calls."""
