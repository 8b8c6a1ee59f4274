"""Broadcasts an object from one rank to all."""

from __future__ import annotations

import pickle
from typing import Any

from autotest.oneflow.framework_pair import flow, rank, world_size


def broadcast(obj: Any, src: int = 0) -> Any:
    """Return the `obj` of rank `src` on every rank. All ranks must call this, and `obj` must be picklable."""
    if world_size() == 1:
        return obj
    data = pickle.dumps(obj) if rank() == src else None
    return pickle.loads(flow()._oneflow_internal.cpu_broadcast(data, src))
