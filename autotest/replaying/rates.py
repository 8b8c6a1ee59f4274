"""The hyperparameters of a program's optimizers and schedulers, given or by default, and changes to them."""

from __future__ import annotations

import inspect
import math
from collections.abc import Callable, Mapping
from typing import Any, NamedTuple

import numpy as np

from autotest.frameworks import Framework, Pair
from autotest.program import Call, Operand, Program, leaves, map_operand, operator_of
from autotest.program.numpy_scalars import is_fraction
from autotest.program.semantics import makes_optimizer
from autotest.replaying.replay import replay

#: Relative difference of learning rates that single precision may cause in some steps of a scheduler.
_ROUNDING = 1e-5


class OtherRate(NamedTuple):
    """The call of a scheduler that sets another learning rate on the candidate, and that rate on both sides."""

    slot: int
    reference: float
    candidate: float


def other_rate(program: Program, pair: Pair) -> OtherRate | None:
    """Return the first call after which a learning rate differs between the sides, if that is a call of a scheduler."""
    own, theirs = (_rates_during(program, side) for side in pair.frameworks)
    for count, rates in enumerate(zip(own, theirs, strict=False)):
        unlike = [both for both in zip(*rates, strict=False) if not math.isclose(*both, rel_tol=_ROUNDING)]
        if unlike:
            by_scheduler = operator_of(program.calls, count - 1).startswith("optim.lr_scheduler.")
            return OtherRate(count - 1, *unlike[0]) if by_scheduler else None
    return None


def _rates_during(program: Program, framework: Framework) -> list[list[float]]:
    """Return the learning rates of all optimizers before each call."""
    found: list[list[float]] = []

    def note(count: int, values: list[Any]) -> None:
        optimizers = (values[call.slot] for call in program.calls[:count] if makes_optimizer(call))
        found.append([rate for one in optimizers for rate in framework.learning_rates(one)])

    replay(program, framework, between_calls=note)
    return found


def with_rates(program: Program, framework: Framework, change: Callable[[str, float], float]) -> Program:
    """Return `program` with each number of its optimizers and schedulers replaced by ``change(name, number)``."""

    def named(name: str, value: Operand) -> Operand:
        return map_operand(value, lambda item: change(name, item) if is_fraction(item) else item)

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
