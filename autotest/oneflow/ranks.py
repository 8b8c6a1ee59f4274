"""Combines the results of one test that several ranks run into one verdict."""

from __future__ import annotations

import contextlib
import traceback
from collections.abc import Iterator

from autotest.oneflow.framework_pair import rank, world_size
from autotest.oneflow.util import broadcast
from autotest.results.divergence import Divergence


@contextlib.contextmanager
def together(test: str) -> Iterator[None]:
    """Raise on every rank if the block raised on any rank. Rank 0 raises the full report, the others point to it.

    All ranks exchange their errors at the end of the block, so that they leave it together. The launcher must detect a
    rank that died.
    """
    if world_size() == 1:
        yield
        return
    error: BaseException | None = None
    try:
        yield
    except Exception as raised:  # noqa: BLE001 - the other ranks must know of any error
        error = raised
    own = None if error is None else "".join(traceback.format_exception_only(type(error), error)).strip()
    reports = [broadcast(own, source) for source in range(world_size())]
    failed = [index for index, report in enumerate(reports) if report is not None]
    if not failed:
        return
    if error is not None and (rank() == 0 or reports[0] is None):
        if isinstance(error, Divergence):
            launch = f"python -m oneflow.distributed.launch --nproc_per_node {world_size()}"
            error.args = (
                f"{error}\nOn {world_size()} ranks: {launch} with the reproducer, or -m pytest with the test",
            )
        raise error
    if rank() != 0:
        first = (reports[failed[0]] or "").partition("\n")[0]
        raise Divergence(f"{test}: rank {failed[0]} of {world_size()} reports it ({first[:200]})") from None
    raise Divergence(f"{test}: passed on rank 0, failed on rank {failed[0]} of {world_size()}:\n{reports[failed[0]]}")
