"""What the pytest plugin adds to a run: options, header, report sections, properties, summary."""

from __future__ import annotations

import importlib.util
import os
import re
import xml.etree.ElementTree as ET

import pytest

from autotest.base.options import PROFILES, Options
from autotest.pytest_plugin import plugin
from autotest.report import session
from tests.plugin.conftest import HEAD

AGREES = """
@autotest(n=4)
def test_exp():
    return torch.exp(random_tensor())
"""
DIVERGES = """
@autotest(n=4)
def test_relu():
    return torch.relu(random_tensor())
"""
PLAIN = """
def test_plain():
    pass
"""
#: A test that writes what it draws into a file.
DRAWS = """
@autotest(n=4)
def test_draws():
    with open("drawn.txt", "a") as file:
        file.write(f"{random(0, 1 << 30).value()}\\n")
    return torch.ones(2)
"""


def drawn(pytester):
    return (pytester.path / "drawn.txt").read_text().split()


def autotest_variables():
    return {name: value for name, value in os.environ.items() if name.startswith("AUTOTEST_")}


def all_drawn(pytester, run, *arguments):
    run(*arguments).assert_outcomes(passed=1)
    numbers = drawn(pytester)
    (pytester.path / "drawn.txt").unlink()
    return numbers


# -- header and summary --------------------------------------------------------------------------------------


def test_the_header_names_the_pair_and_the_seed(suite, run):
    suite(AGREES + PLAIN)
    counted, pair = "1 test (and 1 test of other kinds)", "tests.support.faults:wrong_relu against torch [12]*"
    run().stdout.fnmatch_lines([f"autotest: {counted} of {pair}, base seed 0"])


def test_the_summary_counts_trials_rejections_and_findings(suite, run):
    suite(
        AGREES
        + DIVERGES
        + """
@autotest(n=2)
def test_sometimes_refused():
    return torch.ones(random(2, 4).to(int)) @ torch.ones(2)
"""
    )
    result = run()
    result.assert_outcomes(passed=2, failed=1)
    text = result.stdout.str()
    match = re.search(r"3 tests ran (\d+) trials: 7 accepted, (\d+) rejected by the reference", text)
    assert match, text
    assert int(match[1]) == 7 + int(match[2])
    assert int(match[2]) == 0 or re.search(rf" {match[2]} x matmul: RuntimeError", text)
    result.stdout.fnmatch_lines(["1 finding:", "  relu, value (forward): python *repro.py"])


@pytest.mark.skipif(importlib.util.find_spec("_pytest.subtests") is None, reason="pytest 9 has the fixture subtests")
def test_what_ends_a_trial_leaves_a_subtest_of_pytest(suite, run):
    suite(
        """
@autotest(n=2)
def test_sometimes_refused(subtests):
    with subtests.test(size=2):
        return torch.ones(random(2, 4).to(int)) @ torch.ones(2)

@autotest(n=2)
def test_differs(subtests):
    with subtests.test("negative"):
        return torch.relu(random_tensor())

def test_plain(subtests):
    with subtests.test("after them"):
        raise ValueError
"""
    )
    shown = run().stdout.str()
    found = re.findall(r"^((?:SUB)?FAILED\S*) (?:.*::)?(\w+)", shown, re.MULTILINE)
    assert found == [("FAILED", "test_differs"), ("SUBFAILED[after", "test_plain"), ("FAILED", "test_plain")]
    assert " 1 passed" in shown


def test_a_run_without_autotests_says_nothing_of_them(suite, run, monkeypatch):
    monkeypatch.delenv("AUTOTEST_CANDIDATE")
    suite(PLAIN)
    result = run()
    result.assert_outcomes(passed=1)
    result.stdout.no_fnmatch_line("*autotest*base seed*")
    result.stdout.no_fnmatch_line("*trials*")


def test_what_the_ledger_expects_is_counted_apart():
    heard = {
        "test": "test_it.py::test_it",
        "accepted": 4,
        "rejections": {"matmul: RuntimeError": 3},
        "expected": {"relu-value": 2},
        "left_out": {},
        "cleared": 1,
        "base_seed": 7,
        "versions": {"torch": "2.0.1", "oneflow": ""},
        "found": [],
        "covered": {},
        "candidates": {},
        "told": False,
    }
    assert session.summary([heard, heard]) == [
        "2 tests ran 14 trials: 8 accepted, 6 rejected by the reference",
        "base seed 7; torch 2.0.1, oneflow",
        "rejected most often:",
        "    6 x matmul: RuntimeError",
        "2 mismatches were only rounding according to the float64 referee",
        "diverged as the ledger expects:",
        "    4 x relu-value",
    ]


def test_several_candidates_have_a_line_each(suite, run, quick):
    suite(DIVERGES)
    result = run("--autotest-candidate", "tests.support.faults:wrong_relu,tests.support.faults:renamed")
    result.assert_outcomes(failed=1)
    result.stdout.fnmatch_lines(
        [
            "1 of 2 candidates differs: faulty diverges from torch: relu, value (forward)",
            "*  faulty  *",
            "*  right   agrees in * trials*",
            "faulty diverges from torch: relu, value (forward)",
            "by candidate:",
            "  faulty: 1 of 1 test differs, 0 need what it lacks; 0 trials accepted",
            "  right: 0 of 1 test differ, 0 need what it lacks; * trials accepted",
        ]
    )


def test_what_a_candidate_lacks_is_not_counted_as_refused_by_the_reference():
    heard = {
        "test": "test_it.py::test_it",
        "accepted": 4,
        "rejections": {"matmul: RuntimeError": 3, "exp: Absent: one has no exp": 2},
        "expected": {},
        "left_out": {},
        "cleared": 0,
        "base_seed": 0,
        "versions": {},
        "found": [],
        "covered": {},
        "candidates": {"one": {"accepted": 4, "absent": 2, "found": "", "gradients": True}},
        "told": False,
    }
    first, *_ = session.summary([heard])
    assert first == "1 test ran 9 trials: 4 accepted, 3 rejected by the reference, 2 need what the candidate lacks"
    properties = dict(session.properties(heard))
    assert (properties["autotest.rejected"], properties["autotest.absent"]) == ("3", "2")


def differs(candidate, place):
    return {
        "candidate": candidate,
        "what": "relu, value (forward)",
        "place": place,
        "reproducer": f"python {place}/repro.py",
        "verified": "",
        "seed": 0,
        "trial": 3,
    }


def test_of_each_candidate_that_differs_its_own_script_is_told_and_their_trial_once():
    found = [differs("one", "a"), differs("two", "b")]
    assert session.reproduction(found, "test_it.py::test_it", "one,two").splitlines() == [
        "reproducer  python a/repro.py",
        "kept in     a",
        "reproducer  python b/repro.py",
        "kept in     b",
        "this trial  AUTOTEST_SEED=0 AUTOTEST_TRIAL=3 pytest test_it.py::test_it --autotest-candidate one,two",
    ]
    heard = {
        "test": "test_it.py::test_it",
        "accepted": 0,
        "rejections": {},
        "expected": {},
        "left_out": {},
        "cleared": 0,
        "base_seed": 0,
        "versions": {},
        "found": found,
        "covered": {},
        "candidates": {name: {"accepted": 0, "absent": 0, "found": name, "gradients": True} for name in ("one", "two")},
        "told": True,
    }
    assert session.summary([heard])[-3:] == [
        "2 findings:",
        "  one, relu, value (forward): python a/repro.py",
        "  two, relu, value (forward): python b/repro.py",
    ]


# -- failures ------------------------------------------------------------------------------------------------


def test_a_divergence_is_shown_as_its_report_with_the_reproducer_in_a_section(suite, run, quick):
    suite(DIVERGES)
    result = run()
    result.assert_outcomes(failed=1)
    (folder,) = (quick / "failures").iterdir()
    result.stdout.fnmatch_lines(
        [
            "faulty diverges from torch: relu, value (forward)",
            "*Program:*",
            "*- autotest -*",
            f"reproducer  python {folder}/repro.py*",
            "this trial  AUTOTEST_SEED=0 AUTOTEST_TRIAL=0 pytest test_inner.py::test_relu",
            "FAILED test_inner.py::test_relu - Divergence: faulty diverges from torch*",
        ]
    )
    result.stdout.no_fnmatch_line("*runner.py*")
    result.stdout.no_fnmatch_line("*Traceback*")


def test_the_named_command_brings_the_trial_back(suite, run, monkeypatch):
    suite(DIVERGES)
    line = next(line for line in run().outlines if line.startswith("this trial"))
    settings = dict(re.findall(r"(AUTOTEST_\w+)=(\d+)", line))
    assert settings.keys() == {"AUTOTEST_SEED", "AUTOTEST_TRIAL"}
    for name, value in settings.items():
        monkeypatch.setenv(name, value)
    result = run(line.split()[-1])
    result.assert_outcomes(failed=1)
    result.stdout.fnmatch_lines(["1 test ran 1 trial: 1 accepted*"])


def test_the_named_command_draws_special_values_if_the_run_did_so_against_the_test(suite, run, monkeypatch):
    suite(DIVERGES.replace("n=4", "n=4, special_values=False"))
    monkeypatch.setenv("AUTOTEST_SPECIAL_VALUES", "1")
    run().stdout.fnmatch_lines(["this trial  AUTOTEST_SEED=0 AUTOTEST_TRIAL=0 AUTOTEST_SPECIAL_VALUES=1 pytest *"])
    monkeypatch.delenv("AUTOTEST_SPECIAL_VALUES")
    run("-o", "autotest_special_values=false").stdout.fnmatch_lines(["this trial * AUTOTEST_TRIAL=0 pytest *"])


def test_the_named_command_is_for_the_folder_where_pytest_was_started(suite, run, monkeypatch):
    file = suite(DIVERGES)
    (elsewhere := file.parent / "elsewhere").mkdir()
    monkeypatch.chdir(elsewhere)
    result = run("../test_inner.py")
    result.assert_outcomes(failed=1)
    result.stdout.fnmatch_lines(["this trial * pytest ../test_inner.py::test_relu"])


@pytest.mark.parametrize(
    ("body", "said"),
    [
        ("torch.reluu(random_tensor())", "E * has no attribute 'reluu'. Did you mean 'relu'[?]"),
        ("random_tensor(dim0=random(5, 2))", "E *BadBounds: random(5, 2) at *test_inner.py:5*"),
        ("random_tensor(low=3, high=1)", "E *BadBounds: random_tensor(low=3, high=1) at *test_inner.py:5*"),
        ("random_tensor(contents='purple')", "E *contents='purple' at *test_inner.py:5: expected one of *"),
    ],
)
def test_what_the_body_got_wrong_is_shown_at_its_own_line(body, said, suite, run):
    suite(f"@autotest(n=2)\ndef test_wrong():\n    return {body}\n")
    result = run()
    result.assert_outcomes(failed=1)
    result.stdout.fnmatch_lines([f">       return {body}", said, "test_inner.py:5: *"])
    result.stdout.no_fnmatch_line("*autotest/*.py:*")
    result.stdout.no_fnmatch_line("*generators/*.py:*")


def test_an_assertion_of_the_body_keeps_its_frames(suite, run):
    suite(
        """
def check(x):
    assert x.dim() == 77

@autotest(n=2)
def test_asserts():
    check(random_tensor(ndim=2))
"""
    )
    result = run()
    result.stdout.fnmatch_lines(
        [">       check(random_tensor(ndim=2))*", ">       assert x.dim() == 77", "E *assert 2 == 77"]
    )


SHARED = """
import unittest

outside = torch.tensor([1.0, 2.0, 3.0])

@autotest(n=3, check_graph=True)
def test_written():
    outside.add_(1)
    return outside * random_tensor(shape=(3,))

class TestShared(unittest.TestCase):
    def setUp(self):
        self.layer = torch.nn.Linear(3, 3)
        self.x = random_tensor(shape=(2, 3))

    @autotest(n=3, check_graph=True)
    def test_module(self):
        return self.layer(random_tensor(shape=(2, 3)))

    @autotest(n=3, check_graph=True)
    def test_tensor(self):
        return self.x * random_tensor(shape=(2, 3))
"""


def test_what_trials_share_is_compared_in_graph_mode_before_the_next_trial_changes_it(suite, run):
    suite(SHARED)
    run("--autotest-candidate", "tests.support.graph_torch:GraphTorch").assert_outcomes(passed=3)


@pytest.mark.parametrize("condition", ["(x == 77).all()", "all(x[0] == 77)", "(0 < x.abs()).sum() == 77"])
def test_a_failed_assertion_on_a_comparison_is_told_as_one(condition, suite, run):
    suite(f"@autotest(n=2)\ndef test_asserts():\n    x = random_tensor(shape=(2, 3))\n    assert {condition}\n")
    result = run()
    result.assert_outcomes(failed=1)
    result.stdout.fnmatch_lines([f">       assert {condition}", "E *assert *"])
    result.stdout.no_fnmatch_line("*the reference accepted*")


def test_a_mistake_inside_of_the_library_keeps_the_librarys_frames(suite, run):
    suite(
        """
from autotest.recording import tensors

@autotest(n=2)
def test_broken(monkeypatch):
    monkeypatch.setattr(tensors, "DIFFERENTIABLE", None)
    return random_tensor()
"""
    )
    run().stdout.fnmatch_lines(["*autotest/recording/tensors.py:*: in random_tensor", "E *TypeError: *NoneType*"])


def test_full_trace_shows_everything(suite, run):
    suite(DIVERGES)
    run("--full-trace").stdout.fnmatch_lines(["*autotest/running/runner.py:*"])


def test_a_unittest_class_is_told_of_in_the_same_way(suite, run):
    suite(
        """
import unittest

class TestIt(unittest.TestCase):
    @autotest(n=3)
    def test_relu(self):
        return torch.relu(random_tensor())

    @autotest(n=3)
    def test_exp(self):
        return torch.exp(random_tensor())
"""
    )
    result = run()
    result.assert_outcomes(passed=1, failed=1)
    result.stdout.fnmatch_lines(["faulty diverges from torch: relu*", "reproducer  python *", "2 tests ran 4 trials*"])
    result.stdout.no_fnmatch_line("*runner.py*")


# -- JUnit ---------------------------------------------------------------------------------------------------


def test_junit_files_hold_seed_trials_and_reproducer(suite, run, pytester):
    suite(AGREES + DIVERGES + PLAIN)
    run("--junitxml=out.xml", "--autotest-seed=5")
    cases = {case.get("name"): case for case in ET.parse(pytester.path / "out.xml").iter("testcase")}
    told = {
        name: {item.get("name"): item.get("value") for item in case.iter("property")} for name, case in cases.items()
    }
    assert told["test_exp"]["autotest.seed"] == "5"
    assert told["test_exp"]["autotest.trials"] == "4"
    assert told["test_relu"]["autotest.finding"] == "relu, value (forward)"
    assert told["test_relu"]["autotest.reproducer"].endswith("repro.py")
    assert told["test_plain"] == {}
    assert "Mismatches:" in cases["test_relu"].find("failure").text


# -- options -------------------------------------------------------------------------------------------------


def test_the_seed_is_fixed_unless_another_is_given(suite, run, pytester):
    suite(DRAWS)
    usual = all_drawn(pytester, run)
    assert all_drawn(pytester, run) == usual
    assert all_drawn(pytester, run, "--autotest-seed=0") == usual
    other = all_drawn(pytester, run, "--autotest-seed=7")
    assert set(other).isdisjoint(usual)
    assert all_drawn(pytester, run, "--autotest-seed=7") == other


def test_a_random_seed_is_drawn_once_and_named(suite, run, pytester):
    suite(DRAWS)
    result = run("--autotest-seed=random")
    numbers = drawn(pytester)
    seed = re.search(r"base seed (\d+)", result.stdout.str())[1]
    (pytester.path / "drawn.txt").unlink()
    assert all_drawn(pytester, run, f"--autotest-seed={seed}") == numbers


def test_the_number_of_trials_can_be_given(suite, run, pytester):
    suite(DRAWS)
    assert len(all_drawn(pytester, run, "--autotest-n=7")) == 7


@pytest.mark.parametrize(("profile", "trials"), [("dev", 1), ("ci", 4), ("thorough", 40)])
def test_a_profile_says_how_many_times_the_trials(profile, trials, suite, run, pytester):
    suite(DRAWS)
    assert len(all_drawn(pytester, run, "--autotest-profile", profile)) == trials


def test_a_given_number_goes_before_the_profile(suite, run, pytester):
    suite(DRAWS)
    assert len(all_drawn(pytester, run, "--autotest-profile=thorough", "--autotest-n=2")) == 2


def test_a_profile_that_runs_fewer_trials_does_not_ask_the_ledger_what_is_missing():
    assert not Options(times=PROFILES["dev"].times).runs_all_default_trials
    assert Options(times=PROFILES["ci"].times).runs_all_default_trials
    assert Options(times=PROFILES["thorough"].times).runs_all_default_trials


def test_the_candidate_can_be_given(suite, run):
    suite(DIVERGES)
    run("--autotest-candidate=torch").assert_outcomes(passed=1)


@pytest.mark.parametrize(
    ("argument", "said"),
    [
        ("--autotest-seed=soon", "*--autotest-seed='soon': expected a whole number, or random"),
        ("--autotest-deadline=soon", "*--autotest-deadline='soon': expected a time such as 60s, 10m or 2h"),
        ("--autotest-memory=all", "*--autotest-memory='all': expected a size such as 500M or 4G"),
        ("--autotest-n=0", "*--autotest-n='0': expected a number of trials, at least 1"),
        ("--autotest-profile=fast", "*--autotest-profile='fast': expected dev, ci, thorough"),
        ("--autotest-candidate=torch,onefow", "*no framework is named 'onefow'. Did you mean 'oneflow'?*"),
        ("--autotest-candidate=torch, torch", "*candidate 'torch, torch': torch is named twice; expected each *once"),
        (
            "--autotest-candidate=python:no_such/env",
            "*python:no_such/env: no such file; give the*",
        ),
    ],
)
def test_a_bad_option_is_a_usage_error_that_names_it(argument, said, suite, run):
    suite(AGREES)
    result = run(argument)
    assert result.ret == pytest.ExitCode.USAGE_ERROR
    result.stderr.fnmatch_lines([said])


@pytest.mark.parametrize("own", [None, "", "[project]\nname = 'autotest-of-mine'\n"])
def test_the_table_of_the_nearest_project_holds_for_the_session_if_the_root_folder_has_none(pytester, run, own):
    pytester.makepyprojecttoml("[tool.autotest]\nseed = 'random'\nn = 2\nspeed = 1\n")
    inner = pytester.mkdir("inner")
    (inner / "pytest.ini").write_text("[pytest]\n")
    if own is not None:
        inner.joinpath("root").mkdir()
        inner.joinpath("root", "pyproject.toml").write_text(own)
    for number in range(2):
        (inner / f"test_{number}.py").write_text(HEAD + DRAWS.replace('"drawn.txt"', f"'{pytester.path}/drawn.txt'"))
    os.chdir(inner)
    result = run(*([] if own is None else ["--rootdir=root"]), "-c", "pytest.ini")
    result.assert_outcomes(passed=2, warnings=1)
    result.stdout.fnmatch_lines(["*Unknown config option in [[]tool.autotest] of *: speed*"])
    seeds = re.findall(r"base seed (\S+)", result.stdout.str())
    assert len(drawn(pytester)) == 4
    assert len({seed.rstrip(";") for seed in seeds}) == 1, seeds
    assert seeds[0].isdecimal()


@pytest.mark.parametrize("setting", ["*AUTOTEST_{}=", "*[[]tool.autotest] of *pyproject.toml: {}="])
@pytest.mark.parametrize(
    ("name", "value", "said"),
    [
        ("candidate", "tosh", "no framework is named 'tosh'. Did you mean 'torch'?*"),
        ("candidate", "torch,torch", "*torch is named twice; expected each framework once"),
        ("reference", "tosh", "no framework is named 'tosh'. Did you mean 'torch'?*"),
    ],
)
def test_a_bad_framework_is_told_once_with_its_setting(setting, name, value, said, suite, run, pytester, monkeypatch):
    suite(AGREES)
    if "toml" in setting:
        monkeypatch.delenv("AUTOTEST_CANDIDATE")
        pytester.makepyprojecttoml(f'[tool.autotest]\n{name} = "{value}"\n')
        shown = setting.format(name)
    else:
        monkeypatch.setenv(f"AUTOTEST_{name.upper()}", value)
        shown = setting.format(name.upper())
    result = run()
    assert result.ret == pytest.ExitCode.USAGE_ERROR
    result.stderr.fnmatch_lines([f"{shown}'{value}': {said}"])


def test_options_leave_no_trace_in_the_environment(suite, run):
    suite(AGREES)
    before = autotest_variables()
    run("--autotest-seed=5", "--autotest-n=1", "--autotest-profile=dev")
    assert autotest_variables() == before


# -- with other options of pytest ----------------------------------------------------------------------------


def test_first_failure_ends_the_run(suite, run):
    suite(DIVERGES + AGREES)
    result = run("-x")
    result.assert_outcomes(failed=1)
    result.stdout.fnmatch_lines(["1 test ran 1 trial*"])


def test_last_failed_runs_the_failed_one_again(suite, run):
    suite(AGREES + DIVERGES)
    run("-q")
    result = run("--lf")
    result.assert_outcomes(failed=1)


def test_the_summary_is_left_out_when_nobody_wants_any(suite, run):
    suite(AGREES)
    run("--collect-only").stdout.no_fnmatch_line("*trials*")


# -- colours ------------------------------------------------------------------------------------------------


def test_a_terminal_shows_the_report_in_colours_and_nothing_else_does(suite, run, pytester, quick):
    suite(DIVERGES)
    shown = run("--color=yes", "--junitxml=result.xml").stdout.str()
    assert "\x1b[1m\x1b[31mfaulty diverges from torch: relu, value (forward)\x1b[0m" in shown.replace(
        "\x1b[31m\x1b[1m", "\x1b[1m\x1b[31m"
    )
    assert re.search(r"expected\s+\x1b\[32m\S+\x1b\[0m,\s+actual\s+\x1b\[31m", shown)
    assert "\x1b" not in (pytester.path / "result.xml").read_text()
    assert all("\x1b" not in file.read_text() for file in quick.rglob("report*"))
    assert "\x1b" not in run("--color=no").stdout.str()


EXAMPLES = """
from hypothesis import given, settings, strategies as st

@settings(deadline=None, database=None)
@given(st.integers(1, 3))
@autotest(n=1)
def test_examples(rank):
    return torch.tanh(random_tensor(rank))
"""


@pytest.mark.parametrize("options", [(), ("--autotest-isolate",)])
def test_frameworks_are_imported_before_hypothesis_measures_how_long_an_example_takes(suite, run, monkeypatch, options):
    suite(EXAMPLES if options else EXAMPLES + AGREES)
    imported = []
    monkeypatch.setattr(plugin, "_import_frameworks", lambda: imported.append(True))
    run(*options).assert_outcomes(passed=1 if options else 2)
    assert imported == [True]


def test_a_divergence_in_an_example_is_told_without_the_frames_of_hypothesis(suite, run):
    suite(EXAMPLES.replace("tanh", "relu"))
    result = run()
    result.stdout.fnmatch_lines(
        ["autotest: 1 test of *", "faulty diverges from torch: relu, *", "Failing test case: test_examples("]
    )
    result.stdout.no_fnmatch_line("*hypothesis/core.py*")


def test_a_failure_of_the_test_itself_in_an_example_is_told_without_a_line_of_this_library(suite, run):
    suite(EXAMPLES.replace("    return", "    assert rank > 3\n    return"))
    result = run()
    result.stdout.fnmatch_lines([">       assert rank > 3", "test_inner.py:*: AssertionError"])
    result.stdout.no_fnmatch_line("*decorator.py*")
    result.stdout.no_fnmatch_line("*def run*")


def test_a_wrong_strategy_of_arrays_is_told_at_the_line_that_wrote_it(suite, run):
    head = "from autotest.sources.hypothesis_strategies import arrays\n\nONES = arrays(low=3, high=1)\n"
    suite(head + EXAMPLES.replace("st.integers(1, 3)", "ONES"))
    result = run()
    result.stdout.fnmatch_lines(
        ["random_tensor(low=3, high=1) at *test_inner.py:5: *low < high", "while generating 'rank' from arrays(*"]
    )
    result.stdout.no_fnmatch_line("*decorator.py*")


def test_a_mistake_in_an_adapter_is_told_in_one_sentence_and_without_a_warning(pytester, suite, run, monkeypatch):
    table = 'return Kernels("fast", {"sofmax": "math:exp"})'
    pytester.makepyfile(planted_table=f"from autotest.frameworks.kernels import Kernels\n\ndef fast(): {table}")
    pytester.syspathinsert()
    suite("@autotest(n=1)\ndef test_it():\n    return torch.softmax(random_tensor(2), 0)")
    monkeypatch.setenv("AUTOTEST_CANDIDATE", "planted_table:fast")
    result = run()
    result.assert_outcomes(failed=1, warnings=0)
    result.stdout.fnmatch_lines(["Kernels('fast'): torch has no operator 'sofmax'. Did you mean 'softmax'[?]"])
    result.stdout.no_fnmatch_line("*AttributeError*")


def test_doctest_modules_imports_no_script_of_a_finding(pytester, suite, run, monkeypatch):
    suite("def test_plain(): pass")
    script = "raise SystemExit('a script ran')"
    scripts = "reproducers/relu-value-1.py", "reproducers/paddle/relu-1.py", "results/failures/relu-value-1/repro.py"
    for name in scripts:
        path = pytester.path / name
        path.parent.mkdir(parents=True)
        path.write_text(script)
    pytester.makefile(".toml", ledger="")
    (pytester.path / "results/failures/relu-value-1/failure.json").write_text("{}")
    result = run("--doctest-modules")
    result.assert_outcomes(passed=1)
    assert result.ret == 0
