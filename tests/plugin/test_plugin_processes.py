"""Tests of the pytest plugin in another process: imports, other plugins, workers, processes that die."""

from __future__ import annotations

import importlib.util
import re
import shutil
import subprocess
import sys

import pytest

from autotest.campaigns import isolated_runner
from autotest.campaigns.in_process import InProcess
from autotest.campaigns.workers import Workers
from autotest.processes.breadcrumb import Position
from autotest.pytest_plugin.lost_workers import _is_item
from tests.plugin.conftest import INSTALLED, PLUGIN
from tests.plugin.test_plugin import AGREES, DIVERGES
from tests.support import faults
from tests.support.faulty import FaultyTorch

FATAL = """
@autotest(n=3)
def test_sinh():
    return torch.sinh(random_tensor())
"""


def test_importing_the_plugin_imports_nothing_of_weight(importable_elsewhere):
    code = (
        "import sys, pytest; before = set(sys.modules)\n"
        "import autotest.pytest_plugin\n"
        "print(*sorted(name for name in set(sys.modules) - before if '.' not in name or name.startswith('autotest')))"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    foreign = set(done.stdout.split()) - set(sys.stdlib_module_names)
    parts = ("", ".command_line", ".examples", ".plugin")
    assert foreign == {"autotest", *(f"autotest.pytest_plugin{part}" for part in parts)}


def test_what_diagnoses_failures_is_not_imported_before_there_is_one(importable_elsewhere):
    code = "import sys, autotest.decorator; print(*(name for name in sys.modules if name.startswith('autotest.')))"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert "autotest.running.judged_trials" in done.stdout.split()
    assert not [name for name in done.stdout.split() if name.startswith("autotest.diagnosis")]


def test_a_run_without_autotests_imports_neither_numpy_nor_a_framework(pytester, run_outside):
    pytester.makepyfile(
        """
        import sys

        def test_plain():
            assert not {"numpy", "torch", "oneflow", "generators", "autotest.running.runner"} & set(sys.modules)
        """
    )
    # If Hypothesis is installed, its plugin may import NumPy.
    run_outside(*PLUGIN, "-p", "no:hypothesispytest").assert_outcomes(passed=1)


TELLS_WHAT_IS_IMPORTED = """
import sys

def pytest_terminal_summary(terminalreporter):
    terminalreporter.write_line(f"imported: {sorted({'torch', 'oneflow'} & set(sys.modules))}")
"""


def test_tests_are_collected_without_a_framework(pytester, run_outside):
    pytester.makepyfile(
        """
        from autotest import autotest, random_tensor, torch

        @autotest()
        def test_relu():
            return torch.relu(random_tensor())
        """
    )
    pytester.makeconftest(TELLS_WHAT_IS_IMPORTED)
    collected = run_outside(*PLUGIN, "-p", "no:hypothesispytest", "--collect-only", "-q")
    collected.stdout.fnmatch_lines(["*::test_relu", "imported: []"])


def test_a_module_that_an_inner_run_loads_is_loaded_once(pytester, run, monkeypatch):
    """If it were loaded again, its functions would be other objects, and a child process would refuse them."""
    monkeypatch.delitem(sys.modules, "wave", raising=False)
    pytester.makepyfile(test_own="import wave\n\ndef test_plain(): pass")
    run().assert_outcomes(passed=1)
    assert "wave" in sys.modules
    assert "test_own" not in sys.modules


def test_a_divergence_is_told_without_the_plugin_too(suite, run_forked):
    suite(DIVERGES + AGREES)
    result = run_forked(*(("-p", "no:autotest") if INSTALLED else ()))
    result.assert_outcomes(failed=1, passed=1)
    result.stdout.fnmatch_lines(["E *Divergence: faulty diverges from torch: relu*", "*Reproducer: python *"])
    result.stdout.no_fnmatch_line("*runner.py*")
    result.stdout.no_fnmatch_line("*- autotest -*")


@pytest.mark.slow
def test_workers_of_xdist_draw_the_same_seed_and_tell_the_controller(suite, run_forked, pytester):
    pytest.importorskip("xdist")
    suite(DIVERGES + AGREES)
    result = run_forked(*PLUGIN, "-n", "2", "--autotest-seed=random", "--junitxml=out.xml")
    result.assert_outcomes(failed=1, passed=1)
    seed = re.search(r"autotest: seed (\d+)", result.stdout.str())[1]
    result.stdout.fnmatch_lines(
        ["reproducer  python *", "2 tests ran 5 trials: 5 accepted*", f"base seed {seed}; torch *", "1 finding:"]
    )
    assert f'name="autotest.seed" value="{seed}"' in (pytester.path / "out.xml").read_text()


@pytest.mark.parametrize(
    ("node", "test"),
    [
        ("a@b/test_x.py::test_it", "test_x.py::test_it"),
        ("a@b/test_x.py::TestIt::test_it", "a@b/test_x.py::TestIt.test_it#2"),
        ("a@b/test_x.py::TestIt::test_it[a.b]", "test_x.py::TestIt.test_it[x=1.5]"),
        ("a@b/test_x.py::test_it[a.b]@group", "test_x.py::test_it[x=1.5]"),
        ("a@b/test_x.py::test_it@group", "test_x.py::test_it"),
    ],
)
def test_a_crashed_item_is_known_by_its_file_and_name(tmp_path, node, test):
    def died_in(file, test):
        return Position(tmp_path / file, test, 0, 0, 0, "sinh", "forward", 1, {})

    assert _is_item(node, tmp_path, died_in("a@b/test_x.py", test))
    assert not _is_item(node, tmp_path, died_in("test_x.py", test))
    assert not _is_item(node, tmp_path, died_in("a@b/test_x.py", test.replace("test_it", "Other.test_it")))


@pytest.mark.slow
def test_a_worker_that_died_leaves_the_reproducer_of_its_trial(suite, run_forked):
    pytest.importorskip("xdist")
    suite(FATAL + AGREES)
    result = run_forked(*PLUGIN, "-n", "1", "--autotest-candidate=tests.support.deadly:six")
    result.assert_outcomes(failed=1, passed=1)
    result.stdout.fnmatch_lines(
        [
            "worker 'gw0' crashed while running *test_sinh*",
            "faulty diverges from torch: sinh, crash (forward)",
            "*sinh: faulty dies (SIGSEGV)*",
            "reproducer  python *repro.py*",
            "1 finding:",
            "  sinh, crash (forward): python *",
        ]
    )


@pytest.mark.slow
def test_an_isolated_trial_that_dies_costs_a_worker_and_not_the_run(suite, run_outside, pytester):
    pytester.makeconftest(TELLS_WHAT_IS_IMPORTED)
    suite(
        FATAL
        + AGREES
        + DIVERGES
        + """
import pytest

@pytest.fixture
def two():
    return 2

@autotest(n=2)
def test_with_a_fixture(two):
    return random_tensor() * two

@autotest(n=2)
def test_wrong():
    assert 1 == 2
"""
    )
    result = run_outside(*PLUGIN, "--autotest-isolate", "--autotest-candidate=tests.support.deadly:six")
    result.assert_outcomes(failed=2, passed=3)
    result.stdout.fnmatch_lines(["imported: []"])
    result.stdout.fnmatch_lines(
        [
            "*trials in a worker process",
            "faulty diverges from torch: sinh, crash (forward)",
            "reproducer  python *repro.py*",
            "*in its worker process:",
            "*assert 1 == 2*",
            "5 tests ran 11 trials: 11 accepted*",
            "1 finding:",
        ]
    )


@pytest.mark.skipif(importlib.util.find_spec("oneflow") is None, reason="OneFlow is not installed")
def test_a_graph_of_oneflow_works_in_a_worker_process(suite, run_outside):
    suite("@autotest(n=5, check_graph=True)\ndef test_it():\n    return torch.relu(random_tensor(ndim=2))\n")
    options = ("--autotest-isolate", "--autotest-candidate=oneflow", "--autotest-deadline=10s", "--autotest-quick")
    run_outside(*PLUGIN, *options).assert_outcomes(passed=1)


@pytest.mark.slow
def test_isolated_trials_are_those_that_would_run_here(suite, run_forked, run, quick):
    suite(DIVERGES)

    def trial(result):
        result.assert_outcomes(failed=1)
        said = r"Test:\s+test_inner.py::test_relu, (trial \d+ of base seed \d+ \(seed \d+\))"
        return re.search(said, result.stdout.str())[1]

    here = trial(run("--autotest-seed=3"))
    shutil.rmtree(quick)
    assert trial(run_forked(*PLUGIN, "--autotest-isolate", "--autotest-seed=3")) == here
    # Stored failures run first.
    assert trial(run_forked(*PLUGIN, "--autotest-isolate", "--autotest-seed=5")) == here


PINNED = """
from autotest.sources.test_names import trial_seed
from generators.source import current


@autotest(n=4, pinned=(7, 1))
def test_it():
    x = random_tensor(ndim=2)
    return torch.relu(x) if current().seed == trial_seed(7, "test_inner.py::test_it", 1) else torch.exp(x)
"""
KNOWN = """
[[divergence]]
key = "known"
test = "test_inner.py::test_it"
symptom = "value"
reason = "planted"
"""


@pytest.mark.parametrize("isolated", [True, False])
def test_a_test_whose_backward_is_always_refused_fails(suite, run, against, monkeypatch, isolated):
    against(FaultyTorch()).names = ("torch", "torch")
    monkeypatch.setattr(isolated_runner, "Workers", lambda conditions, jobs, in_turn: InProcess(conditions))
    suite("@autotest(n=3)\ndef test_exp():\n    return torch.exp(random_tensor(ndim=1)).add_(1)")
    result = run(*(["--autotest-isolate"] if isolated else []))
    result.assert_outcomes(failed=1)
    result.stdout.fnmatch_lines(["*gradients were compared in no trial*the reference refused the backward of*"])


MOSTLY_REFUSED = """
@autotest(n=20)
def test_it():
    return torch.narrow(random_tensor(ndim=3), random(-3, 4).to(int), random(0, 4).to(int), 2)
"""


def test_methods_of_an_asynchronous_test_case_are_isolated_and_counted(suite, run, monkeypatch):
    ran = []

    class Watched(InProcess):
        def start(self, task):
            ran.append(task.where.test)
            super().start(task)

    monkeypatch.setattr(isolated_runner, "Workers", lambda conditions, jobs, in_turn: Watched(conditions))
    suite(
        """
import unittest

class Several(unittest.IsolatedAsyncioTestCase):
    async def asyncSetUp(self):
        self.shift = 1

    @autotest(n=3)
    def test_exp(self):
        return torch.exp(random_tensor()) + self.shift
"""
    )
    result = run("--autotest-isolate")
    result.assert_outcomes(passed=1)
    assert set(ran) == {"test_inner.py::Several.test_exp"}
    result.stdout.fnmatch_lines(["1 test ran 3 trials: 3 accepted, *"])


def test_what_the_reference_refuses_is_tried_again_in_isolated_trials(suite, run, against, monkeypatch):
    against(FaultyTorch()).names = ("torch", "torch")
    monkeypatch.setattr(isolated_runner, "Workers", lambda conditions, jobs, in_turn: InProcess(conditions))
    suite(MOSTLY_REFUSED)
    given = [run("--autotest-coverage", *isolated) for isolated in ([], ["--autotest-isolate"])]
    here, isolated = (re.search(r"^narrow +20 .*dim=.*", one.stdout.str(), re.MULTILINE)[0] for one in given)
    assert isolated == here


LOGGED = """
@autotest(n=40)
def test_it():
    x, dim, start = random_tensor(ndim=3), random(-3, 4).to(int).value(), random(0, 4).to(int).value()
    with open("drawn.txt", "a") as file:
        file.write(f"{tuple(x.shape)} {dim} {start}\\n")
    return torch.narrow(x, dim, start, 2)
"""


def test_isolated_trials_are_those_of_the_tests_own_process(suite, run, against, monkeypatch, pytester):
    against(FaultyTorch()).names = ("torch", "torch")
    monkeypatch.setattr(isolated_runner, "Workers", lambda conditions, jobs, in_turn: InProcess(conditions))
    suite(LOGGED)
    drawn = []
    for isolated in ([], ["--autotest-isolate"]):
        run(*isolated).assert_outcomes(passed=1)
        drawn.append((pytester.path / "drawn.txt").read_text().splitlines())
        (pytester.path / "drawn.txt").unlink()
    assert len(drawn[0]) > 30
    assert drawn[1] == drawn[0]


def test_an_isolated_test_that_writes_into_its_inputs_fails_as_in_its_own_process(suite, run, against, monkeypatch):
    against(FaultyTorch()).names = ("torch", "torch")
    monkeypatch.setattr(isolated_runner, "Workers", lambda conditions, jobs, in_turn: InProcess(conditions))
    suite("@autotest(n=5)\ndef test_it():\n    x = random_tensor(ndim=2)\n    x += 1\n    return x\n")
    result = run("--autotest-isolate")
    result.assert_outcomes(failed=1)
    result.stdout.fnmatch_lines(["*the reference accepted 0 of 100 trials; 5 are needed*"])


def test_isolated_trials_of_a_thorough_run_have_half_precision(suite, run, against, monkeypatch):
    against(FaultyTorch()).names = ("torch", "torch")
    monkeypatch.setattr(isolated_runner, "Workers", lambda conditions, jobs, in_turn: InProcess(conditions))
    suite("@autotest(n=6)\ndef test_neg():\n    return torch.neg(random_tensor(ndim=2))")
    result = run("--autotest-isolate", "--autotest-coverage", "--autotest-profile=thorough")
    result.assert_outcomes(passed=1)
    result.stdout.re_match_lines([r"neg +60 .* bfloat16 \d+, float16 \d+, float32"])


@pytest.mark.parametrize("isolated", [True, False])
def test_a_ledger_entry_for_a_pinned_trial_alone_is_not_stale(suite, run, quick, against, monkeypatch, isolated):
    against(faults.wrong_relu()).names = ("torch", "torch")
    monkeypatch.setattr(isolated_runner, "Workers", lambda conditions, jobs, in_turn: InProcess(conditions))
    file = suite(PINNED)
    (file.parent / "ledger.toml").write_text(KNOWN)
    result = run(*(["--autotest-isolate"] if isolated else []))
    result.assert_outcomes(passed=1)
    result.stdout.fnmatch_lines(["1 test ran 4 trials: 4 accepted, *", "*1 x known"])


def test_the_isolated_trials_before_a_finding_are_counted(suite, run, quick, against, monkeypatch):
    many_are_wrong = FaultyTorch({"relu": lambda relu: lambda x: relu(x) + (x.numel() > 300)})
    against(many_are_wrong).names = ("torch", "torch")  # another process could create it by this name
    monkeypatch.setattr(isolated_runner, "Workers", lambda conditions, jobs, in_turn: InProcess(conditions))
    suite("@autotest()\ndef test_it():\n    return torch.relu(random_tensor(ndim=2))\n")
    result = run("--autotest-isolate")
    result.assert_outcomes(failed=1)
    said = result.stdout.str()
    failed, ran = (
        re.search(r"trial (\d+) of base seed", said),
        re.search(r"1 test ran (\d+) trials: (\d+) accepted", said),
    )
    assert int(failed[1]) + 1 == int(ran[1]) == int(ran[2]) > 2


def test_a_single_isolated_trial_runs_whatever_its_number(suite, run, quick, against, monkeypatch):
    against(faults.wrong_relu()).names = ("torch", "torch")  # another process could create it by this name
    monkeypatch.setattr(isolated_runner, "Workers", lambda conditions, jobs, in_turn: InProcess(conditions))
    suite(DIVERGES)
    monkeypatch.setenv("AUTOTEST_TRIAL", "5000")
    result = run("--autotest-isolate")
    result.assert_outcomes(failed=1)
    result.stdout.fnmatch_lines(["*test_inner.py::test_relu, trial 5000 of base seed 0 *"])


def test_what_an_alarm_left_of_an_isolated_test_does_not_reach_the_next_one(suite, run, against, monkeypatch):
    against(FaultyTorch()).names = ("torch", "torch")  # another process could create it by this name
    alarms = iter([True])

    class Interrupted(InProcess):
        """Once, an alarm goes off while a task runs; its result would arrive later."""

        def wait(self, seconds):
            if next(alarms, False):
                pytest.fail("Timeout")  # as pytest-timeout does
            return super().wait(seconds)

    monkeypatch.setattr(isolated_runner, "Workers", lambda conditions, jobs, in_turn: Interrupted(conditions))
    suite("".join(f"@autotest(n=2)\ndef test_{name}():\n    return torch.relu(random_tensor())\n" for name in "ab"))
    result = run("--autotest-isolate", "-p", "no:randomly")
    result.assert_outcomes(failed=1, passed=1)
    result.stdout.fnmatch_lines(["*Failed: Timeout"])


LACKS = """
@autotest(n=6)
def test_always():
    return torch.relu(random_tensor())

@autotest(n=6)
def test_sometimes():
    x = random_tensor(ndim=random(1, 3))
    return torch.relu(x) if len(x.shape) > 1 else torch.exp(x)
"""


@pytest.mark.parametrize("isolated", [True, False])
def test_trials_that_need_what_the_candidate_lacks_count_and_skip_a_test_without_others(
    suite, run, against, monkeypatch, isolated
):
    without_relu = FaultyTorch(missing=("relu",))
    without_relu.translates = True
    against(without_relu).names = ("torch", "torch")  # another process could create it by this name
    monkeypatch.setattr(isolated_runner, "Workers", lambda conditions, jobs, in_turn: InProcess(conditions))
    suite(LACKS)
    result = run("-rs", *(["--autotest-isolate"] if isolated else []))
    result.assert_outcomes(passed=1, skipped=1)
    result.stdout.fnmatch_lines(
        ["2 tests ran 12 trials: *, 0 rejected by the reference, * need *", "*faulty has no relu (6 of 6 trials)"]
    )


def test_each_of_several_candidates_keeps_its_worker_for_all_tests(suite, run, monkeypatch, warm):
    prepared = []
    prepare = Workers.prepare
    monkeypatch.setattr(Workers, "prepare", lambda self: prepared.append(self) or prepare(self))
    suite("\n".join(f"@autotest(n=1)\ndef test_{at}():\n    return random_tensor(2) * 2\n" for at in range(3)))
    monkeypatch.setenv("AUTOTEST_CANDIDATE", "torch,torch:cpu")
    run("--autotest-isolate").assert_outcomes(passed=3)
    assert len(prepared) == 2
