"""The verdicts on the entries of the ledger name the side that is known to be wrong."""

from __future__ import annotations

from pathlib import Path

import pytest

from autotest.diagnosis.attribution import verdict_score
from autotest.frameworks import chosen_pair
from autotest.results import ledger

HERE = Path(__file__).parent
ENTRIES = ledger.read(HERE / ledger.FILE)
KNOWN = verdict_score.read(HERE / verdict_score.FILE)


def test_of_every_entry_it_is_known_who_is_wrong():
    assert {entry.key for entry in ENTRIES} == set(KNOWN)


def test_no_verdict_is_wrong_and_nearly_all_are_right():
    pair = chosen_pair()
    if pair.candidate.name != "oneflow":
        pytest.skip("these are divergences of OneFlow")
    found = verdict_score.scores(ENTRIES, KNOWN, HERE, pair, lambda score: None)
    assert [score.key for score in found if not (score.right or score.open)] == []
    assert sum(score.right for score in found) >= 0.95 * len(found)
