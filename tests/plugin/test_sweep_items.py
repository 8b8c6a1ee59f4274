"""``pytest --autotest-sweep`` runs operators as test items."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.plugin.conftest import Run

RELU, ABS = "nn.functional.relu/function/float32", "abs/function/float32"


@pytest.fixture(autouse=True)
def _candidate(run: Run, importable_elsewhere: None, warm: None, monkeypatch: pytest.MonkeyPatch) -> None:
    """Let worker processes import the candidate from this checkout."""
    monkeypatch.setenv("AUTOTEST_CANDIDATE", "tests.sweep.planted:wrong_relu")


def test_an_operator_that_differs_fails_as_a_test_would(run: Run, pytester: pytest.Pytester) -> None:
    pytester.makepyfile(test_other="def test_it(): pass")
    result = run(f"--autotest-sweep={RELU} or {ABS}", "--junitxml=junit.xml")
    result.assert_outcomes(passed=1, failed=1)
    result.stdout.fnmatch_lines(
        [
            "*collected 2 items*",
            "*faulty diverges from torch: nn.functional.relu, value (forward)*",
            "Verdict: *",
            "Program:*",
            "Mismatches:*",
            "Reproducer: python *kept/failures/*/repro.py*",
            "Found by: *autotest sweep, nn.functional.relu/function/float32, *",
            "Only this:  autotest sweep -k 'nn.functional.relu and *",
            "2 tests ran * trials*",
            "FAILED autotest-sweep::nn.functional.relu - *",
        ]
    )
    xml = Path("junit.xml").read_text(encoding="utf-8")
    assert 'classname="autotest-sweep" name="nn.functional.relu"' in xml
    assert 'name="autotest.reproducer"' in xml


@pytest.mark.slow
def test_k_chooses_operators_and_a_path_adds_its_tests(run: Run, pytester: pytest.Pytester) -> None:
    path = pytester.makepyfile(test_other="def test_abs(): pass\ndef test_it(): pass")
    result = run(path, f"--autotest-sweep={RELU} or {ABS}", "-k", "abs")
    result.assert_outcomes(passed=2, deselected=2)


@pytest.mark.slow
def test_a_death_costs_one_item_under_xdist(
    run_forked: Run, monkeypatch: pytest.MonkeyPatch, pytester: pytest.Pytester
) -> None:
    monkeypatch.setenv("AUTOTEST_CANDIDATE", "tests.sweep.planted:deadly_relu")
    result = run_forked(f"--autotest-sweep={RELU} or {ABS}", "-n", "2")
    result.assert_outcomes(passed=1, failed=1)
    result.stdout.fnmatch_lines(["*ends with SIG*"])


@pytest.mark.parametrize(
    ("option", "said"),
    [
        (
            "--autotest-sweep=no_such_operator",
            "*--autotest-sweep='no_such_operator' matches no cell; the name of a cell is*",
        ),
        ("--autotest-sweep=abs and", "*--autotest-sweep='abs and': expected a word*"),
    ],
)
def test_an_expression_that_makes_no_sense_is_told(run: Run, option: str, said: str) -> None:
    result = run(option)
    assert result.ret == pytest.ExitCode.USAGE_ERROR
    result.stderr.fnmatch_lines([said])


def test_a_path_behind_the_option_is_told(run: Run, pytester: pytest.Pytester) -> None:
    result = run("--autotest-sweep", pytester.makepyfile(test_other="def test_it(): pass"))
    assert result.ret == pytest.ExitCode.USAGE_ERROR
    result.stderr.fnmatch_lines(["*was read as the expression; put paths before the option*"])
