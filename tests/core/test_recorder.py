"""What is recorded: the calls of a test body, with arguments that a replay can use."""

from __future__ import annotations

import contextvars

import numpy as np
import pytest
import torch as real

from autotest import random_tensor, torch
from autotest.base.errors import NotReplayable
from autotest.frameworks.freezing import freeze
from autotest.frameworks.torch import TorchFramework
from autotest.program import Captured, Ref, Root, leaves, operator_of
from autotest.recording.call_observer import notifying
from autotest.replaying.replay import replay
from tests.support.faulty import FaultyTorch, raising, returning
from tests.support.running import agrees, trial


def calls(body, **options):
    outcome = trial(body, **options)
    assert agrees(outcome)
    return outcome.recorder.calls


def test_calls_are_named_by_their_path_and_operands_by_their_slot():
    def body():
        x = torch.ones(2, dtype=torch.float64)
        return torch.nn.functional.relu(x, inplace=False).mul(x)

    ones, relu, mul = calls(body)
    assert (ones.kind, ones.target, ones.args, ones.kwargs) == ("function", "ones", (2,), {"dtype": Root("float64")})
    assert (relu.target, relu.args, relu.kwargs) == ("nn.functional.relu", (Ref(0),), {"inplace": False})
    assert (mul.kind, mul.target, mul.args) == ("method", "mul", (Ref(1), Ref(0)))


def test_a_module_and_its_call_are_known_by_the_modules_class():
    recorded = calls(lambda: torch.nn.Linear(3, 4)(random_tensor(shape=(2, 3))))
    called = next(call.slot for call in recorded if call.target == "__call__")
    assert operator_of(recorded, called) == "nn.Linear"


def test_an_input_is_known_by_what_is_computed_of_it_and_not_by_what_is_read_of_it():
    def body():
        x = torch.tensor([1.0, -2.0], requires_grad=True)
        y = random_tensor(ndim=1)
        assert y.device == x.device
        assert y.shape
        y.data = torch.ones(2)
        return torch.relu(y)

    recorded = calls(body)
    slot = next(call.slot for call in recorded if call.kind == "tensor")
    assert operator_of(recorded, slot) == "relu"
    read = {call.target: operator_of(recorded, call.slot) for call in recorded if call.args[:1] == (Ref(slot),)}
    assert read["device"] == "device"
    assert read["shape"] == "shape"
    assert read["data"] == "data"


def test_arrays_are_captured_as_they_were_when_they_were_given():
    def body():
        data = np.arange(3.0)
        x = torch.tensor(data)
        data += 1
        return x

    outcome = trial(body)
    assert agrees(outcome)
    assert replay(outcome.program, TorchFramework()).values[-1].tolist() == [0, 1, 2]


def test_numpy_scalars_stay_what_they_are():
    (full,) = calls(lambda: torch.full((np.int64(2),), np.float32(0.5)))
    assert full.args == ((2,), 0.5)
    assert [type(item) for item in leaves(full.args)] == [np.int64, np.float32]


def test_a_tensor_of_uninitialised_memory_is_known_by_a_size_of_numpy_too():
    outcome = trial(lambda: torch.Tensor(np.int64(3)))
    assert outcome.program.undefined == {0}


class Sevens(np.ndarray):
    """An array whose maximum is seven, whatever its items are."""

    def max(self):
        return np.float32(7)


def test_numpy_scalars_that_are_results_are_compared_as_arrays_are():
    (value,) = freeze(TorchFramework(), [np.float32(2)])
    assert (value.data.tolist(), value.dtype) == (2.0, "float32")

    def body():
        return torch.tensor([1.0, 2.0]).numpy().max()

    assert agrees(trial(body))
    outcome = trial(body, FaultyTorch(tensors={"numpy": returning(lambda array: array.view(Sevens))}))
    (found,) = outcome.mismatches
    assert (outcome.recorder.calls[found.slot].target, found.symptom) == ("max", "value")


def test_an_array_in_place_of_a_tensor_is_a_difference_though_its_numbers_are_right():
    plain = FaultyTorch({"relu": returning(lambda tensor: tensor.numpy())})
    outcome = trial(lambda: torch.relu(random_tensor(ndim=2, requires_grad=False)), plain)
    (found,) = outcome.mismatches
    assert (found.symptom, found.what) == ("structure", "expected a tensor, actual an array of NumPy")


def test_a_tensor_of_the_reference_is_given_to_both_sides():
    def body():
        return torch.ones(3) * real.full((3,), 2.0)

    recorded = calls(body)
    assert [call.kind for call in recorded] == ["function", "tensor", "operator"]
    assert recorded[1].args == (Captured(0),)


def test_random_numbers_become_part_of_the_program():
    outcome = trial(lambda: torch.randn(3))
    assert agrees(outcome)
    drawn = outcome.recorder.expected[0].tolist()
    assert replay(outcome.program, TorchFramework()).values[0].tolist() == drawn
    assert outcome.recorder.calls[1].note == "drawn by torch"


def test_slices_and_ellipses_are_data():
    def body():
        x = torch.arange(24).reshape(2, 3, 4)
        return x[..., 1 : torch.tensor(3).reference, None]

    outcome = trial(body)
    assert agrees(outcome)
    assert outcome.recorder.actual[-1].shape == (2, 3, 2, 1)


def test_values_made_outside_of_the_trial_are_not_taken_for_earlier_ones_that_are_gone(monkeypatch):
    monkeypatch.setenv("AUTOTEST_CANDIDATE", "tests.support.faults:none")

    def body():
        sums = []
        for number in range(5):
            first, second = contextvars.Context().run(lambda: torch.split(torch.full((4,), float(number)), 2))  # noqa: B023
            sums.append(first + second)
            del first, second
        return tuple(sums)

    record = trial(body).recorder
    replayed = replay(record.program(), record.pair.candidate).values
    sums = [call.slot for call in record.calls if call.target == "add"]
    assert [replayed[slot].tolist() for slot in sums] == [[2.0 * number] * 2 for number in range(5)]


def test_what_an_iterator_gives_is_there_for_both_sides():
    def body():
        layer = torch.nn.Linear(2, 2)
        names = [name for name, _ in layer.named_parameters()]
        assert names == ["weight", "bias"]
        return sum(parameter.sum() for parameter in layer.parameters())

    assert calls(body)


def test_one_sided_values_that_the_test_puts_in_make_the_program_not_replayable():
    def body():
        x = torch.ones(2)
        x.candidate = real.ones(2)
        return x + 1

    outcome = trial(body)
    with pytest.raises(NotReplayable, match=r"assigned \.candidate"):
        outcome.program  # noqa: B018


def test_results_that_cannot_be_read_are_a_divergence_of_the_side_that_computed_them():
    class Asynchronous(FaultyTorch):
        def synchronize(self):
            raise RuntimeError("an earlier call failed")

    outcome = trial(lambda: torch.exp(random_tensor()), Asynchronous())
    assert [mismatch.symptom for mismatch in outcome.mismatches] == ["exception"]
    assert "an earlier call failed" in outcome.mismatches[0].message


def test_nothing_is_recorded_after_the_end_of_the_trial():
    def body():
        torch.relu(torch.ones(1))
        torch.exp(torch.ones(1))

    outcome = trial(body, FaultyTorch({"relu": raising(ValueError("no"))}))
    assert [call.target for call in outcome.recorder.calls] == ["ones", "relu"]


class Told:
    """Collects which side is about to run which calls."""

    def __init__(self):
        self.calls = []

    def before_call(self, recorder, side, call):
        if call.kind != "tensor":
            self.calls.append((side, call.kind, call.target))


def test_every_call_of_either_side_is_announced():
    def body():
        x = torch.ones(2)
        x.requires_grad = True
        with torch.no_grad():
            assert x.is_leaf

    with notifying(told := Told()):
        trial(body)
    calls = [
        ("function", "ones"),
        ("setattr", "requires_grad"),
        ("function", "no_grad"),
        ("enter", ""),
        ("getattr", "is_leaf"),
        ("exit", ""),
    ]
    for side in ("reference", "candidate"):
        assert [call for who, *call in told.calls if who == side] == list(map(list, calls))


def test_an_attribute_that_the_reference_refuses_rejects_the_trial():
    refused = trial(lambda: torch.ones(2).imag).rejection
    assert (refused.target, refused.type) == ("imag", "RuntimeError")

    def expected():
        with pytest.raises(RuntimeError, match="non-complex"):
            torch.ones(2).imag  # noqa: B018
        return torch.ones(1)

    assert agrees(trial(expected))


class Entered:
    """A context manager that counts how often it is entered and left, or refuses to be entered."""

    def __init__(self, refused):
        self.refused, self.entered, self.left = refused, 0, 0

    def __enter__(self):
        if self.refused:
            raise RuntimeError("not here")
        self.entered += 1

    def __exit__(self, *details):
        self.left += 1


def test_a_context_that_the_reference_refuses_rejects_the_trial_and_is_not_left_open():
    made = {name: Entered(refused=name == "torch") for name in ("torch", "faulty")}
    reference, candidate = (
        FaultyTorch({"no_grad": lambda original, one=one: lambda: one}, name=name) for name, one in made.items()
    )

    def body():
        with torch.no_grad():
            pass

    rejection = trial(body, reference=reference).rejection
    assert (rejection.target, rejection.text) == ("no_grad", "not here")
    outcome = trial(body, candidate, reference=reference, check_errors=True)
    assert [(one.name, one.symptom) for one in outcome.mismatches] == [("no_grad", "accepted")]
    assert (made["faulty"].entered, made["faulty"].left) == (1, 1)
