"""`autotest` with the defaults of OneFlow's own harness, and dual tensors that are global in a global scope."""

from __future__ import annotations

import dataclasses
import functools
import sys
from collections.abc import Callable, Sequence
from typing import Any, Literal, TypeVar

from autotest.base.options import Options, from_environment
from autotest.base.plural import several
from autotest.base.settings import Settings
from autotest.decorator import decorate
from autotest.gradients.differentiable import differentiable_calls
from autotest.gradients.nondifferentiable import listed
from autotest.oneflow import switches
from autotest.oneflow.dtypes import complex_too, dtype_of, random_dtype_name, real_or_complex
from autotest.oneflow.framework_pair import flow, style_pair, world_size
from autotest.oneflow.generators import drawn_array
from autotest.oneflow.global_scope import globaltest, is_global
from autotest.oneflow.sides import with_sides, without_sides
from autotest.program import Array
from autotest.program.dtypes import is_differentiable
from autotest.program.semantics import pushes_gradients
from autotest.recording.dual import DualObject, Value, torch
from autotest.recording.recorder import Recorder, current
from autotest.recording.tensors import from_drawn
from autotest.running import run_hooks
from autotest.running.tally import Tally
from autotest.trials.backward import run_backward, unused_results
from autotest.trials.returned import returned_tensors
from generators import Generator, as_generator, choice_array

# Errors of generators that are built here name a line of the test.
__generators_hide__ = True


class _Default(float):
    """A default tolerance of OneFlow's own harness. The test did not choose it, so it is not strict."""


_RTOL, _ATOL = _Default(0.0001), _Default(1e-05)

F = TypeVar("F", bound=Callable[..., Any])


def autotest(
    n: int = 20,
    auto_backward: bool = True,
    rtol: float = _RTOL,
    atol: float = _ATOL,
    check_graph: bool | Literal["ValidatedFalse"] = True,
    check_allclose: bool = True,
    check_dtype: bool = False,
    check_grad_use_random_data: bool = True,
    include_complex: bool = False,
) -> Callable[[F], F]:
    """Run the decorated test as random trials on torch and OneFlow, and fail on the first divergence.

    Args:
        n: number of trials that torch must accept.
        auto_backward: push cotangents back through the tensors that the test returns.
        rtol, atol: tolerance of floating and complex values of every dtype, relative to torch's values. If neither is
            given, a mismatch that is rounding does not fail the test; a given tolerance is strict.
        check_graph: also run the recorded programs inside ``oneflow.nn.Graph`` and compare with eager mode.
            ``"ValidatedFalse"`` means False, and that the reason for it was checked.
        check_allclose: compare values; otherwise only structure, shape, device and requires_grad.
        check_dtype: compare dtypes.
        check_grad_use_random_data: draw the cotangents; otherwise they are ones, as in ``x.sum().backward()``.
        include_complex: half of the tensors that `random_tensor` draws without a dtype are complex; nothing runs inside
            a graph then. This is for later releases of OneFlow: 0.9.0 has no complex tensors, and the test reports
            that.

    Raises:
        UsageError: at decoration, for an invalid argument.
    """
    backward_here = auto_backward and not check_grad_use_random_data
    settings = Settings(
        n=n,
        auto_backward="auto" if auto_backward is True and not backward_here else auto_backward and not backward_here,
        rtol=rtol,
        atol=atol,
        tolerance_is_final=not (isinstance(rtol, _Default) and isinstance(atol, _Default)),
        check_graph=False if check_graph == "ValidatedFalse" or include_complex else check_graph,
        check_values=check_allclose,
        check_dtype=check_dtype,
        check_errors=switches.align_exception(),
        # In tests of that style, auto_backward=False is the only way to say that gradients are not compared, and is
        # deliberate. Gradients that other tests forget are still reported.
        skip_grad="" if auto_backward else "auto_backward=False, in a test written for OneFlow's own harness",
        # Some tests only assert on plain tensors of OneFlow, and use the decorator to repeat the test.
        own_assertions=True,
    )

    def decorator(function: F) -> F:
        @functools.wraps(function)
        def body(*args: Any, **kwargs: Any) -> Any:
            recorder = current()
            assert recorder is not None
            recorder.as_read = with_sides
            with complex_too(include_complex):
                returned = without_sides(function(*args, **kwargs))
            _limit_sizes(recorder)
            if backward_here:
                _backward_of_ones(recorder, returned)
            elif auto_backward and not _has_backward(recorder, returned):
                _backward_from_last(recorder)
            return returned

        decorated = decorate(body, settings, style_pair, _options)

        @functools.wraps(decorated)
        def run(*args: Any, **kwargs: Any) -> None:
            if not switches.verbose():
                decorated(*args, **kwargs)
                return
            tallies: list[Tally] = []
            with run_hooks.run_hook(lambda test, context, tally: tallies.append(tally)):
                decorated(*args, **kwargs)
            sys.stderr.writelines(f"{function.__qualname__}: {summary(tally)}\n" for tally in tallies)

        return run  # type: ignore[return-value]

    return decorator


def summary(tally: Tally) -> str:
    """Return one line about a test that passed: what was compared, and what was left out of the graph."""
    left_out = ", ".join(f"{count} x {reason}" for reason, count in tally.left_out.most_common())
    return (
        f"{several(tally.accepted, 'trial')} {'agrees' if tally.accepted == 1 else 'agree'} (refused by torch: "
        f"{sum(tally.rejections.values())}); compared in eager mode: {several(tally.compared, 'result')}, "
        f"{several(tally.gradients, 'gradient')}; in nn.Graph: {tally.graphed}"
        + (f"; left out of the graph: {left_out}" if left_out else "")
    )


def _options() -> Options:
    options = from_environment()
    if world_size() > 1:
        # A fresh interpreter would be a single rank; and no rank may run trials that the others do not run.
        options = dataclasses.replace(options, verify=False, shrink=0.0)
    return options


def _limit_sizes(recorder: Recorder) -> None:
    """Raise `AssertionError` if a tensor of the trial is larger than the size limit."""
    limit = switches.tensor_size_limit()
    for call, tensor in zip(recorder.calls, recorder.expected, strict=True):
        if isinstance(tensor, recorder.pair.reference.tensor_types):
            size = tensor.element_size() * tensor.nelement()
            assert size <= limit, (
                f"{call.target}: a tensor of shape {tuple(tensor.shape)} has {size / 2**20:.1f} MB; expected at most "
                f"{limit / 2**20:g} MB. Draw smaller ones, or set ONEFLOW_TEST_TENSOR_SIZE_LIMIT_MB"
            )


def _backward_of_ones(recorder: Recorder, returned: Any) -> None:
    for value in returned_tensors(returned, recorder):
        if recorder.pair.reference.can_backpropagate(value._sides()[0]):
            tensor: Any = value
            tensor.backward(torch.ones_like(tensor))


def _has_backward(recorder: Recorder, returned: Any) -> bool:
    """Return whether the trial itself pushes a cotangent into some tensor."""
    if returned is None:
        return any(True for _ in unused_results(recorder))
    return bool(returned_tensors(returned, recorder))


def _backward_from_last(recorder: Recorder) -> None:
    """Push back from the last call that carries gradients, unless the body pushed back itself.

    For tests that return only plain values, into which nothing can be pushed: their gradients count too.
    """
    if not any(pushes_gradients(call) for call in recorder.calls):
        differentiable = [call for call in differentiable_calls(recorder) if listed(call.target) is None]
        run_backward(
            recorder, returned_tensors(Value(recorder, differentiable[-1].slot), recorder) if differentiable else ()
        )


def random_tensor(
    ndim: Any = None,
    dim0: Any = 1,
    dim1: Any = None,
    dim2: Any = None,
    dim3: Any = None,
    dim4: Any = None,
    low: Any = 0,
    high: Any = 1,
    dtype: Any = float,
    requires_grad: Any = True,
    pin_memory: bool = False,
) -> Any:  # type checkers do not see the operators and attributes that dual objects have
    """Return a dual tensor with drawn shape and contents, global in a global scope. Every argument may be a generator.

    Args:
        ndim: rank; drawn from 1 to 5 if None.
        dim0, dim1, dim2, dim3, dim4: sizes of the leading dimensions, each drawn from 1 to 7 if None.
        low, high: bounds of the contents, ``low <= x < high``.
        dtype: ``float`` is float32 (or complex64, under `autotest(include_complex=True)`), ``int`` int64, ``complex``
            complex64.
        requires_grad: whether the tensor is a leaf that requires grad; ignored for integers.
        pin_memory: accepted but without effect, as on a machine without CUDA.
    """
    drawn = drawn_array(ndim, (dim0, dim1, dim2, dim3, dim4), low, high, real_or_complex(dtype)).value()
    return _placed(drawn, requires_grad)


def random_dtype(seq_names: Sequence[str] = ("float32", "float64", "int32", "int64")) -> Any:
    """Return a dual dtype drawn from `seq_names`, families such as ``"arithmetic"`` or dtypes; None for ``"None"``."""
    name = random_dtype_name(seq_names).value()
    return None if name is None else getattr(torch, name)


def choice_tensor(
    a: Any, size: Any = None, replace: bool = True, p: Any = None, dtype: Any = int, requires_grad: Any = False
) -> Any:
    """Return a dual tensor drawn from `a` as by ``numpy.random.choice``, global in a global scope."""
    return _placed(choice_array(a, size=size, replace=replace, p=p, dtype=dtype_of(dtype)).value(), requires_grad)


def _placed(drawn: Any, requires_grad: Any) -> Any:
    requires_grad = as_generator(requires_grad)
    requires_grad = requires_grad.value() if isinstance(requires_grad, Generator) else requires_grad
    if not is_global():
        return from_drawn(drawn, requires_grad, "cpu")
    value: Any = from_drawn(drawn, False, "cpu")
    value = value.to_global(placement=flow().placement.all("cpu"), sbp=[flow().sbp.broadcast])
    return value.requires_grad_() if requires_grad and is_differentiable(drawn.dtype) else value


def GetDualObject(name: str, pytorch: Any, oneflow: Any) -> Any:  # noqa: N802 - the name that tests use
    """Return a dual object of two plain objects that the test made itself."""
    recorder = current() or Recorder(style_pair())
    if isinstance(pytorch, recorder.pair.reference.tensor_types):
        array: Array = recorder.pair.reference.values([pytorch])[0].as_array()
        kwargs = {"requires_grad": pytorch.requires_grad, "device": "cpu"}
        call = recorder.next_call("tensor", array.dtype, (recorder.capture(array),), kwargs)
    else:
        recorder.opaque = f"the test made a dual object of its own ({name})"
        call = recorder.next_call("function", name or "unused", (), {})
    return Value(recorder, recorder.write(call, pytorch, oneflow))


__all__ = [
    "DualObject",
    "GetDualObject",
    "autotest",
    "choice_tensor",
    "globaltest",
    "random_dtype",
    "random_tensor",
    "torch",
]
