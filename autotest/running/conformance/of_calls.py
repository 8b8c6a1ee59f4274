"""More requirements on an adapter: operands, results, in-place writes, seeds, gradients and modules."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import numpy as np

from autotest.comparison.rejection import first_line
from autotest.frameworks import Absent, Framework
from autotest.program import Array
from autotest.running.conformance.tools import call, need, read, same, tensor_of, tensor_of_dtype


def checks() -> Iterator[tuple[str, Callable[[Framework], None]]]:
    """Yield each check with its name."""
    yield "integers are exact", _digits
    yield "float64 is exact", _fractions
    yield "numbers as operands are exact", _numbers
    yield "complex numbers are exact", _complex
    yield "round trip of an array in column order", _array_in_columns
    yield "strides are reported", _strides
    yield "tensors can be expanded, as some cotangents are", _expanded
    yield "operands by position and by name", _operands
    yield "each of several results", _several_results
    yield "in-place operators", _in_place
    yield "in-place methods", _in_place_method
    yield "overwrite() changes views", _overwritten_views
    yield "Python's built-in functions", _builtins
    yield "tensors convert to numbers", _numbers_of_tensors
    yield "attributes can be set", _attributes_set
    yield "attributes can be read", _attributes_read
    yield "the same seed gives the same random numbers", _seeds
    yield "gradients use the given cotangents", _cotangents
    yield "gradients of gradients", _twice
    yield "gradients of tensors that are not leaves", _kept
    yield "modes can be restored", _modes
    yield "buffers, and names of nested parameters", _names
    yield "version and devices", _version


def _digits(framework: Framework) -> None:
    number = 2**53 + 1
    same(read(framework, tensor_of(framework, [0], "int64")), [0], "int64")
    tensor = tensor_of(framework, [number, -number], "int64")
    found = read(framework, tensor).tolist()
    need(found == [number, -number], f"expected {[number, -number]}, got {found}")
    framework.overwrite(tensor, Array(np.array([-number, number]), "int64"))
    found = read(framework, tensor).tolist()
    need(found == [-number, number], f"overwritten with {[-number, number]}, got {found}")


def _fractions(framework: Framework) -> None:
    third = np.array([1 / 3, -1e-300])
    tensor = tensor_of_dtype(framework, Array(np.zeros(2), "float64"))
    found = read(framework, tensor_of(framework, third, "float64")).tolist()
    need(found == third.tolist(), f"expected {third.tolist()}, got {found}")
    framework.overwrite(tensor, Array(third, "float64"))
    found = read(framework, tensor).tolist()
    need(found == third.tolist(), f"overwritten with {third.tolist()}, got {found}")


def _numbers(framework: Framework) -> None:
    number = 2**53
    found = framework.invoke("operator", "add", (tensor_of(framework, [1, -1], "int64"), number), {})
    actual = read(framework, found).tolist()
    need(framework.dtype_of(found) == "int64", f"int64 + {number}: expected int64, got {framework.dtype_of(found)}")
    need(actual == [number + 1, number - 1], f"int64 + {number}: expected {[number + 1, number - 1]}, got {actual}")


def _complex(framework: Framework) -> None:
    data = np.array([1 + 2j, -3 - 4j], "complex64")
    tensor = tensor_of_dtype(framework, Array(data, "complex64"))
    same(read(framework, tensor), data, "complex64")


def _array_in_columns(framework: Framework) -> None:
    data = np.asfortranarray(np.arange(6, dtype="float32").reshape(2, 3))
    same(read(framework, framework.tensor(Array(data, "float32"))), data, "of an array in column order")


def _strides(framework: Framework) -> None:
    if not framework.has_strides:
        raise Absent(framework.name, "strides")
    x = tensor_of(framework, np.ones((2, 3)))
    found = framework.strides(x), framework.strides(framework.invoke("method", "transpose", (x, 0, 1), {}))
    need(found == ((3, 1), (1, 3)), f"of (2, 3) and its transpose: expected ((3, 1), (1, 3)), got {found}")


def _expanded(framework: Framework) -> None:
    column = tensor_of(framework, [[1.0], [2.0]])
    widened = call(framework, "method", "expand", column, (2, 3))
    same(read(framework, widened), [[1, 1, 1], [2, 2, 2]], "x.expand((2, 3))")


def _operands(framework: Framework) -> None:
    x = tensor_of(framework, [[1.0, 2.0], [3.0, 5.0]])
    same(read(framework, framework.invoke("operator", "sub", (x, 1.0), {})), [[0, 1], [2, 4]], "x - 1")
    same(read(framework, framework.invoke("operator", "sub", (1.0, x), {})), [[0, -1], [-2, -4]], "1 - x")
    same(read(framework, framework.invoke("function", "sum", (x,), {"dim": 0})), [4, 7], "sum(x, dim=0)")
    same(read(framework, framework.invoke("function", "sum", (x, 0), {})), [4, 7], "sum(x, 0)")
    kept = framework.invoke("method", "sum", (x,), {"dim": 1, "keepdim": True})
    same(read(framework, kept), [[3], [8]], "x.sum(dim=1, keepdim=True)")
    same(read(framework, call(framework, "operator", "matmul", x, x)), [[7, 12], [18, 31]], "x @ x")
    same(read(framework, call(framework, "operator", "truediv", 3.0, x)), [[3, 1.5], [1, 0.6]], "3 / x")


def _several_results(framework: Framework) -> None:
    x = tensor_of(framework, [[1.0, 5.0, 2.0], [7.0, 3.0, 4.0]])
    made = call(framework, "method", "max", x, dim=1)
    values, places = (framework.invoke("operator", "getitem", (made, at), {}) for at in range(2))
    same(read(framework, values), [5, 7], "x.max(dim=1)[0]")
    same(read(framework, places), [1, 0], "x.max(dim=1)[1]")


def _in_place(framework: Framework) -> None:
    x = tensor_of(framework, [1.0, 2.0])
    same(read(framework, framework.invoke("operator", "iadd", (x, 1.0), {})), [2, 3], "the result of x += 1")
    if framework.translates and read(framework, x).tolist() == [1, 2]:
        raise Absent(framework.name, "x += 1 in place")
    same(read(framework, x), [2, 3], "x after x += 1")


def _in_place_method(framework: Framework) -> None:
    x = tensor_of(framework, [1.0, 2.0])
    call(framework, "method", "add_", x, tensor_of(framework, [1.0, 1.0]))
    same(read(framework, x), [2, 3], "x after x.add_(1)")


def _overwritten_views(framework: Framework) -> None:
    x = tensor_of(framework, [[1.0, 2.0], [3.0, 4.0]])
    turned = framework.invoke("method", "transpose", (x, 0, 1), {})
    framework.overwrite(x, Array(np.array([[5.0, 6.0], [7.0, 8.0]], "float32"), "float32"))
    same(read(framework, turned), [[5, 7], [6, 8]], "a view, after overwrite() of its base")


def _builtins(framework: Framework) -> None:
    def called(name: str, value: Any) -> Any:
        return framework.known(framework.invoke("builtin", name, (value,), {}))

    x, one = tensor_of(framework, [[1.0, 2.0, 3.0], [4.0, 5.0, 6.0]]), tensor_of(framework, 2.5)
    need(called("len", x) == 2, f"len of (2, 3): expected 2, got {called('len', x)}")
    need(called("float", one) == 2.5, f"float(2.5): got {called('float', one)}")
    need(called("bool", one) is True, f"bool(2.5): got {called('bool', one)}")
    need(called("int", one) == 2, f"int(2.5): got {called('int', one)}")
    rows = called("list", x)
    need(len(rows) == 2, f"list of (2, 3): expected two tensors, got {rows}")
    same(read(framework, rows[1]), [4, 5, 6], "the second row of list(x)")


def _numbers_of_tensors(framework: Framework) -> None:
    found = framework.known(call(framework, "method", "item", tensor_of(framework, 2.5)))
    need(type(found) is float and found == 2.5, f"the item of 2.5: expected the number, got {found!r}")
    found = framework.known(call(framework, "method", "tolist", tensor_of(framework, [[1, 2]], "int64")))
    need(found == [[1, 2]], f"[[1, 2]] as a list: got {found!r}")


def _attributes_set(framework: Framework) -> None:
    x = tensor_of(framework, [1.0])
    framework.invoke("setattr", "requires_grad", (x, True), {})
    need(framework.values([x])[0].requires_grad, "x.requires_grad = True has no effect")


def _attributes_read(framework: Framework) -> None:
    x = tensor_of(framework, np.ones((2, 3)), requires_grad=True)
    shape = framework.known(call(framework, "getattr", "shape", x))
    actual = shape if isinstance(shape, tuple) else framework.literal(shape)
    need(isinstance(actual, tuple) and tuple(actual) == (2, 3), f"x.shape: expected (2, 3), got {shape!r}")
    framework.invoke("method", "backward", (x, tensor_of(framework, np.ones((2, 3)))), {})
    gradient = call(framework, "getattr", "grad", x)
    need(framework.known(gradient) is not None, "x.grad after a backward: expected a tensor, got None")
    same(read(framework, gradient), np.ones((2, 3)), "x.grad")


def _seeds(framework: Framework) -> None:
    def drawn(seed: int) -> Any:
        framework.seed(seed)
        return read(framework, framework.invoke("function", "rand", (8,), {})).tolist()

    try:
        first = drawn(3)
    except Absent:
        raise
    except Exception as error:
        raise Absent(framework.name, f"rand ({first_line(error)[:80]})") from error
    again, other = drawn(3), drawn(4)
    need(first == again, "rand returns other numbers after the same seed")
    need(first != other, "rand returns the same numbers after another seed")


def _cotangents(framework: Framework) -> None:
    x = tensor_of(framework, [3.0], requires_grad=True)
    outputs = [framework.invoke("operator", "mul", (x, factor), {}) for factor in (x, 3.0)]
    (found,) = framework.gradients(outputs, [x], [tensor_of(framework, [2.0]), tensor_of(framework, [5.0])])
    same(read(framework, found), [27], "the gradient of x * x and 3 * x for 2 and 5")


def _twice(framework: Framework) -> None:
    x, one = tensor_of(framework, [3.0], requires_grad=True), tensor_of(framework, [1.0])
    squared = framework.invoke("operator", "mul", (x, x), {})
    try:
        (first,) = framework.gradients([squared], [x], [one], create_graph=True)
        framework.synchronize()
    except NotImplementedError as error:
        raise Absent(framework.name, "gradients of gradients") from error
    (second,) = framework.gradients([first], [x], [one])
    need(second is not None, "after create_graph=True: expected a gradient of the gradient, got None")
    same(read(framework, second), [2], "the gradient of the gradient of x * x")


def _kept(framework: Framework) -> None:
    x = tensor_of(framework, [3.0], requires_grad=True)
    between = framework.invoke("operator", "mul", (x, 2.0), {})
    need(framework.can_backpropagate(between), "can_backpropagate() of a result of a leaf: expected True, got False")
    able = True
    try:
        framework.retain_gradient(between)
    except NotImplementedError:
        able = False
        framework.keep_gradient(between)
    squared = framework.invoke("operator", "mul", (between, between), {})
    framework.invoke("method", "backward", (squared, tensor_of(framework, [1.0])), {})
    found = framework.known(framework.gradient(between))
    if found is None and not able:
        raise Absent(framework.name, "gradients of tensors that are not leaves")
    need(found is not None, "after retain_gradient(): expected a gradient, got None")
    same(read(framework, found), [12], "the gradient of y * y for y = 6")


def _modes(framework: Framework) -> None:
    modes = framework.modes()
    try:
        double = framework.resolve("float64")
        framework.invoke("function", "set_default_dtype", (double,), {})
    except AttributeError as error:
        raise Absent(framework.name, "set_default_dtype") from error
    framework.restore(modes)
    found = framework.dtype_of(framework.invoke("function", "ones", (1,), {}))
    framework.invoke("function", "set_default_dtype", (framework.resolve("float32"),), {})
    need(
        modes is None or found == "float32",
        f"the default dtype after modes were restored: expected float32, got {found}",
    )


def _names(framework: Framework) -> None:
    layers = call(framework, "function", "nn.Linear", 2, 3), call(framework, "function", "nn.BatchNorm1d", 3)
    both = call(framework, "function", "nn.Sequential", *layers)
    for kind, held, wanted in (
        ("parameters", framework.parameters(both), ["0.bias", "0.weight", "1.bias", "1.weight"]),
        ("buffers", framework.buffers(both), ["1.running_mean", "1.running_var"]),
    ):
        names = sorted({*held} - {"1.num_batches_tracked"})
        need(names == wanted, f"{kind} of Sequential(Linear, BatchNorm1d): expected {wanted}, got {names}")


def _version(framework: Framework) -> None:
    need(bool(framework.version), "version is empty")
    need(framework.devices()[:1] == ("cpu",), f"devices: expected 'cpu' first, got {framework.devices()}")
