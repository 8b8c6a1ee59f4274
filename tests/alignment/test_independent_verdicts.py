"""Verdicts on differences for which no oracle was written are compared with an independent source."""

from __future__ import annotations

import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from autotest import torch as dual
from autotest.base.settings import Settings
from autotest.diagnosis.attribution.referee import examine
from autotest.frameworks import Framework, chosen_pair, warnings_ignored
from autotest.replaying.agreement import agree
from autotest.sources.reproducers import with_shared_state
from autotest.trials.trial import run_without_comparison

if sys.version_info >= (3, 11):
    import tomllib
else:
    import tomli as tomllib

FILE = Path(__file__).with_name("independent.toml")
DIFFERENCES = tomllib.loads(FILE.read_text(encoding="utf-8"))["difference"]
NAMES = {"np": np, "inf": float("inf"), "nan": float("nan"), "longdouble": lambda x: np.asarray(x, np.longdouble)}


def carried_out(difference: Mapping[str, str], torch: Any) -> Any:
    """Return the compared value: the result of the call, or the gradient of its input."""
    known = {
        **NAMES,
        "torch": torch,
        "floats": lambda values: torch.tensor(values, dtype=torch.float32),
        "integers": lambda values: torch.tensor(values, dtype=torch.int64),
    }
    if "x" not in difference:
        return eval(difference["call"], known)  # noqa: S307
    at = eval(difference["x"], NAMES)  # noqa: S307
    x = known["x"] = torch.tensor(at, dtype=torch.float32, requires_grad=True)
    eval(difference["call"], known).backward()  # noqa: S307
    return x.grad


def is_right(difference: Mapping[str, str], side: Framework) -> bool:
    """Return whether `side` gives the value of the source."""
    try:
        result = carried_out(difference, side.root)
        value = side.values([result])[0]
    except Exception:  # noqa: BLE001 - refusing is wrong, too
        return False
    if "shape" in difference:
        return bool(value.data.shape == eval(difference["shape"]))  # noqa: S307
    if difference.get("dtype", value.dtype) != value.dtype:
        return False
    true = np.asarray(eval(difference["value"], NAMES), np.longdouble)  # noqa: S307
    given = np.asarray(value.data, np.longdouble)
    # The rounding of a few operations in single precision, or of subnormal numbers.
    return given.shape == true.shape and np.allclose(given, true, rtol=1e-5, atol=1e-44, equal_nan=True)


def verdict(difference: Mapping[str, str]) -> str:
    """Return the side that the referee blames."""
    pair, settings = chosen_pair(), Settings(auto_backward=False)
    outcome = run_without_comparison(lambda: carried_out(difference, dual), 0, settings, pair)
    agreement = agree(with_shared_state(outcome.program), pair, settings)
    assert agreement.mismatches, difference
    return examine(agreement, pair, settings).verdict.wrong


@pytest.mark.slow
@np.errstate(all="ignore")
def test_verdicts_agree_with_independent_sources():
    pair = chosen_pair()
    labels, wrong, said = [], [], 0
    with warnings_ignored(), pair.around_trials():
        for difference in DIFFERENCES:
            right = tuple(is_right(difference, side) for side in (pair.reference, pair.candidate))
            label = {(True, False): "candidate", (False, True): "reference", (False, False): "both"}.get(right)
            labels += [] if label == difference["wrong"] else [(difference["call"], label)]
            found = verdict(difference)
            said += found == difference["wrong"]
            wrong += [] if found in (difference["wrong"], "") else [(difference["call"], found)]
    assert labels == []
    assert wrong == []
    assert said >= 0.95 * len(DIFFERENCES)


def test_there_are_enough_of_them_and_each_names_its_source():
    assert len(DIFFERENCES) >= 60
    assert all(difference["because"] and difference["wrong"] for difference in DIFFERENCES)
