"""The program of one of two ranks. The launcher starts it; it writes its results as JSON into the given folder.

Further arguments are for pytest, which it runs afterwards; it ends with pytest's status.
"""

from __future__ import annotations

import json
import sys
import warnings
from pathlib import Path

import pytest

warnings.simplefilter("ignore")
from autotest.frameworks.oneflow_import import import_oneflow  # noqa: E402

flow = import_oneflow()
from autotest.oneflow import autotest, globaltest, random, random_tensor, torch, util  # noqa: E402


@globaltest
@autotest(n=3, check_graph=False)
def agrees(case: object) -> object:
    placement = flow.placement.all("cpu")
    x = random_tensor(2, 4, 6).to_global(placement=placement, sbp=flow.sbp.split(0))
    y = random_tensor(2, 6, 4).to_global(placement=placement, sbp=flow.sbp.split(1))
    seen["drawn"].append(float(x.pytorch.sum()) + random(0, 1000).to(int).value())
    return torch.matmul(x, y)


@globaltest
@autotest(n=1, check_graph=False)
def fails_everywhere(case: object) -> object:
    x = random_tensor(2, 4, 6, requires_grad=False)
    x.oneflow = x.oneflow + 1
    return x * 2


@globaltest
def fails_on_the_second(case: object) -> None:
    assert flow.env.get_rank() == 0, "planted"


def said(test: object) -> str:
    try:
        test(None)  # type: ignore[operator]
    except AssertionError as error:
        return str(error)
    return "passed"


seen: dict[str, list[float]] = {"drawn": []}
results = {test.__name__: said(test) for test in (agrees, fails_everywhere, fails_on_the_second)}
results["again"] = said(agrees)
results["from rank 0"] = util.broadcast(f"rank {flow.env.get_rank()}")
folder, *arguments = sys.argv[1:]
(Path(folder) / f"{flow.env.get_rank()}.json").write_text(json.dumps([results, seen["drawn"]]), encoding="utf-8")
sys.exit(pytest.main(arguments))
