"""A diagnosis does not run again what it has already run."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
import pytest

from autotest import torch as dual
from autotest.base.settings import Settings
from autotest.comparison import TensorValue
from autotest.diagnosis.attribution.locating import locate
from autotest.diagnosis.attribution.lockstep import first_divergent
from autotest.diagnosis.failed_trial import FailedTrial
from autotest.frameworks import Framework, Pair
from autotest.frameworks.torch import TorchFramework
from autotest.program import Array, Call, Program, Ref
from autotest.program.rewriting import tensor_call
from autotest.replaying.agreement import agree, results
from autotest.trials.decorated import Test as ATest
from autotest.trials.trial import run_trial
from tests.support.faulty import FaultyTorch, with_gradient
from tests.support.running import pair_with

SETTINGS = Settings()
NUMBERS = Array(np.linspace(-1, 1, 6, dtype=np.float32).reshape(2, 3), "float32")
INPUT = tensor_call(0, 0, NUMBERS, requires_grad=False)
LEAF = tensor_call(0, 0, NUMBERS, requires_grad=True)
COTANGENT = tensor_call(2, 1, NUMBERS, requires_grad=False, note="cotangent")
EXP = Call("function", "exp", (Ref(0),), {}, 1)
FORWARD = Program((INPUT, EXP), (NUMBERS,))
BACKWARD = Program((LEAF, EXP, COTANGENT, Call("method", "backward", (Ref(1), Ref(2)), {}, 3)), (NUMBERS, NUMBERS))


class Counting(TorchFramework):
    """Counts the calls of `exp`."""

    calls = 0

    def invoke(self, kind: Any, target: str, args: Any, kwargs: Any) -> Any:
        self.calls += target == "exp"
        return super().invoke(kind, target, args, kwargs)


@pytest.mark.parametrize(
    ("program", "fault"),
    [
        (FORWARD, lambda exp: lambda x: exp(x) + 1),
        (BACKWARD, with_gradient(lambda gradient: 2 * gradient)),
    ],
    ids=["forward", "backward"],
)
def test_a_program_of_one_call_is_not_run_for_that_call_alone(program: Program, fault: Any) -> None:
    pair = pair_with(FaultyTorch({"exp": fault}))
    agreement = agree(program, pair, SETTINGS)
    located = locate(program, pair, SETTINGS, agreement.mismatches[0], agreement)
    assert (located.slot, located.alone_slot) == (1, 1)
    assert located.alone is agreement
    again = locate(program, pair, SETTINGS, agreement.mismatches[0])
    assert again.alone is not None
    assert again.alone.program.calls == program.calls


def test_of_two_calls_the_first_divergent_one_is_still_run_alone() -> None:
    program = Program((INPUT, EXP, Call("function", "neg", (Ref(1),), {}, 2)), (NUMBERS,))
    pair = pair_with(FaultyTorch({"neg": lambda neg: lambda x: neg(x) + 1}))
    agreement = agree(program, pair, SETTINGS)
    located = locate(program, pair, SETTINGS, agreement.mismatches[0], agreement)
    assert located.slot == 2
    assert located.alone is not None
    assert [call.target for call in located.alone.program.calls] == ["float32", "neg"]


def test_a_context_that_is_entered_again_hides_no_later_divergent_call() -> None:
    def body() -> Any:
        without_gradients = dual.no_grad()
        with without_gradients:
            x = dual.ones(2)
        with without_gradients:
            return dual.exp(x)

    pair = pair_with(FaultyTorch({"exp": lambda exp: lambda x: exp(x) + 1}))
    program = run_trial(body, 0, SETTINGS, pair).program
    slot = first_divergent(program, pair, SETTINGS)
    assert slot is not None
    assert program.calls[slot].target == "exp"


class Reading(TorchFramework):
    """Counts the tensors that are read."""

    read = 0

    def values(self, tensors: Sequence[Any]) -> list[TensorValue]:
        self.read += len(tensors)
        return super().values(tensors)


def nested(layer: Any, depth: int) -> Any:
    for _ in range(depth):
        layer = dual.nn.Sequential(layer)
    return layer


def written(depth: int) -> Any:
    norm = dual.nn.BatchNorm1d(3)
    network = nested(norm, depth)
    for _ in range(10):
        dual.nn.init.ones_(norm.weight)
    return network(dual.ones(2, 3))


def stepped(depth: int) -> Any:
    network = nested(dual.nn.Linear(3, 3), depth)
    optimizer = dual.optim.SGD(network.parameters(), lr=0.1)
    network(dual.ones(2, 3)).sum().backward()
    optimizer.step()
    return network(dual.ones(2, 3))


@pytest.mark.parametrize("body", [written, stepped])
def test_what_changes_in_a_layer_is_read_once_however_deep_it_lies(body: Callable[[int], Any]) -> None:
    def read(depth: int) -> int:
        program = run_trial(lambda: body(depth), 0, SETTINGS, pair_with(TorchFramework())).program
        reading = Reading()
        assert first_divergent(program, Pair(reading, TorchFramework()), SETTINGS) is None
        return reading.read

    assert read(depth=8) == read(depth=1)


def test_a_buffer_that_a_module_has_only_now_is_compared_after_the_next_write() -> None:
    made: list[Any] = []

    def kept(layer: Any) -> Any:
        return lambda *args: (made.append(layer(*args)), made[-1])[1]

    def writing_more(ones_: Any) -> Any:
        def called(weight: Any) -> Any:
            more = getattr(made[-1], "more", None)
            if more is not None:
                more.add_(1)
            return ones_(weight)

        return called

    def body() -> Any:
        norm = dual.nn.BatchNorm1d(3)
        dual.nn.init.ones_(norm.weight)
        norm.register_buffer("more", dual.zeros(3))
        dual.nn.init.ones_(norm.weight)
        return norm(dual.ones(2, 3))

    program = run_trial(body, 0, SETTINGS, pair_with(TorchFramework())).program
    pair = pair_with(FaultyTorch({"nn.BatchNorm1d": kept, "nn.init.ones_": writing_more}))
    slot = first_divergent(program, pair, SETTINGS)
    assert slot == max(call.slot for call in program.calls if call.target == "nn.init.ones_")


def test_a_replay_serves_as_the_first_of_the_runs_of_which_the_reference_must_repeat_its_results() -> None:
    reference = Counting()
    pair = Pair(reference, FaultyTorch({"exp": lambda exp: lambda x: exp(x) + 1}))

    def body() -> Any:
        return dual.exp(dual.ones(2, 3))

    def runs(replayed: bool) -> int:
        failed = FailedTrial(ATest("file.py::test", body, SETTINGS), run_trial(body, 0, SETTINGS, pair), pair)
        if replayed:
            failed._replayed()
        reference.calls = 0
        failed._leave_out_unrepeatable()
        assert failed.outcome.mismatches
        return reference.calls

    assert runs(replayed=True) == runs(replayed=False) - 1


@pytest.mark.parametrize("framework", [TorchFramework()])
def test_the_results_of_some_slots_are_those_among_all_results(framework: Framework) -> None:
    def body() -> Any:
        layer = dual.nn.Linear(3, 2)
        return layer(dual.ones(2, 3)).sum() + layer.weight.sum()

    program = run_trial(body, 0, SETTINGS, pair_with()).program
    whole = results(program, framework)
    slots = {slot for slot, _ in whole}
    assert len(slots) > 3
    for slot in slots:
        some = results(program, framework, slots=[slot])
        assert some.keys() >= {place for place in whole if place[0] == slot}
        assert all(np.array_equal(_data(value), _data(whole[place])) for place, value in some.items() if place in whole)


def _data(value: Any) -> Any:
    return getattr(value, "data", value)
