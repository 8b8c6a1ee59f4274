"""Ten kills of the processes of a campaign on a cluster. Each kill must hit a running process."""

from __future__ import annotations

import contextlib
import functools
import importlib.util
import os
import random
import signal
import sqlite3
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from tests.cluster.campaigns import SIX, Campaign
from tests.cluster.conftest import SUITE, in_session

pytestmark = [
    pytest.mark.usefixtures("importable_elsewhere"),
    pytest.mark.skipif(importlib.util.find_spec("ray") is None, reason="Ray is not installed"),
]


def descended(pid: int) -> list[tuple[int, str]]:
    """Return all descendants of the process `pid` with their command lines."""
    parents: dict[int, list[int]] = {}
    for stat in Path("/proc").glob("[0-9]*/stat"):
        with contextlib.suppress(OSError):
            parents.setdefault(int(stat.read_text().rpartition(")")[2].split()[1]), []).append(int(stat.parent.name))
    found = list(parents.get(pid, []))
    for one in found:
        found += parents.get(one, [])
    told = []
    for one in found:
        with contextlib.suppress(OSError):
            told.append((one, Path(f"/proc/{one}/cmdline").read_text().replace("\0", " ")))
    return told


def victims(campaign: Campaign, kind: str) -> list[int]:
    """Return the present processes of one kind of a campaign on its own cluster."""
    if kind == "driver":
        return [campaign.process.pid]
    everything = descended(campaign.process.pid)
    if kind == "raylet":
        return [pid for pid, command in everything if "/raylet/raylet " in command]
    agents = [pid for pid, command in everything if command.startswith("ray::Agent")]
    if kind == "agent":
        return agents
    servers = [pid for agent in agents for pid, command in descended(agent) if "processes.server" in command]
    return [pid for server in servers for pid, _ in descended(server)]


#: The kinds of processes to kill, in order. The last one is the command itself, which is then resumed to its end.
KILLS = ("trial", "agent", "trial", "raylet", "driver", "trial", "agent", "trial", "agent", "driver")


def counted(folder: Path) -> dict[str, int]:
    """Return the number of trials of each test that are assigned, according to the history."""
    place = folder / ".autotest" / "history.sqlite"
    if not place.exists():
        return {}
    with contextlib.closing(sqlite3.connect(f"file:{place}?mode=ro", uri=True, timeout=60)) as history:
        try:
            return dict(history.execute("select test, next from test"))
        except sqlite3.OperationalError:  # it is being created
            return {}


def no_deaths(announced: set[str]) -> set[str]:
    """Return the findings whose keys diagnosis does not change. A death may turn out to be that of another call."""
    return {key for key in announced if "-out-of-memory-" not in key and "-crash-" not in key}


def until(campaign: Campaign, happened: Callable[[], Any]) -> Any:
    """Return the result of `happened` as soon as it is true; fail if the campaign ends before."""
    while not (said := happened()):
        assert campaign.process.poll() is None, campaign.ended().output
        time.sleep(0.1)
    return said


def strike(campaign: Campaign, kind: str, chance: random.Random) -> Any:
    """Kill a process of one kind as soon as the campaign works again after the previous kill."""
    aim = sum(counted(campaign.folder).values()) + chance.randrange(1, 200)
    until(campaign, lambda: sum(counted(campaign.folder).values()) >= aim)
    return until(campaign, lambda: struck(campaign, kind, chance))


def struck(campaign: Campaign, kind: str, chance: random.Random) -> str:
    """Kill one process of a kind. Return the kind if the process was running, and "" if there was none."""
    found = victims(campaign, kind)
    if not found:
        return ""
    victim = chance.choice(found)
    try:
        if _state(victim) in "ZX":
            return ""
        os.kill(victim, signal.SIGKILL)
    except OSError:
        return ""
    while _state(victim) not in "ZX":
        time.sleep(0.01)
    return kind


def _state(pid: int) -> str:
    """Return the letter of the state of a process in Linux; X if the process does not exist."""
    try:
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0]
    except OSError:
        return "X"


@pytest.mark.slow
@pytest.mark.timeout(1800)
@pytest.mark.usefixtures("own_temporary_folder")
def test_ten_kills_lose_nothing_that_was_announced_and_count_nothing_twice(fuzz):
    chance = random.Random(16)
    options = (SUITE, "-k", SIX, "--seed", 3, "--jobs", 2, "--executor", "ray")
    command = functools.partial(fuzz, *options, candidate="unhurried", AUTOTEST_VERIFY="0")
    campaign = command("--trials", 10**6)
    announced: set[str] = set()
    renamed: set[str] = set()
    hit = []
    for kind in KILLS:
        hit.append(strike(campaign, kind, chance))
        if kind == "driver":
            campaign.ended()
            announced |= campaign.announced
            renamed |= campaign.renamed
            assert no_deaths(announced) <= campaign.kept.keys(), hit
            # In the last run, enough trials are left to show that none is missing, however fast this machine is.
            trials = 10**6 if len(hit) < len(KILLS) else max(counted(campaign.folder).values()) + 20
            campaign = command("--trials", trials, "--resume")
    assert tuple(hit) == KILLS
    campaign.ended()
    announced |= campaign.announced
    renamed |= campaign.renamed
    assert campaign.process.returncode == 1, campaign.output
    # A trial that was killed here is reported as a death, and so is the result of running it again.
    assert announced - renamed <= campaign.kept.keys()
    assert {"relu", "sinh", "erf"} <= {entry.finding.operator for entry in campaign.kept.values()}
    came_to = campaign.trials
    healthy = {name: count for name, count in came_to.items() if not any(f"'{one}'" in name for one in ("sinh", "erf"))}
    assert set(healthy.values()) == {trials}, campaign.output
    assert max(came_to.values()) == trials
    assert in_session(campaign.process.pid) == []
