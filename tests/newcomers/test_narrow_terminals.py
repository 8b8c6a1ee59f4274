"""In 60 columns nothing is cut off, and text to copy stays on one line."""

from __future__ import annotations

import collections
import shlex
from pathlib import Path

import pytest

from autotest.base.plural import several
from autotest.report import campaign, session
from autotest.report.commands import reproduce
from autotest.results.progress import CampaignProgress, TestProgress
from autotest.results.tasks import Where

HEARD = {
    "test": "test_it.py::test_it",
    "accepted": 4,
    "rejections": {"matmul: RuntimeError: mat1 and mat2 shapes cannot be multiplied (NxN and NxN)": 3},
    "expected": {},
    "left_out": {},
    "cleared": 1,
    "base_seed": 7,
    "covered": {},
    "candidates": {},
    "told": True,
    "versions": {"torch": "2.0.1", "oneflow": "0.9.0"},
    "found": [
        {
            "candidate": "oneflow",
            "what": "relu, value (forward)",
            "place": "p",
            "reproducer": "python " + "long/" * 20 + "repro.py",
            "verified": "",
            "seed": 1,
            "trial": 2,
        },
    ],
}


def test_the_summary_of_pytest_is_wrapped_and_its_commands_are_not():
    lines = session.summary([HEARD], 60)
    assert [line for line in lines if len(line) > 60] == [f"  relu, value (forward): {HEARD['found'][0]['reproducer']}"]
    assert "    3 x matmul: RuntimeError: mat1 and mat2 shapes cannot be" in lines


def test_a_command_can_be_copied_where_the_folder_has_a_space():
    assert shlex.split(reproduce("/my kernels/.autotest/it's")) == ["python", "/my kernels/.autotest/it's/repro.py"]
    assert reproduce(".autotest/failures/relu-value-1") == "python .autotest/failures/relu-value-1/repro.py"


def test_what_several_tests_found_is_told_once():
    found = HEARD["found"][0]
    another = {**HEARD, "found": [{**found, "what": "exp, value (forward)"}]}
    lines = session.summary([HEARD, another, HEARD])
    assert lines[-3:] == [
        "2 findings:",
        f"  relu, value (forward): {found['reproducer']}  (in 2 tests)",
        f"  exp, value (forward): {found['reproducer']}",
    ]


def test_the_summary_of_a_campaign_is_wrapped():
    test = TestProgress(Where(Path("test_it.py"), "test_it.py::test_it", 0), tried=30, accepted=30)
    progress = CampaignProgress(
        7, [test], seconds=12.0, cleared=3, known_deaths=collections.Counter(a=2), workers_lost=5
    )
    text = campaign.summary(progress, 60)
    assert [line for line in text.splitlines() if len(line) > 60] == []
    assert "5 worker processes were lost and replaced, 2 of them as the\n  ledger expects (1 entry)" in text


@pytest.mark.parametrize(("count", "said"), [(0, "0 tests"), (1, "1 test"), (2, "2 tests"), (1000, "1000 tests")])
def test_numbers_agree_with_their_nouns(count, said):
    assert several(count, "test") == said


def test_irregular_nouns_do_too():
    assert several(1, "entry", "entries") == "1 entry"
    assert several(3, "entry", "entries") == "3 entries"
