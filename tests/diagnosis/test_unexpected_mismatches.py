"""A difference that the ledger expects hides nothing: its value is corrected, and any other difference is a finding."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable
from typing import Any

import pytest

import autotest as at
from autotest import torch as dual
from autotest.base.options import Options
from autotest.base.settings import Settings
from autotest.diagnosis.attribution.unexpected_mismatches import find_unexpected
from autotest.diagnosis.failed_trial import FailedTrial
from autotest.frameworks import Pair
from autotest.frameworks.torch import TorchFramework
from autotest.results.ledger import Ledger, LedgerEntry
from autotest.trials.context import RunContext
from autotest.trials.decorated import Test as ATest
from autotest.trials.judgement import Diverged, Expected, Judgement, judge
from autotest.trials.trial import run_trial
from tests.diagnosis.planted import gradient_when
from tests.support.faulty import FaultyTorch, returning


def judged(
    body: Callable[[], Any],
    faulty: FaultyTorch,
    symptom: str,
    operator: str,
    settings: Settings = Settings(),  # noqa: B008
) -> tuple[Judgement, list[str]]:
    """Return the judgement of a trial if the ledger expects `symptom` of `operator`, and the reported mismatches."""
    pair = Pair(TorchFramework(), faulty)
    ledger = Ledger((LedgerEntry(key="known", test="*", symptom=symptom, operator=operator, reason="planted"),))
    test = ATest("test_x.py::test_x", body, settings)
    outcome = run_trial(body, 5, test.settings, pair)
    judgement = judge(test, outcome, ledger, lambda: False, lambda: find_unexpected(test, outcome, pair, ledger))
    told = [f"{item.symptom} {item.name}" for item in outcome.mismatches]
    return judgement, told if isinstance(judgement, Diverged) else []


ONE_MORE = returning(lambda result: result + 1)
DOUBLED = returning(lambda result: result * 2)


def chain() -> Any:
    return dual.relu(dual.exp(at.random_tensor(1, 4)))


def test_what_follows_from_a_known_difference_is_no_finding() -> None:
    judgement, _ = judged(chain, FaultyTorch({"exp": ONE_MORE}), "value", "exp")
    assert isinstance(judgement, Expected)


def test_a_second_fault_behind_a_known_one_is_found() -> None:
    judgement, told = judged(chain, FaultyTorch({"exp": ONE_MORE, "relu": DOUBLED}), "value", "exp")
    assert isinstance(judgement, Diverged)
    assert judgement.identity.operator == "relu"
    assert told[0].startswith("value")


def test_a_wrong_gradient_behind_a_known_wrong_value_is_found() -> None:
    wrong = gradient_when(lambda t: True, lambda gradient: gradient * 3)
    judgement, told = judged(chain, FaultyTorch({"exp": ONE_MORE, "relu": wrong}), "value", "exp")
    assert isinstance(judgement, Diverged)
    assert told[0].startswith("gradient")


def test_what_the_reference_refuses_to_go_on_with_once_it_was_put_right_is_no_finding() -> None:
    def body() -> Any:
        x = at.random_tensor(1, 4, dtype="float32") * 1
        return dual.nn.functional.leaky_relu(x, inplace=True).exp()

    def off(original: Callable[..., Any]) -> Callable[..., Any]:
        def written(tensor: Any, **named: Any) -> Any:
            result = original(tensor * 1) + 1
            tensor.data.copy_(result)  # this does not change torch's version counter; the correction does
            return result

        return written

    faulty = FaultyTorch({"nn.functional.leaky_relu": off})
    judgement, told = judged(body, faulty, "value", "nn.functional.leaky_relu", Settings(check_errors=True))
    assert not any(item.startswith("accepted") for item in told), (judgement, told)


def test_an_in_place_call_that_returns_nothing_hides_no_missing_gradient() -> None:
    def body() -> Any:
        x, y = at.random_tensor(1, 4), at.random_tensor(1, 4)
        z = x * 1
        z.copy_(y)
        return z

    def losing(copy: Callable[..., Any]) -> Callable[..., Any]:
        def copied(owner: Any, source: Any) -> None:
            copy(owner, source.detach())

        return copied

    judgement, told = judged(body, FaultyTorch(tensors={"copy_": losing}), "structure", "copy_")
    assert isinstance(judgement, Diverged)
    assert told[0].startswith("gradient")


def test_an_operand_written_into_by_an_argument_is_still_written_into_once_the_known_result_was_put_right() -> None:
    def body() -> Any:
        y = at.random_tensor(1, 4, low=-2, high=-1, requires_grad=False) * 1
        return dual.nn.functional.relu(y, inplace=True), dual.exp(y)

    def beside(relu: Callable[..., Any]) -> Callable[..., Any]:
        return lambda tensor, inplace: relu(tensor, inplace=inplace) + 1

    wrong_at_zero = FaultyTorch(
        {"nn.functional.relu": beside, "exp": lambda exp: lambda tensor: exp(tensor) + (tensor == 0)}
    )
    judgement, _ = judged(body, wrong_at_zero, "value", "nn.functional.relu")
    assert isinstance(judgement, Diverged)
    assert judgement.identity.operator == "exp"


def test_a_known_dtype_hides_no_wrong_value() -> None:
    both = returning(lambda result: (result + 1).double())
    judgement, told = judged(chain, FaultyTorch({"exp": both}), "dtype", "exp")
    assert isinstance(judgement, Diverged)
    assert told[0].startswith("value")


def test_a_known_list_for_a_tuple_hides_no_wrong_value() -> None:
    def body() -> Any:
        return dual.chunk(at.random_tensor(1, 4, requires_grad=False), 2)

    listed = returning(lambda parts: [part + 1 for part in parts])
    judgement, told = judged(body, FaultyTorch({"chunk": listed}), "structure", "chunk")
    assert isinstance(judgement, Diverged)
    assert told[0].startswith("value")


@pytest.mark.parametrize("known", ["exp", "relu"])
def test_one_call_of_two_that_are_known_alone_is_not_enough(known: str) -> None:
    faulty = FaultyTorch({"exp": ONE_MORE, "relu": DOUBLED})
    judgement, _ = judged(chain, faulty, "value", known)
    assert isinstance(judgement, Diverged)
    assert judgement.identity.operator == ("relu" if known == "exp" else "exp")


def test_a_known_wrong_gradient_hides_no_other_one() -> None:
    def body() -> Any:
        return dual.relu(at.random_tensor(1, 4)), dual.sin(at.random_tensor(1, 4))

    three = gradient_when(lambda t: True, lambda gradient: gradient * 3)
    judgement, _ = judged(body, FaultyTorch({"relu": three, "sin": three}), "gradient", "relu")
    assert isinstance(judgement, Diverged)
    assert judgement.identity.operator == "sin"
    assert isinstance(judged(body, FaultyTorch({"relu": three}), "gradient", "relu")[0], Expected)


def _entries(*places: str, symptom: str, operator: str) -> Ledger:
    return Ledger(
        tuple(
            LedgerEntry(key=place, test="*", symptom=symptom, operator=operator, reason="planted", place=place)
            for place in places
        )
    )


def beyond(body: Callable[[], Any], faulty: FaultyTorch, ledger: Ledger) -> tuple[Judgement, list[str]]:
    pair, test = Pair(TorchFramework(), faulty), ATest("test_x.py::test_x", body, Settings())
    outcome = run_trial(body, 5, test.settings, pair)
    judgement = judge(test, outcome, ledger, lambda: False, lambda: find_unexpected(test, outcome, pair, ledger))
    if isinstance(judgement, Diverged):
        finding = FailedTrial(test, outcome, pair).diagnosed(RunContext(pair, Options(verify=False, shrink=0.0)), 0)
        return judgement, [item.place for item in finding.mismatches]
    return judgement, []


@pytest.mark.parametrize(("known", "other"), [("[0]", "[1]"), ("[1]", "[0]")])
@pytest.mark.parametrize("unpacked", [False, True])
def test_what_is_known_of_one_result_of_a_call_is_not_said_of_another(known: str, other: str, unpacked: bool) -> None:
    def body() -> Any:
        result = dual.sort(at.random_tensor(shape=(4,), requires_grad=False))
        return tuple(result) if unpacked else result

    def off(*which: str) -> FaultyTorch:
        return FaultyTorch(
            {"sort": returning(lambda pair: type(pair)([pair[at] + (f"[{at}]" in which) for at in (0, 1)]))}
        )

    one = _entries(known, symptom="value", operator="sort")
    judgement, places = beyond(body, off(known, other), one)
    assert isinstance(judgement, Diverged)
    assert judgement.identity.operator == "sort"
    assert places[0] == other
    assert isinstance(beyond(body, off(known), one)[0], Expected)
    assert isinstance(beyond(body, off(other), one)[0], Diverged)
    both = _entries(known, other, symptom="value", operator="sort")
    assert isinstance(beyond(body, off(known, other), both)[0], Expected)


@pytest.mark.parametrize(("known", "other"), [("weight", "bias"), ("bias", "weight")])
def test_what_is_known_of_one_parameter_is_not_said_of_another(known: str, other: str) -> None:
    def body() -> Any:
        return dual.nn.Linear(3, 2)(at.random_tensor(shape=(4, 3)))

    def off(*which: str) -> FaultyTorch:
        def gradient(tensor: Any) -> Any:
            name = "bias" if tuple(tensor.shape) == (2,) else "weight"
            return tensor.grad * 2 if tuple(tensor.shape) in ((2,), (2, 3)) and name in which else tensor.grad

        return FaultyTorch(gradient=gradient)

    one = _entries(f".{known}.grad", symptom="gradient", operator="nn.Linear")
    judgement, places = beyond(body, off(known, other), one)
    assert isinstance(judgement, Diverged)
    assert places[0] == f".{other}.grad"
    assert isinstance(beyond(body, off(known), one)[0], Expected)
    assert isinstance(beyond(body, off(other), one)[0], Diverged)


@pytest.mark.parametrize(("known", "other"), [("0", "1"), ("1", "0")])
@pytest.mark.parametrize("layout", ["contiguous", "transposed"])
def test_what_is_known_of_the_gradient_of_one_operand_is_not_said_of_another(
    known: str, other: str, layout: str
) -> None:
    def body() -> Any:
        x, y = (at.random_tensor(shape=shape, low=1, high=2, layout=layout) for shape in ((2, 3), (3, 4)))
        return dual.matmul(x, y)

    def off(*which: str) -> FaultyTorch:
        def gradient(tensor: Any) -> Any:
            operand = "0" if 2 in tensor.shape and 3 in tensor.shape else "1" if 3 in tensor.shape else ""
            return None if tensor.grad is None else tensor.grad * (2 if operand in which else 1)

        return FaultyTorch(gradient=gradient)

    def told(faulty: FaultyTorch, entry: LedgerEntry) -> Judgement:
        return beyond(body, faulty, Ledger((entry,)))[0]

    one = LedgerEntry(key="one", test="*", symptom="gradient", operator="matmul", reason="planted", operand=known)
    assert isinstance(told(off(known, other), one), Diverged)
    assert isinstance(told(off(known), one), Expected)
    assert isinstance(told(off(other), one), Diverged)
    assert isinstance(told(off(known, other), dataclasses.replace(one, operand="")), Expected)


def test_every_entry_that_a_trial_meets_is_met() -> None:
    pair = Pair(TorchFramework(), FaultyTorch({"exp": ONE_MORE, "relu": DOUBLED}))
    entries = [
        LedgerEntry(key=operator, test="*", symptom="value", operator=operator, reason="planted")
        for operator in ("exp", "relu")
    ]
    test, ledger = ATest("test_x.py::test_x", chain, Settings()), Ledger(tuple(entries))
    outcome = run_trial(chain, 5, test.settings, pair)
    judgement = judge(test, outcome, ledger, lambda: False, lambda: find_unexpected(test, outcome, pair, ledger))
    assert isinstance(judgement, Expected)
    assert [entry.key for entry in judgement.entries] == ["exp", "relu"]


def refusing(original: Callable[..., Any]) -> Callable[..., Any]:
    def refused(*operands: Any, **named: Any) -> Any:
        raise NotImplementedError("not here")

    return refused


def test_a_fault_behind_a_call_that_is_known_to_be_refused_is_found() -> None:
    judgement, told = judged(chain, FaultyTorch({"exp": refusing, "relu": DOUBLED}), "exception", "exp")
    assert isinstance(judgement, Diverged)
    assert judgement.identity.operator == "relu"
    assert told[0].startswith("value")


def test_a_wrong_gradient_behind_a_call_that_is_known_to_be_refused_is_found() -> None:
    wrong = gradient_when(lambda t: True, lambda gradient: gradient * 3)
    judgement, told = judged(chain, FaultyTorch({"exp": refusing, "relu": wrong}), "exception", "exp")
    assert isinstance(judgement, Diverged)
    assert told[0].startswith("gradient")


def test_behind_a_refused_call_in_place_the_tensor_holds_what_the_reference_wrote() -> None:
    def body() -> Any:
        x = at.random_tensor(1, 4, requires_grad=False)
        x.clamp_(-1, 1)
        return dual.relu(x)

    assert isinstance(judged(body, FaultyTorch(tensors={"clamp_": refusing}), "exception", "clamp_")[0], Expected)
    both = FaultyTorch({"relu": ONE_MORE}, tensors={"clamp_": refusing})
    judgement, told = judged(body, both, "exception", "clamp_")
    assert isinstance(judgement, Diverged)
    assert told[0].startswith("value")


def test_behind_a_refused_call_that_returns_several_tensors_each_of_them_is_there() -> None:
    def body() -> Any:
        first, second = dual.split(at.random_tensor(shape=(4,)), 2)
        return dual.relu(first), dual.exp(second)

    assert isinstance(judged(body, FaultyTorch({"split": refusing}), "exception", "split")[0], Expected)
    judgement, _ = judged(body, FaultyTorch({"split": refusing, "exp": ONE_MORE}), "exception", "split")
    assert isinstance(judgement, Diverged)
    assert judgement.identity.operator == "exp"


@pytest.mark.parametrize("end", [ValueError, pytest.skip.Exception, pytest.fail.Exception])
def test_what_a_body_raises_behind_a_refused_call_is_no_finding(end: type[BaseException]) -> None:
    def body() -> Any:
        dual.exp(at.random_tensor(1, 4))
        raise end("not with this shape")

    judgement, _ = judged(body, FaultyTorch({"exp": refusing}), "exception", "exp")
    assert isinstance(judgement, Expected)


def test_nothing_wrong_behind_a_refused_call_is_no_finding() -> None:
    judgement, _ = judged(chain, FaultyTorch({"exp": refusing}), "exception", "exp")
    assert isinstance(judgement, Expected)
