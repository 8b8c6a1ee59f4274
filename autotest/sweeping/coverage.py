"""Finds which public names of the reference a program calls, and which of them the candidate also has."""

from __future__ import annotations

from autotest.frameworks import Pair
from autotest.program import Call, Ref
from autotest.sweeping.lacking import Lacking


def public_name(call: Call) -> str:
    """Return the public name that `call` uses, such as ``"Tensor.add_"`` or ``"Tensor.__radd__"``; empty if none."""
    if call.kind == "function":
        return call.target
    if call.kind == "method":
        return "" if call.target == "__call__" else f"Tensor.{call.target}"
    if call.kind == "operator":
        reflected = "" if not call.args or type(call.args[0]) is Ref else "r"
        return f"Tensor.__{reflected}{call.target.strip('_')}__"
    return f"Tensor.{call.target}.__get__" if call.kind == "getattr" else ""


def shared_names(pair: Pair) -> list[str]:
    """Return the public names of the reference that the candidate also has, in order."""
    lacking = Lacking(pair)
    return [name for name in pair.reference.public_names() if _has(pair, lacking, name)]


def _has(pair: Pair, lacking: Lacking, name: str) -> bool:
    if not name.startswith("Tensor."):
        return lacking.of_cell(name, "float32") is None
    member = name.removeprefix("Tensor.").removesuffix(".__get__")
    return pair.candidate.declares(member)
