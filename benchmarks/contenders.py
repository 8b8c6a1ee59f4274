"""Who is timed: this library, OneFlow's own autotest, a loop written by hand."""

from __future__ import annotations

import contextlib
import functools
import io
import itertools
import os
import unittest
from typing import Any

import autotest
from benchmarks.by_hand import LOOPS, ByHand
from benchmarks.cases import Case
from benchmarks.interleave import Trials

#: Sums over 65,536 numbers are rounded by more than the default tolerances allow; all contenders get the same.
LARGE_TOLERANCE = {"rtol": 1e-3, "atol": 1e-2}
SMALL_TOLERANCE = {"rtol": 1e-4, "atol": 1e-5}

OURS, THEIRS, BY_HAND = "autotest", "OneFlow's autotest", "by hand"
#: This library where dtype, numbers and layout are left open.
OPEN = "autotest, open"


class LikeTheOthers:
    """This library, told to draw what the other contenders draw: float32 numbers from [0, 1) in contiguous memory."""

    random = staticmethod(autotest.random)
    torch = autotest.torch

    @staticmethod
    def random_tensor(**said: Any) -> Any:
        usual = {"dtype": "float32", "low": 0, "high": 1, "contents": "uniform", "layout": "contiguous"}
        return autotest.random_tensor(**{**usual, **said})


class Contenders:
    """All three, on one pair of frameworks."""

    def __init__(self) -> None:
        # OneFlow's harness reads this when it is imported, and looks for GPUs without it.
        os.environ["ONEFLOW_TEST_CPU_ONLY"] = "1"
        import torch

        from autotest.frameworks.preload import import_oneflow

        flow = import_oneflow()
        with contextlib.redirect_stdout(io.StringIO()):  # it greets
            from oneflow.test_utils import automated_test_util
        self._theirs = automated_test_util
        self._hand = ByHand(torch, flow)
        self._seeds = itertools.count(1)

    def of(self, case: Case, size: int | None, *, graph: bool = False) -> dict[str, Trials]:
        """The contenders of one case; a loop by hand has no graph."""
        found = {OURS: self._ours(case, size, graph, LikeTheOthers), THEIRS: self._theirs_of(case, size, graph)}
        if not graph:
            loop, hand = LOOPS[case.body.__name__], self._hand

            def by_hand(count: int) -> None:
                hand.tolerance = _tolerance(size)
                for _ in range(count):
                    loop(hand, size)

            found[BY_HAND] = by_hand
        return found

    def of_open(self, case: Case) -> dict[str, Trials]:
        """This library by itself, on a case as it stands, and with all said that the case leaves open."""
        return {OPEN: self._ours(case, None, False, autotest), OURS: self._ours(case, None, False, LikeTheOthers)}

    def _ours(self, case: Case, size: int | None, graph: bool, lib: Any) -> Trials:
        def body() -> Any:
            return case.body(lib, size)

        @functools.cache
        def test(count: int) -> Any:
            settings = {
                "auto_backward": case.backward,
                "check_graph": graph,
                "special_values": False,
                **_tolerance(size),
            }
            return autotest.autotest(n=count, **settings)(body)  # the others draw no special values either

        def trials(count: int) -> None:
            # Another seed each time: the same draws again and again would find caches warm that are not.
            os.environ["AUTOTEST_SEED"] = str(next(self._seeds))
            test(count)()

        return trials

    def _theirs_of(self, case: Case, size: int | None, graph: bool) -> Trials:
        theirs, test_case = self._theirs, unittest.TestCase()

        def body(_: Any) -> Any:
            return case.body(theirs, size)

        def trials(count: int) -> None:
            decorate = theirs.autotest(n=count, auto_backward=case.backward, check_graph=graph, **_tolerance(size))
            with contextlib.redirect_stdout(io.StringIO()):
                decorate(body)(test_case)

        return trials


def _tolerance(size: int | None) -> dict[str, float]:
    return SMALL_TOLERANCE if size is None else LARGE_TOLERANCE
