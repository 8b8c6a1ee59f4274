"""The opinion of an independent oracle on a mismatch, as data."""

from __future__ import annotations

import dataclasses


@dataclasses.dataclass(frozen=True, slots=True)
class OracleResult:
    """The opinion of one independent oracle: the error of each side against it."""

    name: str
    #: The oracle's result in words: ``"0.25 at (1, 2)"``.
    found: str
    errors: tuple[float, float]
    allowed: float
    #: Whether the opinion is about a shape or dtype. An error is then 0 or infinite.
    attribute: bool = False
    #: Whether several results are right, and the oracle checks a property that all of them have.
    several: bool = False
    #: For each side that is right at the place in `found` but wrong elsewhere: its error and the place, in words.
    elsewhere: tuple[str, str] = ("", "")

    @property
    def accuses(self) -> tuple[bool, bool]:
        return not self.errors[0] <= self.allowed, not self.errors[1] <= self.allowed
