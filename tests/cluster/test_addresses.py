"""Addresses of clusters: if one cannot be reached or used, one sentence says so and what to do."""

from __future__ import annotations

import socket
import sys
import types
from typing import Any

import pytest

from autotest.clusters.engine import ClusterUnreachable, Lost
from autotest.clusters.ray_engine import RayEngine
from tests.cluster.conftest import SUITE, free_port


@pytest.mark.parametrize(
    ("where", "said"),
    [
        ("ray://127.0.0.1:{closed}", "no server answers at this address"),
        ("ray://nowhere", "expected ray://HOST:PORT, such as ray://10.0.0.1:10001"),
        ("ray://10.0.0.1", "expected ray://HOST:PORT"),
        ("ray://10.0.0.1:99999", "expected ray://HOST:PORT"),
        ("ray://http://10.0.0.1:10001", "expected ray://HOST:PORT"),
        ("slurm", "expected local, ray, ray://HOST:PORT or ray://auto"),
    ],
)
def test_a_wrong_address_is_told_in_one_sentence(command, where, said):
    ended = command("fuzz", SUITE, "--executor", where.format(closed=free_port()))
    assert ended.status in (2, 3)
    assert said in ended.errors
    assert len(ended.errors.splitlines()) == 1


class _Refusing(types.SimpleNamespace):
    """Replaces Ray by a cluster that accepts no connection, or that starts no agent."""

    def __init__(self, error: Exception, *, joined: bool) -> None:
        super().__init__(error=error, joined=joined)

    def init(self, *arguments: object, **options: object) -> None:
        if not self.joined:
            raise self.error

    def remote(self, *arguments: object, **options: object) -> _Refusing:
        if not arguments:
            raise self.error
        return self

    def options(self, **options: object) -> _Refusing:
        return self

    def nodes(self) -> list[dict[str, Any]]:
        return [{"NodeID": "a", "NodeManagerAddress": "10.0.0.7", "Alive": True, "Resources": {"CPU": 2.0}}]

    def shutdown(self) -> None:
        pass


@pytest.mark.parametrize(
    ("error", "joined", "said"),
    [
        (
            RuntimeError("Version mismatch: The cluster was started with:\n    Ray: 2.52.0\n    Python: 3.10.13\n"),
            False,
            "Version mismatch: The cluster was started with: Ray: 2.52.0 Python: 3.10.13; install the same Python, Ray",
        ),
        (
            ModuleNotFoundError("No module named 'autotest'"),
            True,
            "No module named 'autotest'; install the same Python",
        ),
        (
            ConnectionError("ray client connection timeout"),
            False,
            "the cluster does not accept this process (ray client connection timeout); expected the client server of a",
        ),
        (
            ConnectionAbortedError(
                "Initialization failure from server:\nTraceback (most recent call last):\n  File 'x.py', line 1, in f\n"
                "AttributeError: 'JobConfig' object has no attribute '_other'\n"
            ),
            False,
            "Initialization failure from server: AttributeError: 'JobConfig' object has no attribute '_other'; install",
        ),
    ],
    ids=["another Python", "without this library", "no client server", "an older Ray"],
)
def test_a_cluster_with_other_packages_or_that_is_none_is_told_in_one_sentence_with_what_to_install(
    command, monkeypatch, error, joined, said
):
    monkeypatch.setitem(sys.modules, "ray", _Refusing(error, joined=joined))
    strategies = types.SimpleNamespace(NodeAffinitySchedulingStrategy=lambda *_, **__: None)
    monkeypatch.setitem(sys.modules, "ray.util", types.ModuleType("ray.util"))
    monkeypatch.setitem(sys.modules, "ray.util.scheduling_strategies", strategies)
    with socket.create_server(("127.0.0.1", 0)) as listening:
        where = f"ray://127.0.0.1:{listening.getsockname()[1]}"
        ended = command("fuzz", SUITE, "--executor", where)
    assert ended.status == 3
    assert f"autotest: --executor {where}: {said}" in ended.errors
    assert len(ended.errors.splitlines()) == 1


def test_without_ray_it_is_told_what_to_install(command, monkeypatch):
    monkeypatch.setitem(sys.modules, "ray", None)
    ended = command("fuzz", SUITE, "--executor", "ray")
    assert ended.status == 2
    assert "install dual-autotest[ray]" in ended.errors
    assert len(ended.errors.splitlines()) == 1


def test_this_process_is_no_cluster(command):
    ended = command("fuzz", SUITE, "--executor", "ray", "--jobs", 0)
    assert ended.status == 2
    assert "with --executor ray, use 1 or more" in ended.errors


def test_a_machine_of_no_cluster_is_told_how_it_gets_one(command, monkeypatch):
    error = ConnectionError("Could not find any running Ray instance. Please specify the one to connect to")
    monkeypatch.setitem(sys.modules, "ray", _Refusing(error, joined=False))
    ended = command("fuzz", SUITE, "--executor", "ray://auto")
    assert ended.status == 3
    assert "--executor ray://auto: no Ray cluster runs on this machine; `ray start --head` starts one" in ended.errors


@pytest.mark.parametrize("option", [("--each-group",), ("--group", "cuda")], ids=" ".join)
def test_groups_of_machines_are_asked_for_with_a_cluster_only(command, option):
    ended = command("fuzz", SUITE, *option)
    assert ended.status == 2
    assert f"{' '.join(option)} needs --executor ray" in ended.errors


def parted_from(address: str) -> RayEngine:
    """Return an engine with a request to an agent, whose connection to Ray then ends."""

    def fails(*arguments: object, **options: object) -> None:
        raise ConnectionError("Ray Client is not connected. Please connect by calling `ray.init`.")

    engine = RayEngine(address)
    asked = types.SimpleNamespace(remote=lambda message: "what it will answer")
    engine._actors[1] = types.SimpleNamespace(answer=asked)
    engine._ray = types.SimpleNamespace(wait=fails, kill=fails, shutdown=fails)
    engine.send(1, b"a task")
    return engine


def test_a_cluster_of_others_that_goes_away_meanwhile_is_told_with_how_to_go_on():
    engine = parted_from("10.0.0.1:10001")
    with pytest.raises(ClusterUnreachable, match=r"the connection to the cluster is lost .* --resume continues"):
        engine.answers(1.0)
    engine._actors[2] = object()
    with pytest.raises(ClusterUnreachable, match="the connection to the cluster is lost"):
        engine.send(2, b"another task")
    engine.close()


def test_agents_of_an_own_cluster_that_goes_away_are_lost_and_nothing_else():
    engine = parted_from("")
    engine._actors[2] = object()
    engine.send(2, b"another task")
    lost = dict(engine.answers(1.0))
    assert {agent: type(said) for agent, said in lost.items()} == {1: Lost, 2: Lost}
    assert engine.answers(0.0) == []
    engine.close()
