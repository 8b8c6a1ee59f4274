"""What is made of a death when its trial was run once more: the tracing itself is pretended."""

from __future__ import annotations

import numpy as np
import pytest

from autotest.campaigns import deaths
from autotest.program import Array, Call, Captured, Program, Ref
from autotest.storage.store import Store
from autotest.tasks import SURVIVED, Conditions, DiagnoseDeath, Found, Identity, Known, Where
from autotest.tracing import Traced, last_words

SUITE = """
from autotest import autotest, random_tensor, torch


@autotest(n=5)
def test_sinh():
    return torch.sinh(random_tensor(2)).sum()
"""
LEFT = Identity("sum", "crash", "forward", "candidate", "SIGABRT", "")
CALLS = (
    Call("tensor", "float32", (Captured(0),), {"requires_grad": True, "device": "cpu"}, 0),
    Call("function", "sinh", (Ref(0),), {}, 1),
)
DIED = Traced("SIGABRT", Program(CALLS, (Array(np.ones(2, np.float32), "float32"),)), "x.cpp:1] Check failed: 1 == 2")


@pytest.fixture
def settle(tmp_path, monkeypatch, against):
    """``settle(traced)``: what a death, kept as the trail told it, becomes; with the keys in the store then."""
    file = tmp_path / "test_sinh.py"
    file.write_text(SUITE)
    (tmp_path / "pyproject.toml").write_text("")
    pair = against()
    monkeypatch.setattr(deaths, "chosen", lambda: pair)
    monkeypatch.setattr(deaths, "verify", lambda script: "verified in a fresh interpreter")
    conditions = Conditions(tmp_path / "kept")
    where = Where(file, "test_sinh.py::test_sinh", 0)

    def run(traced, **options):
        monkeypatch.setattr(deaths, "trace", lambda *place, **conditions: traced)
        task = DiagnoseDeath(where, 3, LEFT, "sum: the candidate dies", thorough=False)
        assert deaths.settle(task, conditions).identity == LEFT
        later = DiagnoseDeath(where, 3, LEFT, "sum: the candidate dies", thorough=True, shrink=False)
        return deaths.settle(later, conditions), [entry.key for entry in Store(tmp_path / "kept").list()]

    return run


def test_it_is_kept_as_the_death_that_it_was_and_no_more_as_what_the_trail_said(settle):
    found, keys = settle(DIED)
    assert isinstance(found, Found)
    assert found.identity == Identity("sinh", "crash", "forward", "candidate", "SIGABRT: N == N", "")
    assert keys == [found.key]
    assert found.verified == "verified in a fresh interpreter"


def test_a_slow_start_of_the_script_is_no_hang(settle, tmp_path):
    settle(Traced("no answer in 20 s", DIED.program, ""))
    (entry,) = Store(tmp_path / "kept").list()
    assert entry.finding.first.symptom == "hang"
    assert "timeout=40" in entry.finding.script


def test_the_reference_is_not_the_candidates_fault(settle, tmp_path):
    found, _ = settle(Traced(DIED.death, DIED.program, DIED.last_words, side="reference"))
    assert found.identity.side == "reference"
    assert found.message.startswith("sinh: torch dies (SIGABRT)")
    assert found.verdict == "torch: crash, before torch was asked"
    (entry,) = Store(tmp_path / "kept").list()
    assert (entry.finding.blame, entry.finding.first.side) == ("reference", "reference")


def test_one_that_the_ledger_expects_under_its_own_name_is_known_and_nothing_is_kept(settle, tmp_path):
    entry = '[[divergence]]\nkey = "k"\ntest = "*test_sinh"\nsymptom = "crash"\noperator = "sinh"\nreason = "r"\n'
    (tmp_path / "ledger.toml").write_text(entry)
    found, keys = settle(DIED)
    assert found == Known("k")
    assert keys == []


def test_one_that_does_not_happen_again_is_still_told(settle):
    found, keys = settle(Traced("", None, ""))
    assert isinstance(found, Found)
    assert (found.identity, found.verified) == (LEFT, SURVIVED)
    assert keys == [found.key]


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("", ""),
        (
            "F20261121 19:08:18.832674 17267 shape.cpp:29] Check failed: index >= 0 (-1 vs. 0) \n*** trace: ***\n",
            "shape.cpp:29] Check failed: index >= 0 (-1 vs. 0)",
        ),
        ('init.py:412: UserWarning: Initializing is a no-op\n  warnings.warn("Initializing is a no-op")\n', ""),
        ("libibverbs not available, ibv_fork_init skipped\n", ""),
        ("terminate called after throwing\n  what():  no\n", "terminate called after throwing"),
        ("one\ntwo\n", "two"),
    ],
)
def test_the_last_words_are_those_that_tell_something(text, words):
    assert last_words(text) == words
