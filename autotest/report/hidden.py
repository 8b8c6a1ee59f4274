"""Reports what known divergences hide: entries of a ledger met in a trial after another entry was met first."""

from __future__ import annotations

from collections.abc import Mapping

from autotest.base.plural import several


def hidden(behind: Mapping[str, Mapping[str, int]], expected: Mapping[str, int]) -> list[str]:
    """Return the lines: each entry with the entries met behind it and their numbers of trials, the most first.

    Args:
        behind: entry met first in a trial -> other entries met in these trials, with their numbers of trials.
        expected: entry -> number of times it was met at all.
    """
    hiding = {key: others for key, others in behind.items() if others}
    found = {key for others in hiding.values() for key in others}
    met = several(len(expected), "entry", "entries")
    if not hiding:
        return [f"{met} of the ledger seen; none was hidden behind another one"]
    lines = [f"{met} of the ledger seen; in the same trials, {len(hiding)} of them hid {several(len(found), 'other')}:"]
    for key, others in sorted(hiding.items(), key=lambda item: (-len(item[1]), item[0])):
        lines.append(f"  {key}")
        for other, times in sorted(others.items(), key=lambda item: (-item[1], item[0])):
            lines.append(f"      hid {other}, {times} of {several(expected[other], 'time')}")
    return lines
