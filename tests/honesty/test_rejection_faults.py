"""Faults of refusals and errors: the end of a trial must not hide anything (18 to 20)."""

from __future__ import annotations

import pytest
import torch as real

import generators
from autotest import TooFewAccepted, autotest, random, random_tensor, torch
from autotest.recording import observation
from autotest.recording.recorder import current
from generators import source
from tests.support import faults
from tests.support.faulty import FaultyTorch, raising


def counted(body):
    """Return `body`, and a list that grows each time it runs."""
    ran = []
    return (lambda: ran.append(1) or body()), ran


@pytest.mark.parametrize(
    ("body", "error", "says"),
    [
        (lambda: torch.reluu(random_tensor()), AttributeError, "reluu"),
        (lambda: torch.nn.functional.nosuch(1), AttributeError, "nosuch"),
        (lambda: random_tensor().reluu(), AttributeError, "reluu"),
        (lambda: torch.nn.Linear(2, 2).wait, AttributeError, "wait"),
        (lambda: torch.nn.Linear(2, 2, bais=False), TypeError, "bais"),
        (lambda: misspelt + 1, NameError, "misspelt"),  # noqa: F821
        (lambda: torch.ones(1) + ["a"].index("b"), ValueError, "not in list"),
    ],
)
def test_a_misspelt_name_is_told_at_once(against, body, error, says):
    against()
    body, ran = counted(body)
    with pytest.raises(error, match=says):
        autotest(n=5)(body)()
    assert len(ran) == 1


def test_endless_refusals_end_with_their_cause(against):
    against()
    with pytest.raises(TooFewAccepted, match=r"mm: RuntimeError: .*cannot be multiplied"):
        autotest(n=2)(lambda: torch.mm(torch.ones(2, 3), torch.ones(2, 3)))()


def test_refusals_do_not_hide_a_fault_between_them(caught):
    def body():
        return torch.relu(torch.ones(6).reshape(random(1, 7).to(int), -1))

    caught(body, faults.wrong_relu(), "value", n=5)


@pytest.mark.parametrize("error", [RuntimeError("ours"), TypeError("ours"), KeyError("ours"), IndexError("ours")])
def test_a_fault_of_the_harness_itself_is_no_refusal(against, monkeypatch, error):
    against()
    body, ran = counted(lambda: torch.relu(random_tensor()))

    def broken(*args, **kwargs):
        raise error

    monkeypatch.setattr(observation, "surely_agree", broken)
    with pytest.raises(type(error), match="ours"):
        autotest(n=5)(body)()
    assert len(ran) == 1


@pytest.mark.parametrize("place", ["write", "mark_undefined", "_copy_contents"])
def test_a_fault_of_the_records_bookkeeping_is_no_refusal(against, monkeypatch, place):
    from autotest.recording.recorder import Recorder

    against()
    monkeypatch.setattr(Recorder, place, raising(RuntimeError("ours"))(None))
    with pytest.raises(RuntimeError, match="ours"):
        autotest(n=5)(lambda: torch.empty(3) + 1)()


def test_a_generator_that_cannot_draw_is_told_at_its_line(against):
    against()
    with pytest.raises(generators.GeneratorError, match=r"test_rejection_faults\.py:\d+"):
        autotest(n=5)(lambda: torch.ones(random(0, 3).to(int).filter(lambda n: n > 5)))()


def test_stop_iteration_is_not_swallowed(caught, against):
    def body():
        return torch.relu(random_tensor(low=1, high=2))

    caught(body, FaultyTorch({"relu": raising(StopIteration("early"))}), "exception")
    against()
    with pytest.raises(StopIteration):
        autotest(n=2)(lambda: next(iter(())))()


@pytest.mark.parametrize(
    "failing",
    [
        lambda: torch.relu(random_tensor()),
        lambda: 1 / 0,
        lambda: torch.ones(2) @ torch.ones(3),
        lambda: torch.reluu,
        lambda: "not dual",
        lambda: None,
    ],
    ids=["divergence", "mistake", "refusal", "misspelt", "foreign", "nothing"],
)
def test_a_failure_leaves_no_state(against, failing):
    against(faults.wrong_relu())

    def body():
        with torch.no_grad():
            return failing()

    outer = source.current()
    with pytest.raises(Exception):  # noqa: B017, PT011 - each fails in a way of its own
        autotest(n=2)(body)()
    assert current() is None
    assert source.current() is outer
    assert real.is_grad_enabled()
    against()
    autotest(n=2)(lambda: torch.relu(random_tensor()))()


def test_a_call_that_only_the_reference_refuses(caught):
    def body():
        size = random(1, 4).to(int).value()
        return torch.mm(torch.ones(2, 3), torch.ones(size, 2))

    accepting = FaultyTorch({"mm": lambda mm: lambda x, y: x[:, :1] @ y[:1]})
    raised = caught(body, accepting, check_errors=True, n=4, auto_backward=False, check_allclose=False)
    assert raised.finding.first.symptom == "accepted"


def test_a_call_that_only_the_candidate_refuses(caught):
    def body():
        return torch.relu(random_tensor())

    caught(body, FaultyTorch({"relu": raising(ValueError("no"))}), "exception", check_errors=False)
    caught(body, FaultyTorch({"relu": raising(ValueError("no"))}), "exception", check_errors=True)


def test_both_refusing_in_their_own_words_is_agreement(against):
    against(FaultyTorch({"mm": raising(ValueError("another class and text"))}))
    with pytest.raises(TooFewAccepted):
        autotest(n=1, check_errors=True)(lambda: torch.mm(torch.ones(2, 3), torch.ones(2, 3)))()


def test_a_function_that_the_candidate_lacks(caught):
    caught(lambda: torch.relu(random_tensor()), faults.missing_relu(), "exception")


def test_a_backward_that_only_the_candidate_refuses(caught):
    from tests.support.faulty import with_gradient

    def refuse(gradient):
        raise RuntimeError("no way back")

    raised = caught(lambda: torch.relu(random_tensor()), FaultyTorch({"relu": with_gradient(refuse)}), "exception")
    assert raised.finding.first.stage == "backward"
