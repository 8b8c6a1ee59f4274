"""`autotest gradients PATH`: the table of a suite, and the exit status."""

from __future__ import annotations

from pathlib import Path

import pytest

from autotest.cli import main
from autotest.results.gradient_account import GradientAccount, Use
from tests.support import faults

SUITE = """
from autotest import autotest, random_tensor, skip_grad_check, torch


@autotest(n=2)
def test_compared():
    return torch.relu(random_tensor(shape=(2, 3))), torch.exp(random_tensor(shape=(2,))).argmax()


@autotest(n=2, check_grad="numeric")
def test_numeric():
    return torch.tanh(random_tensor(shape=(2, 3)))


@skip_grad_check(reason="planted in a test")
@autotest(n=2, auto_backward=False)
def test_exempt():
    return torch.sin(random_tensor(shape=(2, 3)))


@autotest(n=2)
def test_of_integers():
    return torch.square(random_tensor(shape=(2, 3), dtype=int, high=9))
"""
FORGETS = """

@autotest(n=2)
def test_forgets():
    return torch.cos(random_tensor(shape=(2, 3), requires_grad=False))
"""
LEDGER = """
[[divergence]]
key = "no-relu"
test = "test_suite.py::test_compared"
symptom = "exception"
reason = "planted"
"""
REFUSED = """

@autotest(n=2, auto_backward=False)
def test_refused():
    return torch.cosh(random_tensor(shape=(2, 3)))
"""


@pytest.fixture
def gradients(tmp_path, capsys):
    """Return ``gradients(text, *arguments)``, which runs the command on a suite; it returns exit status and lines."""

    def run(text, *arguments, ledger=""):
        # A new folder each time, because a process imports a test file only once.
        file = tmp_path / str(len(list(tmp_path.iterdir()))) / "test_suite.py"
        file.parent.mkdir()
        file.write_text(text)
        file.with_name("ledger.toml").write_text(ledger)
        if "--jobs" not in arguments:
            arguments = ("--jobs", "0", *arguments)
        status = main(["gradients", str(file), *arguments])
        return status, capsys.readouterr().out.splitlines()

    return run


def line_of(lines, operator):
    (line,) = [line for line in lines if line.split()[:1] == [operator]]
    return line.split(maxsplit=3)[1:]


def test_each_operator_is_told_with_what_became_of_its_gradient(gradients):
    status, lines = gradients(SUITE)
    assert status == 0
    assert line_of(lines, "relu") == ["compared", "2/2"]
    assert line_of(lines, "tanh") == ["numeric", "2/2"]
    assert line_of(lines, "sin") == ["exempt", "2/2", "planted in a test"]
    assert line_of(lines, "argmax") == ["exempt", "2/2", "the result holds positions"]
    assert line_of(lines, "square") == ["exempt", "2/2", "integer or bool inputs"]
    assert line_of(lines, "exp")[0] == "MISSING"
    assert lines[-1] == "6 operators in 8 trials: 1 numeric, 1 compared, 3 exempt, 1 missing"


def test_an_operator_that_an_argument_makes_write_into_its_operand_is_accounted(gradients):
    written = "torch.nn.functional.relu(random_tensor(shape=(2, 3)) * 1, inplace=True)"
    _, lines = gradients(SUITE.replace("torch.tanh(random_tensor(shape=(2, 3)))", written))
    assert line_of(lines, "nn.functional.relu") == ["numeric", "2/2"]


@pytest.mark.parametrize(("own", "told"), [("pass", []), ("x.clone()", [["MISSING", "2/2"]])])
def test_a_copy_that_the_recorder_keeps_of_what_is_overwritten_is_no_operator_of_the_test(gradients, own, told):
    body = f"x = random_tensor(shape=(2, 3)) * 1\n    {own}\n    x[0] = 2\n    return torch.sin(x)"
    _, lines = gradients(f"{SUITE}\n\n@autotest(n=2)\ndef test_writes():\n    {body}\n", "-k", "writes")
    assert [line.split()[1:3] for line in lines if line.startswith("clone")] == told


def test_an_operator_whose_gradient_no_test_compares_is_missing(gradients):
    status, lines = gradients(SUITE + FORGETS)
    assert status == 0
    why = "its inputs never require grad: test_suite.py::test_forgets"
    assert line_of(lines, "cos") == ["MISSING", "2/2", why]
    assert gradients(SUITE + FORGETS, "--fail-missing")[0] == 1


def test_one_test_that_compares_it_is_enough(gradients):
    status, _ = gradients(SUITE.replace(", torch.exp(random_tensor(shape=(2,))).argmax()", ""), "--fail-missing")
    assert status == 0
    both = SUITE.replace("torch.tanh", "torch.relu")
    assert line_of(gradients(both)[1], "relu") == ["numeric", "2/4"]


def test_a_test_that_the_gate_refuses_is_named(gradients):
    status, lines = gradients(SUITE + REFUSED, "--fail-missing", "-k", "refused")
    assert status == 1
    assert any(line.startswith("compared no gradients: test_suite.py::test_refused: ") for line in lines)


def test_a_test_whose_trials_are_all_refused_is_named_as_its_operators_are_not_listed(gradients):
    never = "\n\n@autotest(n=2)\ndef test_never():\n    return torch.mm(random_tensor(shape=(2, 3)), "
    status, lines = gradients(SUITE + never + "random_tensor(shape=(2, 3)))\n", "-k", "never or sin or exempt")
    assert status == 0
    told = "no accepted trial: test_suite.py::test_never: mm: RuntimeError: mat1 and mat2 shapes cannot be multiplied"
    assert [line.partition(" (")[0] for line in lines if line.startswith("no accepted")] == [told]


def test_a_divergence_that_the_ledger_expects_is_the_reason_why_nothing_is_compared(gradients, against):
    against(faults.missing_relu())
    assert line_of(gradients(SUITE)[1], "relu")[0] == "MISSING"
    also = SUITE + FORGETS.replace("cos", "relu")
    _, lines = gradients(also, ledger=LEDGER)
    assert line_of(lines, "relu") == ["exempt", "2/4", "known divergence no-relu"]


def test_only_the_ledger_makes_a_divergence_known_whatever_words_a_reason_begins_with():
    account = GradientAccount()
    account.add("t.py::test_skipped", [Use("cos", "exempt", "known divergence, the test says")])
    account.add("t.py::test_forgets", [Use("cos", "missing", "backward does not reach it")])
    assert account.operators["cos"].state == "missing"
    account.add("t.py::test_expected", [Use("cos", "exempt", divergence="no-cos")])
    assert (account.operators["cos"].state, account.operators["cos"].reason) == ("exempt", "known divergence no-cos")


def test_what_cannot_be_run_is_said(gradients):
    status, lines = gradients(SUITE.replace("torch.sin", "torch.sinn"))
    assert status == 2
    assert any(line.startswith("could not run: test_suite.py::test_exempt: AttributeError") for line in lines)


def test_an_empty_suite_is_a_mistake(gradients):
    assert gradients("x = 1")[0] == 2
    with pytest.raises(SystemExit) as ended:
        gradients(SUITE, "--trials", "0")
    assert ended.value.code == 2


def test_numbers_of_few_elements_are_told(gradients):
    few = SUITE.replace("torch.tanh(random_tensor(shape=(2, 3)))", "torch.tanh(random_tensor(shape=()))")
    why = "an input of fewer than 100 elements in 2 of 2"
    assert line_of(gradients(few)[1], "tanh") == ["numeric", "2/2", why]


DEADLY = """
from autotest import autotest, random_tensor, torch


@autotest(n=2)
def test_dies():
    return torch.sinh(torch.exp(random_tensor(shape=(2, 3))))


@autotest(n=2)
def test_lives():
    return torch.exp(random_tensor(shape=(2, 3)))
"""


@pytest.mark.slow
@pytest.mark.usefixtures("warm")
def test_a_test_that_kills_its_process_is_named_and_the_others_are_told_of(gradients, monkeypatch):
    monkeypatch.setenv("AUTOTEST_CANDIDATE", "tests.support.deadly:six")
    monkeypatch.setenv("PYTHONPATH", str(Path(__file__).parents[2]))
    status, lines = gradients(DEADLY, "--jobs", "1")
    assert status == 2
    assert line_of(lines, "exp") == ["compared", "2/2"]
    (told,) = [line for line in lines if line.startswith("did not finish: ")]
    assert told == (
        "did not finish: test_suite.py::test_dies: its process died (SIGSEGV) in trial 0, at sinh (forward)"
    )


SERVERLESS = """
import os, pathlib, signal, time

from autotest import autotest, random_tensor, torch


@autotest(n=2)
def test_loses():
    left = pathlib.Path(__file__).parents[1] / "left"
    number = int(left.read_text())
    if number:
        left.write_text(str(number - 1))
        os.kill(os.getppid(), signal.SIGKILL)  # as the kernel does if memory is short
        time.sleep(60)
    return torch.sinh(random_tensor(shape=(2, 3)))


@autotest(n=2)
def test_lives():
    return torch.exp(random_tensor(shape=(2, 3)))
"""


@pytest.mark.slow
@pytest.mark.usefixtures("warm", "importable_elsewhere")
@pytest.mark.parametrize(("times", "finishes"), [(1, True), (3, False)])
def test_a_test_whose_process_server_ends_is_run_again_but_not_for_ever(
    gradients, monkeypatch, tmp_path, times, finishes
):
    monkeypatch.setenv("AUTOTEST_CANDIDATE", "tests.support.faults:none")
    (tmp_path / "left").write_text(str(times))
    status, lines = gradients(SERVERLESS, "--jobs", "1")
    assert line_of(lines, "exp") == ["compared", "2/2"]
    assert (status == 0) == finishes == ("sinh" in "".join(lines))
    assert ("did not finish: test_suite.py::test_loses: the process server ended" in lines) != finishes


def test_a_death_that_the_ledger_knows_of_is_not_died_again(gradients, monkeypatch):
    monkeypatch.setenv("AUTOTEST_CANDIDATE", "tests.support.deadly:six")
    known = LEDGER.replace("test_compared", "test_dies").replace("exception", "crash")
    status, lines = gradients(DEADLY, "--fail-missing", ledger=known)
    assert status == 0
    assert "not run, because the ledger says that they kill the process: 1 test" in lines
    assert line_of(lines, "exp") == ["compared", "2/2"]


def test_of_a_candidate_that_runs_whole_programs_no_gradients_are_said_to_be_compared(tmp_path, monkeypatch, capsys):
    (tmp_path / "test_it.py").write_text("")
    monkeypatch.setenv("AUTOTEST_CANDIDATE", "torch+compile=eager")
    assert main(["gradients", str(tmp_path / "test_it.py")]) == 2
    assert "expected a framework that runs call by call" in "".join(capsys.readouterr())
