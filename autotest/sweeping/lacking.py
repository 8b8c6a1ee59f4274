"""Finds out which names and dtypes of a program the candidate does not have."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from autotest.frameworks import ABSENT, Pair
from autotest.frameworks.failures import CandidateDied
from autotest.program import Array, Call, Program, Ref
from autotest.program.semantics import is_class, makes_module


class Absence(NamedTuple):
    """The reason why something is absent, in words, and the missing torch name if there is one."""

    reason: str
    name: str = ""


class Lacking:
    """Finds what the candidate of a pair lacks, and caches the look-ups."""

    def __init__(self, pair: Pair) -> None:
        self._pair = pair
        self._lacking: dict[tuple[str, str], Absence | None] = {}

    def of_cell(self, path: str, dtype: str) -> Absence | None:
        """Return what a whole cell needs and the candidate lacks: the operator at `path`, or tensors of `dtype`."""
        calls = [Call("tensor", dtype, (), {}, 0)]
        if path.startswith("Tensor."):
            calls.append(Call("method", path.removeprefix("Tensor."), (), {}, 0))
        elif path:
            calls.append(Call("function", path, (), {}, 0))
        return next(filter(None, map(self._lacks_known, calls)), None)

    def of_program(self, program: Program) -> Absence | None:
        """Return the first part of `program` that the candidate lacks; None if it has everything."""
        asked = (call for call in program.calls if not _is_of_another_object(program, call))
        return next(filter(None, map(self._lacks_known, asked)), None)

    def _lacks_known(self, call: Call) -> Absence | None:
        name = (call.kind, call.target)
        if name not in self._lacking:
            self._lacking[name] = self._lacks(call)
        return self._lacking[name]

    def _lacks(self, call: Call) -> Absence | None:
        candidate = self._pair.candidate
        if call.kind == "function":
            try:
                there = self._pair.resolve(call.target).actual is not ABSENT
            except AttributeError:
                return None  # the reference itself lacks it, which is judged as its refusal
            return None if there else self._absent(call.target)
        if call.kind in ("method", "getattr") and not call.target.startswith("__"):
            return None if candidate.declares(call.target, modules=True) else self._absent(f"Tensor.{call.target}")
        if call.kind == "tensor":
            carrier = "float32" if call.target == "bfloat16" else call.target
            none = Absence(f"{candidate.name} has no {call.target} tensors")
            try:
                made = candidate.tensor(Array(np.zeros(1, carrier), call.target))
                failure = candidate.first_failure([made])
                if failure is not None:
                    return None if isinstance(failure[1], CandidateDied) else none
                candidate.values([made])
            except CandidateDied:  # of an earlier call, which says nothing about the dtype
                return None
            except Exception:  # noqa: BLE001 - frameworks raise various exceptions for an unknown dtype
                return none
        return None

    def _absent(self, name: str) -> Absence:
        return Absence(f"{self._pair.candidate.name} has no {name}", name)


def _is_of_another_object(program: Program, call: Call) -> bool:
    """Whether `call` is a method of an object that is neither a tensor nor a module, such as an optimizer's step."""
    if call.kind not in ("method", "getattr") or not call.args or type(call.args[0]) is not Ref:
        return False
    owner = program.calls[call.args[0].slot]
    return is_class(owner) and not makes_module(owner)
