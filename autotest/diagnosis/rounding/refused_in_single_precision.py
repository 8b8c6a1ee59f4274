"""Finds refusals of the reference that are about single precision, and not about the arguments of the call."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from autotest.frameworks import Framework
from autotest.frameworks.namespace import DIFFERENTIABLE
from autotest.program import Call, Program, Root, refs
from autotest.program.calls import leaves
from autotest.program.rewriting import widened
from autotest.replaying.replay import replay

_SINGLE = "float32"
#: Part of the name of the error of a matrix that is singular in one precision, and need not be in another.
_OF_NUMBERS = "LinAlgError"


def refuses_single_precision_alone(program: Program, reference: Framework) -> bool:
    """Return whether `reference` refuses the last call of `program`, and computes it in double precision.

    Whether arguments are valid does not depend on the precision, if all floating operands have the same one. A kernel
    for single precision may lack a case, or have its own error in it.
    """
    once = replay(program, reference)
    if once.error is None or once.failed_at is None or _OF_NUMBERS in type(once.error).__name__:
        return False
    call = program.calls[once.failed_at]
    if any(type(item) is Root for item in leaves((call.args, call.kwargs))):
        return False  # of another dtype, for instance: ``view(torch.int64)`` needs an even number of float32
    dtypes = {*_dtypes(call, once.values, reference)} & {*DIFFERENTIABLE}
    return dtypes == {_SINGLE} and replay(widened(program)[0], reference).error is None


def _dtypes(call: Call, values: list[Any], framework: Framework) -> Iterator[str]:
    """Yield the dtype of each operand of `call`, and of each parameter of a module among them."""
    for ref in refs(call):
        value = values[ref.slot]
        held = framework.parameters(value).values() if isinstance(value, framework.module_types) else (value,)
        yield from (framework.dtype_of(one) for one in held if isinstance(one, framework.tensor_types))
