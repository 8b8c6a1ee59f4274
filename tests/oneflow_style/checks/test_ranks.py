"""Two ranks on CPU draw the same, and report one verdict once."""

from __future__ import annotations

import json
import os
import signal
import socket
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from autotest.oneflow import autotest, globaltest, random_tensor, torch

ROOT = Path(__file__).parents[3]
STYLE = Path(__file__).parents[1]


LAUNCH = (
    "import runpy, warnings; warnings.simplefilter('ignore'); "
    "from autotest.frameworks.oneflow_import import import_oneflow; import_oneflow(); "
    "runpy.run_module('oneflow.distributed.launch', run_name='__main__', alter_sys=True)"
)


def launched(folder: Path, *command: str) -> subprocess.CompletedProcess[str]:
    """Run two ranks of `command`. On a busy machine, importing both frameworks twice takes a minute."""
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port = probe.getsockname()[1]
    environment = {
        **{name: value for name, value in os.environ.items() if not name.startswith("PYTEST_")},
        "PYTHONPATH": str(ROOT),
        "AUTOTEST_DIR": str(folder / "kept"),
        # Where all pytests of a user have theirs, each clears away old folders of others, and may find that another one
        # is at it: an error on one rank, for which the other one would wait in a collective.
        "PYTEST_DEBUG_TEMPROOT": str(folder),
    }
    # The launcher imports OneFlow first, which does not find its libraries alone.
    arguments = [sys.executable, "-c", LAUNCH, "--nproc_per_node", "2", "--master_port", str(port), *command]
    pipes = {"stdout": subprocess.PIPE, "stderr": subprocess.PIPE}
    with subprocess.Popen(arguments, cwd=ROOT, env=environment, text=True, start_new_session=True, **pipes) as launcher:
        try:
            output, errors = launcher.communicate(timeout=250.0)
        except subprocess.TimeoutExpired:
            os.killpg(launcher.pid, signal.SIGKILL)  # also the ranks, which would continue without their launcher
            raise
    return subprocess.CompletedProcess(arguments, launcher.returncode, output, errors)


@pytest.fixture(scope="module")
def ended(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, subprocess.CompletedProcess[str]]:
    """Where two ranks wrote what they saw, and how they ended: with the test files of what is global, run by pytest."""
    folder = tmp_path_factory.mktemp("ranks")
    files = [str(path) for path in sorted(STYLE.glob("test_global_*.py"))]
    assert len(files) == 3
    # What the garbage collector says of unclosed files fails a test of this suite; on one rank alone it would leave the
    # other one waiting for it in a collective, for ever.
    quiet = ("-p", "no:cacheprovider", "-p", "no:unraisableexception", "-W", "ignore::ResourceWarning")
    quiet += ("-W", "ignore::pytest.PytestAssertRewriteWarning")  # for modules that the script has imported already
    script = str(Path(__file__).with_name("on_two_ranks.py"))
    return folder, launched(folder, script, str(folder), "-q", *quiet, *files)


@pytest.fixture(scope="module")
def ranks(ended: tuple[Path, subprocess.CompletedProcess[str]]) -> list[tuple[dict[str, str], list[float]]]:
    """Return the results of each rank."""
    folder, done = ended
    assert len([*folder.glob("*.json")]) == 2, done.stderr[-2000:]
    seen: list[Any] = [json.loads((folder / f"{rank}.json").read_text(encoding="utf-8")) for rank in (0, 1)]
    return seen


def test_ranks_agree_and_draw_the_same(ranks: Any) -> None:
    (first, drawn), (second, drawn_there) = ranks
    assert (first["agrees"], second["agrees"]) == ("passed", "passed")
    assert len(drawn) == 6
    assert drawn == drawn_there


def test_rank_0_tells_and_says_how_to_launch_the_reproducer(ranks: Any) -> None:
    (first, _), (second, _) = ranks
    assert first["fails_everywhere"].startswith("oneflow diverges from torch: ")
    assert "python -m oneflow.distributed.launch --nproc_per_node 2" in first["fails_everywhere"]
    assert "fails_everywhere: rank 0 of 2 reports it" in second["fails_everywhere"]
    assert len(second["fails_everywhere"].splitlines()) == 1


def test_a_failure_on_one_rank_fails_all_and_the_next_test_runs(ranks: Any) -> None:
    (first, _), (second, _) = ranks
    assert "passed on rank 0, failed on rank 1 of 2" in first["fails_on_the_second"]
    assert "planted" in first["fails_on_the_second"]
    assert "planted" in second["fails_on_the_second"]
    assert (first["again"], second["again"]) == ("passed", "passed")


def test_broadcast_hands_on_what_rank_0_has(ranks: Any) -> None:
    assert [results["from rank 0"] for results, _ in ranks] == ["rank 0", "rank 0"]


def test_on_one_rank_the_way_to_global_and_back_has_the_gradient_of_none() -> None:
    """On several, what each of them pushes into its own copy is summed, as OneFlow means it: no other side has that."""

    @globaltest
    @autotest(n=2, check_graph=False)
    def round_trip(case: object) -> object:
        x = random_tensor(2, 4, 4)
        placement = x.oneflow.placement
        return torch.exp(x.to_global(placement=placement, sbp=x.oneflow.sbp).to_local())

    round_trip(None)


def test_the_global_test_files_pass_on_two_ranks(ended: tuple[Path, subprocess.CompletedProcess[str]]) -> None:
    _, done = ended
    assert done.returncode == 0, done.stdout[-3000:] + done.stderr[-2000:]
    assert done.stdout.count("4 passed") == 2
