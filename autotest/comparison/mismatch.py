"""One difference between the two sides, as data."""

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
#: The kind of difference, for symptoms with several kinds. Structures: another ``type``, ``layout``, ``length`` or
#: ``keys``. Structures and gradients: ``one-sided``, one side has no value. Graphs: ``raised``, or ``overwritten`` by a
#: later call. Deaths: ``refused``, the call is one that the reference rejects.
Detail = Literal["", "type", "layout", "length", "keys", "one-sided", "raised", "refused", "overwritten"]

#: Symptoms of differences in numbers.
NUMERIC_SYMPTOMS = frozenset(("value", "gradient"))
#: The heading of differences that occur only for NaN, infinities and at the edges of domains.
SPECIAL = "special values"


@dataclasses.dataclass(frozen=True, slots=True)
class Mismatch:
    """One difference between the two sides. `message` describes it for users."""

    #: The name of the value that differs, such as ``v3[1]``.
    name: str
    slot: int
    symptom: Symptom
    stage: Stage
    side: Side
    message: str
    statistics: Statistics | None = None
    #: Whether NaN, an infinity or the edge of a domain explains it: the reference's value is not finite either, or an
    #: input contained such values.
    special: bool = False
    detail: Detail = ""
    #: The difference without the value's name, the sides and its size, so that the same failure gives the same text in
    #: every trial, except for numbers in a framework's message. If empty, the first line of `message` is used.
    what: str = ""
    #: For the gradient of a leaf: its position or keyword in the first call that computes with it, such as ``"1"`` or
    #: ``"weight"``.
    operand: str = ""
    #: The part of the value that differs: ``[1]`` of ``v3[1]``, ``.weight.grad`` of ``m0.weight.grad``; "" for all.
    place: str = ""
    #: The operator that is wrong, if the check that found the difference also found that.
    operator: str = ""

    @property
    def at(self) -> tuple[int, str]:
        """Slot and place: what differs, by positions that are the same whatever the values are called."""
        return self.slot, self.place

    @property
    def of_numbers(self) -> bool:
        """Whether numbers differ, which rounding or special numbers may explain."""
        return self.symptom in NUMERIC_SYMPTOMS

    @property
    def heading(self) -> str:
        """The symptom under which it is reported: ``"special values"`` if only these show it."""
        return SPECIAL if self.special else self.symptom

    @property
    def key(self) -> str:
        """The place and the kind of difference, which are the same in every trial that shows the same failure.

        dtypes are kept: ``float32`` instead of ``int64`` is another divergence than ``float32`` instead of ``float64``.
        """
        return normalised(f"{self.place} {self.what or self.message.partition(chr(10))[0]}".lstrip())
