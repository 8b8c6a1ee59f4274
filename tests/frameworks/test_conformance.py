"""The conformance kit finds faults that are planted in an adapter, and none in a right one."""

from __future__ import annotations

import contextlib
import itertools
import sys

import numpy as np
import pytest

from autotest import random_tensor, torch
from autotest.cli import main
from autotest.comparison import TensorValue
from autotest.emission import Script
from autotest.frameworks import framework
from autotest.frameworks.torch import TorchFramework
from autotest.program import Array, Root
from autotest.running.conformance.checking import check_names, conformance
from autotest.running.conformance.in_processes import conformance_in_processes
from tests.support import block_framework
from tests.support.running import agrees, trial


def planted(**methods):
    """Return torch's adapter with some methods replaced."""
    return type("Planted", (TorchFramework,), methods)()


def plain(name):
    return getattr(TorchFramework, name)


def replaced(kind, target, replacement):
    """Return torch's adapter with one operation replaced."""

    def operation(self, asked, name):
        found = plain("operation")(self, asked, name)
        return replacement(found) if (asked, name) == (kind, target) else found

    return planted(operation=operation)


def read_as(change):
    """Return torch's adapter that reads values in another way."""
    return planted(values=lambda self, tensors: change(plain("values")(self, tensors)))


def only(value, **changes):
    return TensorValue(
        **{name: changes.get(name, getattr(value, name)) for name in ("data", "dtype", "device", "requires_grad")}
    )


class Wrapped:
    """A tensor in an object of another class, with its attributes."""

    def __init__(self, inner):
        self.inner = inner

    def __getattr__(self, name):
        return getattr(self.inner, name)


def scripted(**attributes):
    """Return the adapter of blocks, with other texts for its scripts."""
    return type("Planted", (block_framework.BlockFramework,), attributes)()


FAULTS = {
    "memory is shared": (planted(from_numpy=lambda self, data: self.root.from_numpy(np.ascontiguousarray(data))), "does not share memory"),
    "a dtype is widened": (read_as(lambda found: [only(one, data=one.data.astype("float64")) for one in found]), "round trip of float32"),
    "bfloat16 has another name": (read_as(lambda found: [only(one, dtype=one.dtype.replace("b", "", 1)) for one in found]), "round trip of bfloat16"),
    "the device is called otherwise": (planted(device_type=lambda self, tensor: "cpu:0"), "the device"),
    "requires_grad is forgotten": (planted(tensor=lambda self, array, *, device="cpu", requires_grad=False: plain("tensor")(self, array)), "requires_grad"),
    "tensors come back in reverse": (read_as(lambda found: found[::-1]), "keeps the order"),
    "gradients are of another class": (planted(gradient=lambda self, tensor: Wrapped(plain("gradient")(self, tensor))), "gradients have the dtype"),
    "parameters are of another class": (planted(parameters=lambda self, module: {name: Wrapped(one) for name, one in plain("parameters")(self, module).items()}), "parameters and buffers"),
    "unknown names are found": (planted(resolve=lambda self, path: plain("resolve")(self, "relu" if path == "no_such_name" else path)), "unknown name"),
    "nothing is expanded": (replaced("method", "expand", lambda found: lambda x, *sizes: x), "can be expanded"),
    "a refusal is swallowed": (replaced("function", "matmul", lambda found: lambda *operands: operands[0]), "invalid call raises"),
    "nothing is overwritten": (planted(overwrite=lambda self, tensor, array: None), "overwrite()"),
    "gradients are lost": (planted(gradient=lambda self, tensor: None), "gradients of leaves"),
    "gradients are never forgotten": (planted(forget_gradient=lambda self, tensor: None), "can be cleared"),
    "gradients as values stay in the leaves": (
        planted(gradients=lambda self, outputs, inputs, cotangents, *, create_graph=False: outputs[0].backward(cotangents[0]) or [one.grad for one in inputs]),
        "leaves no gradient in leaves",
    ),
    "a part of the state is not loaded": (planted(load_state=lambda self, module, state: plain("load_state")(self, module, {"weight": state["weight"]})), "state of modules"),
    "a parameter is missing": (planted(parameters=lambda self, module: {"weight": module.weight}), "state of modules"),
    "a dtype comes back as another": (planted(literal=lambda self, value: Root("float32") if isinstance(value, self.root.dtype) else plain("literal")(self, value)), "dtypes convert"),
    "no leaf holds a gradient": (planted(holds_gradient=lambda self, tensor: False), "hold gradients"),
    "views are copies": (replaced("method", "transpose", lambda found: lambda *given: found(*given).clone()), "calls change views"),
    "gradients go on within no_grad": (replaced("function", "no_grad", lambda found: lambda: __import__("contextlib").nullcontext()), "inside no_grad"),
    "shapes are reversed": (planted(shape=lambda self, tensor: tuple(tensor.shape)[::-1]), "shapes and dtypes"),
    "the seed is not set": (planted(seed=lambda self, seed: None), "same seed"),
    "whole numbers go through float32": (
        read_as(lambda found: [only(one, data=one.data.astype("float32").astype("int64")) if one.dtype == "int64" else one for one in found]), "integers are exact"),
    "imaginary parts change their sign": (read_as(lambda found: [only(one, data=one.data.conj()) for one in found]), "complex numbers"),
    "an array in columns is read in rows": (planted(from_numpy=lambda self, data: self.root.from_numpy(data.ravel("K").reshape(data.shape).copy())), "column order"),
    "strides are those of the shape": (planted(strides=lambda self, tensor: (tensor.shape[1], 1)), "strides are reported"),
    "keywords are dropped": (replaced("function", "sum", lambda found: lambda *given, **named: found(*given)), "by position and by name"),
    "operands change places": (replaced("operator", "sub", lambda found: lambda one, other: found(other, one)), "by position and by name"),
    "the second result is the first": (replaced("method", "max", lambda found: lambda *given, **named: [found(*given, **named)[0]] * 2), "several results"),
    "x += 1 makes another": (replaced("operator", "iadd", lambda found: lambda one, other: one + other), "in-place operators"),
    "add_ makes another": (replaced("method", "add_", lambda found: lambda one, other: one + other), "in-place methods"),
    "other memory is put under a tensor": (planted(overwrite=lambda self, tensor, array: setattr(tensor, "data", self.root.tensor(array.data))), "overwrite() changes views"),
    "float() rounds": (replaced("builtin", "float", lambda found: lambda value: float(round(found(value)))), "built-in functions"),
    "attributes stay as they are": (replaced("setattr", "requires_grad", lambda found: lambda owner, value: None), "attributes can be set"),
    "cotangents are ones": (
        planted(gradients=lambda self, outputs, inputs, cotangents, *, create_graph=False: plain("gradients")(
            self, outputs, inputs, [one * 0 + 1 for one in cotangents], create_graph=create_graph)), "cotangents"),
    "gradients are constants": (
        planted(gradients=lambda self, outputs, inputs, cotangents, *, create_graph=False: plain("gradients")(self, outputs, inputs, cotangents)), "gradients of gradients"),
    "no gradient is retained": (planted(retain_gradient=lambda self, tensor: None), "not leaves"),
    "modes stay": (planted(restore=lambda self, modes: None), "modes can be restored"),
    "buffers are missing": (planted(buffers=lambda self, module: {}), "nested parameters"),
    "nested parameters lose their path": (
        planted(parameters=lambda self, module: {name.rpartition(".")[2]: one for name, one in module.named_parameters()}), "nested parameters"),
    "no device is told": (planted(devices=lambda self: ()), "version and devices"),
    "scripts import something else": (planted(script=lambda self: Script("torch", ("import math as torch",), "torch")), "a reproducer"),
    "float64 goes through float32": (
        planted(from_numpy=lambda self, data: self.root.from_numpy(np.array(data.astype("float32"), data.dtype))), "float64 is exact"),
    "minus zero is lost where it is written": (
        planted(overwrite=lambda self, tensor, array: plain("overwrite")(self, tensor, Array(np.asarray(array.data + array.data.dtype.type(0)), array.dtype))), "special values"),
    "int64 is cut off where it is written": (
        planted(overwrite=lambda self, tensor, array: plain("overwrite")(self, tensor, Array(array.data.astype("int32").astype(array.data.dtype), array.dtype))),
        "integers are exact"),
    "numbers as operands are floats": (replaced("operator", "add", lambda found: lambda one, other: found(one, float(other))), "numbers as operands"),
    "slices are copies": (replaced("operator", "getitem", lambda found: lambda *given: found(*given) if isinstance(given[0], tuple) else found(*given).clone()), "calls change views"),
    "reshaped views are copies": (replaced("method", "view", lambda found: lambda *given: found(*given).clone()), "views of another shape"),
    "comparisons give bytes": (replaced("operator", "gt", lambda found: lambda *given: found(*given).byte()), "comparisons return bool tensors"),
    "booleans are bytes": (
        planted(from_numpy=lambda self, data: self.root.from_numpy(data.astype("uint8") if data.dtype == bool else data.copy()),
                values=lambda self, tensors: [only(one, data=one.data.astype(bool), dtype="bool") if one.dtype == "uint8" else one for one in plain("values")(self, tensors)]),
        "bool tensors as booleans"),
    "dtypes that are asked for are dropped": (replaced("method", "to", lambda found: lambda value, *given: value), "requested dtype"),
    "gradients are read in double precision": (planted(gradient=lambda self, tensor: None if tensor.grad is None else tensor.grad.double()), "dtype and shape of their leaf"),
    "gradients are read flat": (planted(gradient=lambda self, tensor: None if tensor.grad is None else tensor.grad.flatten()), "dtype and shape of their leaf"),
    "forgotten gradients are zeros": (planted(forget_gradient=lambda self, tensor: None if tensor.grad is None else tensor.grad.zero_()), "can be cleared"),
    "complex gradients are conjugates of torch's": (
        planted(gradient=lambda self, tensor: None if tensor.grad is None else tensor.grad.conj()), "gradients of complex tensors"),
    "what is detached requires grad": (replaced("method", "detach", lambda found: lambda value: value.clone()), "stop at detached"),
    "a cotangent is cut to fit": (replaced("method", "backward", lambda found: lambda value, given: found(value, given[: len(value)])), "cotangent of another shape"),
    "a mask is read as places": (replaced("operator", "getitem", lambda found: lambda one, at: found(one, at.long() if hasattr(at, "long") else at)), "a mask selects"),
    "a tensor is not written": (replaced("operator", "setitem", lambda found: lambda one, at, value: found(one, at, value) if isinstance(value, float) else None), "written into another one"),
    "shapes are lists": (replaced("getattr", "shape", lambda found: lambda value: list(found(value))), "attributes can be read"),
    "an item is a tensor": (replaced("method", "item", lambda found: lambda value: value), "tensors convert to numbers"),
    "int() rounds up": (replaced("builtin", "int", lambda found: lambda value: found(value) + 1), "built-in functions"),
    "dimensions are not kept": (replaced("method", "sum", lambda found: lambda value, **named: found(value, dim=named["dim"])), "by position and by name"),
    "parameters come in another order": (replaced("method", "parameters", lambda found: lambda module: list(found(module))[::-1]), "keep their order"),
    "a loaded state shares memory": (
        planted(load_state=lambda self, module, state: [setattr(self.state(module)[name], "data", self.root.from_numpy(array.data)) for name, array in state.items()]), "state of modules"),
    "only parameters are loaded": (
        planted(load_state=lambda self, module, state: plain("load_state")(self, module, {name: state[name] for name in state if name in self.parameters(module)})), "training and evaluation"),
    "eval is not heard": (replaced("method", "eval", lambda found: lambda module: module), "training and evaluation"),
    "modules are tensors": (planted(is_tensor=lambda self, value: hasattr(value, "to")), "recognises tensors"),
    "powers change places": (replaced("operator", "pow", lambda found: lambda one, other: found(other, one)), "each operator"),
    "a floor cuts off": (replaced("operator", "floordiv", lambda found: lambda one, other: (one / other).trunc()), "each operator"),
    "a number on the left is one on the right": (
        replaced("operator", "sub", lambda found: lambda one, other: found(one, other) if hasattr(one, "shape") else found(other, one)), "each operator"),
    "numbers lose digits": (replaced("operator", "mul", lambda found: lambda one, other: found(one, float(np.float16(other)) if isinstance(other, float) else other)), "each operator"),
    "an index from the end is one from the start": (
        replaced("operator", "getitem", lambda found: lambda one, at: found(one, abs(at)) if isinstance(at, int) else found(one, at)), "indices"),
    "None is no index": (
        replaced("operator", "getitem", lambda found: lambda one, at: found(one, tuple(it for it in at if it is not None)) if isinstance(at, tuple) else found(one, at)), "indices"),
    "a dimension is always the last": (replaced("function", "softmax", lambda found: lambda one, dim: found(one, dim=-1)), "along a dimension"),
    "integers become floats": (replaced("operator", "add", lambda found: lambda one, other: found(one, other) * 1.0), "Python numbers"),
    "conversions round": (replaced("method", "to", lambda found: lambda one, dtype: found(one.round(), dtype)), "truncates"),
    "everything is true": (replaced("builtin", "bool", lambda found: lambda one: True), "truth values"),
    "infinity is the largest number": (
        planted(from_numpy=lambda self, data: plain("from_numpy")(self, np.nan_to_num(data, nan=np.nan) if data.dtype == "float64" else data)), "each floating dtype"),
    "nothing has one dimension": (
        planted(tensor=lambda self, array, *, device="cpu", requires_grad=False: plain("tensor")(
            self, Array(array.data.reshape(-1), array.dtype) if not array.data.size else array, requires_grad=requires_grad)), "dimensions or elements"),
    "a clone shares memory": (replaced("method", "clone", lambda found: lambda value: value), "clones are copies"),
    "a view is left behind": (replaced("method", "add_", lambda found: lambda one, other: found(one if one._base is None else one.clone(), other)), "changes its base"),
    "masks are not overwritten": (planted(overwrite=lambda self, tensor, array: None if array.dtype == "bool" else plain("overwrite")(self, tensor, array)), "each dtype and layout"),
    "gradients stop at views": (replaced("operator", "getitem", lambda found: lambda one, at: found(one.detach(), at).requires_grad_(one.requires_grad)), "through views"),
    "only the first is pushed back": (replaced("function", "autograd.backward", lambda found: lambda outputs, given: found(outputs[:1], given[:1])), "several outputs together"),
    "graphs are never kept": (replaced("method", "backward", lambda found: lambda value, given, **named: found(value, given)), "allows a second backward"),
    "gradients as values require grad": (
        planted(gradients=lambda self, outputs, inputs, cotangents, *, create_graph=False: plain("gradients")(self, outputs, inputs, cotangents, create_graph=True)), "returns constants"),
    "everything is provided": (planted(provides=lambda self, kind, target, owner: True), "unknown names inside"),
    "everything is the same": (planted(same=lambda self, one, other: True), "recognises the same"),
    "a state puts other parameters there": (
        planted(load_state=lambda self, module, state: [setattr(module, name, self.root.nn.Parameter(self.tensor(array))) for name, array in state.items()]), "parameters and buffers of"),
    "keywords of modules are dropped": (replaced("function", "nn.Linear", lambda found: lambda *given, **named: found(*given)), "parameters and buffers of"),
    "a loaded state without elements requires no grad": (
        planted(load_state=lambda self, module, state: [plain("load_state")(self, module, state), [one.requires_grad_(one.numel() > 0) for one in self.parameters(module).values()]]), "requires the same gradients"),
    "scripts read results as NumPy's": (scripted(list_text="{}.tolist()"), "reads results"),
    "scripts read a dtype's own name": (scripted(dtype_text="other.kind({}).replace('bool', 'bool_')"), "reads dtypes"),
    "scripts read gradients of another function": (
        scripted(gradient_lines=("{gradients}, *_ = {leaves}, {cotangents}",)), "reads gradients"),
    "NaN is read as zero": (read_as(lambda found: [only(one, data=np.nan_to_num(one.data)) if one.dtype == "float32" else one for one in found]), "special values"),
}  # fmt: skip


@pytest.mark.parametrize(("adapter", "check"), FAULTS.values(), ids=FAULTS)
def test_a_planted_fault_is_found(adapter, check):
    wrong = [item.name for item in conformance(adapter) if item.outcome == "WRONG"]
    assert any(check in name for name in wrong), wrong


def test_lines_of_scripts_that_raise_are_told_with_where_they_are_from():
    found = conformance(scripted(gradient_lines=("({gradients}) = other.derivative({leaves})",)))
    (wrong,) = [item.why for item in found if item.outcome == "WRONG"]
    assert "raise AttributeError" in wrong
    assert "((g0,) = other.derivative(x0))" in wrong
    assert "the adapter's `gradient_lines` are such lines" in wrong


def without(dtype, *, named):
    """Return torch's adapter, which cannot create tensors of `dtype`, and knows the name of the dtype only if `named`."""

    def tensor(self, array, **named):
        if array.dtype == dtype:
            raise TypeError(f"{dtype} is not there")
        return plain("tensor")(self, array, **named)

    def resolve(self, path):
        if path == dtype and not named:
            raise AttributeError(path)
        return plain("resolve")(self, path)

    return planted(tensor=tensor, resolve=resolve)


@pytest.mark.parametrize("dtype", ["float64", "complex64", "float16", "int8"])
def test_a_dtype_that_an_adapter_names_and_cannot_make_is_its_fault_and_one_that_it_lacks_is_not(dtype):
    def outcomes(adapter):
        return {item.outcome for item in conformance(adapter) if f" {dtype}" in f" {item.name} {item.why}"}

    assert "absent" in outcomes(without(dtype, named=False))
    assert "WRONG" not in outcomes(without(dtype, named=False))
    assert outcomes(without(dtype, named=True)) == {"WRONG"}


@pytest.mark.parametrize("adapter", [framework("torch"), block_framework.framework()], ids=lambda it: it.name)
def test_nothing_is_found_in_a_right_adapter(adapter):
    assert [item for item in conformance(adapter) if item.outcome == "WRONG"] == []


def test_the_command_prints_a_table_and_tells_by_its_status(capsys):
    assert main(["conformance", "torch"]) == 0
    assert "91 checks: 0 wrong" in capsys.readouterr().out
    assert main(["conformance", "tests.support.faults:wrong_relu"]) == 0
    assert main(["conformance", "torch:meta"]) == 2  # where nothing can be read
    assert main(["conformance", "onefow"]) == 2
    assert "Did you mean 'oneflow'" in capsys.readouterr().err


#: Each fault is met by one check: every one that dies or hangs costs a process that imports torch, and the deadline.
DYING = """
import os, pathlib, time
from autotest.frameworks.torch import TorchFramework

class Dying(TorchFramework):
    def overwrite(self, tensor, array):
        if array.data.tolist() == [5.0, 6.0]:
            os.abort()
        super().overwrite(tensor, array)

    def parameters(self, module):
        if not pathlib.Path("hung").exists():
            pathlib.Path("hung").touch()
            time.sleep(60)
        return super().parameters(module)

class NotEvenImported(TorchFramework):
    @property
    def version(self):
        os.abort()
"""


def test_a_check_that_kills_its_process_or_never_ends_is_wrong_and_costs_no_other_check(tmp_path, monkeypatch, warm):
    (tmp_path / "dying.py").write_text(DYING)
    monkeypatch.chdir(tmp_path)
    checked = [item for _, item in conformance_in_processes("dying:Dying", deadline=10)]
    found = {item.name: item.why for item in checked if item.outcome == "WRONG"}
    assert [item.name for item in checked] == check_names()
    assert found == {
        "overwrite() changes contents outside of autograd": "its process died (SIGABRT)",
        "state of modules": "no answer in 10 s",
    }


def test_a_result_is_told_before_a_later_check_hangs(tmp_path, monkeypatch, warm):
    (tmp_path / "dying.py").write_text(DYING)
    monkeypatch.chdir(tmp_path)
    before = check_names().index("state of modules")
    with contextlib.closing(conformance_in_processes("dying:Dying", deadline=600)) as results:
        assert [item.name for _, item in itertools.islice(results, before)] == check_names()[:before]


def test_a_framework_that_dies_when_it_is_imported_is_told_in_one_sentence(tmp_path, monkeypatch, capsys):
    (tmp_path / "dying.py").write_text(DYING)
    monkeypatch.chdir(tmp_path)
    assert main(["conformance", "dying:NotEvenImported"]) == 3
    told = capsys.readouterr().err
    assert told == (
        "autotest: the framework of 'dying:NotEvenImported' cannot be imported: its process died (SIGABRT)\n"
    )


def test_a_lazy_framework_may_refuse_a_call_when_its_result_is_read():
    class Lazy(TorchFramework):
        def operation(self, kind, target):
            found = super().operation(kind, target)
            return lambda *args, **kwargs: _later(found, args, kwargs)

        def values(self, tensors):
            return super().values([one() if callable(one) else one for one in tensors])

    def _later(found, args, kwargs):
        try:
            return found(*args, **kwargs)
        except RuntimeError as error:
            raised = error

        def made():
            raise raised

        return made

    items = {item.name: item.outcome for item in conformance(Lazy())}
    assert items["an invalid call raises an exception"] == "ok"


def test_a_skeleton_is_an_adapter_that_runs(tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    monkeypatch.syspath_prepend(tmp_path)
    assert main(["adapter", "new", "torch"]) == 0
    assert main(["conformance", "torch_adapter:factory"]) == 0
    assert main(["adapter", "new", "torch"]) == 2
    assert main(["adapter", "new", "no name"]) == 2
    assert "exists already and was not changed" in capsys.readouterr().err


def test_a_skeleton_of_functions_lacks_nothing_but_its_gradients(tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(sys, "path", [one for one in sys.path if one])
    assert main(["adapter", "new", "numpy", "--functions"]) == 0
    assert main(["conformance", "numpy_adapter:factory"]) == 1  # imported from the folder into which it was written
    told = capsys.readouterr().out.splitlines()
    assert not any("has no expand" in line for line in told), "without it, trials with expanded gradients are rejected"
    wrong = [line for line in told if "WRONG" in line]
    assert wrong
    assert all("NotImplementedError: define how numpy differentiates" in line for line in wrong)


def test_a_skeleton_of_kernels_compares_what_it_names(tmp_path, monkeypatch, capsys):
    (tmp_path / "own_kernels.py").write_text(
        "import numpy as np\n"
        "def relu(x): return np.maximum(x, 0)\n"
        "def relu_backward(gradient, x): return gradient * (x > 0)\n"
        "def softmax(x, axis): return np.exp(x) / np.exp(x).sum(axis, keepdims=True)\n"
        "def softmax_backward(gradient, y, axis): return y * (gradient - (gradient * y).sum(axis, keepdims=True))\n"
    )
    monkeypatch.chdir(tmp_path)
    monkeypatch.syspath_prepend(tmp_path)
    assert main(["adapter", "new", "own_kernels", "--kernels"]) == 0
    assert main(["conformance", "own_kernels_adapter:factory"]) == 0
    candidate = framework("own_kernels_adapter:factory")

    def body():
        x = random_tensor(shape=(3, 4), low=-1, high=1)
        return torch.relu(x), torch.softmax(x, 1)

    assert agrees(trial(body, candidate, special_values=False))
    with pytest.raises(SystemExit):
        main(["adapter", "new", "own_kernels", "--kernels", "--functions"])
    assert "not allowed with argument" in capsys.readouterr().err


def test_a_number_of_numpy_is_a_tensor_without_dimensions_in_a_framework_of_functions(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    assert main(["adapter", "new", "numpy", "--functions"]) == 0
    (tmp_path / "numpy_adapter.py").rename(
        tmp_path / "numpy_functions.py"
    )  # another test imports a module of that name
    adapter = framework("numpy_functions:factory")
    for dtype in ("float32", "float64"):  # NumPy's float64 is a `float`, and its float32 is not
        total = adapter.invoke("function", "sum", (adapter.tensor(Array(np.ones(3, dtype), dtype)),), {})
        assert adapter.dtype_of(total) == dtype
        assert adapter.shape(total) == ()
