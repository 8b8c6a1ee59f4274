"""The hyperparameters of a program's optimizers and schedulers, given or by default, and changes to them."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Mapping
from typing import Any

import numpy as np

from autotest.frameworks import Framework
from autotest.program import Call, Operand, Program, leaves, map_operand
from autotest.program.semantics import makes_optimizer


def with_rates(program: Program, framework: Framework, change: Callable[[str, float], float]) -> Program:
    """Return `program` with each number of its optimizers and schedulers replaced by ``change(name, number)``."""

    def named(name: str, value: Operand) -> Operand:
        return map_operand(value, lambda item: change(name, item) if type(item) is float else item)

    def changed(call: Call) -> Call:
        if not makes_optimizer(call):
            return call
        names = [*_parameters(framework.resolve(call.target))][: len(call.args)]
        names += [""] * (len(call.args) - len(names))
        kwargs = {**numbers_by_default(framework.resolve(call.target), len(call.args)), **call.kwargs}
        args = tuple(named(name, value) for name, value in zip(names, call.args, strict=True))
        return call._replace(args=args, kwargs={name: named(name, value) for name, value in kwargs.items()})

    return Program(tuple(map(changed, program.calls)), program.arrays, program.undefined)


def in_single(name: str, number: float) -> float:
    """Return a number as it is stored in single precision."""
    return float(np.float32(number))


def _parameters(function: Any) -> Mapping[str, inspect.Parameter]:
    try:
        return inspect.signature(function).parameters
    except (TypeError, ValueError):
        return {}


def numbers_by_default(function: Any, positional: int) -> dict[str, Operand]:
    """Return the default numbers of `function`, without those of its first `positional` parameters."""
    parameters = [*_parameters(function).values()][positional:]
    numbers = {one.name: one.default for one in parameters if type(one.default) in (float, tuple)}
    return {name: value for name, value in numbers.items() if all(type(item) is float for item in leaves(value))}
