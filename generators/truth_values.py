"""The truth values of arrays for which a test leaves them open: how many are true, and where."""

from __future__ import annotations

from types import MappingProxyType

from generators.dtypes import Array
from generators.entropy import Bits

#: By level and turn, the last of truth values that are otherwise all its opposite. Only with such values do all(),
#: any() and counts of a whole array show that a loop omits its last elements.
_LAST = MappingProxyType({"whole 0": True, "whole 1": False, "signed 1": True, "ties 1": False})
#: The share of True among truth values, by level or by level and turn; 0.5 for all others. If one value is rare, all()
#: and any() of rows reveal more.
_SHARES = MappingProxyType(
    {
        "zeros": 0.1,
        "tiny": 0.0,
        "wide": 0.1,
        "unit 1": 0.1,
        "nan 1": 0.2,
        "huge": 0.9,
        "infinite": 0.9,
        "signed 2": 0.9,
        "ties": 0.0,
        "nan": 1.0,
    }
)
#: A single truth value, by level and turn: the second of two arrays alone is a single one that is true, the first alone
#: is a false one, and in a later trial a true one. By chance, one of these would be missing in most runs of a test.
_SINGLE = MappingProxyType({"zeros 1": True, "wide 0": False, "signed 3": True})


def truth_values(bits: Bits, count: int, level: str, turn: int) -> Array:
    """Return `count` truth values of the trial that is number `turn` of its block at `level`."""
    share = _share(level, turn)
    values: Array = bits.unit64(count) < share
    if count == 1:
        values[0] = _SINGLE.get(f"{level} {turn}", values[0])
    if alone_at_the_end(level, turn):
        last = _LAST[f"{level} {turn}"]
        values[:-1], values[-1:] = not last, last
    elif count > 1 and 0 < share < 1 and values.all() == values.any():
        values[bits.one_below(count)] ^= True  # the rarer value is likely to be absent from a small array
    return values


def alone_at_the_end(level: str, turn: int) -> bool:
    """Return whether truth values at `level` are all equal except for the last one."""
    return f"{level} {turn}" in _LAST


def are_alike(level: str, turn: int) -> bool:
    """Return whether truth values at `level` are all equal."""
    return _share(level, turn) in (0.0, 1.0) and not alone_at_the_end(level, turn)


def _share(level: str, turn: int) -> float:
    """Return the share of True among truth values."""
    return _SHARES.get(f"{level} {turn}", _SHARES.get(level, 0.5))
