"""torch's stand-ins for OneFlow's API of global tensors.

A global tensor contains the same numbers as the local tensor that it was made from, wherever its parts are stored. Its
torch counterpart is therefore that local tensor, and placements have no effect in torch.
"""

from __future__ import annotations

import inspect
from types import MappingProxyType
from typing import Any

from autotest.frameworks.operations import StandIns


class Nowhere:
    """A placement, or a way to distribute a tensor, on a framework that knows neither."""

    def __getattr__(self, name: str) -> "Nowhere":  # noqa: UP037 - stands in reproducers too
        if name.startswith("__"):
            raise AttributeError(name)
        return self

    def __call__(self, *args: Any, **kwargs: Any) -> "Nowhere":  # noqa: UP037
        return self

    def __repr__(self) -> str:
        return "<nowhere>"


def moved(value: Any, *args: Any, **kwargs: Any) -> Any:
    """What `to_global` and `to_local` leave: a module itself, a new tensor."""
    return value.clone() if hasattr(value, "clone") else value


def broadcast_like(value: Any, like: Any, *args: Any, **kwargs: Any) -> Any:
    """`value` in the shape of `like`."""
    return value.broadcast_to(like.size())


def stand_ins() -> StandIns:
    """Return the stand-ins for torch when it is paired with OneFlow."""
    nowhere = Nowhere()
    methods = {"to_global": moved, "to_local": moved, "broadcast_like": broadcast_like}
    code = [inspect.getsource(part) for part in (Nowhere, moved, broadcast_like)]
    put = [
        "torch.placement = torch.sbp = torch.Tensor.placement = torch.Tensor.sbp = Nowhere()",
        "torch.Tensor.to_global = torch.Tensor.to_local = moved",
        "torch.nn.Module.to_global = torch.nn.Module.to_local = moved",
        "torch.broadcast_like = torch.Tensor.broadcast_like = broadcast_like",
    ]
    return StandIns(
        names=MappingProxyType({"placement": nowhere, "sbp": nowhere, "broadcast_like": broadcast_like}),
        methods=MappingProxyType(methods),
        attributes=MappingProxyType({"placement": nowhere, "sbp": nowhere}),
        lines=("from typing import Any", *"\n".join([*code, *put]).splitlines()),
    )
