"""Requirements on the semantics of an adapter's calls: operators, indices, copies, Python numbers, names."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any, Final

import numpy as np

from autotest.frameworks import Absent, Framework
from autotest.frameworks.pair import warnings_ignored
from autotest.program import Array
from autotest.running.conformance.tools import call, must_be_tensors, need, read, same, tensor_of, tensor_of_dtype

#: Operator, operands (lists become tensors), and expected result.
_OPERATORS: Final[tuple[tuple[str, tuple[Any, ...], Any], ...]] = (
    ("sub", ([5.0, 7.0], [2.0, 3.0]), [3, 4]),
    ("sub", (10.0, [1.0, 2.0]), [9, 8]),
    ("pow", ([2.0, 3.0], 3.0), [8, 27]),
    ("truediv", ([1.0, 3.0], 2.0), [0.5, 1.5]),
    ("floordiv", ([-7.0, 7.0], 2.0), [-4, 3]),
    ("mod", ([8.0, 7.0], 3.0), [2, 1]),
    ("matmul", ([[1.0, 2.0], [3.0, 4.0]], [[0.0, 1.0], [1.0, 0.0]]), [[2, 1], [4, 3]]),
    ("neg", ([1.0, -2.0],), [-1, 2]),
    ("mul", ([1.0, 3.0], 0.1), np.array([0.1, 0.3], "float32")),
)
_INDICES: Final[tuple[tuple[str, Any], ...]] = (
    ("x[-1]", -1),
    ("x[1:]", slice(1, None)),
    ("x[None]", None),
    ("x[:, None]", (slice(None), None)),
    ("x[..., 0]", (Ellipsis, 0)),
    ("x[0, -1]", (0, -1)),
)


def checks() -> Iterator[tuple[str, Callable[[Framework], None]]]:
    """Yield each check with its name."""
    yield "each operator", _operators_with_numbers
    yield "indices", _indices
    yield "functions along a dimension", _dimensions
    yield "Python numbers as operands keep the tensor's dtype", _promotion
    yield "a conversion to integers truncates", _cut_off
    yield "truth values", _truth
    yield "special values of each floating dtype", _special_of_other_dtypes
    yield "tensors without dimensions or elements", _odd_shapes
    yield "clones are copies", _clones
    yield "an in-place call on a view changes its base", _view_to_base
    yield "overwrite() works for each dtype and layout", _overwritten_through_views
    yield "gradients through views", _through_views
    yield "backward starts from several outputs together", _together
    yield "retain_graph=True allows a second backward", _kept_graph
    yield "autograd.grad returns constants without create_graph=True", _constants
    yield "unknown names inside modules are absent", _absent_names
    yield "same() recognises the same tensor", _identity
    yield "parameters and buffers of a module", _own_state
    yield "a loaded state requires the same gradients", _still_requires_grad


def _operators_with_numbers(framework: Framework) -> None:
    lacking: Absent | None = None
    for name, operands, wanted in _OPERATORS:
        given = [tensor_of(framework, one) if isinstance(one, list) else one for one in operands]
        try:
            found = read(framework, call(framework, "operator", name, *given))
        except Absent as error:
            lacking = error
        else:
            same(found, wanted, f"operator.{name} of {operands}")
    if lacking is not None:
        raise lacking


def _indices(framework: Framework) -> None:
    data = np.arange(6, dtype="float32").reshape(3, 2)
    for text, index in _INDICES:
        found = read(framework, call(framework, "operator", "getitem", tensor_of(framework, data), index))
        same(found, data[index], text)


def _dimensions(framework: Framework) -> None:
    data = np.array([[0.0, 1.0, 2.0], [2.0, 1.0, 0.0]], "float32")
    for dim in (0, 1):
        raised = np.exp(data)
        wanted = raised / raised.sum(axis=dim, keepdims=True)
        found = read(framework, call(framework, "function", "softmax", tensor_of(framework, data), dim=dim))
        same(found, wanted, f"softmax(x, dim={dim})")


def _promotion(framework: Framework) -> None:
    for dtype, number in (("int64", 2), ("float32", 2), ("float32", 2.0)):
        made = call(framework, "operator", "add", tensor_of(framework, [1, 2], dtype), number)
        found = framework.dtype_of(made)
        need(found == dtype, f"{dtype} + {number}: expected {dtype}, got {found}")
        same(read(framework, made), [3, 4], f"[1, 2] of {dtype} + {number}")


def _cut_off(framework: Framework) -> None:
    try:
        whole = framework.resolve("int64")
    except AttributeError as error:
        raise Absent(framework.name, "int64") from error
    found = read(framework, call(framework, "method", "to", tensor_of(framework, [1.7, -1.7]), whole))
    need(found.tolist() == [1, -1], f"[1.7, -1.7] to int64: expected [1, -1], got {found.tolist()}")


def _truth(framework: Framework) -> None:
    actual = [framework.known(call(framework, "builtin", "bool", tensor_of(framework, one))) for one in (0.0, 2.0)]
    need(actual == [False, True], f"bool() of 0 and 2: expected [False, True], got {actual}")


def _special_of_other_dtypes(framework: Framework) -> None:
    for dtype in ("float16", "float64"):
        data = np.array([-0.0, np.inf, -np.inf, np.nan], dtype)
        tensor = tensor_of_dtype(framework, Array(data, dtype))
        found = read(framework, tensor)
        need(found[:3].tobytes() == data[:3].tobytes() and bool(np.isnan(found[3])), f"{dtype}: {data}, got {found}")


def _odd_shapes(framework: Framework) -> None:
    for shape in ((), (0,), (2, 0, 3)):
        for dtype, grad in (("float32", True), ("bool", False), ("int64", False)):
            tensor = tensor_of(framework, np.zeros(shape), dtype, requires_grad=grad)
            (value,) = framework.values([tensor])
            actual = framework.shape(tensor), value.data.shape, value.dtype
            need(
                actual == (shape, shape, dtype),
                f"shape(), shape of the values and dtype: expected {shape} of {dtype}, got {actual}",
            )


def _clones(framework: Framework) -> None:
    x = tensor_of(framework, [1.0, 2.0])
    copied = call(framework, "method", "clone", x)
    call(framework, "operator", "setitem", x, 0, 9.0)
    same(read(framework, copied), [1, 2], "x.clone(), after x was changed")


def _view_to_base(framework: Framework) -> None:
    x = tensor_of(framework, [[1.0, 2.0], [3.0, 4.0]])
    row = call(framework, "operator", "getitem", x, 1)
    call(framework, "method", "add_", row, 10.0)
    same(read(framework, x), [[1, 2], [13, 14]], "x after x[1].add_(10)")


def _overwritten_through_views(framework: Framework) -> None:
    both, turned = np.array([True, False]), np.array([[1.0, 2.0, 3.0], [4.0, 5.0, 6.0]], "float32")
    mask = tensor_of(framework, [False, False], "bool")
    framework.overwrite(mask, Array(both, "bool"))
    base = tensor_of(framework, np.zeros((3, 2)))
    view = call(framework, "method", "transpose", base, 0, 1)
    framework.overwrite(view, Array(turned, "float32"))
    both[:], wanted = True, turned.copy()
    turned[:] = 7  # the change must have no effect
    need(read(framework, mask).tolist() == [True, False], "a bool tensor has other contents after overwrite()")
    same(read(framework, view), wanted, "a transposed tensor after overwrite()")


def _through_views(framework: Framework) -> None:
    x = tensor_of(framework, [[1.0, 2.0], [3.0, 4.0]], requires_grad=True)
    row = call(framework, "operator", "getitem", call(framework, "method", "transpose", x, 0, 1), 0)
    framework.invoke("method", "backward", (row, tensor_of(framework, [5.0, 6.0])), {})
    same(read(framework, framework.gradient(x)), [[5, 0], [6, 0]], "the gradient of x.t()[0]")


def _together(framework: Framework) -> None:
    x = tensor_of(framework, [3.0], requires_grad=True)
    outputs = [framework.invoke("operator", "mul", (x, factor), {}) for factor in (x, 3.0)]
    cotangents = [tensor_of(framework, [2.0]), tensor_of(framework, [5.0])]
    call(framework, "function", "autograd.backward", outputs, cotangents)
    same(read(framework, framework.gradient(x)), [27], "autograd.backward of x * x and 3 * x for 2 and 5")


def _kept_graph(framework: Framework) -> None:
    x, one = tensor_of(framework, [3.0], requires_grad=True), tensor_of(framework, [1.0])
    squared = framework.invoke("operator", "mul", (x, x), {})
    call(framework, "method", "backward", squared, one, retain_graph=True)
    call(framework, "method", "backward", squared, one)
    same(read(framework, framework.gradient(x)), [12], "the gradient of two backwards with retain_graph=True")


def _constants(framework: Framework) -> None:
    x = tensor_of(framework, [3.0], requires_grad=True)
    squared = framework.invoke("operator", "mul", (x, x), {})
    (found,) = framework.gradients([squared], [x], [tensor_of(framework, [1.0])])
    need(
        not framework.values([found])[0].requires_grad,
        "without create_graph=True: expected a gradient that does not require grad",
    )


def _absent_names(framework: Framework) -> None:
    for path in ("nn.no_such_name", "nn.functional.no_such_name"):
        try:
            framework.resolve(path)
        except AttributeError:
            continue
        need(condition=False, what=f"torch.{path}: expected AttributeError, but the name was found")
    expected = [_has(framework, "exp"), False]
    actual = [framework.provides("function", name, None) for name in ("exp", "no_such_name")]
    need(actual == expected, f"provides() of exp and no_such_name: expected {expected}, got {actual}")


def _has(framework: Framework, function: str) -> bool:
    try:
        framework.operation("function", function)
    except AttributeError:
        return False
    return True


def _identity(framework: Framework) -> None:
    x, other = tensor_of(framework, [1.0]), tensor_of(framework, [1.0])
    actual = framework.same(x, x), framework.same(x, other)
    need(actual == (True, False), f"whether x is x, and another tensor: expected (True, False), got {actual}")


def _own_state(framework: Framework) -> None:
    one, other = (call(framework, "function", "nn.Linear", 2, 3) for _ in range(2))
    before = framework.parameters(one)["weight"]
    must_be_tensors(framework, framework.parameters(one))
    for module, number in ((one, 1.0), (other, 2.0)):
        state = {"weight": np.full((3, 2), number, "float32"), "bias": np.zeros(3, "float32")}
        framework.load_state(module, {name: Array(data, "float32") for name, data in state.items()})
    same(read(framework, before), np.ones((3, 2)), "a weight that was read before load_state()")
    plain = call(framework, "function", "nn.Linear", 2, 3, bias=False)
    names = [*framework.parameters(plain)]
    need(names == ["weight"], f"parameters of Linear(2, 3, bias=False): expected ['weight'], got {names}")
    need(not framework.buffers(one), f"Linear has no buffers, got {[*framework.buffers(one)]}")


def _still_requires_grad(framework: Framework) -> None:
    for size in (2, 0):
        try:
            with warnings_ignored():  # torch warns that there is nothing to initialise
                module = call(framework, "function", "nn.Linear", size, 3)
        except Exception:
            if size:
                raise
            return  # OneFlow makes no parameter without elements
        state = {"weight": np.ones((3, size), "float32"), "bias": np.ones(3, "float32")}
        framework.load_state(module, {name: Array(data, "float32") for name, data in state.items()})
        parameters = framework.parameters(module)
        for name, value in zip(parameters, framework.values([*parameters.values()]), strict=True):
            need(value.requires_grad, f"requires_grad of {name} of Linear({size}, 3) after load_state(): expected True")
