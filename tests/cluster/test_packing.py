"""What is sent to an agent and back: test files by their paths, and findings as files."""

from __future__ import annotations

import dataclasses
import pickle
import sys
import textwrap
from pathlib import Path

import pytest

from autotest.base.errors import AutotestError
from autotest.base.options import from_environment
from autotest.clusters.agent import Agent
from autotest.clusters.messages import AccountTask, SentTask, TaskBatch, digest_of_file
from autotest.clusters.packing import package, packed, relative, unpacked, with_file
from autotest.clusters.threaded import Threaded
from autotest.results.tasks import (
    Conditions,
    Death,
    Diagnose,
    DiagnoseDeath,
    ExpectedDeath,
    Explore,
    FindingRecord,
    RanTrials,
    Where,
)
from autotest.storage.keeping import keep
from autotest.storage.store import Store, Stored
from autotest.storage.store_format import FILES
from tests.store.test_store import finding

HERE = Where(Path("tests/test_x.py"), "test_x.py::test_x", 0)


@pytest.fixture
def here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Return the working directory of the driver, which contains its store."""
    folder = tmp_path / "here"
    folder.mkdir()
    monkeypatch.chdir(folder)
    return folder


def kept_by_an_agent(folder: Path, where: Where = HERE) -> tuple[FindingRecord, dict[str, bytes]]:
    found = keep(finding(), where, folder)
    return found, Store(folder).files(found.key)


def death(found: FindingRecord, **changes: bool) -> DiagnoseDeath:
    return DiagnoseDeath(HERE, 3, found.identity, "dies", thorough=True, **changes)


def test_a_test_file_below_the_working_directory_is_found_wherever_that_is_brought_to(here, tmp_path):
    task = Explore(HERE._replace(file=here / "tests" / "test_x.py"), range(3), 0.4)
    sent, files = packed(task, here, here / ".autotest")
    assert files == {}
    there = tmp_path / "brought"
    assert with_file(sent, lambda file: there / file).where.file == there / "tests" / "test_x.py"
    sent, _ = packed(AccountTask(task.where, 2), here, here / ".autotest")
    assert sent.where.file == Path("tests/test_x.py")


def test_a_test_file_elsewhere_keeps_its_place(here, tmp_path):
    task = Explore(HERE._replace(file=tmp_path / "shared" / "test_x.py"), range(3), 0.4)
    sent, _ = packed(task, here, here / ".autotest")
    assert with_file(sent, lambda file: Path("/there") / file) == task


def test_a_finding_of_an_agent_is_in_the_own_store_and_tells_of_the_own_folder(here, tmp_path):
    found, files = kept_by_an_agent(tmp_path / "scratch")
    told = unpacked(Explore(HERE, range(3), 0.4), found, files, here, here / ".autotest")
    assert told.place == f".autotest/failures/{found.key}"
    (entry,) = Store(here / ".autotest").list()
    assert isinstance(entry, Stored)
    for text in (told.report, entry.report):
        assert f"python .autotest/failures/{found.key}/repro.py" in text
        assert "scratch" not in text
    assert entry.finding.script == finding().script


def test_an_agent_cannot_write_beside_the_store(here, tmp_path):
    found, files = kept_by_an_agent(tmp_path / "scratch")
    unpacked(Explore(HERE, range(3), 0.4), found, {**files, "../../planted.txt": b"x"}, here, here / ".autotest")
    assert not list(here.rglob("planted.txt"))
    with pytest.raises(AutotestError):
        unpacked(Explore(HERE, range(3), 0.4), dataclasses.replace(found, key="../x"), files, here, here / ".autotest")


def test_what_a_worker_of_an_agent_ran_before_it_died_is_known_by_the_own_files(here, tmp_path):
    there = tmp_path / "there"
    ran = RanTrials(Where(there / "tests" / "test_y.py", "test_y.py::test_y", 0), range(3))
    died = Death("crash", "SIGABRT", "", 3, "relu", "forward", before=(ran,))
    sent = with_file(died, lambda file: relative(file, there))
    told = unpacked(Explore(HERE, range(3), 0.4), sent, {}, here, here / ".autotest")
    assert told.before == (ran._replace(where=ran.where._replace(file=here / "tests" / "test_y.py")),)
    again, _ = packed(
        dataclasses.replace(DiagnoseDeath(HERE, 3, finding().identity, "dies", thorough=True), before=told.before),
        here,
        here / ".autotest",
    )
    assert again.before[0].where.file == Path("tests/test_y.py")


def test_what_goes_on_with_a_finding_takes_its_files_along(here):
    found, files = kept_by_an_agent(here / ".autotest")
    assert packed(death(found), here, here / ".autotest")[1] == {}
    assert packed(death(found, verify=True), here, here / ".autotest")[1] == files
    assert set(files) <= set(FILES)


def test_a_death_that_proves_to_be_a_known_one_leaves_the_store(here):
    found, _ = kept_by_an_agent(here / ".autotest")
    assert unpacked(death(found), ExpectedDeath("key"), {}, here, here / ".autotest") == ExpectedDeath("key")
    assert Store(here / ".autotest").list() == []


def test_agents_are_given_the_settings_of_this_process_and_not_its_places(here, monkeypatch):
    (here / "pyproject.toml").write_text('[tool.autotest]\nn = 3\nledger = "known.toml"\n')
    (here / "known.toml").write_text("# nothing yet\n")
    (here / "test_x.py").write_text("x = 1\n")
    for name, value in {"AUTOTEST_SPECIAL_VALUES": "0", "AUTOTEST_DIR": "/mine", "OMP_NUM_THREADS": "1"}.items():
        monkeypatch.setenv(name, value)
    monkeypatch.delenv("MKL_NUM_THREADS", raising=False)
    monkeypatch.setattr(sys, "path", [str(here / "lib"), "/usr/lib", *sys.path])
    sent = pickle.loads(pickle.dumps(package(Conditions(here, ledger=from_environment().ledger), [Path("test_x.py")])))
    assert sent.environment["AUTOTEST_SPECIAL_VALUES"] == "0"
    assert sent.environment["OMP_NUM_THREADS"] == "1"
    assert "MKL_NUM_THREADS" in sent.unset
    assert "AUTOTEST_DIR" not in sent.environment
    assert (sent.root, sent.ledger) == ("", "# nothing yet\n")
    assert "n = 3" in sent.project
    assert "lib" in sent.path
    assert "/usr/lib" not in sent.path
    assert sent.digests == {"test_x.py": digest_of_file(here / "test_x.py")}


def test_tasks_in_threads_come_back_and_what_fails_is_told():
    closed: list[str] = []
    threaded = Threaded([lambda task: 10 // task] * 2, lambda: closed.append("yes"))
    for task in (1, 2, 5):
        threaded.start(task)
    finished: list[tuple[int, int]] = []
    while len(finished) < 3:
        finished += threaded.wait(1.0)
    assert sorted(finished) == [(1, 10), (2, 5), (5, 2)]
    threaded.start(0)
    with pytest.raises(AutotestError, match="division"):
        threaded.wait(5.0)
    threaded.close()
    assert closed == ["yes"]


def test_two_tasks_of_an_agent_that_come_to_one_finding_both_bring_its_files(here):
    agent, given = Agent(), []

    class Finished:
        late = 0
        start = staticmethod(given.append)
        close = staticmethod(given.clear)

        @staticmethod
        def wait(seconds):
            return [(task, keep(finding(), task.where, agent._folder)) for task in given]

    agent._workers = Finished()
    tasks = [SentTask(number, Diagnose(HERE, number, thorough=False), {}) for number in range(2)]
    report = agent._run_tasks(TaskBatch(tasks, 1.0))
    agent._shut_down()
    assert report.trouble == ""
    assert [set(one.files) <= set(FILES) and "failure.json" in one.files for one in report.results] == [True, True]


@pytest.mark.parametrize("work", ["sweep", "gradients"])
def test_a_machine_that_lacks_the_candidate_says_what_to_install(work, here, run_module):
    asked = f"""
        import os
        from pathlib import Path
        from autotest.clusters.agent import Agent
        from autotest.clusters.packing import package
        from autotest.results.tasks import Conditions
        os.environ["AUTOTEST_CANDIDATE"] = "jax"
        agent = Agent()
        facts = agent._set_up(package(Conditions(Path(), ("torch", "jax")), [], Path.cwd(), {work!r}))
        agent._shut_down()
        print(facts.group, facts.trouble)
    """
    (here / "jax.py").write_text("raise ImportError('there is no JAX on this machine')\n")
    (here / "asked.py").write_text(textwrap.dedent(asked))
    ended = run_module("asked")
    assert ended.ret == 0
    assert "the framework 'jax' cannot be imported" in ended.stdout.str()
