"""`autotest.gradcheck` and `autotest.gradgradcheck`: torch's functions of these names, for each framework."""

from __future__ import annotations

import inspect
import warnings
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np

from autotest.base.calling import joined
from autotest.base.errors import GradcheckError, OverlappingMemory, UsageError
from autotest.base.plural import several
from autotest.frameworks import ABSENT, Framework
from autotest.gradients.arguments import check_flags, check_function, check_needs, check_numbers, framework_of
from autotest.gradients.checking import GradcheckResult, check
from autotest.gradients.function import FunctionOfInputs, as_tuple, is_varied, overlaps, second_order
from autotest.gradients.rule import Rule
from autotest.program import Array
from autotest.report import gradients as report


def gradcheck(
    func: Callable[..., Any],
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
    check_batched_forward_grad: bool = False,
    check_forward_ad: bool = False,
    check_backward_ad: bool = True,
    fast_mode: bool = False,
    masked: bool | None = None,
    check_sparse_nnz: bool | None = None,
) -> bool:
    """Compare the gradients of `func` with central differences, as ``torch.autograd.gradcheck`` does.

    The numeric derivative by an element ``x`` is ``(func(x + eps) - func(x - eps)) / (2 * eps)``. A complex number
    counts as two real numbers, with torch's convention: the gradient of a real ``L`` is ``dL/dRe(z) + i dL/dIm(z)``.
    ``|analytic - numeric| <= atol + rtol * |numeric|`` must hold for each element of the Jacobian of each input/output
    pair. An element that fails at a kink of `func` passes with a warning if its derivative is between the two one-sided
    derivatives and the derivatives on both sides of it are right. torch itself would reject it.

    Args:
        func: a function of `inputs` that returns a tensor or a tuple of tensors.
        inputs: a tensor or a tuple of arguments; the tensors are of torch, OneFlow or another registered framework
            with torch's names. Tensors that require grad are varied in place. They should be of dtype float64 or
            complex128 and have at least 100 elements, so that a single wrong element is found.
        eps: the step of the differences.
        atol, rtol: the tolerances in the formula above.
        raise_exception: whether to raise an exception if a gradient is wrong, instead of returning False.
        nondet_tol: the maximum difference between two runs of the backward pass.
        check_undefined_grad: whether backward must accept undefined gradients of outputs. If the framework has no
            ``gradcheck`` of its own, each output is backpropagated without the others, which requires the same.
        check_grad_dtypes: whether a gradient must have the dtype of its input.
        check_batched_grad, check_batched_forward_grad, check_forward_ad, masked: as in torch; rejected for frameworks
            that do not support them.
        check_sparse_nnz: another name for `masked`, which torch uses before 2.1.
        check_backward_ad: whether to check reverse mode. False requires ``check_forward_ad=True``.
        fast_mode: whether to check one projection of each Jacobian first, and single elements only if that fails.

    Returns:
        Whether all gradients are right.

    Raises:
        GradcheckError: a gradient is wrong; the message contains a table of all pairs and names the row that failed.
        UsageError: the arguments are invalid, or the framework does not support them.
        OverlappingMemory: elements of an input share memory; a `UsageError`, and, as in torch, a `RuntimeError`.
    """
    check_numbers({"eps": eps, "atol": atol, "rtol": rtol, "nondet_tol": nondet_tol})
    check_flags(
        {
            "raise_exception": raise_exception,
            "check_undefined_grad": check_undefined_grad,
            "check_grad_dtypes": check_grad_dtypes,
            "check_batched_grad": check_batched_grad,
            "check_batched_forward_grad": check_batched_forward_grad,
            "check_forward_ad": check_forward_ad,
            "check_backward_ad": check_backward_ad,
            "fast_mode": fast_mode,
            "masked": masked,
            "check_sparse_nnz": check_sparse_nnz,
        }
    )
    if not check_backward_ad and not check_forward_ad:
        raise UsageError("gradcheck: expected check_backward_ad or check_forward_ad, or both, to be True")
    check_needs("gradcheck", "check_backward_ad", check_backward_ad, {"check_batched_grad": check_batched_grad})
    batched_forward = {"check_batched_forward_grad": check_batched_forward_grad}
    check_needs("gradcheck", "check_forward_ad", check_forward_ad, batched_forward)
    masked = joined("gradcheck", masked=masked, check_sparse_nnz=check_sparse_nnz)
    given = as_tuple(inputs)
    framework = framework_of(given)
    check_function(framework, func, given)
    _refuse_overlap(framework, given)
    rule = Rule(eps, atol, rtol, nondet_tol, check_grad_dtypes, fast_mode)
    native = _native(framework)
    if native is ABSENT:
        asked = {"check_batched_grad": check_batched_grad, "check_forward_ad": check_forward_ad, "masked": masked}
        _refuse_what_only_torch_checks(framework, asked | batched_forward)
        return _ended(_failure_by_differences(FunctionOfInputs(framework, func, given), rule), raise_exception)
    complaint = _complaint(
        native,
        func,
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
        **(batched_forward if check_batched_forward_grad else {}),
        **_masked(native, masked, framework),
    )
    if complaint is None:
        return True
    # torch's error may be about a mode that this library does not check.
    explainable = check_backward_ad and not check_forward_ad and not check_batched_grad
    found = _explained(complaint, framework, func, given, rule) if explainable else complaint
    return _ended(found, raise_exception)


def gradgradcheck(
    func: Callable[..., Any],
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
    """Compare the second-order gradients of `func` with differences of its gradients.

    Args:
        func, inputs: as in `gradcheck`.
        grad_outputs: the cotangents for the first-order gradients, a tensor or a tuple of tensors that require grad,
            with the shapes of the outputs; generated if omitted.
        gen_non_contig_grad_outputs: whether generated cotangents are not contiguous.
        check_fwd_over_rev, check_rev_over_rev: whether to differentiate the gradients in forward mode, in reverse mode.
            Without reverse mode, `check_undefined_grad` must be False, as in torch.
        eps, atol, rtol, raise_exception, nondet_tol, check_undefined_grad, check_grad_dtypes, check_batched_grad,
            fast_mode, masked: as in `gradcheck`.

    Returns:
        Whether all second-order gradients are right.

    Raises:
        GradcheckError, UsageError: as in `gradcheck`.
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
    reverse_only = {"check_undefined_grad": check_undefined_grad, "check_batched_grad": check_batched_grad}
    check_needs("gradgradcheck", "check_rev_over_rev", check_rev_over_rev, reverse_only)
    given = as_tuple(inputs)
    framework = framework_of(given)
    check_function(framework, func, given)
    made = made_cotangents(framework, func, given)
    if not any(map(framework.can_backpropagate, FunctionOfInputs(framework, func, given).outputs())):
        raise UsageError(
            "gradgradcheck: expected an output that depends on an input that requires grad; func returned none, so "
            "there are no gradients to differentiate"
        )
    if gen_non_contig_grad_outputs:
        made = tuple(_scattered(framework, item) for item in made)
    cotangents = made if grad_outputs is None else as_tuple(grad_outputs)
    types = framework.tensor_types
    shapes, wanted = (
        [framework.shape(item) if isinstance(item, types) else ("?",) for item in each] for each in (cotangents, made)
    )
    if shapes != wanted:
        raise UsageError(
            f"gradgradcheck(grad_outputs=...): expected tensors of the outputs' shapes {wanted}, got {shapes}"
        )
    gradients = second_order(framework, func, len(given))
    varied = [is_varied(framework, item) for item in given]

    def first_order(*arguments: Any) -> Any:
        # Forward mode passes detached inputs, which have no gradients.
        for item, requires in zip(arguments, varied, strict=False):
            if requires and not framework.can_backpropagate(item):
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
    """Return a leaf with the same contents whose elements have gaps between them in memory."""
    (value,) = framework.values([tensor])
    twice = Array(np.repeat(value.data[..., None], 2, axis=-1), value.dtype)
    spread = framework.tensor(twice, device=value.device)
    leaf = framework.invoke("method", "detach", (framework.invoke("operator", "getitem", (spread, (..., 0)), {}),), {})
    return framework.invoke("method", "requires_grad_", (leaf,), {})


def made_cotangents(framework: Framework, func: Callable[..., Any], inputs: Sequence[Any]) -> tuple[Any, ...]:
    """Return generated cotangents, with the shapes and dtypes of the outputs of `func`, that require grad."""
    outputs = FunctionOfInputs(framework, func, inputs).outputs()
    made: list[Any] = []
    for position, (output, value) in enumerate(zip(outputs, framework.values(outputs), strict=True)):
        if not value.data.size:  # made of a NumPy array, it would have strides of 0, which torch's own check refuses
            made.append(framework.invoke("function", "zeros_like", (output,), {"requires_grad": True}))
            continue
        steps = ((7 * np.arange(value.data.size) + position) % 15 - 7) / 8 + 0.03
        data = np.asarray(steps.reshape(value.data.shape), dtype=value.data.dtype)
        made.append(framework.tensor(Array(data, value.dtype), device=value.device, requires_grad=True))
    return tuple(made)


def _failure_by_differences(function: FunctionOfInputs, rule: Rule) -> str:
    """Return what is wrong with the gradients of `function`, or why they cannot be checked; empty if they are right."""
    checked = check(function, rule)
    _warn(checked)
    if checked.passed and checked.undefined:
        return (
            f"{several(checked.undefined, 'derivative')} cannot be checked, because the function is not finite there. "
            "Expected inputs at which it is"
        )
    return _failure(checked, function.framework)


def _explained(complaint: str, framework: Framework, func: Callable[..., Any], given: Sequence[Any], rule: Rule) -> str:
    """Return the failure that the framework complains about as this library shows it; empty if it is a kink.

    If this library finds none, or cannot check the function, that is the complaint itself.
    """
    try:
        checked = check(FunctionOfInputs(framework, func, given), rule)
    except Exception:  # noqa: BLE001 - a dtype or layout that only torch can read: report torch's error
        checked = GradcheckResult()
    if checked.passed and (checked.undefined or not (checked.rows and "Jacobian mismatch" in complaint)):
        return complaint
    _warn(checked)
    return _failure(checked, framework, complaint)


def _native(framework: Framework) -> Any:
    """Return the framework's own ``gradcheck``, or `ABSENT`."""
    try:
        return framework.resolve("autograd.gradcheck")
    except AttributeError:
        return ABSENT


def _complaint(native: Callable[..., Any], func: Callable[..., Any], inputs: Any, **asked: Any) -> str | None:
    """Return the error message of the framework's own function for `func`, or None if the gradients are right."""
    try:
        native(func, inputs, raise_exception=True, **asked)
    except RuntimeError as error:
        if type(error).__name__ != "GradcheckError":
            raise
        return str(error)
    return None


def _masked(native: Callable[..., Any], masked: bool | None, framework: Framework) -> dict[str, Any]:
    """Return `masked` as a keyword argument by the framework's name; before torch 2.1 that is ``check_sparse_nnz``.

    Raises:
        UsageError: if the framework has no such argument.
    """
    if masked is None:
        return {}
    for name in ("masked", "check_sparse_nnz"):
        if name in inspect.signature(native).parameters:
            return {name: masked}
    raise UsageError(
        f"gradcheck(masked={masked}): {framework.name} {framework.version} does not support it; leave it out"
    )


def _refuse_what_only_torch_checks(framework: Framework, asked: Mapping[str, bool | None]) -> None:
    """Raise `UsageError` if a check is `asked` for that `framework`, which has no ``gradcheck``, does not support."""
    for name, value in asked.items():
        if value:
            raise UsageError(f"gradcheck({name}={value}): {framework.name} does not support this check; leave it out")


def _refuse_overlap(framework: Framework, inputs: tuple[Any, ...]) -> None:
    """Raise `OverlappingMemory`, as torch does, if elements of an input share memory: they cannot be varied alone."""
    for position, item in enumerate(inputs):
        if is_varied(framework, item) and framework.is_dense(item) and overlaps(framework, item):
            raise OverlappingMemory(
                f"gradcheck: elements of input {position} share memory (strides {framework.strides(item)}): expected "
                "an input whose elements can be varied one by one. Call .contiguous() first"
            )


def _warn(checked: GradcheckResult) -> None:
    for text in checked.warnings:
        warnings.warn(f"gradcheck: {text}", stacklevel=4)


def _failure(checked: GradcheckResult, framework: Framework, complaint: str = "") -> str:
    """Return what is wrong in `checked`, and what the framework's own check says; empty if nothing is wrong."""
    if checked.passed:
        return ""
    text = report.failure(checked.rows, f"a gradient of {framework.name}")
    return text + (f"\n\n{framework.name} itself says: {complaint}" if complaint else "")


def _ended(failure: str, raise_exception: bool) -> bool:
    """Return whether there is no `failure`; raise `GradcheckError` instead of returning False if that is asked for."""
    if failure and raise_exception:
        raise GradcheckError(failure)
    return not failure
