"""Calls are emitted as statements. The tests compare the text."""

from __future__ import annotations

import ast
from collections import OrderedDict

import numpy as np
import pytest

from autotest.base.errors import NotReplayable
from autotest.emission import Script, program_text, reproducer
from autotest.emission.checker import Criterion
from autotest.emission.script_subject import ScriptSubject
from autotest.program import Array, Call, Captured, Program, Root

TORCH = Script("torch", ("import torch",), "torch")


def body(program: Program, *observed: str) -> str:
    """Return the statements of the emitted function, without indentation."""
    text = reproducer(ScriptSubject(program, (TORCH, TORCH), "t", ()), Criterion(observed=observed or None))
    lines = text.partition("def program(torch):\n")[2].partition("\n\n\n")[0].splitlines()
    ast.parse(text)
    return "\n".join(line[4:] for line in lines)


def test_a_gradient(relu_gradient):
    assert body(relu_gradient, "x0.grad") == (
        "x0 = torch.tensor(X0, requires_grad=True)\n"
        "v1 = torch.nn.functional.relu(x0)\n"
        "v1.backward(torch.tensor(C2))\n"
        'return {"x0.grad": x0.grad}'
    )


def test_operators_are_written_infix(build):
    x, y = build.tensor([1.0]), build.tensor([2.0])
    build.operator("add", x, build.operator("mul", 2, y))
    build.operator("pow", x, -2)
    build.operator("sub", -1.5, x)
    build.operator("matmul", x, y)
    build.operator("le", x, 1)
    build.operator("neg", x)
    build.operator("invert", y)
    build.operator("getitem", x, (slice(1, None), None))
    build.operator("setitem", x, ..., y)
    build.operator("abs", x)
    build.operator("index", y)
    assert body(build.program(), "x0") == (
        "x0 = torch.tensor(X0)\n"
        "x1 = torch.tensor(X1)\n"
        "v2 = 2 * x1\n"
        "x0 + v2\n"
        "x0 ** (-2)\n"
        "(-1.5) - x0\n"
        "x0 @ x1\n"
        "x0 <= 1\n"
        "-x0\n"
        "~x1\n"
        "x0[1:, None]\n"
        "x0[...] = x1\n"
        "abs(x0)\n"
        "operator.index(x1)\n"
        'return {"x0": x0}'
    )


def test_an_in_place_operator_keeps_the_earlier_name_when_its_result_is_read(build):
    x = build.tensor([1.0])
    build.operator("imul", x, 2)
    y = build.operator("iadd", x, 1)
    build.function("relu", y)
    assert body(build.program(), "x0").splitlines()[1:5] == ["x0 *= 2", "v2 = x0", "v2 += 1", "torch.relu(v2)"]


def test_contexts_become_blocks(build):
    x = build.tensor([1.0])
    outer = build.function("no_grad")
    build.call("enter", "", outer)
    build.function("relu", x)
    inner = build.function("enable_grad")
    build.call("enter", "", inner)
    build.call("exit", "", inner)
    build.call("exit", "", outer)
    build.function("abs", x)
    assert body(build.program(), "x0") == (
        "x0 = torch.tensor(X0)\n"
        "with torch.no_grad():\n"
        "    torch.relu(x0)\n"
        "    with torch.enable_grad():\n"
        "        pass\n"
        "torch.abs(x0)\n"
        'return {"x0": x0}'
    )


def test_a_context_that_is_never_left_goes_on_to_the_end(build):
    context = build.function("no_grad")
    build.call("enter", "", context)
    build.tensor([1.0])
    assert body(build.program(), "x0") == ('with torch.no_grad():\n    x0 = torch.tensor(X0)\n    return {"x0": x0}')
    assert program_text(build.program()) == 'with torch.no_grad():\n    tensor((1,), "float32")'


def test_contexts_that_do_not_nest_are_entered_and_left_by_calls(build):
    first, second = build.function("no_grad"), build.function("enable_grad")
    build.call("enter", "", first)
    build.call("enter", "", second)
    build.call("exit", "", first)
    build.call("exit", "", second)
    build.tensor([1.0])
    assert body(build.program(), "x0").splitlines()[:6] == [
        "ctx0 = torch.no_grad()",
        "ctx1 = torch.enable_grad()",
        "ctx0.__enter__()",
        "ctx1.__enter__()",
        "ctx0.__exit__(None, None, None)",
        "ctx1.__exit__(None, None, None)",
    ]


def test_a_context_made_before_another_call_is_not_moved_past_it(build):
    context = build.function("set_grad_enabled", False)
    build.tensor([1.0])
    entered = build.call("enter", "", context)
    build.method("use", entered)
    build.call("exit", "", context)
    assert body(build.program(), "x0") == (
        'ctx0 = torch.set_grad_enabled(False)\nx0 = torch.tensor(X0)\nwith ctx0 as v2:\n    v2.use()\nreturn {"x0": x0}'
    )


def test_modules_attributes_and_state(build):
    linear = build.function("nn.Linear", 2, 1)
    build.call("load_state", "", linear, {"weight": build.capture([[1, 2]]), "bias": build.capture([0])})
    build.call("setattr", "training", linear, False)
    build.call("load_state", "", linear, {})
    x = build.tensor([1, 2], "bfloat16", device="cuda", requires_grad=False)
    y = build.method("__call__", linear, x)
    drawn = build.function("rand", 2)
    build.call("overwrite", "", drawn, build.capture([1, 0.5]), note="drawn by torch")
    build.call("getattr", "0", y)
    build.method("to", y, Root("float64"), **{"from": 1})
    assert body(build.program(), "m0.weight.grad") == (
        "m0 = torch.nn.Linear(2, 1)\n"
        "with torch.no_grad():\n"
        "    m0.weight.copy_(torch.tensor(A0))\n"
        "    m0.bias.copy_(torch.tensor(A1))\n"
        "m0.training = False\n"
        'x0 = torch.tensor(X0, dtype=torch.bfloat16, device="cuda")\n'
        "v5 = m0(x0)\n"
        "v6 = torch.rand(2)\n"
        "with torch.no_grad():  # drawn by torch\n"
        "    v6.copy_(torch.tensor(A3))\n"
        'getattr(v5, "0")\n'
        'v5.to(torch.float64, **{"from": 1})\n'
        'return {"m0.weight.grad": m0.weight.grad}'
    )


def test_long_calls_are_broken(build):
    x = build.tensor([1.0])
    build.function("nn.functional.conv2d", x, x, bias=None, stride=(1, 2), padding=(3, 4), dilation=(5, 6), groups=1000)
    assert body(build.program(), "x0").splitlines()[1:4] == [
        "torch.nn.functional.conv2d(",
        "    x0, x0, bias=None, stride=(1, 2), padding=(3, 4), dilation=(5, 6), groups=1000,",
        ")",
    ]


def test_the_report_shows_shapes_and_points_at_the_call(relu_gradient):
    assert program_text(relu_gradient, 1) == (
        'x0 = tensor((2, 2), "float32", requires_grad=True)\n'
        "v1 = torch.nn.functional.relu(x0)  # <-- first divergent call\n"
        'v1.backward(tensor((2, 2), "float32"))'
    )
    # A cotangent is written inside of the call that reads it.
    assert program_text(relu_gradient, 2).splitlines()[2].endswith("# <-- first divergent call")


def test_an_operand_without_source_names_its_call():
    program = Program((Call("function", "relu", (object(),), {}, 0),), ())
    with pytest.raises(NotReplayable, match=r"call 0 \(function relu\)"):
        program_text(program)


def test_the_same_program_gives_the_same_text(relu_gradient):
    once = reproducer(ScriptSubject(relu_gradient, (TORCH, TORCH), "t", ()), Criterion())
    again = Program(
        tuple(call._replace(kwargs=dict(call.kwargs)) for call in relu_gradient.calls),
        tuple(Array(array.data.copy(), array.dtype) for array in relu_gradient.arrays),
    )
    assert reproducer(ScriptSubject(again, (TORCH, TORCH), "t", ()), Criterion()) == once


def test_captured_arrays_outside_of_tensors_are_written_too():
    program = Program(
        (Call("function", "from_numpy", (Captured(0),), {}, 0),), (Array(np.zeros(2, "float32"), "float32"),)
    )
    assert program_text(program) == 'torch.from_numpy(array((2,), "float32"))'
    assert "torch.from_numpy(A0)" in body(program)


@pytest.mark.parametrize("operand", [OrderedDict(a=1), [OrderedDict(a=1)], {"k": (2, OrderedDict(a=1))}])
def test_an_ordered_dict_is_imported_at_any_depth(build, operand):
    build.function("made", operand)
    build.call("getattr", "shape", build.function("made", kept=operand))
    text = reproducer(ScriptSubject(build.program(), (TORCH, TORCH), "t", ()), Criterion())
    assert text.count('collections.OrderedDict({"a": 1})') == 2
    assert "import collections\n" in text
