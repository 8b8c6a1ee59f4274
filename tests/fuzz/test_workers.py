"""The folder that the workers of a campaign write their trails and logs to."""

from __future__ import annotations

import os

from autotest.campaigns.workers import _STALE, _forget_killed


def test_what_a_killed_campaign_left_is_removed_in_the_end_and_nothing_of_others(tmp_path):
    for name, age in (("campaign-1", 2 * _STALE), ("campaign-2", 0), ("7.trail", 2 * _STALE)):
        place = tmp_path / name
        place.mkdir() if name.startswith("campaign") else place.write_bytes(b"")
        at = place.stat().st_mtime - age
        os.utime(place, (at, at))
    _forget_killed(tmp_path)
    assert sorted(path.name for path in tmp_path.iterdir()) == ["7.trail", "campaign-2"]
