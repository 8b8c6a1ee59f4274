"""A candidate without double precision: the reference's alone tells rounding from a difference."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import torch

from autotest.base.settings import Settings
from autotest.diagnosis.attribution.referee import cleared, examine
from autotest.diagnosis.attribution.verdict import Verdict
from autotest.program import COTANGENT, LAYOUT, Array, Call, Program, Ref
from autotest.program.rewriting import tensor_call
from autotest.replaying.agreement import agree
from tests.support.faulty import FaultyTorch, Replacement
from tests.support.running import pair_with

SETTINGS = Settings()


class WithoutDoubles(FaultyTorch):
    """torch with planted faults, on a device that has no float64."""

    def tensor(self, array: Array, *, device: str = "cpu", requires_grad: bool = False) -> Any:
        if array.dtype == "float64":
            raise TypeError("this device has no float64")
        return super().tensor(array, device=device, requires_grad=requires_grad)


def judged(
    name: str,
    replacement: Replacement,
    *operands: Sequence[float],
    backward: bool = False,
    kind: type[FaultyTorch] = WithoutDoubles,
) -> tuple[bool, Verdict]:
    """Return whether the mismatch of the operator `name` is harmless, and the verdict on it."""
    arrays = [Array(np.array(one, "float32"), "float32") for one in operands]
    calls = [tensor_call(slot, slot, array, requires_grad=backward) for slot, array in enumerate(arrays)]
    calls.append(Call("function", name, tuple(map(Ref, range(len(arrays)))), {}, len(calls)))
    if backward:
        arrays.append(Array(np.ones_like(arrays[0].data), "float32"))
        calls.append(tensor_call(len(calls), len(arrays) - 1, arrays[-1], requires_grad=False))
        calls.append(Call("method", "backward", (Ref(len(calls) - 2), Ref(len(calls) - 1)), {}, len(calls)))
    pair = pair_with(kind({name: replacement}))
    agreement = agree(Program(tuple(calls), tuple(arrays)), pair, SETTINGS)
    assert agreement.mismatches
    return cleared(agreement, pair, SETTINGS) is not None, examine(agreement, pair, SETTINGS).verdict


def in_sequence(mean: Any) -> Any:
    def sequential(x: Any) -> Any:
        return torch.tensor(np.add.accumulate(x.numpy())[-1] / np.float32(x.numel()))

    return sequential


CANCELLING = [10000.0, 10000.0, -10000.0, 2.1949851, -10000.0]


def test_terms_that_cancel_in_another_order_are_no_alarm() -> None:
    harmless, verdict = judged("mean", in_sequence, CANCELLING)
    assert harmless
    assert verdict.blame in ("rounding", "ill-conditioned")


def test_a_kernel_that_refuses_doubles_is_judged_like_a_device_that_has_none() -> None:
    def of_single_precision(mean: Any) -> Any:
        def kernel(x: Any) -> Any:
            if x.dtype != torch.float32:
                raise TypeError(f"this kernel computes in float32, and got {x.dtype}")
            return in_sequence(mean)(x)

        return kernel

    harmless, verdict = judged("mean", of_single_precision, CANCELLING, kind=FaultyTorch)
    assert harmless
    assert verdict.blame in ("rounding", "ill-conditioned")


def test_a_gradient_that_cancels_for_an_expanded_cotangent_is_no_alarm() -> None:
    class Softmax(torch.autograd.Function):
        """Sums in double precision, so that rounded probabilities do not add up to one."""

        @staticmethod
        def forward(ctx: Any, x: Any) -> Any:
            y = torch.softmax(x, 0)
            ctx.save_for_backward(y)
            return y

        @staticmethod
        def backward(ctx: Any, given: Any) -> Any:
            (y,) = ctx.saved_tensors
            return (y * (given.double() - (given.double() * y.double()).sum())).float()

    x, one = Array(np.zeros(3, "float32"), "float32"), Array(np.ones(1, "float32"), "float32")
    calls = (
        tensor_call(0, 0, x, requires_grad=True),
        Call("function", "softmax", (Ref(0), 0), {}, 1),
        tensor_call(2, 1, one, requires_grad=False, note=COTANGENT),
        Call("method", "expand", (Ref(2), (3,)), {}, 3, LAYOUT),
        Call("method", "backward", (Ref(1), Ref(3)), {}, 4),
    )
    pair = pair_with(WithoutDoubles({"softmax": lambda softmax: lambda x, dim: Softmax.apply(x)}))
    agreement = agree(Program(calls, (x, one)), pair, SETTINGS)
    assert [item.symptom for item in agreement.mismatches] == ["gradient"]
    assert cleared(agreement, pair, SETTINGS) is not None


def test_the_reference_is_not_accused_of_what_is_left_when_its_terms_cancel() -> None:
    """In this gradient, terms of 0.5 cancel to 5e-7."""

    def biased(original: Any) -> Any:
        class Biased(torch.autograd.Function):
            @staticmethod
            def forward(ctx: Any, x: Any) -> Any:
                return x.clone()

            @staticmethod
            def backward(ctx: Any, given: Any) -> Any:
                return given + 0.01

        return lambda x, shape: original(Biased.apply(x), shape)

    x, given = (Array(np.array(one, "float32"), "float32") for one in ([1.0, 0.0], [0.7, 0.723]))
    calls = (
        tensor_call(0, 0, x, requires_grad=True),
        Call("function", "nn.functional.layer_norm", (Ref(0), (2,)), {}, 1),
        tensor_call(2, 1, given, requires_grad=False, note=COTANGENT),
        Call("method", "backward", (Ref(1), Ref(2)), {}, 3),
    )
    pair = pair_with(WithoutDoubles({"nn.functional.layer_norm": biased}))
    agreement = agree(Program(calls, (x, given)), pair, SETTINGS)
    assert cleared(agreement, pair, SETTINGS) is None
    assert examine(agreement, pair, SETTINGS).verdict.wrong == "candidate"


def test_an_error_beyond_rounding_is_one_by_an_independent_oracle() -> None:
    harmless, verdict = judged("exp", lambda exp: lambda x: exp(x) * 1.001, [2.0])
    assert not harmless
    assert (verdict.blame, verdict.line) == ("candidate", "faulty: NumPy gives 7.3890561 at (0,), as torch does")
    assert verdict.numbers[0].startswith("float64 result of torch at (0,): 7.38905609893065. torch is off by ")


def test_another_gradient_of_equal_numbers_is_not_taken_for_rounding() -> None:
    harmless, verdict = judged(
        "maximum", lambda maximum: lambda a, b: torch.where(a > b, a, b), [1.0, 2.0], [1.0, 3.0], backward=True
    )
    assert not harmless
    assert (verdict.blame, verdict.wrong) == ("semantic difference", "candidate")
    assert verdict.line == (
        "torch is the specification: faulty differs in gradient by more than rounding explains, and has no float64 "
        "result of its own; no independent oracle can decide"
    )
