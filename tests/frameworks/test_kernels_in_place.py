"""Functions of NumPy's arrays that write into their first argument are called, and its memory is compared."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from autotest import Divergence, autotest, random_tensor, torch
from autotest.base.errors import AdapterWrong
from autotest.frameworks.array_layout import copied
from autotest.replaying.native_code import as_native_code
from generators.layouts import LAYOUTS
from tests.support import plain_kernels, running
from tests.support.array_kernels import ArrayKernels


class InPlace(ArrayKernels):
    """The kernels, with a relu and a sum that work in place."""

    @property
    def spelling(self):
        return {
            **super().spelling,
            "relu_": self.kernel("relu_in_place"),
            "add_": self.kernel("add_in_place"),
        }

    @property
    def backward(self):
        return {**super().backward, "add_": lambda gradient, result, x, y: (gradient, gradient)}


def copying():
    """Return kernels whose relu in place works on a copy."""
    return InPlace({"relu_in_place": "copying_relu_in_place"}, "copying")


def drawn(layout="contiguous", **more):
    return random_tensor(shape=(4, 4, 2, 2), low=-1, high=1, layout=layout, dtype="float32", **more)


def method(layout):
    x = drawn(layout, requires_grad=False)
    x.relu_()
    return x


def function(layout):
    return torch.relu_(drawn(layout, requires_grad=False))


def flag(layout):
    return torch.nn.functional.relu(drawn(layout, requires_grad=False), inplace=True)


def operator(layout):
    x = drawn(layout, requires_grad=False)
    x += drawn(requires_grad=False)
    return x


def differentiated(layout):
    x = torch.ops.kernels.dish(drawn(layout, requires_grad=True))
    x.add_(drawn(requires_grad=True))
    x.relu_()
    return x


#: The layouts in which each element has memory of its own. torch refuses to write into others.
LAYOUTS_TO_WRITE = [layout for layout in LAYOUTS if layout != "expanded"]


@pytest.mark.parametrize("layout", LAYOUTS_TO_WRITE)
@pytest.mark.parametrize("body", [method, function, flag, operator, differentiated])
def test_right_kernels_agree(body, layout):
    adapter = InPlace()
    outcome = running.trial(lambda: body(layout), adapter, special_values=False)
    assert running.agrees(outcome)
    assert adapter.own_calls


@pytest.mark.parametrize("body", [method, function, flag])
def test_a_kernel_that_works_on_a_copy_is_found(body):
    outcome = running.trial(lambda: body("contiguous"), copying(), special_values=False)
    assert [item.symptom for item in outcome.mismatches][:1] == ["value"]


def test_a_kernel_that_works_in_place_is_not_called_where_the_test_asks_for_a_new_tensor():
    outcome = running.trial(lambda: torch.relu(drawn()), copying(), special_values=False)
    assert running.agrees(outcome)


@pytest.mark.parametrize("layout", [layout for layout in LAYOUTS_TO_WRITE if layout not in ("contiguous", "offset")])
def test_a_kernel_that_ignores_strides_is_given_memory_with_them(layout):
    packed = InPlace({"relu_in_place": "packed_relu_in_place"})
    dense = layout in ("transposed", "channels_last")  # whatever the order is, each of the elements is written
    outcome = running.trial(lambda: method(layout), packed, special_values=False)
    assert bool(outcome.mismatches) is not dense
    assert running.agrees(running.trial(lambda: method("contiguous"), packed, special_values=False))


def test_a_copy_has_the_strides_of_the_original():
    numbers = np.arange(24.0).reshape(4, 6)
    for array in (numbers, numbers.T, numbers[1:, ::2], numbers[::2].T, numbers[:, 2], numbers[0, 0], numbers[:0]):
        made = copied(array)
        assert (made.shape, made.strides if array.size else ()) == (array.shape, array.strides if array.size else ())
        assert np.array_equal(made, array)
        assert not np.shares_memory(made, numbers)


@pytest.mark.parametrize("layout", ["contiguous", "transposed", "strided"])
def test_a_script_has_the_call_that_writes_once(layout):
    adapter = InPlace()

    def body():
        x = torch.softmax(random_tensor(shape=(3, 4), dtype="float32", layout=layout, requires_grad=False), 0)
        x.add_(1.5)
        return x

    program = running.trial(body, adapter, special_values=False).program
    slot = next(call.slot for call in program.calls if call.target == "add_")
    terms = as_native_code(program, adapter, slot)
    assert "\n".join(terms.lines).count("kernels.add_in_place(") == 1
    known = {"np": np, "kernels": plain_kernels}
    exec("\n".join(terms.lines), known)  # noqa: S102 - running them is the point
    assert np.allclose(eval(terms.result, known).sum(0), 1 + 3 * 1.5)  # noqa: S307


def test_a_script_of_a_gradient_writes_once():
    adapter = InPlace()

    def body():
        x = torch.ops.kernels.dish(random_tensor(shape=(3,), low=-1, high=1, dtype="float32", requires_grad=True))
        x.relu_()
        return x

    program = running.trial(body, adapter, special_values=False).program
    terms = as_native_code(program, adapter, 0, ".grad")
    text = "\n".join(terms.lines)
    assert (text.count("relu_in_place("), text.count("relu_backward("), text.count("dish_backward(")) == (1, 1, 1)


def test_the_script_of_a_finding_calls_the_kernel_on_memory_with_gaps(warm):
    body = autotest(n=1, special_values=False, candidate="tests.frameworks.test_kernels_in_place:with_packed_relu")
    with pytest.raises(Divergence, match=r"relu_, value \(forward\)") as caught:
        body(lambda: method("strided"))()
    assert "(verified in a fresh interpreter)" in str(caught.value)
    script = Path(caught.value.place, "repro.py").read_text()
    assert "kernels.packed_relu_in_place(" in script
    assert "speaking_torch" not in script


def with_packed_relu():
    """Return kernels whose relu in place ignores strides."""
    return InPlace({"relu_in_place": "packed_relu_in_place"}, "with_packed_relu")


def test_a_method_of_torch_in_the_table_is_told_by_which_name_it_is_found():
    class Method(ArrayKernels):
        spelling = property(lambda _: {"Tensor.relu_": plain_kernels.relu_in_place})

    with pytest.raises(AdapterWrong, match=r"`spelling` has 'Tensor.relu_': write 'relu_'"):
        Method().translated("relu_")
