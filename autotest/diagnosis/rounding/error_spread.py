"""How the error of one element varies when the inputs change slightly, as data."""

from __future__ import annotations

from typing import NamedTuple

#: An error is noise if more than this part of it varies.
_NOISE = 0.25
#: An algorithm is unstable if its error varies more than this number times the result.
_SENSITIVE = 4.0


class ErrorSpread(NamedTuple):
    """How the error of one element varies when the inputs change slightly.

    A fault is a function of the inputs, and hardly changes if they hardly do. Rounding changes with each last bit.
    """

    #: The standard deviation of the error, and that without the part of the error that is proportional to the result:
    #: a smooth error of an ill-conditioned result varies with the result.
    error: float
    noise: float
    #: The root mean square of the error.
    size: float
    #: The standard deviation of the true result.
    result: float

    @property
    def is_noise(self) -> bool:
        """Whether the error may be rounding that the algorithm amplifies."""
        return self.noise > _NOISE * self.size

    @property
    def is_unstable(self) -> bool:
        """Whether the error varies much more than the result does: the algorithm certainly amplifies rounding."""
        return self.error > max(_NOISE * self.size, _SENSITIVE * self.result)
