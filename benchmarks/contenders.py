"""The contenders that are timed: this library, OneFlow's own autotest, and a loop written by hand."""

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

#: Tolerances, the same for all contenders. Rounding errors of sums over 65,536 numbers exceed the default tolerances.
LARGE_TOLERANCE = {"rtol": 1e-3, "atol": 1e-2}
SMALL_TOLERANCE = {"rtol": 1e-4, "atol": 1e-5}

OURS, THEIRS, BY_HAND = "autotest", "OneFlow's autotest", "by hand"
#: This library on tests that leave dtype, numbers and layout open.
OPEN = "autotest, open"


class LikeTheOthers:
    """This library, set to draw the same as the other contenders: float32 numbers in [0, 1) in contiguous memory."""

    random = staticmethod(autotest.random)
    torch = autotest.torch

    @staticmethod
    def random_tensor(**said: Any) -> Any:
        usual = {"dtype": "float32", "low": 0, "high": 1, "contents": "uniform", "layout": "contiguous"}
        return autotest.random_tensor(**{**usual, **said})


class Contenders:
    """All three contenders, on one pair of frameworks."""

    def __init__(self) -> None:
        # OneFlow's test harness reads this when it is imported. Without it, the harness looks for GPUs.
        os.environ["ONEFLOW_TEST_CPU_ONLY"] = "1"
        import torch

        from autotest.frameworks.oneflow_import import import_oneflow

        flow = import_oneflow()
        with contextlib.redirect_stdout(io.StringIO()):  # it prints a greeting
            from oneflow.test_utils import automated_test_util
        self._theirs = automated_test_util
        self._hand = ByHand(torch, flow)
        self._seeds = itertools.count(1)

    def of(self, case: Case, size: int | None, *, graph: bool = False) -> dict[str, Trials]:
        """Return the contenders for one case. With `graph` there is no loop by hand."""
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
        """Return this library twice: on the case as it is, and with fixed values for all that the case leaves open."""
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
            # A new seed each time: with repeated draws, caches would be warmer than in real use.
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
