"""A network told module by module: how far the two sides are apart in each, and where that begins."""

from __future__ import annotations

import dataclasses
from collections.abc import Iterable, Sequence
from typing import Any

from autotest.program import Call, Scope


@dataclasses.dataclass(frozen=True, slots=True)
class Layer:
    """One module of a network, by the order of its first call.

    `forward` and `gradient` are the greatest error over what is tolerated, in what it gave and in the gradients that it
    handed on or left in its parameters; None where there is nothing to compare. More than one is too much.
    """

    path: str
    #: Its class, or the operations that a forward of the test's own made in it.
    kind: str
    forward: float | None = None
    gradient: float | None = None


@dataclasses.dataclass(frozen=True, slots=True)
class ByLayer:
    """Where in a network a divergence begins."""

    #: The path of the module whose call is the first divergent one; "" where none was found.
    path: str = ""
    #: Whether that call alone differs on what the reference gave it; else it may only hand on what came in.
    alone: bool = False
    stage: str = "forward"
    layers: tuple[Layer, ...] = ()

    def as_data(self) -> dict[str, Any]:
        """The same in lists, dicts and texts: JSON has no infinity."""
        data = dataclasses.asdict(self)
        for layer in data["layers"]:
            layer.update({key: None if layer[key] is None else repr(layer[key]) for key in ("forward", "gradient")})
        return data

    @classmethod
    def from_data(cls, data: dict[str, Any] | None) -> ByLayer | None:
        """What `as_data` gave; None for None."""
        if data is None:
            return None
        layers = []
        for layer in data["layers"]:
            numbers = {key: None if layer[key] is None else float(layer[key]) for key in ("forward", "gradient")}
            layers.append(Layer(layer["path"], layer["kind"], **numbers))
        return cls(data["path"], data["alone"], data["stage"], tuple(layers))


def paths_of(calls: Iterable[Call]) -> dict[Scope | None, str]:
    """The path of each module that made some of `calls`; where there are several networks, with its class in front."""
    scopes = [call.scope for call in calls if call.scope]
    if len({scope.network for scope in scopes}) != 1:
        return {scope: str(scope) for scope in scopes}
    return {scope: scope.path or scope.network for scope in scopes}


def begins(layers: Sequence[Layer], stage: str) -> Layer | None:
    """The first layer that is beyond what is tolerated, in the order in which forward or backward comes to them."""
    order = layers if stage != "backward" else layers[::-1]
    for layer in order:
        ratio = layer.gradient if stage == "backward" else layer.forward
        if ratio is not None and not ratio <= 1:
            return layer
    return None
