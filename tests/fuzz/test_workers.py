"""The folder that the workers of a campaign write their trails and logs to."""

from __future__ import annotations

import os
import signal
import subprocess

import pytest

from autotest.base.errors import AutotestError
from autotest.campaigns.workers import _STALE, Workers, _forget_killed
from autotest.processes.client import Server
from autotest.results.tasks import Conditions


@pytest.mark.slow
@pytest.mark.usefixtures("importable_elsewhere")
@pytest.mark.parametrize("times", [1, 2])
def test_workers_start_although_their_server_is_killed_meanwhile_but_not_for_ever(tmp_path, monkeypatch, times):
    monkeypatch.setenv("AUTOTEST_CANDIDATE", "torch")
    killed = []
    plain = Server._run

    def run(server, theirs):
        started: subprocess.Popen[bytes] = plain(server, theirs)
        if len(killed) < times:
            os.kill(started.pid, signal.SIGKILL)
            killed.append(started.pid)
        return started

    monkeypatch.setattr(Server, "_run", run)
    workers = Workers(Conditions(tmp_path / "kept", ("torch", "torch")), 1)
    try:
        if times == 1:
            workers.prepare()
            assert workers._workers[0].ready
        else:
            with pytest.raises(AutotestError, match="worker processes do not start: "):
                workers.prepare()
    finally:
        workers.close()
    assert len(killed) == times


def test_what_a_killed_campaign_left_is_removed_in_the_end_and_nothing_of_others(tmp_path):
    for name, age in (("campaign-1", 2 * _STALE), ("campaign-2", 0), ("7.trail", 2 * _STALE)):
        place = tmp_path / name
        place.mkdir() if name.startswith("campaign") else place.write_bytes(b"")
        at = place.stat().st_mtime - age
        os.utime(place, (at, at))
    _forget_killed(tmp_path)
    assert sorted(path.name for path in tmp_path.iterdir()) == ["7.trail", "campaign-2"]
