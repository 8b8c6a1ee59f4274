"""Runs the cases with the `autotest` package of its working folder, as the child process of `benchmarks.revisions`.

Reads one request a line, ``CASE COUNT``, runs as many trials of the case, and answers with an empty line.
"""

from __future__ import annotations

import inspect
import itertools
import os
import sys
import warnings
from typing import Any

import autotest
from benchmarks.cases import CASES, Case
from benchmarks.contenders import SMALL_TOLERANCE, LikeTheOthers

#: Appended to the name of a case that is run as it stands, without the bounds, contents and layout of `LikeTheOthers`.
OPEN = ", left open"


def main() -> int:
    """Serve requests until standard input ends."""
    answers = os.fdopen(os.dup(1), "w")
    os.dup2(2, 1)  # What a framework prints must not be read as an answer.
    warnings.simplefilter("ignore")
    cases = {case.name: (case, LikeTheOthers) for case in CASES}
    cases |= {case.name + OPEN: (case, autotest) for case in CASES}
    seeds = itertools.count(1)
    tests: dict[tuple[str, int], Any] = {}
    for line in sys.stdin:
        name, _, count = line.strip().rpartition(" ")
        key = name, int(count)
        if key not in tests:
            tests[key] = _test(*cases[name], int(count))
        os.environ["AUTOTEST_SEED"] = str(next(seeds))  # With one seed, the second run would find its caches filled.
        tests[key]()
        print(file=answers, flush=True)
    return 0


def _test(case: Case, lib: Any, count: int) -> Any:
    wanted = {"n": count, "auto_backward": case.backward, "special_values": False, **SMALL_TOLERANCE}
    known = inspect.signature(autotest.autotest).parameters  # A revision without an option has nothing to turn off.
    return autotest.autotest(**{name: value for name, value in wanted.items() if name in known})(
        lambda: case.body(lib, None)
    )


if __name__ == "__main__":
    sys.exit(main())
