"""The differentiable operators of ``tests/alignment/``, checked numerically with torch, one trial each.

Gradients that torch defines differently, and `redefined_gradients` does not know, are named here. A name must be
removed when its gradient becomes the derivative.
"""

from __future__ import annotations

import dataclasses
import warnings
from pathlib import Path

import pytest
import torch as real

from autotest.sources.collection import collect
from autotest.sources.pytest_session import sessions_kept
from autotest.sources.test_names import trial_seed
from autotest.trials.driver import driven_by
from autotest.trials.trial import run_trial

ALIGNMENT = Path(__file__).parents[1] / "alignment"
FILES = sorted(path.name for path in ALIGNMENT.glob("test_*.py") if "ledger" not in path.name)
TO_NOTHING = "test_convolution.py::test_transposed_convolution_to_nothing"
#: Newer torch returns the mean of both one-sided derivatives.
CORNERS = (
    {"test_activation.py::test_gradient_at_the_corners[name='Hardswish']": "its derivative at -3 and 3 is one-sided"}
    if real.__version__.startswith("2.0")
    else {}
)
EXCEPTIONS = {
    **CORNERS,
    **{
        f"{TO_NOTHING}[rank={rank}]": "torch refuses in double what oneDNN leaves empty in single" for rank in (1, 2, 3)
    },
    "test_loss.py::test_binary_cross_entropy[weighted=True]": "the weight of a loss is no input to autograd",
}


#: Maximum number of accepted trials of a known wrong test until one is wrong.
MOST = 10


def numeric_complaints(item):
    """Return the complaints about the first accepted trial; for a known wrong test, about the first wrong one."""
    found = []

    def drive(test, context):
        settings = dataclasses.replace(test.settings, check_grad="numeric")
        for index in range(40):
            outcome = run_trial(test.body, trial_seed(0, test.id, index), settings, context.pair)
            if outcome.rejection is None:
                found.append(outcome)
                if item.id not in EXCEPTIONS or outcome.mismatches or outcome.complaint or len(found) == MOST:
                    return

    def around(test, context):
        with context.pair.around_trials():
            drive(test, context)

    with driven_by(around), warnings.catch_warnings():
        warnings.simplefilter("ignore")
        item.call()
    outcome = found[-1]
    return outcome.numeric_pairs, [mismatch.message for mismatch in outcome.mismatches] + [outcome.complaint] * bool(
        outcome.complaint
    )


@pytest.mark.parametrize("file", FILES)
def test_torch_agrees_with_numbers_but_for_named_exceptions(file, monkeypatch):
    # The folder's tests are skipped without OneFlow, which is not needed here.
    monkeypatch.setenv("AUTOTEST_CANDIDATE", "torch")
    tests = [item for item in collect([ALIGNMENT / file]).tests if item.settings.auto_backward is not False]
    tests = [item for item in tests if not item.settings.skip_grad]
    checked, wrong = 0, {}
    with sessions_kept():
        for item in tests:
            numeric, complaints = numeric_complaints(item)
            checked += numeric
            if complaints:
                wrong[item.id] = complaints
    assert {test: told for test, told in wrong.items() if test not in EXCEPTIONS} == {}
    assert set(wrong) == {test for test in EXCEPTIONS if test.startswith(file)}
    assert checked or not tests or file == "test_optimizer.py"
