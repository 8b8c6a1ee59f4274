"""One thing that differs between the two sides, as data."""

from __future__ import annotations

import dataclasses
from typing import Literal

from autotest.comparison.elementwise import Statistics
from autotest.comparison.normalisation import normalised

Symptom = Literal[
    "value",
    "gradient",
    "shape",
    "dtype",
    "device",
    "structure",
    "requires_grad",
    "exception",
    "accepted",
    "crash",
    "hang",
    "out of memory",
    "nondeterminism",
    "graph",
    "strides",
    "alias",
]
Stage = Literal["build", "forward", "backward", "replay"]
Side = Literal["reference", "candidate", "both"]
#: Which way of differing it is, where a symptom has several. Structures: of another ``type``, ``length``, other
#: ``keys``. Structures and gradients: ``one-sided``, one side has nothing there. Graphs: ``raised``. Deaths:
#: ``refused``, in a call that the reference refuses.
Detail = Literal["", "type", "length", "keys", "one-sided", "raised", "refused"]

#: What differences are called that only NaN, infinities and the edges of domains show.
SPECIAL = "special values"


@dataclasses.dataclass(frozen=True, slots=True)
class Mismatch:
    """One thing that differs. `name` is what it is called, such as ``v3[1]``; `message` tells people."""

    name: str
    slot: int
    symptom: Symptom
    stage: Stage
    side: Side
    message: str
    statistics: Statistics | None = None
    #: Whether it is explained by NaN, an infinity or the edge of a domain: there the reference's number is none either,
    #: or an input held such numbers.
    special: bool = False
    detail: Detail = ""
    #: What differs, without the item's name, the sides and by how much: the same for the same failure in every trial,
    #: but for numbers in what a framework said. Where it is left out, the first line of the message is.
    what: str = ""
    #: Of the gradient of a leaf: which operand of the call that it is named after, such as ``"1"`` or ``"weight"``.
    operand: str = ""
    #: What of the value differs: ``[1]`` of ``v3[1]``, ``.weight.grad`` of ``m0.weight.grad``; "" for all of it.
    place: str = ""

    @property
    def heading(self) -> str:
        """The symptom by which it is told apart from others: ``"special values"`` where only these show it."""
        return SPECIAL if self.special else self.symptom

    @property
    def key(self) -> str:
        """Where in its value it is and what differs: the same in every trial that shows the same failure.

        dtypes stay: ``float32`` in place of ``int64`` is another divergence than in place of ``float64``.
        """
        return normalised(f"{self.place} {self.what or self.message.partition(chr(10))[0]}".lstrip())


__all__ = ["SPECIAL", "Detail", "Mismatch", "Side", "Stage", "Symptom"]
