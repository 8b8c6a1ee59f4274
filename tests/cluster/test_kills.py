"""Ten kills of whatever a campaign on a cluster consists of, each of which must really strike."""

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
    """The processes below `pid` with their command lines, as far down as they go."""
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
    """The processes of a kind that a campaign on a cluster of its own has now."""
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


#: Whom ten kills strike, one after the other; the last one is of the command itself, which is resumed to its end.
KILLS = ("trial", "agent", "trial", "raylet", "driver", "trial", "agent", "trial", "agent", "driver")


def counted(folder: Path) -> dict[str, int]:
    """How many trials of each test are handed out, as the history has it."""
    place = folder / ".autotest" / "history.sqlite"
    if not place.exists():
        return {}
    with contextlib.closing(sqlite3.connect(f"file:{place}?mode=ro", uri=True, timeout=60)) as history:
        try:
            return dict(history.execute("select test, next from test"))
        except sqlite3.OperationalError:  # it is being made
            return {}


def no_deaths(announced: set[str]) -> set[str]:
    """What keeps its key whatever looking into it shows: a death may turn out to be that of another call."""
    return {key for key in announced if "-out-of-memory-" not in key and "-crash-" not in key}


def until(campaign: Campaign, happened: Callable[[], Any]) -> Any:
    """What `happened` says as soon as it is true; fails when the campaign ends before."""
    while not (said := happened()):
        assert campaign.process.poll() is None, campaign.ended().output
        time.sleep(0.1)
    return said


def strike(campaign: Campaign, kind: str, chance: random.Random) -> Any:
    """Kill a process of a kind, when the campaign works again after what was killed before."""
    aim = sum(counted(campaign.folder).values()) + chance.randrange(1, 200)
    until(campaign, lambda: sum(counted(campaign.folder).values()) >= aim)
    return until(campaign, lambda: struck(campaign, kind, chance))


def struck(campaign: Campaign, kind: str, chance: random.Random) -> str:
    """Kill one process of a kind; its kind when it was alive and is not any more, "" when there was none."""
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
    """The letter by which Linux tells whether a process runs; X for one that is gone."""
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
            # The last time, as many trials are left as show that none is missing; however fast this machine is.
            trials = 10**6 if len(hit) < len(KILLS) else max(counted(campaign.folder).values()) + 20
            campaign = command("--trials", trials, "--resume")
    assert tuple(hit) == KILLS
    campaign.ended()
    announced |= campaign.announced
    renamed |= campaign.renamed
    assert campaign.process.returncode == 1, campaign.output
    # A trial that was killed here is told as a death, and what it turns out to be when it is run again is said, too.
    assert announced - renamed <= campaign.kept.keys()
    assert {"relu", "sinh", "erf"} <= {entry.finding.operator for entry in campaign.kept.values()}
    came_to = campaign.trials
    healthy = {name: count for name, count in came_to.items() if not any(f"'{one}'" in name for one in ("sinh", "erf"))}
    assert set(healthy.values()) == {trials}, campaign.output
    assert max(came_to.values()) == trials
    assert in_session(campaign.process.pid) == []
