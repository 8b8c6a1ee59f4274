"""The reports of a campaign: summary, JUnit, GitHub, Markdown."""

from __future__ import annotations

import collections
import dataclasses
import xml.etree.ElementTree as ET
from pathlib import Path

import pytest

from autotest.cli.display import Log
from autotest.report import campaign, campaign_json, github, junit, markdown
from autotest.results.campaign_map import campaign_map
from autotest.results.identity import Identity
from autotest.results.progress import CampaignProgress, TestProgress
from autotest.results.tasks import FindingRecord, LeftOut, Where
from autotest.results.verification import State, Verification

WHERE = Where(Path("/repo/tests/test_x.py"), "test_x.py::test_relu[a='b']", 7)
IDENTITY = Identity("nn.ReLU", "value", "forward", "candidate", "not close", "ordinary")
FOUND = FindingRecord(
    "relu-value-1",
    IDENTITY,
    WHERE,
    4,
    "kept/relu",
    Verification(State.VERIFIED),
    "torch is right",
    "not close: 1\x00 | 2\n%",
    "report",
)


def progress(**changes) -> CampaignProgress:
    test = TestProgress(WHERE, tried=25, accepted=20, rejections=collections.Counter({"relu: no": 4}), died=1)
    made = CampaignProgress(7, [test, TestProgress(WHERE._replace(test="test_x.py::never"))], found={IDENTITY: FOUND})
    made.seen[IDENTITY] = 3
    for name, value in changes.items():
        setattr(made, name, value)
    return made


def test_the_summary_numbers_findings_and_names_how_to_see_each_again():
    text = campaign.summary(progress(seconds=12.0, workers_lost=1, cleared=2))
    assert "25 trials of 1 test in 12 s, base seed 7: 20 accepted, 4 rejected by the reference" in text
    assert "1. nn.ReLU: value (forward), seen 3x" in text
    assert "python kept/relu/repro.py  (verified in a fresh interpreter)" in text
    assert "1  value (forward): nn.ReLU" in text
    assert "1 worker process was lost" in text
    assert "2 mismatches were only rounding" in text


def test_a_log_says_what_an_announced_finding_turned_out_to_be(capsys):
    log = Log()
    log.found(FOUND)
    log.renamed("relu-value-1", "relu-crash-2")
    assert capsys.readouterr().out.splitlines() == [
        "found relu-value-1: nn.ReLU, value (forward) in test_x.py::test_relu[a='b']",
        "relu-value-1 was diagnosed as relu-crash-2",
    ]


def test_the_summary_says_what_a_finding_needs_to_happen():
    needs = dataclasses.replace(FOUND, happens="only with strided memory, needs 9 elements or more")
    lines = campaign.summary(progress(found={IDENTITY: needs})).splitlines()
    assert "   Happens: only with strided memory, needs 9 elements or more" in lines
    assert not any("Happens" in line for line in campaign.summary(progress()).splitlines())


def test_a_message_of_several_lines_keeps_them_and_is_cut_where_it_is_long():
    message = "\n".join(["relu: accepts it", "", "  File  x.py ", "y" * 40 + " " + "z" * 90, "three", "four", "five"])
    text = campaign.summary(progress(found={IDENTITY: dataclasses.replace(FOUND, message=message)}))
    assert text.split("seen 3x\n")[1].splitlines()[:6] == [
        "   relu: accepts it",
        "     File x.py",
        "     " + "y" * 40 + " ...",
        "     three",
        "     ... 2 more lines",
        "   torch is right",
    ]
    long = campaign.summary(progress(found={IDENTITY: dataclasses.replace(FOUND, message="word " * 100)}))
    assert "word ...\n   torch is right" in long
    assert long.count("word") == 59


def test_the_summary_tells_known_deaths_and_trials_that_were_spared_another_one():
    counts = {"rejections": collections.Counter({"relu: no": 2}), "avoided": collections.Counter({"relu": 9})}
    deadly = TestProgress(WHERE, **counts, died=3)
    made = progress(tests=[deadly], found={}, workers_lost=5, known_deaths=collections.Counter({"relu-dies": 3}))
    text = campaign.summary(made)
    assert "5 trials of" in text
    assert "2 rejected by the reference" in text
    assert "9 more ended before a call that is avoided" in text
    assert "5 worker processes were lost and replaced, 3 of them as the ledger expects (1 entry)" in text


def test_the_summary_says_what_could_not_be_done():
    broken = TestProgress(WHERE, broken="NameError: x", tried=1)
    rare = TestProgress(WHERE, rejections=collections.Counter({"relu: too small": 99}), tried=99)
    made = progress(tests=[broken, rare], found={}, set_aside={"matmul"}, stopped="interrupted")
    made.left_out = [LeftOut("test_y", "needs the fixtures z")]
    made.files_broken = [LeftOut("test_z.py", "cannot be imported: no")]
    text = campaign.summary(made)
    for part in (
        "(interrupted)",
        "NameError: x",
        "0 of 99; mostly relu: too small",
        "because they killed too many workers (1 call):\n  matmul",
        "test_y: needs the fixtures z",
        "test_z.py: cannot be imported: no",
        "Nothing new found, but 1 test is broken, and 1 file cannot be imported.",
    ):
        assert part in text


def test_a_long_list_is_cut_and_says_so_and_json_has_all_of_it():
    calls, never = {f"op{n:02}(float32 1-d)" for n in range(60)}, [f"test_x.py::never{n:02}" for n in range(60)]
    made = progress(tests=[TestProgress(WHERE._replace(test=name)) for name in never], found={}, set_aside=calls)
    lines = campaign.summary(made).splitlines()
    heads = {
        "Not run any more, because they killed too many workers (60 calls):": "  op00(float32 1-d)",
        "60 tests had no accepted trial:": "  test_x.py::never00: no trial was run",
    }
    for head, first in heads.items():
        place = lines.index(head)
        assert lines[place + 1] == first
        assert lines[place + 13] == "  and 48 more (`--json FILE` writes all)"
    data = campaign_json.as_data(made, ("torch", "it"), {})
    assert data["set_aside"] == sorted(calls)
    assert [test["test"] for test in data["tests"]] == never


def test_junit_is_xml_whatever_a_message_holds():
    made = progress(found={IDENTITY: dataclasses.replace(FOUND, report="a\x00<&>")})
    suite = ET.fromstring(junit.as_xml(made).partition("?>")[2])[0]
    (case,) = suite.iter("testcase")
    failure = case.find("failure")
    assert failure is not None
    assert failure.text == "a?<&>"
    assert case.get("name") == "test_relu[a='b']"
    assert suite.get("failures") == "1"


def wrong() -> CampaignProgress:
    """Return a campaign without findings whose tests have every mistake that a test can have."""
    ways = {
        "broken": {"broken": "Traceback\nNameError: x"},
        "forgets": {"tried": 9, "accepted": 9, "forgotten": collections.Counter({"no backward": 9})},
        "refused": {"tried": 400, "rejections": collections.Counter({"mm: RuntimeError: no": 400})},
        "absent": {"tried": 400, "rejections": collections.Counter({"mm: Absent: it has no mm": 400})},
    }
    tests = [TestProgress(WHERE._replace(test=f"test_x.py::{name}"), **state) for name, state in ways.items()]
    return progress(tests=tests, found={}, files_broken=[LeftOut("test_z.py", "cannot be imported: no")])


def test_no_report_hides_that_tests_are_wrong():
    made = wrong()
    suite = ET.fromstring(junit.as_xml(made).partition("?>")[2])[0]
    errors = {case.get("name"): [one.get("message") for one in case.iter("error")] for case in suite.iter("testcase")}
    assert errors == {
        "broken": ["the test is broken"],
        "forgets": ["the test compares no gradients"],
        "refused": ["the reference refuses every trial"],
        "absent": [],  # a name that the candidate lacks is not a mistake of the test
        "test_z.py": ["the file cannot be imported"],
    }
    assert (suite.get("tests"), suite.get("errors")) == ("5", "4")
    data = campaign_json.as_data(made, ("torch", "it"), {})
    assert {test["test"]: test["broken"] for test in data["tests"]}["test_x.py::broken"] == "Traceback\nNameError: x"
    titles = [line.split("::")[1] for line in github.workflow_commands(made, Path("/repo"))]
    assert titles == [
        "warning title=Broken test",
        "warning title=Gradients not compared",
        "warning title=Refused by the reference",
        "warning title=Broken file",
    ]
    told = (
        "1 test is broken, and 1 test compares no gradients, and the reference refused every trial of 1 test, and "
        "1 file cannot be imported."
    )
    assert markdown.campaign(made).endswith(f"The tests themselves are wrong: {told}\n")
    assert campaign.verdict(made) == f"Nothing new found, but {told}"
    page = campaign_map(made, ("torch", "it"), {}, {})[0]
    assert "the test is broken: NameError: x" in {why for row in page.rows.values() for why in row.cell.left_out}


def test_what_the_candidate_lacks_is_no_refusal_of_the_reference_in_any_report():
    lacks, refuses = "conv2d: Absent: it has no conv2d", "conv2d: RuntimeError: no"
    states = {
        "always": {"tried": 9, "rejections": collections.Counter({lacks: 8, refuses: 1})},
        "sometimes": {"tried": 9, "accepted": 4, "rejections": collections.Counter({lacks: 5})},
        "deadly": {"tried": 9, "died": 1, "rejections": collections.Counter({lacks: 8})},
    }
    tests = [TestProgress(WHERE._replace(test=f"test_x.py::{name}"), **state) for name, state in states.items()]
    made = progress(tests=tests, found={})
    for text in (campaign.summary(made, 200), markdown.campaign(made)):
        assert "4 accepted, 1 rejected by the reference, 21 need what the candidate lacks" in text
    assert "27 trials (0/s), 1 rejected, 21 need what the candidate lacks, " in campaign.progress_line(made)
    suite = ET.fromstring(junit.as_xml(made).partition("?>")[2])[0]
    skipped = {
        case.get("name"): [one.get("message") for one in case.iter("skipped")] for case in suite.iter("testcase")
    }
    assert skipped == {"always": ["it has no conv2d (8 of 9 trials)"], "sometimes": [], "deadly": []}
    assert suite.get("skipped") == "1"
    assert '<property name="autotest.absent" value="21"' in junit.as_xml(made)
    data = campaign_json.as_data(made, ("torch", "it"), {})
    assert (data["trials"], data["rejected"], data["absent"]) == (27, 1, 21)
    assert [(test["rejected"], test["absent"]) for test in data["tests"]] == [(1, 8), (0, 5), (0, 8)]
    cells = [row.cell for row in campaign_map(made, ("torch", "it"), {}, {})[0].rows.values()]
    assert [(cell.refused, cell.left_out["it has no conv2d"]) for cell in cells] == [(1, 8), (0, 5), (0, 8)]
    assert cells[0].status == "absent"


def test_github_commands_are_one_line_each_with_what_ends_them_escaped():
    (line,) = github.workflow_commands(progress(), Path("/repo"))
    assert line.startswith("::error file=tests/test_x.py,title=nn.ReLU%3A value (forward)::")
    assert "\n" not in line
    assert "| 2%0A%25" in line


def test_the_markdown_table_has_one_row_a_finding():
    rows = [line for line in markdown.campaign(progress()).splitlines() if line.startswith("| `")]
    assert rows == [
        (
            "| `nn.ReLU` | value (forward) | 3 | `test_x.py::test_relu[a='b']`, trial 4 | "
            "`kept/relu/repro.py`: verified in a fresh interpreter |"
        )
    ]


@pytest.mark.parametrize("state", [State.SURVIVED, State.UNREPEATABLE, State.OWN_HANG, State.OWN_CRASH, State.LACKING])
def test_no_report_names_the_script_of_a_finding_that_has_none(state):
    without = dataclasses.replace(FOUND, verified=Verification(state, "planted reason"), has_script=False)
    made = progress(found={IDENTITY: without})
    reports = [campaign.summary(made), markdown.campaign(made), *github.workflow_commands(made, Path("/repo"))]
    for text in reports:
        assert "repro.py" not in text
        assert "planted reason" in text


def test_no_report_names_the_script_of_a_finding_that_is_not_diagnosed_yet():
    waiting = dataclasses.replace(FOUND, verified=Verification(State.WAITING), has_script=False)
    made = progress(found={IDENTITY: waiting})
    summary = campaign.summary(made)
    assert "no script yet" in summary
    for text in (summary, markdown.campaign(made), *github.workflow_commands(made, Path("/repo"))):
        assert "repro.py" not in text
