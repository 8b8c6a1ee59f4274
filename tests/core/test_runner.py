"""The loop of trials: seeds, refusals, stored failures that run first, the ledger, interruption."""

from __future__ import annotations

import gc
import tempfile

import pytest
import torch as real

from autotest import Divergence, NothingCompared, StaleLedgerEntry, TooFewAccepted, random, random_tensor, torch
from autotest.recording.recorder import current
from autotest.results.ledger import Ledger, LedgerEntry
from autotest.running.runner import ATTEMPTS_PER_TRIAL
from autotest.sources.test_names import trial_seed
from generators import source
from tests.support import faults
from tests.support.bodies import relu
from tests.support.faulty import FaultyTorch, plus
from tests.support.running import trials

#: The seed of trial 0 of "test_it.py::test_it". It must be the same in every version and on every machine.
SEED = 784632299439


def seen(into):
    """Return a body that appends what it drew to the list `into`."""

    def body():
        into.append(random(0, 1 << 40).value())
        return torch.ones(1)

    return body


def test_each_trial_has_a_seed_of_its_own_and_every_run_the_same(tmp_path):
    one, two = [], []
    trials(seen(one), tmp_path, n=10)
    trials(seen(two), tmp_path, n=10)
    assert one == two
    assert len(set(one)) == 10


def test_another_base_seed_explores(tmp_path):
    one, two = [], []
    trials(seen(one), tmp_path, n=5)
    trials(seen(two), tmp_path, n=5, options={"seed": 1})
    assert not set(one) & set(two)


def test_trial_seeds_depend_on_base_test_and_index_and_stay_as_they_were():
    assert len({trial_seed(base, test, index) for base in (0, 1) for test in "ab" for index in (0, 1)}) == 8
    assert trial_seed(0, "test_it.py::test_it", 0) == SEED


def test_one_trial_can_be_run_alone(tmp_path):
    every, alone = [], []
    trials(seen(every), tmp_path, n=5)
    tally = trials(seen(alone), tmp_path, n=5, options={"trial": 3})
    assert alone == [every[3]]
    assert tally.accepted == 1


def test_the_number_of_trials_can_be_overridden(tmp_path):
    drawn = []
    assert trials(seen(drawn), tmp_path, n=20, options={"n": 3}).accepted == 3
    assert len(drawn) == 3


def test_a_divergence_names_what_brings_it_back(tmp_path):
    def body():
        size = random(0, 100).to(int).value()
        return torch.relu(torch.ones(2)) if size < 20 else torch.ones(size)

    with pytest.raises(Divergence) as caught:
        trials(body, tmp_path, faults.wrong_relu(), options={"seed": 5})
    finding, text = caught.value.finding, str(caught.value)
    assert f"AUTOTEST_SEED=5 AUTOTEST_TRIAL={finding.index}" in text
    assert finding.seed == trial_seed(5, "test_it.py::test_it", finding.index)
    with pytest.raises(Divergence) as again:
        trials(body, tmp_path / "elsewhere", faults.wrong_relu(), options={"seed": 5, "trial": finding.index})
    assert again.value.finding.first.message == finding.first.message


def test_a_stored_failure_is_tried_first(tmp_path):
    ran = []

    def body():
        size = random(0, 1000).to(int).value()
        ran.append(size)
        return torch.relu(torch.ones(1)) if size < 50 else torch.ones(1)

    for _ in range(2):
        ran.clear()
        with pytest.raises(Divergence):
            trials(body, tmp_path, faults.wrong_relu(), n=200)
        first = ran[-1]
    assert ran == [first]


def test_a_stored_failure_of_another_base_seed_names_that_one(tmp_path):
    def body():
        size = random(0, 1000).to(int).value()
        return torch.relu(torch.ones(1)) if size < 50 else torch.ones(1)

    with pytest.raises(Divergence) as first:
        trials(body, tmp_path, faults.wrong_relu(), n=200, options={"seed": 77})
    with pytest.raises(Divergence) as second:
        trials(body, tmp_path, faults.wrong_relu(), n=200)
    assert second.value.finding.seed == first.value.finding.seed
    assert f"AUTOTEST_SEED=77 AUTOTEST_TRIAL={first.value.finding.index}" in str(second.value)


def test_a_stored_failure_that_is_repaired_does_not_count_as_a_trial(tmp_path):
    with pytest.raises(Divergence):
        trials(relu, tmp_path, faults.wrong_relu(), n=4)
    assert trials(relu, tmp_path, n=4).accepted == 4


@pytest.mark.parametrize("additional", ["stored", "pinned"])
def test_an_additional_trial_that_the_ledger_expects_does_not_count_as_a_trial(tmp_path, additional):
    if additional == "stored":
        with pytest.raises(Divergence):
            trials(relu, tmp_path, faults.wrong_relu(), n=4)
    pinned = ((3, 7),) if additional == "pinned" else ()
    tally = trials(relu, tmp_path, faults.wrong_relu(), n=4, pinned=pinned, ledger=entry(operator="relu"))
    assert tally.accepted == 4
    assert tally.expected == {"known": 5}


def test_a_trial_with_several_stored_failures_runs_once(tmp_path):
    drawn = []

    def body():
        drawn.append(random(0, 1 << 40).value())
        return torch.relu(torch.exp(torch.ones(1)))

    for wrong in ("relu", "exp"):
        with pytest.raises(Divergence):
            trials(body, tmp_path, FaultyTorch({wrong: plus(1.0)}), options={"trial": 2})
    drawn.clear()
    trials(body, tmp_path, n=3)
    assert len(drawn) == 4


def test_a_trial_that_compares_nothing_fails(tmp_path):
    with pytest.raises(NothingCompared, match=r"test_it\.py::test_it: trial 0 .* compared nothing"):
        trials(lambda: None, tmp_path)


def test_rejected_trials_are_counted_and_made_up_for(tmp_path):
    def body():
        x = torch.ones(3)
        return x.reshape(random(1, 3).to(int), 3)

    tally = trials(body, tmp_path, n=6)
    assert tally.accepted == 6
    assert sum(tally.rejections.values()) > 0
    assert any(reason.startswith("reshape: RuntimeError") for reason in tally.rejections)


def test_a_refused_call_of_a_module_is_told_by_its_class(tmp_path):
    def body():
        return torch.nn.Linear(random(1, 3).to(int), 2)(torch.ones(1))

    assert {reason.split(":")[0] for reason in trials(body, tmp_path, n=6).rejections} == {"nn.Linear"}


def test_too_few_accepted_trials_fail_with_the_commonest_reasons(tmp_path):
    ran = []

    def body():
        ran.append(1)
        return torch.ones(2, 3) @ torch.ones(random(4, 9).to(int), 3)

    with pytest.raises(TooFewAccepted) as caught:
        trials(body, tmp_path, n=2)
    assert len(ran) == 2 * ATTEMPTS_PER_TRIAL
    assert "accepted 0 of 40 trials; 2 are needed" in str(caught.value)
    with pytest.raises(TooFewAccepted, match="accepted 0 of 20 trials; 1 is needed"):
        trials(body, tmp_path, n=1)
    # The numbers in the messages differ from trial to trial; they count as the same reason.
    assert "40 x matmul: RuntimeError: mat" in str(caught.value)


def entry(**fields):
    given = {"key": "known", "test": "test_it.py::*", "symptom": "value", "reason": "planted", **fields}
    return Ledger((LedgerEntry(**given),))


def test_the_ledger_expects_a_divergence(tmp_path):
    tally = trials(relu, tmp_path, faults.wrong_relu(), n=3, ledger=entry(operator="relu", match="not close"))
    assert tally.accepted == 3
    assert tally.expected == {"known": 3}


@pytest.mark.parametrize(
    "other", [{"symptom": "shape"}, {"operator": "exp"}, {"match": "NaN"}, {"test": "test_no.py::*"}]
)
def test_the_ledger_does_not_excuse_another_divergence(tmp_path, other):
    with pytest.raises(Divergence):
        trials(relu, tmp_path, faults.wrong_relu(), ledger=entry(**other))


def test_a_ledger_entry_that_no_longer_diverges_fails(tmp_path):
    with pytest.raises(StaleLedgerEntry, match="known: value, planted"):
        trials(relu, tmp_path, ledger=entry())


@pytest.mark.parametrize("partial", [{"seed": 3, "exploring": True}, {"n": 1}, {"trial": 0}])
def test_a_partial_run_says_nothing_of_the_ledgers_entries(tmp_path, partial):
    trials(relu, tmp_path, ledger=entry(), options=partial)


def test_findings_are_kept_elsewhere_when_the_folder_cannot_be_written(tmp_path, monkeypatch):
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    occupied = tmp_path / "a file"
    occupied.write_text("")
    with pytest.raises(Divergence) as caught:
        trials(relu, occupied, faults.wrong_relu())
    text = str(caught.value)
    assert "cannot be kept" in text
    assert "AUTOTEST_DIR" in text
    assert "repro.py" in text


@pytest.mark.parametrize("error", [KeyboardInterrupt, SystemExit, GeneratorExit])
def test_an_interruption_leaves_at_once_and_leaves_no_state(tmp_path, error):
    def body():
        with torch.no_grad():
            torch.ones(1)
            raise error

    outer = source.current()
    with pytest.raises(error):
        trials(body, tmp_path)
    assert current() is None
    assert source.current() is outer
    assert real.is_grad_enabled()
    assert not list(tmp_path.rglob("*.py"))
    assert trials(relu, tmp_path, n=2).accepted == 2


def test_a_failure_leaves_no_state(tmp_path):
    with pytest.raises(Divergence):
        trials(relu, tmp_path, faults.wrong_relu())
    assert current() is None
    assert trials(lambda: torch.exp(random_tensor()), tmp_path, n=2).accepted == 2


def test_a_trial_lets_go_of_its_tensors(tmp_path):
    trials(relu, tmp_path, n=2)
    gc.collect()
    before = sum(issubclass(type(item), real.Tensor) for item in gc.get_objects())
    trials(relu, tmp_path, n=30)
    gc.collect()
    assert sum(issubclass(type(item), real.Tensor) for item in gc.get_objects()) <= before + 6


def test_a_fault_in_one_trial_of_many_is_found(tmp_path):
    def body():
        return torch.nn.functional.pad(torch.ones(3), (random(0, 12).to(int), 0))

    def sometimes(pad):
        return lambda x, padding: pad(x, padding) + (padding[0] == 7)

    with pytest.raises(Divergence):
        trials(body, tmp_path, FaultyTorch({"nn.functional.pad": sometimes}), n=200)
