"""The history of campaigns is always consistent, is shared by processes, and can be merged and resumed."""

from __future__ import annotations

import collections
import contextlib
import sqlite3
import subprocess
import sys
import textwrap
from pathlib import Path

import pytest

from autotest.base.errors import StoreUnwritable, UsageError
from autotest.campaigns.history import History
from autotest.results.identity import Identity
from autotest.results.progress import CampaignProgress, TestProgress
from autotest.results.tasks import Explored, FindingRecord, Where
from autotest.results.verification import Verification

IDENTITY = Identity("relu", "value", "forward", "candidate", "not close", "ordinary")
WHERE = Where(Path("t.py"), "t.py::test_relu", 7)


def progress(tried=0) -> CampaignProgress:
    test = TestProgress(WHERE, next=tried)
    if tried:
        counts = {
            "rejections": "relu: no",
            "avoided": "sinh",
            "operators": "relu",
            "arguments": "relu dim=1",
            "expected": "known",
        }
        numbers = {name: collections.Counter({item: 3}) for name, item in counts.items()}
        test.add(Explored(done=tried, accepted=tried - 3, compared=tried, seconds=0.5, **numbers))
    return CampaignProgress(7, [test])


@pytest.fixture
def history(tmp_path):
    made = History(tmp_path)
    yield made
    made.close()


def test_what_is_resumed_is_what_was_written_and_trials_under_way_are_still_to_be_run(history):
    before = progress(tried=20)
    before.tests[0].returned = [range(3, 5)]
    before.tests[0].known_deaths["a death"] = 2
    about = (Verification(), "verdict", "message", "", "always", "candidate")
    before.found[IDENTITY] = FindingRecord("relu-1", IDENTITY, WHERE, 4, "place", *about, has_script=False)
    before.seen[IDENTITY] = 6
    campaign = history.begin(before, "1/1")
    history.save(campaign, before, {WHERE: [range(15, 20)]})
    after = progress()
    assert history.resume(after, "1/1") == campaign
    (test,) = after.tests
    assert (test.next, test.tried, test.accepted, test.rejected) == (20, 20, 17, 3)
    assert test.returned == [range(3, 5), range(15, 20)]
    assert (test.operators, test.arguments) == (before.tests[0].operators, before.tests[0].arguments)
    assert test.avoided == {"sinh": 3}
    assert (after.expected, after.known_deaths) == ({"known": 3, "a death": 2}, {"a death": 2})
    assert after.found == before.found
    assert after.seen == before.seen


def test_only_a_campaign_of_the_same_shard_and_seed_is_resumed(history):
    history.begin(progress(), "1/2")
    with pytest.raises(UsageError, match="no campaign of shard 2/2"):
        history.last("2/2")
    with pytest.raises(UsageError, match="no campaign"):
        history.last("1/2", base_seed=8)
    assert history.last("1/2", base_seed=7)[1] == 7


def test_a_campaign_of_a_seed_that_is_not_there_is_told_with_the_seeds_that_are(history):
    for seed in range(7, 15):
        history.begin(CampaignProgress(seed, []), "1/1")
    history.begin(CampaignProgress(99, []), "1/2")
    with pytest.raises(UsageError, match="no campaign of shard 1/1 with base seed 3; it contains some with 14") as told:
        history.last("1/1", base_seed=3)
    assert str(told.value).endswith(
        "14, 13, 12, 11, 10, 9 and 2 more. Give --seed one of them, or run without --resume"
    )


def test_the_trials_of_a_merged_history_are_added_once(history, tmp_path):
    other = History(tmp_path / "other")
    for each in (history, other):
        each.save(each.begin(progress(), "1/1"), progress(tried=20), {})
    other.close()
    assert history.merge(tmp_path / "other" / History.FILE) == 1
    assert history.merge(tmp_path / "other" / History.FILE) == 0
    assert sums(tmp_path, "select sum(tried), sum(accepted), sum(rejected) from test") == (40, 34, 6)
    assert sums(tmp_path, "select sum(times) from seen where kind = 'operators' and name = 'relu'") == (6,)


def sums(directory, query):
    with contextlib.closing(sqlite3.connect(directory / History.FILE)) as base:
        return base.execute(query).fetchone()


WRITER = """
    import sys
    from pathlib import Path
    from tests.fuzz.test_history import progress
    from autotest.campaigns.history import History

    history = History(Path(sys.argv[1]))
    campaign = history.begin(progress(), "1/1")
    for _ in range(50):
        history.save(campaign, progress(tried=20), {})
"""


@pytest.mark.usefixtures("importable_elsewhere")
def test_two_processes_write_at_once(tmp_path):
    command = [sys.executable, "-c", textwrap.dedent(WRITER), str(tmp_path)]
    writers = [subprocess.Popen(command, stderr=subprocess.PIPE, text=True) for _ in range(2)]
    assert [writer.communicate()[1] for writer in writers] == ["", ""]
    assert sums(tmp_path, "select sum(tried) from test") == (40,)


def test_a_damaged_history_is_said_with_its_place(tmp_path):
    (tmp_path / History.FILE).write_bytes(b"this is no database" * 100)
    with pytest.raises(StoreUnwritable, match=f"{History.FILE} cannot be written"):
        History(tmp_path)
    with (
        contextlib.closing(History(tmp_path / "new")) as new,
        pytest.raises(UsageError, match="not a readable history of campaigns"),
    ):
        new.merge(tmp_path / History.FILE)


@pytest.mark.parametrize(
    "damage",
    [
        "update test set waiting = '[1'",
        "update test set next = 'x'",
        "update finding set file = x'ff00'",
        "update finding set details = '[]'",
        "update finding set identity = '{}'",
        "drop table seen",
        "alter table test rename column tried to attempts",
    ],
)
def test_a_damaged_campaign_is_not_resumed_and_said_with_its_place(history, damage):
    before = progress(tried=20)
    before.found[IDENTITY] = FindingRecord("relu-1", IDENTITY, WHERE, 4, "", Verification(), "", "", "")
    before.seen[IDENTITY] = 1
    history.save(history.begin(before, "1/1"), before, {})
    with contextlib.closing(sqlite3.connect(history.path)) as base:
        base.execute(damage)
        base.commit()
    with pytest.raises(UsageError, match=rf"{History.FILE} cannot be read: .*move it away and run without --resume"):
        history.resume(progress(), "1/1")


def test_a_finding_of_a_pinned_trial_keeps_its_own_base_seed(history):
    before = progress(tried=20)
    pinned = WHERE._replace(base_seed=1234)
    before.found[IDENTITY] = FindingRecord(
        "relu-1", IDENTITY, pinned, 4, "place", Verification(), "verdict", "message", ""
    )
    history.save(history.begin(before, "1/1"), before, {})
    after = progress()
    history.resume(after, "1/1")
    assert after.found[IDENTITY].where == pinned


def test_a_broken_test_is_tried_again_when_it_is_resumed(history):
    before = progress(tried=20)
    before.tests[0].add(Explored(broken="NameError: name 'tensr' is not defined"))
    history.save(history.begin(before, "1/1"), before, {})
    after = progress()
    history.resume(after, "1/1")
    assert not after.tests[0].over


RESUMER = """
    import sys
    from pathlib import Path
    from tests.fuzz.test_history import progress
    from autotest.base.errors import UsageError
    from autotest.campaigns.history import History

    try:
        History(Path(sys.argv[1])).resume(progress(), "1/1")
    except UsageError as error:
        sys.exit(print(error))
    print("resumed")
"""


@pytest.mark.usefixtures("importable_elsewhere")
def test_a_campaign_that_another_process_runs_is_not_resumed_meanwhile(tmp_path):
    history = History(tmp_path)
    history.begin(progress(), "1/1")
    command = [sys.executable, "-c", textwrap.dedent(RESUMER), str(tmp_path)]
    refused = subprocess.run(command, check=True, capture_output=True, text=True).stdout
    assert "another process is running this campaign" in refused
    history.close()
    assert subprocess.run(command, check=True, capture_output=True, text=True).stdout == "resumed\n"
