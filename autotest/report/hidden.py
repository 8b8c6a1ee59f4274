"""What known divergences hid: which entries of a ledger were met in a trial that began with another one."""

from __future__ import annotations

from collections.abc import Mapping

from autotest.report.plural import several


def hidden(behind: Mapping[str, Mapping[str, int]], expected: Mapping[str, int]) -> list[str]:
    """The lines: each entry behind which others were met, with these and in how many trials, most of them first.

    Args:
        behind: by entry, how often others were met in trials that it was the first of.
        expected: how often each entry was met at all.
    """
    hiding = {key: others for key, others in behind.items() if others}
    found = {key for others in hiding.values() for key in others}
    met = several(len(expected), "entry", "entries")
    if not hiding:
        return [f"{met} of the ledger met, each alone in its trials"]
    lines = [
        f"{met} of the ledger met; behind {len(hiding)} of them, in the same trials, {several(len(found), 'other')}:"
    ]
    for key, others in sorted(hiding.items(), key=lambda item: (-len(item[1]), item[0])):
        lines.append(f"  {key}")
        for other, times in sorted(others.items(), key=lambda item: (-item[1], item[0])):
            lines.append(f"      hid {other}, {times} of {several(expected[other], 'time')}")
    return lines


__all__ = ["hidden"]
