"""What a framework's databases of inputs offer: entries, and a program for each of their samples.

A database is reached through `Framework.sample_databases`. Everything that leaves it is plain data.
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
#: What is sampled: ordinary inputs, the larger set that a reference is compared on, inputs that must be refused,
#: ordinary inputs with an optional argument besides, strided copies of them, mutations of them, the same calls on hard
#: numbers and on special ones (these three need no database), and inputs that showed a divergence before.
SampleKind: TypeAlias = Literal[
    "sample", "reference", "error", "noncontiguous", "mutation", "hard", "special", "option", "found"
]


@dataclasses.dataclass(frozen=True, slots=True)
class DatabaseEntry:
    """One operator and variant of a database, and in which ways it can be called."""

    database: str
    name: str
    #: Tells entries of one name apart, such as ``"trunc_rounding"``; empty for most.
    variant: str
    family: str
    forms: tuple[Form, ...]
    dtypes: tuple[str, ...]
    kinds: tuple[SampleKind, ...]
    #: form -> where the namespace has it: ``"nn.functional.relu"``, ``"Tensor.add_"``; left out where it is not known.
    paths: Mapping[str, str]
    #: Whether what its samples are made into by small changes is judged, too.
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
        """What it is called in reports."""

    def entries(self) -> Sequence[DatabaseEntry]:
        """All of its entries; raises `FrameworkMissing` with the reason where it is not to be had."""

    def samples(self, key: str, form: Form, dtype: str, kind: SampleKind, seed: int) -> Iterator[Sample]:
        """The samples of one entry: the same ones for the same `seed`, whatever was asked for before."""
