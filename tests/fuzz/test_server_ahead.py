"""The frameworks are imported in the process server of the workers while the tests are still being collected."""

from __future__ import annotations

import argparse
from pathlib import Path
from typing import Any

import pytest

from autotest.cli import executors, main
from autotest.results.tasks import Conditions
from autotest.sources import collection


class Recorded:
    """A process server that only records what is asked of it, in the file ``server`` of the working folder."""

    def __init__(self, modules: Any, *, frameworks: tuple[str, str]) -> None:
        self._note(f"made for {frameworks[1]}")

    def start(self) -> None:
        self._note("started")

    def close(self) -> None:
        self._note("closed")

    @staticmethod
    def _note(said: str) -> None:
        with Path("server").open("a") as file:
            file.write(f"{said}\n")


@pytest.fixture(autouse=True)
def recorded(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("AUTOTEST_CANDIDATE", "torch")
    monkeypatch.setattr(executors, "Server", Recorded)


def said() -> list[str]:
    file = Path("server")
    return file.read_text().splitlines() if file.exists() else []


def ahead(jobs: int | None = None, executor: str = "local") -> executors.ServerAhead:
    server = executors.ServerAhead(argparse.Namespace(jobs=jobs, executor=executor))
    server.start()
    return server


def conditions(*, own_import: bool = False) -> Conditions:
    return Conditions(Path(".autotest"), ("torch", "torch"), None, own_import=own_import)


FIRST = """
import shutil
import pytest
from autotest import autotest, random_tensor

@pytest.fixture(params=[1, 2])
def number(request):
    return request.param

@autotest(n=1)
def test_it(number):
    return random_tensor()
"""


def test_it_starts_when_the_first_of_several_files_is_known_and_ends_with_a_mistake(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in ("test_a.py", "test_b.py"):
        (tmp_path / name).write_text(FIRST)
    looked_up: list[Any] = []
    variants = collection._with_variants

    def noted(tests: Any, file: Path) -> Any:
        looked_up.append((file.name, said()))
        return variants(tests, file)

    monkeypatch.setattr(collection, "_with_variants", noted)
    assert main(["fuzz", ".", "-k", "no_such_test"]) == 2
    assert looked_up == [("test_a.py", []), ("test_b.py", ["made for torch", "started"])]
    assert said()[-1] == "closed"


def test_the_workers_are_forked_from_it() -> None:
    assert isinstance(ahead().server(conditions()), Recorded)
    assert said() == ["made for torch", "started"]


def test_it_is_not_used_where_workers_import_the_frameworks_themselves() -> None:
    assert ahead().server(conditions(own_import=True)) is None
    assert said()[-1] == "closed"


def test_it_is_not_used_if_a_test_file_sets_variables_that_frameworks_read(monkeypatch: pytest.MonkeyPatch) -> None:
    server = ahead()
    monkeypatch.setenv("PYTEST_VERSION", "0")  # pytest does so while it collects
    assert server.server(conditions()) is not None
    monkeypatch.setenv("OMP_NUM_THREADS", "3")
    assert server.server(conditions()) is None
    assert said()[-1] == "closed"


@pytest.mark.parametrize(
    ("candidate", "jobs", "executor"),
    [("my_adapter:factory", 2, "local"), ("torch", 0, "local"), ("torch", 2, "ray"), ("torch", None, "ray://auto")],
)
def test_none_is_started_for_an_adapter_of_a_project_or_without_workers_here(
    monkeypatch: pytest.MonkeyPatch, candidate: str, jobs: int | None, executor: str
) -> None:
    monkeypatch.setenv("AUTOTEST_CANDIDATE", candidate)
    server = ahead(jobs, executor)
    assert server.server(conditions()) is None
    server.close()
    assert said() == []
