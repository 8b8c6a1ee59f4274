"""Checks the requirements on an adapter one by one, without any other framework."""

from __future__ import annotations

import dataclasses
import functools
import itertools
from collections.abc import Callable, Iterator, Sequence
from typing import Any, Literal

import numpy as np

from autotest.base.errors import UsageError
from autotest.comparison.rejection import first_line
from autotest.frameworks import ABSENT, Absent, Framework
from autotest.program import Array, Root
from autotest.running.conformance import of_calls, of_meanings, of_results, of_scripts
from autotest.running.conformance.tools import ConformanceError, call, need, read, same, tensor_of, tensor_of_dtype
from generators.dtypes import DTYPES, numpy_dtype

#: Result of one check. "absent": the framework lacks the feature, which is not an error of its adapter.
CheckOutcome = Literal["ok", "absent", "WRONG"]


@dataclasses.dataclass(frozen=True, slots=True)
class Checked:
    """Result of one check. `why` explains a result other than "ok"."""

    name: str
    outcome: CheckOutcome
    why: str = ""


def conformance(framework: Framework) -> list[Checked]:
    """Check all requirements on the adapter `framework`.

    The last check runs the lines with which a reproducer imports the framework. Those of `Kernels` replace operators
    of torch in this process from then on; `conformance_in_processes` leaves this process as it is.

    Raises:
        UsageError: the framework's tensors contain no numbers.
        Exception: the import of the framework fails, usually with `FrameworkMissing`.
    """
    return list(conformance_from(framework, 0))


def conformance_from(framework: Framework, start: int) -> Iterator[Checked]:
    """Return the results of the checks from number `start` on, each of which is made when its result is taken.

    Raises what `conformance` raises, before the first check.
    """
    _ = framework.version
    if not framework.holds_values:
        raise UsageError(f"{framework.name}: its tensors have no values, which the checks need")
    return (_checked(name, check, framework) for name, check in itertools.islice(_checks(), start, None))


def check_names() -> list[str]:
    """Return the names of all checks, in their order."""
    return [name for name, _ in _checks()]


def _checked(name: str, check: Callable[[Framework], None], framework: Framework) -> Checked:
    try:
        check(framework)
    except Absent as error:
        return Checked(name, "absent", str(error))
    except ConformanceError as error:
        return Checked(name, "WRONG", str(error))
    except Exception as error:  # noqa: BLE001 - the adapter's or its framework's
        return Checked(name, "WRONG", f"raised {type(error).__name__}: {first_line(error)[:160]}")
    return Checked(name, "ok")


def _checks() -> Iterator[tuple[str, Callable[[Framework], None]]]:
    for dtype in DTYPES:
        yield f"round trip of {dtype}", functools.partial(_round_trip, dtype=dtype, shape=(2, 3))
    yield "round trip of a tensor without dimensions", lambda framework: _round_trip(framework, "float32", ())
    yield "round trip of a tensor without elements", lambda framework: _round_trip(framework, "float32", (2, 0))
    yield "round trip of a non-contiguous array", _gaps
    yield "special values are exact", _special
    yield "a tensor does not share memory with its array", _own_memory
    yield "values() reports requires_grad and the device", _attributes
    yield "dtypes convert to names and back", _dtypes
    yield "an unknown name raises AttributeError", _unknown
    yield "an invalid call raises an exception", _refusal
    yield "shapes and dtypes are reported", _facts
    yield "operators and methods", _operators
    yield "overwrite() changes contents outside of autograd", _overwritten
    yield "in-place calls change views", _views
    yield "in-place calls change views of another shape", _reshaped_views
    yield "gradients of leaves", _gradients
    yield "gradients accumulate and can be cleared", _accumulated
    yield "autograd.grad leaves no gradient in leaves", _as_values
    yield "no gradient inside no_grad", _no_grad
    yield "tensors that hold gradients are reported", _holders
    yield "state of modules", _state
    yield "values() keeps the order of tensors", _several
    yield from of_calls.checks()
    yield from of_results.checks()
    yield from of_meanings.checks()
    yield from of_scripts.checks()


def _round_trip(framework: Framework, dtype: str, shape: tuple[int, ...]) -> None:
    data = np.asarray((np.arange(int(np.prod(shape))).reshape(shape) - 1).astype(numpy_dtype(dtype)))
    tensor = tensor_of_dtype(framework, Array(data, dtype))
    (value,) = framework.values([tensor])
    need(value.dtype == dtype, f"expected dtype {dtype}, got {value.dtype}")
    need(value.data.shape == shape, f"expected shape {shape}, got {value.data.shape}")
    need(value.data.dtype == data.dtype, f"expected an array of {data.dtype}, got {value.data.dtype}")
    need(np.array_equal(value.data, data), f"expected {data.tolist()}, got {value.data.tolist()}")


def _gaps(framework: Framework) -> None:
    data = np.arange(12, dtype="float32").reshape(3, 4)[::-1, ::2]
    same(read(framework, framework.tensor(Array(data, "float32"))), data, "of an array with negative steps")


def _special(framework: Framework) -> None:
    data = np.array([np.nan, np.inf, -np.inf, -0.0, 1e-45, 3.4028235e38], "float32")
    written = tensor_of(framework, np.ones(6))
    framework.overwrite(written, Array(data, "float32"))
    for how, tensor in (("made", framework.tensor(Array(data, "float32"))), ("overwritten", written)):
        found = read(framework, tensor)
        same_bits = found.view("uint32")[1:].tolist() == data.view("uint32")[1:].tolist()
        need(same_bits, f"of a tensor that is {how}: expected {data}, got {found}")
        need(bool(np.isnan(found[0])), f"of a tensor that is {how}: expected NaN, got {found[0]}")


def _own_memory(framework: Framework) -> None:
    data = np.ones(3, "float32")
    tensor = framework.tensor(Array(data, "float32"))
    data[:] = 7
    same(read(framework, tensor), [1, 1, 1], "after the array was changed")


def _attributes(framework: Framework) -> None:
    plain, leaf = framework.values([tensor_of(framework, [1.0]), tensor_of(framework, [1.0], requires_grad=True)])
    need((plain.requires_grad, leaf.requires_grad) == (False, True), "requires_grad differs from the requested value")
    need(plain.device == "cpu", f"expected device 'cpu', got {plain.device!r}")


def _dtypes(framework: Framework) -> None:
    found = 0
    for dtype in DTYPES:
        try:
            own = framework.resolve(dtype)
        except AttributeError:
            continue
        found += 1
        need(framework.literal(own) == Root(dtype), f"{dtype} comes back as {framework.literal(own)!r}")
    need(found > 0, "it resolves none of torch's dtype names")
    need(framework.literal(object()) is ABSENT, "expected ABSENT for an object of another library")


def _unknown(framework: Framework) -> None:
    for ask in (lambda: framework.resolve("no_such_name"), lambda: framework.operation("function", "no_such_name")):
        try:
            ask()
        except AttributeError:
            continue
        raise ConformanceError("torch.no_such_name: expected AttributeError, but the name was found")


def _refusal(framework: Framework) -> None:
    pair = tensor_of(framework, np.ones((2, 3))), tensor_of(framework, np.ones((2, 3)))
    try:
        made = framework.known(framework.invoke("function", "matmul", pair, {}))
        framework.synchronize()
        read(framework, made)  # a lazy framework computes only now
    except Absent:
        raise
    except Exception:  # noqa: BLE001 - whatever it is
        return
    raise ConformanceError("matmul of (2, 3) and (2, 3): expected an exception, but it was accepted")


def _facts(framework: Framework) -> None:
    tensor = tensor_of(framework, np.ones((2, 3)))
    need(framework.shape(tensor) == (2, 3), f"expected shape (2, 3), got {framework.shape(tensor)}")
    need(framework.dtype_of(tensor) == "float32", f"expected float32, got {framework.dtype_of(tensor)}")


def _operators(framework: Framework) -> None:
    x = tensor_of(framework, [[1.0, 2.0], [3.0, 4.0]])
    same(read(framework, framework.invoke("operator", "add", (x, 1.0), {})), [[2, 3], [4, 5]], "x + 1")
    same(read(framework, framework.invoke("operator", "getitem", (x, (0, slice(None))), {})), [1, 2], "x[0, :]")
    same(read(framework, framework.invoke("method", "sum", (x,), {"dim": 1})), [3, 7], "x.sum(dim=1)")
    same(read(framework, framework.invoke("function", "exp", (x,), {})), np.exp([[1, 2], [3, 4]]), "exp(x)")


def _overwritten(framework: Framework) -> None:
    leaf = tensor_of(framework, [1.0, 2.0], requires_grad=True)
    framework.overwrite(leaf, Array(np.array([5.0, 6.0], "float32"), "float32"))
    (value,) = framework.values([leaf])
    same(value.data, [5, 6], "overwritten contents")
    need(
        value.requires_grad and framework.holds_gradient(leaf),
        "after overwrite() the tensor is no longer a leaf that requires grad",
    )


def _views(framework: Framework) -> None:
    x = tensor_of(framework, [[1.0, 2.0], [3.0, 4.0]])
    turned = framework.invoke("method", "transpose", (x, 0, 1), {})
    row = framework.invoke("operator", "getitem", (x, 0), {})
    column = framework.invoke("operator", "getitem", (x, (slice(None), 1)), {})
    call(framework, "operator", "setitem", x, (0, 1), 9.0)
    same(read(framework, turned), [[1, 3], [9, 4]], "x.transpose(0, 1), after its base was changed")
    same(read(framework, row), [1, 9], "x[0], after its base was changed")
    same(read(framework, column), [9, 4], "x[:, 1], after its base was changed")


def _reshaped_views(framework: Framework) -> None:
    x = tensor_of(framework, [[1.0, 2.0], [3.0, 4.0]])
    flat = call(framework, "method", "view", x, 4)
    call(framework, "operator", "setitem", x, (0, 1), 9.0)
    same(read(framework, flat), [1, 9, 3, 4], "x.view(4), after its base was changed")


def _gradients(framework: Framework) -> None:
    x = tensor_of(framework, [1.0, 2.0], requires_grad=True)
    need(framework.gradient(x) is None or framework.known(framework.gradient(x)) is None, "a new leaf has a gradient")
    _push(framework, x, [1.0, -2.0])
    same(read(framework, framework.gradient(x)), [2, -8], "the gradient of x * x for (1, -2)")


def _push(framework: Framework, x: Any, cotangent: Sequence[float]) -> None:
    squared = framework.invoke("operator", "mul", (x, x), {})
    framework.invoke("method", "backward", (squared, tensor_of(framework, cotangent)), {})


def _accumulated(framework: Framework) -> None:
    x = tensor_of(framework, [1.0, 2.0], requires_grad=True)
    _push(framework, x, [1.0, 1.0])
    _push(framework, x, [1.0, 1.0])
    same(read(framework, framework.gradient(x)), [4, 8], "the gradient of two backwards")
    framework.forget_gradient(x)
    left = framework.gradient(x)
    need(left is None or framework.known(left) is None, "after the gradient was cleared: expected None, got a gradient")
    _push(framework, x, [1.0, 1.0])
    same(read(framework, framework.gradient(x)), [2, 4], "the gradient of a backward after clearing")


def _as_values(framework: Framework) -> None:
    x, unused = (tensor_of(framework, [3.0], requires_grad=True) for _ in range(2))
    squared = framework.invoke("operator", "mul", (x, x), {})
    first, second = framework.gradients([squared], [x, unused], [tensor_of(framework, [1.0])])
    same(read(framework, first), [6], "the result of autograd.grad")
    need(second is None, "an unused input: expected None, got a gradient")
    left = framework.gradient(x)
    need(left is None or framework.known(left) is None, "autograd.grad left a gradient in a leaf")


def _no_grad(framework: Framework) -> None:
    x = tensor_of(framework, [1.0], requires_grad=True)
    context = call(framework, "function", "no_grad")
    framework.invoke("enter", "", (context,), {})
    try:
        still = framework.invoke("operator", "mul", (x, x), {})
    finally:
        framework.invoke("exit", "", (context,), {})
        del context  # some contexts end only when they are destroyed
    moved = framework.invoke("operator", "mul", (x, x), {})
    actual = [value.requires_grad for value in framework.values([still, moved])]
    need(actual == [False, True], f"requires_grad inside and after no_grad: expected [False, True], got {actual}")


def _holders(framework: Framework) -> None:
    leaf, plain = tensor_of(framework, [1.0], requires_grad=True), tensor_of(framework, [1.0])
    need(framework.holds_gradient(leaf), "holds_gradient() of a leaf that requires grad: expected True, got False")
    need(
        framework.can_backpropagate(leaf), "can_backpropagate() of a leaf that requires grad: expected True, got False"
    )
    need(
        not framework.can_backpropagate(plain),
        "can_backpropagate() of a tensor without requires_grad: expected False, got True",
    )


def _state(framework: Framework) -> None:
    module = call(framework, "function", "nn.Linear", 2, 3)
    need(isinstance(module, framework.module_types), f"nn.Linear made a {type(module).__name__}")
    parameters = framework.parameters(module)
    shapes = {name: framework.shape(tensor) for name, tensor in parameters.items()}
    expected = {"weight": (3, 2), "bias": (3,)}
    need([*shapes.items()] == [*expected.items()], f"expected weight (3, 2) and bias (3,) in this order, got {shapes}")
    weight = np.arange(6, dtype="float32").reshape(3, 2)
    framework.load_state(module, {"weight": Array(weight, "float32"), "bias": Array(np.ones(3, "float32"), "float32")})
    weight[:] = 7  # the change must have no effect
    made = framework.invoke("method", "__call__", (module, tensor_of(framework, [[1.0, 1.0]])), {})
    same(read(framework, made), [[2, 6, 10]], "the result of a Linear with the loaded state")
    need(framework.holds_gradient(parameters["weight"]), "holds_gradient() of a parameter: expected True, got False")


def _several(framework: Framework) -> None:
    made = [tensor_of(framework, [float(number)] * (number + 1)) for number in range(4)]
    found = framework.reading(made)()
    need(
        [value.data.shape for value in found] == [(1,), (2,), (3,), (4,)],
        "values() returned the tensors in another order",
    )
    need([float(value.data[0]) for value in found] == [0, 1, 2, 3], "values() returned the tensors in another order")
