"""Validation of the arguments of `gradcheck`, before anything is differentiated."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np

from autotest.base.errors import UsageError
from autotest.frameworks import Framework, registry
from autotest.gradients.function import as_tuple, is_varied


def framework_of(inputs: Sequence[Any]) -> Framework:
    """Return the framework that the tensors in `inputs` belong to.

    Raises:
        UsageError: if there is none, or if an input is a dual tensor.
    """
    for item in inputs:
        for kind in type(item).__mro__:
            root = kind.__module__.partition(".")[0]
            if root == "autotest":
                raise UsageError("gradcheck: a dual tensor has two sides; give it x.reference or x.candidate")
            if root in registry.names():
                found = registry.framework(root)
                if isinstance(item, found.tensor_types):
                    return found
    kinds = ", ".join(type(item).__name__ for item in inputs) or "nothing"
    raise UsageError(f"gradcheck: expected tensors of {', '.join(registry.names())}; got {kinds}")


def check_numbers(numbers: Mapping[str, Any]) -> None:
    """Check that tolerances are finite numbers and not negative, and that ``eps`` is positive.

    Raises:
        UsageError: if one is not.
    """
    for name, value in numbers.items():
        number = isinstance(value, (int, float, np.number)) and not isinstance(value, bool)
        if not (number and math.isfinite(value) and value >= 0 and (value > 0 or name != "eps")):
            least = "eps > 0" if name == "eps" else f"{name} >= 0"
            raise UsageError(f"gradcheck({name}={value!r}): expected a finite number, {least}")


def check_needs(function: str, needed: str, value: bool, flags: Mapping[str, bool]) -> None:
    """Check that none of `flags` is True if the flag `needed` of `function`, without which it checks nothing, is not.

    Raises:
        UsageError: if one is.
    """
    for name, asked in flags.items():
        if asked and not value:
            raise UsageError(
                f"{function}({name}=True): expected {needed}=True as well, without which this is not checked; or write "
                f"{name}=False"
            )


def check_flags(flags: Mapping[str, Any]) -> None:
    """Check that flags are True or False (or None, for ``masked`` and its other name).

    Raises:
        UsageError: if one is not.
    """
    for name, value in flags.items():
        if not (isinstance(value, bool) or (value is None and name in ("masked", "check_sparse_nnz"))):
            raise UsageError(f"gradcheck({name}={value!r}): expected True or False")


def check_function(framework: Framework, func: Callable[..., Any], inputs: Sequence[Any]) -> None:
    """Call `func` once, and check that it returns tensors and does not modify the inputs that require grad.

    Raises:
        UsageError: if it does, if `func` is not callable, or if no input requires grad.
    """
    if not callable(func):
        raise UsageError(f"gradcheck(func={func!r:.80}): expected a function of the inputs")
    varied = {at: item for at, item in enumerate(inputs) if is_varied(framework, item)}
    if not varied:
        raise UsageError("gradcheck: expected an input that requires grad; call .requires_grad_() on one")
    dense = {at: item for at, item in varied.items() if framework.is_dense(item)}
    before = [value.data.copy() for value in framework.values(list(dense.values()))]
    for at, item in enumerate(as_tuple(func(*inputs))):
        if not isinstance(item, framework.tensor_types):
            raise UsageError(
                f"gradcheck: func returned {item!r:.60} ({type(item).__name__}) as output {at}; expected a tensor of "
                f"{framework.name}, or a tuple of tensors"
            )
    after = framework.values(list(dense.values()))
    for at, old, new in zip(dense, before, after, strict=True):
        if old.shape != new.data.shape or not np.array_equal(old, new.data, equal_nan=True):
            raise UsageError(
                f"gradcheck: func changed input {at} in place, but gradcheck varies this input; clone it in func first"
            )
