"""Requirements on an adapter's results: dtypes, detached gradients, modes of modules, selected elements."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import numpy as np

from autotest.frameworks import Absent, Framework
from autotest.program import Array
from autotest.running.conformance.tools import (
    ConformanceError,
    call,
    must_be_tensors,
    need,
    read,
    same,
    tensor_of,
    tensor_of_dtype,
)


def checks() -> Iterator[tuple[str, Callable[[Framework], None]]]:
    """Yield each check with its name."""
    yield "comparisons return bool tensors", _comparisons
    yield "operators treat bool tensors as booleans", _booleans
    yield "a requested dtype is used", _asked_dtypes
    yield "gradients have the dtype and shape of their leaf", _gradients_like_leaves
    yield "gradients of complex tensors are torch's", _complex_gradients
    yield "gradients stop at detached tensors", _detached
    yield "a cotangent of another shape raises an exception", _refused_cotangent
    yield "a mask selects elements", _mask
    yield "a tensor can be written into another one", _written
    yield "parameters keep their order", _order_of_parameters
    yield "training and evaluation", _training
    yield "is_tensor() recognises tensors", _tensors


def _comparisons(framework: Framework) -> None:
    x = tensor_of(framework, [1.0, 3.0])
    for found, asked in (
        (call(framework, "operator", "gt", x, 2.0), "[1, 3] > 2"),
        (call(framework, "operator", "eq", x, tensor_of(framework, [2.0, 3.0])), "[1, 3] == [2, 3]"),
    ):
        same(read(framework, found), [False, True], asked)
        need(framework.dtype_of(found) == "bool", f"{asked}: expected bool, got {framework.dtype_of(found)}")


def _booleans(framework: Framework) -> None:
    both = tensor_of(framework, [True, False], "bool")
    found = read(framework, call(framework, "operator", "invert", both))
    need(found.tolist() == [False, True], f"~[True, False]: expected [False, True], got {found.tolist()}")


def _asked_dtypes(framework: Framework) -> None:
    try:
        double = framework.resolve("float64")
    except AttributeError as error:
        raise Absent(framework.name, "float64") from error
    x = tensor_of(framework, [1.0, 2.0])
    for name, made in (
        ("x.to(float64)", call(framework, "method", "to", x, double)),
        ("ones(2, dtype=float64)", call(framework, "function", "ones", 2, dtype=double)),
    ):
        need(framework.dtype_of(made) == "float64", f"{name}: expected float64, got {framework.dtype_of(made)}")


def _gradients_like_leaves(framework: Framework) -> None:
    for dtype in ("float32", "float64"):
        third = np.full((2, 2), 1 / 3).astype(dtype)
        x = tensor_of_dtype(framework, Array(third, dtype), requires_grad=True)
        made = framework.invoke("operator", "mul", (x, 1.0), {})
        framework.invoke("method", "backward", (made, tensor_of(framework, third, dtype)), {})
        must_be_tensors(framework, {f"the gradient of a {dtype}": framework.gradient(x)})
        (found,) = framework.values([framework.gradient(x)])
        need(found.dtype == dtype, f"the gradient of a {dtype}: expected {dtype}, got {found.dtype}")
        need(found.data.shape == (2, 2), f"the gradient of a (2, 2): expected its shape, got {found.data.shape}")
        actual = float(found.data[0, 0])
        need(actual == third[0, 0], f"the gradient of a {dtype}: expected {third[0, 0]}, got {actual}")


def _complex_gradients(framework: Framework) -> None:
    x = tensor_of_dtype(framework, Array(np.array([1 + 2j], "complex64"), "complex64"), requires_grad=True)
    squared = framework.invoke("operator", "mul", (x, x), {})
    framework.invoke("method", "backward", (squared, tensor_of(framework, [3 - 1j], "complex64")), {})
    # The conjugate of the derivative 2 * x, times the cotangent.
    same(read(framework, framework.gradient(x)), [2 - 14j], "the gradient of x * x for 1+2j and the cotangent 3-1j")


def _detached(framework: Framework) -> None:
    x = tensor_of(framework, [3.0], requires_grad=True)
    apart = call(framework, "method", "detach", x)
    need(not framework.values([apart])[0].requires_grad, "x.detach() requires grad")
    squared = framework.invoke("operator", "mul", (x, apart), {})
    framework.invoke("method", "backward", (squared, tensor_of(framework, [1.0])), {})
    same(read(framework, framework.gradient(x)), [3], "the gradient of x * x.detach() for x = 3")


def _refused_cotangent(framework: Framework) -> None:
    x = tensor_of(framework, [1.0, 2.0], requires_grad=True)
    squared = framework.invoke("operator", "mul", (x, x), {})
    try:
        framework.known(framework.invoke("method", "backward", (squared, tensor_of(framework, [1.0, 1.0, 1.0])), {}))
        framework.synchronize()
    except Absent:
        raise
    except Exception:  # noqa: BLE001 - whatever it is
        return
    raise ConformanceError(
        "a cotangent of three elements for a tensor of two: expected an exception, but it was accepted"
    )


def _mask(framework: Framework) -> None:
    x, mask = tensor_of(framework, [1.0, 2.0, 3.0]), tensor_of(framework, [True, False, True], "bool")
    same(read(framework, call(framework, "operator", "getitem", x, mask)), [1, 3], "x[mask]")


def _written(framework: Framework) -> None:
    x = tensor_of(framework, np.zeros((2, 3)))
    call(framework, "operator", "setitem", x, (slice(None), 1), tensor_of(framework, [5.0, 6.0]))
    same(read(framework, x), [[0, 5, 0], [0, 6, 0]], "x after x[:, 1] = tensor")


def _order_of_parameters(framework: Framework) -> None:
    module = call(framework, "function", "nn.Linear", 2, 3)
    listed = framework.invoke("builtin", "list", (call(framework, "method", "parameters", module),), {})
    shapes = [framework.shape(one) for one in framework.known(listed)]
    need(shapes == [(3, 2), (3,)], f"parameters() of Linear(2, 3): expected shapes (3, 2) and (3,), got {shapes}")


def _training(framework: Framework) -> None:
    norm: Any = call(framework, "function", "nn.BatchNorm1d", 2)
    mean, variance = np.array([1.0, 2.0], "float32"), np.array([1.0, 4.0], "float32")
    framework.load_state(norm, {"running_mean": Array(mean, "float32"), "running_var": Array(variance, "float32")})
    x = tensor_of(framework, [[3.0, 4.0], [1.0, 0.0]])
    made = framework.invoke("method", "__call__", (call(framework, "method", "eval", norm), x), {})
    need(
        np.allclose(read(framework, made), [[2, 1], [0, -1]], atol=1e-4),
        f"BatchNorm1d with running statistics, after eval(): expected [[2, 1], [0, -1]], got {read(framework, made)}",
    )
    made = framework.invoke("method", "__call__", (call(framework, "method", "train", norm), x), {})
    need(
        np.allclose(read(framework, made), [[1, 1], [-1, -1]], atol=1e-4),
        f"BatchNorm1d after train(): expected [[1, 1], [-1, -1]], got {read(framework, made)}",
    )


def _tensors(framework: Framework) -> None:
    need(framework.is_tensor(tensor_of(framework, [1.0])), "is_tensor() of a tensor: expected True, got False")
    module = call(framework, "function", "nn.Linear", 2, 3)
    for value, name in ((module, "a module"), (1.0, "a number"), ([1.0], "a list"), (np.ones(1), "an ndarray")):
        need(not framework.is_tensor(value), f"is_tensor() of {name}: expected False, got True")
