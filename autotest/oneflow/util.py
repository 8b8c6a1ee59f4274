"""Hands an object from one rank to all."""

from __future__ import annotations

import pickle
from typing import Any

from autotest.oneflow.framework_pair import flow, rank, world_size


def broadcast(obj: Any, src: int = 0) -> Any:
    """`obj` as rank `src` has it, on every rank; all ranks must call this. `obj` must pickle."""
    if world_size() == 1:
        return obj
    data = pickle.dumps(obj) if rank() == src else None
    return pickle.loads(flow()._oneflow_internal.cpu_broadcast(data, src))
