"""The difference of the two sides in each module of a network, and the module where it begins."""

from __future__ import annotations

import dataclasses
from collections.abc import Iterable, Sequence
from typing import Any

from autotest.program import Call, Scope


@dataclasses.dataclass(frozen=True, slots=True)
class Layer:
    """One module of a network.

    `forward` and `gradient` are the greatest ratio of error to tolerance, in its results and in the gradients of its
    inputs and parameters; None if there is nothing to compare. A ratio above 1 is a mismatch.
    """

    path: str
    #: The module's class, or the operations in it if the test defines its own forward.
    kind: str
    forward: float | None = None
    gradient: float | None = None


@dataclasses.dataclass(frozen=True, slots=True)
class ByLayer:
    """Where in a network a divergence begins."""

    #: The path of the module whose call is the first divergent one; "" if none was found.
    path: str = ""
    #: Whether that call alone, on the reference's inputs, differs; else it may only pass on a difference of its inputs.
    alone: bool = False
    stage: str = "forward"
    #: The modules in the order of their first calls.
    layers: tuple[Layer, ...] = ()

    def as_data(self) -> dict[str, Any]:
        """Return the same as values that `json.dumps` accepts; ratios are texts, since JSON has no infinity."""
        data = dataclasses.asdict(self)
        for layer in data["layers"]:
            layer.update({key: None if layer[key] is None else repr(layer[key]) for key in ("forward", "gradient")})
        return data

    @classmethod
    def from_data(cls, data: dict[str, Any] | None) -> ByLayer | None:
        """Return the object for the return value of `as_data`; None for None."""
        if data is None:
            return None
        layers = []
        for layer in data["layers"]:
            numbers = {key: None if layer[key] is None else float(layer[key]) for key in ("forward", "gradient")}
            layers.append(Layer(layer["path"], layer["kind"], **numbers))
        return cls(data["path"], data["alone"], data["stage"], tuple(layers))


def paths_of(calls: Iterable[Call]) -> dict[Scope | None, str]:
    """Return the path of each module that made some of `calls`.

    If there are several networks, the path begins with the network's class.
    """
    scopes = [call.scope for call in calls if call.scope]
    if len({scope.network for scope in scopes}) != 1:
        return {scope: str(scope) for scope in scopes}
    return {scope: scope.path or scope.network for scope in scopes}


def first_divergent_layer(layers: Sequence[Layer], stage: str) -> Layer | None:
    """Return the first layer beyond the tolerance in the order in which `stage` runs them; None if there is none."""
    order = layers if stage != "backward" else layers[::-1]
    for layer in order:
        ratio = layer.gradient if stage == "backward" else layer.forward
        if ratio is not None and not ratio <= 1:
            return layer
    return None
