"""`autotest.gradcheck` and `autotest.gradgradcheck`: torch's functions of these names, for every framework."""

from __future__ import annotations

import inspect
import warnings
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from autotest.base.errors import GradcheckError, OverlappingMemory, UsageError
from autotest.frameworks import ABSENT, Framework
from autotest.gradients.arguments import (
    as_inputs,
    check_flags,
    check_function,
    check_numbers,
    framework_of,
    is_varied,
)
from autotest.gradients.checking import GradcheckResult, check
from autotest.gradients.function import FunctionOfInputs, overlaps, second_order
from autotest.gradients.rule import Rule
from autotest.program import Array
from autotest.report import gradients as report


def gradcheck(
    fn: Callable[..., Any],
    inputs: Any,
    *,
    eps: float = 1e-6,
    atol: float = 1e-5,
    rtol: float = 1e-3,
    raise_exception: bool = True,
    nondet_tol: float = 0.0,
    check_undefined_grad: bool = True,
    check_grad_dtypes: bool = False,
    check_batched_grad: bool = False,
    check_forward_ad: bool = False,
    check_backward_ad: bool = True,
    fast_mode: bool = False,
    masked: bool | None = None,
) -> bool:
    """Hold the gradients of `fn` against central differences of it, as ``torch.autograd.gradcheck`` does.

    The numeric derivative by an element ``x`` is ``(fn(x + eps) - fn(x - eps)) / (2 * eps)``. A complex number counts
    as two real ones, in torch's convention: the gradient of a real ``L`` is ``dL/dRe(z) + i dL/dIm(z)``.
    ``|analytic - numeric| <= atol + rtol * |numeric|`` must hold for every element of the Jacobian of every
    input/output pair. An element that fails at a kink of `fn` passes with a warning when it lies between the two
    one-sided derivatives and its neighbours on both sides are right: torch alone would call it wrong.

    Args:
        fn: called with `inputs`; returns a tensor or a tuple of tensors.
        inputs: a tensor or a tuple, of torch or of OneFlow (or of another registered framework that speaks torch's
            names). Those that require grad are varied, in place; they should be of float64 or complex128 and hold
            100 elements or more, so that a single wrong one is seen.
        eps: step of the differences.
        atol, rtol: the tolerance above.
        raise_exception: raise; otherwise return False.
        nondet_tol: how far two runs of backward may differ.
        check_undefined_grad: an output may be left out of backward. Where torch does not check, every output is
            pushed back without the others, which is the same demand.
        check_grad_dtypes: a gradient must be of its input's dtype.
        check_batched_grad, check_forward_ad, masked: as torch has them (`masked` is ``check_sparse_nnz`` before torch
            2.1); refused for a framework without.
        check_backward_ad: False only makes sense beside ``check_forward_ad=True``.
        fast_mode: look at one projection of each Jacobian first; what fails there is confirmed element by element.

    Raises:
        GradcheckError: a gradient is wrong; holds a table of all pairs, and names the row that failed.
        UsageError: the arguments make no sense, or the framework cannot do what they ask for; `OverlappingMemory`,
            which is a `RuntimeError` as torch's is, for an input whose elements share memory.
    """
    check_numbers({"eps": eps, "atol": atol, "rtol": rtol, "nondet_tol": nondet_tol})
    check_flags(
        {
            "raise_exception": raise_exception,
            "check_undefined_grad": check_undefined_grad,
            "check_grad_dtypes": check_grad_dtypes,
            "check_batched_grad": check_batched_grad,
            "check_forward_ad": check_forward_ad,
            "check_backward_ad": check_backward_ad,
            "fast_mode": fast_mode,
            "masked": masked,
        }
    )
    if not check_backward_ad and not check_forward_ad:
        raise UsageError("gradcheck: expected check_backward_ad or check_forward_ad, or both, to be True")
    given = as_inputs(inputs)
    framework = framework_of(given)
    check_function(framework, fn, given)
    _refuse_overlap(framework, given)
    rule = Rule(eps, atol, rtol, nondet_tol, check_grad_dtypes, fast_mode)
    native = _native(framework, "autograd.gradcheck")
    if native is ABSENT:
        extra = {"check_batched_grad": check_batched_grad, "check_forward_ad": check_forward_ad, "masked": masked}
        for name, value in extra.items():
            if value:
                raise UsageError(f"gradcheck({name}={value}): {framework.name} has nothing to check this with")
        checked = check(FunctionOfInputs(framework, fn, given), rule)
        _warn(checked)
        return _verdict(checked, framework, raise_exception, "")
    complaint = _complaint(
        native,
        fn,
        given,
        eps=eps,
        atol=atol,
        rtol=rtol,
        nondet_tol=nondet_tol,
        check_undefined_grad=check_undefined_grad,
        check_grad_dtypes=check_grad_dtypes,
        check_batched_grad=check_batched_grad,
        check_forward_ad=check_forward_ad,
        check_backward_ad=check_backward_ad,
        fast_mode=fast_mode,
        **_masked(native, masked, framework),
    )
    if complaint is None:
        return True
    if not check_backward_ad or check_forward_ad or check_batched_grad:
        # What this library checks is not what torch complains of, at least not all of it.
        if raise_exception:
            raise GradcheckError(complaint)
        return False
    try:
        checked = check(FunctionOfInputs(framework, fn, given), rule)
    except Exception:  # noqa: BLE001 - a dtype or a layout that only torch can read: then its word is all there is
        checked = GradcheckResult()
    if checked.passed and not (checked.rows and "Jacobian mismatch" in complaint):
        if raise_exception:
            raise GradcheckError(complaint)
        return False
    _warn(checked)
    return _verdict(checked, framework, raise_exception, complaint)


def gradgradcheck(
    fn: Callable[..., Any],
    inputs: Any,
    grad_outputs: Any = None,
    *,
    eps: float = 1e-6,
    atol: float = 1e-5,
    rtol: float = 1e-3,
    gen_non_contig_grad_outputs: bool = False,
    raise_exception: bool = True,
    nondet_tol: float = 0.0,
    check_undefined_grad: bool = True,
    check_grad_dtypes: bool = False,
    check_batched_grad: bool = False,
    check_fwd_over_rev: bool = False,
    check_rev_over_rev: bool = True,
    fast_mode: bool = False,
    masked: bool | None = None,
) -> bool:
    """Hold the gradients of gradients of `fn` against differences of its gradients.

    Args:
        fn, inputs: as of `gradcheck`.
        grad_outputs: the cotangents to take the first gradients with, a tensor or a tuple that requires grad; made
            up where left out.
        gen_non_contig_grad_outputs: make them up so that their elements do not lie side by side in memory.
        check_fwd_over_rev, check_rev_over_rev: differentiate the gradients in forward mode, in reverse mode.
        eps, atol, rtol, raise_exception, nondet_tol, check_undefined_grad, check_grad_dtypes, check_batched_grad,
            fast_mode, masked: as of `gradcheck`.

    Raises:
        GradcheckError, UsageError: as `gradcheck` does.
    """
    check_flags(
        {
            "gen_non_contig_grad_outputs": gen_non_contig_grad_outputs,
            "check_fwd_over_rev": check_fwd_over_rev,
            "check_rev_over_rev": check_rev_over_rev,
        }
    )
    if not (check_fwd_over_rev or check_rev_over_rev):
        raise UsageError("gradgradcheck: expected check_fwd_over_rev or check_rev_over_rev, or both, to be True")
    given = as_inputs(inputs)
    framework = framework_of(given)
    check_function(framework, fn, given)
    made = made_cotangents(framework, fn, given)
    if gen_non_contig_grad_outputs:
        made = tuple(_scattered(framework, item) for item in made)
    cotangents = made if grad_outputs is None else as_inputs(grad_outputs)
    types = framework.tensor_types
    shapes, wanted = (
        [framework.shape(item) if isinstance(item, types) else ("?",) for item in each] for each in (cotangents, made)
    )
    if shapes != wanted:
        raise UsageError(
            f"gradgradcheck(grad_outputs=...): expected tensors of the outputs' shapes {wanted}, got {shapes}"
        )
    gradients = second_order(framework, fn, len(given))
    varied = [is_varied(framework, item) for item in given]

    def first_order(*arguments: Any) -> Any:
        # Forward mode hands in detached inputs, of which nothing could be taken.
        for item, wanted in zip(arguments, varied, strict=False):
            if wanted and not framework.can_backpropagate(item):
                framework.invoke("method", "requires_grad_", (item,), {})
        return gradients(*arguments)

    return gradcheck(
        first_order,
        (*given, *cotangents),
        eps=eps,
        atol=atol,
        rtol=rtol,
        raise_exception=raise_exception,
        nondet_tol=nondet_tol,
        check_undefined_grad=check_undefined_grad,
        check_grad_dtypes=check_grad_dtypes,
        check_batched_grad=check_batched_grad,
        check_forward_ad=check_fwd_over_rev,
        check_backward_ad=check_rev_over_rev,
        fast_mode=fast_mode,
        masked=masked,
    )


def _scattered(framework: Framework, tensor: Any) -> Any:
    """A leaf of the same numbers, each of them with a gap behind it in memory."""
    (value,) = framework.values([tensor])
    twice = Array(np.repeat(value.data[..., None], 2, axis=-1), value.dtype)
    spread = framework.tensor(twice, device=value.device)
    leaf = framework.invoke("method", "detach", (framework.invoke("operator", "getitem", (spread, (..., 0)), {}),), {})
    return framework.invoke("method", "requires_grad_", (leaf,), {})


def made_cotangents(framework: Framework, fn: Callable[..., Any], inputs: Sequence[Any]) -> tuple[Any, ...]:
    """Cotangents of the outputs of `fn`, of their shapes and dtypes, that require grad."""
    function = FunctionOfInputs(framework, fn, inputs)
    made: list[Any] = []
    for position, value in enumerate(framework.values(function.outputs())):
        steps = ((7 * np.arange(value.data.size) + position) % 15 - 7) / 8 + 0.03
        data = np.asarray(steps.reshape(value.data.shape), dtype=value.data.dtype)
        made.append(framework.tensor(Array(data, value.dtype), device=value.device, requires_grad=True))
    return tuple(made)


def _native(framework: Framework, path: str) -> Any:
    try:
        return framework.resolve(path)
    except AttributeError:
        return ABSENT


def _complaint(native: Callable[..., Any], fn: Callable[..., Any], inputs: Any, **asked: Any) -> str | None:
    """What the framework's own function has against the gradients of `fn`; None where it has nothing."""
    try:
        native(fn, inputs, raise_exception=True, **asked)
    except RuntimeError as error:
        if type(error).__name__ != "GradcheckError":
            raise
        return str(error)
    return None


def _masked(native: Callable[..., Any], masked: bool | None, framework: Framework) -> dict[str, Any]:
    """`masked` by the name that this framework has for it; before 2.1 torch says ``check_sparse_nnz``."""
    if masked is None:
        return {}
    for name in ("masked", "check_sparse_nnz"):
        if name in inspect.signature(native).parameters:
            return {name: masked}
    raise UsageError(f"gradcheck(masked={masked}): {framework.name} {framework.version} does not know it")


def _refuse_overlap(framework: Framework, inputs: tuple[Any, ...]) -> None:
    """Refuse an input that holds a number in several places at once, as torch does: it cannot be varied in one."""
    for position, item in enumerate(inputs):
        if is_varied(framework, item) and framework.is_dense(item) and overlaps(framework, item):
            raise OverlappingMemory(
                f"gradcheck: elements of input {position} share memory (strides {framework.strides(item)}): expected "
                "an input whose elements can be varied one by one. Call .contiguous() on it before"
            )


def _warn(checked: GradcheckResult) -> None:
    for text in checked.warnings:
        warnings.warn(f"gradcheck: {text}", stacklevel=3)


def _verdict(checked: GradcheckResult, framework: Framework, raise_exception: bool, complaint: str) -> bool:
    if checked.passed:
        return True
    if raise_exception:
        told = report.failure(checked.rows, f"a gradient of {framework.name}")
        raise GradcheckError(told + (f"\n\n{framework.name} itself says: {complaint}" if complaint else ""))
    return False
