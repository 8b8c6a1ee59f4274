"""Functional frameworks get the same gradients as torch, also if two values are the same array."""

from __future__ import annotations

import functools

import numpy as np
import pytest

from autotest import random_tensor, torch
from autotest.base.errors import NotReplayable
from autotest.emission import names
from autotest.frameworks.recorded_calls import run_call
from autotest.frameworks.torch import TorchFramework
from autotest.replaying.native_code import as_native_code
from tests.support import block_framework, running

tensor = functools.partial(random_tensor, shape=(2, 3))


def detached():
    x = tensor()
    return x * x.detach()


def detached_and_not():
    x = tensor()
    return x.detach() + x * x


def cloned_and_detached():
    x = tensor()
    return x.clone().detach() * x * x.detach().clone()


def data():
    x = tensor()
    return x * x.data


def without_gradients():
    x = tensor()
    with torch.no_grad():
        same, other = x.clone(), x * 2
    return x * same * other


def switched_off_and_on():
    x = tensor()
    torch.set_grad_enabled(False)
    same, other = x.clone(), x * 2
    torch.set_grad_enabled(mode=True)
    with torch.set_grad_enabled(False):
        third = x * 3
    return x * same * other * third


def the_same_twice():
    x = tensor()
    y = x.clone()
    return x * y + y * y * x


def detached_views():
    x = tensor()
    return x * x.reshape(2, 3).detach() + x.expand(2, 3) * x.view(2, 3).detach()


def casts_that_change_nothing():
    x = tensor()
    return x * x.float().detach() * x.to(torch.float32) * x.contiguous().detach()


def detached_in_the_middle():
    x = tensor()
    y = torch.exp(x)
    return (y * y.detach()).sum(dim=1) / y.sum(dim=1).detach()


def straight_through():
    x = tensor()
    return x + ((x > 0.5).float() - x).detach()


def joined():
    x = tensor()
    return torch.cat([x, x.detach(), x.clone()], dim=0) * 2


def another_leaf_of_the_same():
    x = tensor()
    return x * x.detach().requires_grad_()


def a_leaf_from_now_on():
    x = tensor(requires_grad=False)
    before = x * 2
    return x.requires_grad_() * before


def a_gradient_used_further():
    x = tensor()
    (x * x.detach()).sum().backward()
    return x.grad * x.detach()


def a_module():
    layer = torch.nn.Linear(3, 2)
    x = tensor()
    return layer(x.detach()) * layer(x)


def a_frozen_module():
    layer = torch.nn.Linear(3, 2)
    layer.requires_grad_(False)
    return layer(tensor())


BODIES = [
    detached,
    detached_and_not,
    cloned_and_detached,
    data,
    without_gradients,
    switched_off_and_on,
    the_same_twice,
    detached_views,
    casts_that_change_nothing,
    detached_in_the_middle,
    straight_through,
    joined,
    another_leaf_of_the_same,
    a_leaf_from_now_on,
    a_gradient_used_further,
    a_module,
    a_frozen_module,
]


def each(bodies):
    return pytest.mark.parametrize("body", bodies, ids=lambda body: body.__name__)


@each(BODIES)
def test_in_trials(body):
    outcome = running.trial(body, block_framework.framework())
    assert running.agrees(outcome)
    assert outcome.gradients


def gradients(program):
    """Return the gradients of the leaves of `program` in torch: slot -> gradient."""
    values: list = []
    for call in program.calls:
        values.append(run_call(call, TorchFramework(), values, program.arrays))
    held = [
        (slot, one.grad) for slot, one in enumerate(values) if getattr(one, "is_leaf", False) and one.grad is not None
    ]
    assert held
    return {slot: gradient.numpy() for slot, gradient in held}


@each(BODIES)
def test_in_scripts(body):
    adapter = block_framework.framework()
    program = running.trial(body, adapter).recorder.snapshot()
    for slot, expected in gradients(program).items():
        terms = as_native_code(program, adapter, slot, ".grad")
        known = {"np": np, "other": adapter.root}
        exec("\n".join(terms.lines), known)  # noqa: S102 - running them is the point
        found = adapter.root.cells(eval(terms.result, known))  # noqa: S307
        assert np.allclose(found, expected, 1e-5, 1e-6), (names(program)[slot], terms.lines)


def written_through_a_detached_one():
    y = tensor().clone()
    y.detach().mul_(2)
    return y * tensor()


def written_without_gradients():
    x = tensor()
    y = x * 3
    with torch.no_grad():
        y.mul_(2)
        y[0] = 7
    return y * x


def a_detached_row_written():
    x = tensor()
    y = x * 3
    y.detach()[0].mul_(2)
    return y * x


def data_of_a_leaf_written():
    x = tensor()
    x.data.mul_(2)
    return x * x.detach()


WRITTEN = [
    written_through_a_detached_one,
    written_without_gradients,
    a_detached_row_written,
    data_of_a_leaf_written,
]


def a_detached_row_of_what_is_written_later():
    x = tensor()
    y = x * 3
    row = y.detach()[0]
    y.mul_(2)
    return row * x, y


def a_row_written_without_gradients():
    x = tensor()
    y = x * 3
    row = y[0]
    with torch.no_grad():
        row.mul_(2)
    return row * row + x


def other_data():
    x = tensor()
    before, old = x * 2, x.detach()
    x.data = x.detach() * 3
    return before + x * x, old


@each([*WRITTEN, a_detached_row_of_what_is_written_later, a_row_written_without_gradients, other_data])
def test_what_is_written_past_the_tape_changes_the_contents_alone(body):
    assert running.agrees(running.trial(body, block_framework.framework()))


@each([written_without_gradients, a_detached_row_written])
def test_a_script_of_functions_does_not_pretend_to_such_gradients(body):
    adapter = block_framework.framework()
    program = running.trial(body, adapter).recorder.snapshot()
    (slot,) = gradients(program)
    with pytest.raises(NotReplayable, match="changed outside of autograd"):
        as_native_code(program, adapter, slot, ".grad")


def test_the_gradient_of_a_result_in_between_has_no_script():
    def body():
        x = tensor()
        y = x * 2
        y.retain_grad()
        return y * x

    adapter = block_framework.framework()
    program = running.trial(body, adapter).recorder.snapshot()
    slot = next(call.slot for call in program.calls if call.target == "mul")
    with pytest.raises(NotReplayable, match="not recorded"):
        as_native_code(program, adapter, slot, ".grad")


def test_what_requires_a_gradient_is_not_written_into_what_is_detached():
    def body():
        x = tensor()
        copy = x.detach()
        copy.mul_(tensor())
        return copy * x

    assert running.trial(body, block_framework.framework()).rejection.type == "Absent"
