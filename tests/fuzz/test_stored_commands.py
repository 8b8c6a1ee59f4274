"""The commands for stored findings: list, show, replay, export, merge, ledger add, ledger hidden."""

from __future__ import annotations

import dataclasses
import shutil

import pytest

from autotest.cli import main
from autotest.results.ledger import read
from autotest.storage.store import Store
from tests.fuzz.conftest import SUITES, without_settings

FAULTY = "tests.support.faults:wrong_relu"


@pytest.fixture(scope="module")
def ended_campaign(tmp_path_factory):
    """Run a campaign that stores one failure; return its folder, of which each test gets a copy."""
    folder = tmp_path_factory.mktemp("campaign")
    with pytest.MonkeyPatch.context() as patched:
        without_settings(patched)
        patched.chdir(folder)
        for name, value in (("CANDIDATE", FAULTY), ("VERIFY", "0"), ("SHRINK", "0")):
            patched.setenv(f"AUTOTEST_{name}", value)
        main(["fuzz", str(SUITES / "twenty_six.py"), "--jobs", "0", "--trials", "3", "-k", "'relu'"])
    return folder


@pytest.fixture
def kept(command, ended_campaign, tmp_path, importable_elsewhere):
    """Store one failure; return its key."""
    shutil.copytree(ended_campaign, tmp_path, dirs_exist_ok=True)
    (entry,) = Store(tmp_path / ".autotest").list()
    return entry.key


def with_script(tmp_path, key, script):
    store = Store(tmp_path / ".autotest")
    entry = store.load(key)
    store.save(dataclasses.replace(entry.finding, script=script), entry.report)


@pytest.fixture
def shown(tmp_path, kept):
    """Store the failure of `kept` with a script that prints the result of the real one without importing torch."""
    first = Store(tmp_path / ".autotest").load(kept).finding.first
    with_script(tmp_path, kept, f"print('DIFFERS: {first.name} is not close'); raise SystemExit(1)")
    return kept


def test_list_names_every_failure_and_skips_what_is_damaged(command, tmp_path, kept):
    damaged = tmp_path / ".autotest" / "failures" / "broken-entry"
    damaged.mkdir()
    (damaged / "failure.json").write_text("{")
    ended = command("list")
    assert ended.status == 0
    assert f"{kept}  " in ended.output
    assert "relu: value (forward); twenty_six.py::test_operator[name='relu']" in ended.output
    assert "broken-entry" in ended.output
    assert "DAMAGED" in ended.output


def test_list_is_of_one_candidate_where_that_is_asked(command, kept):
    assert kept in command("list", "--candidate", "faulty").output
    ended = command("list", "--candidate", "another")
    assert kept not in ended.output
    assert "there are failures of faulty" in ended.output


def test_a_misspelt_candidate_of_whom_nothing_could_be_kept_is_told(command):
    assert "no failures of oneflow are stored" in command("list", "--candidate", "oneflow").output
    ended = command("list", "--candidate", "onefow")
    assert ended.status == 2
    assert "Did you mean 'oneflow'" in ended.errors


@pytest.mark.parametrize("asked", ["faulty", FAULTY, f"another,{FAULTY}"])
def test_a_candidate_may_be_named_as_the_run_named_it_or_as_reports_do(command, shown, asked):
    for words in (("list",), ("show", "relu"), ("export", "relu"), ("replay", "relu")):
        ended = command(*words, "--candidate", asked)
        assert ended.status == (words[0] == "replay")
        assert "relu" in ended.output
        ended = command(*words, "--candidate", "another")
        assert "there are failures of faulty" in ended.output + ended.errors


def test_where_a_candidate_is_stands_neither_in_its_ledger_nor_in_its_reproducer(command, tmp_path, kept):
    store = Store(tmp_path / ".autotest")
    entry = store.load(kept)
    there = {"torch": "2.0.1+cu117", "torch@venv": "2.13.0 (Python 3.11.7)"}
    script = "OTHER = '/a/b/python'  # or another interpreter, given on the command line\nprint(OTHER)\n"
    moved = dataclasses.replace(entry.finding, sides=("torch", "torch@venv"), versions=there, script=script)
    store.save(moved, entry.report)
    (tmp_path / "twenty_six.py").write_text((SUITES / "twenty_six.py").read_text())
    assert command("ledger", "add", moved.identity.key, "--reason", "changed").status == 0
    (added,) = read(tmp_path / "ledger-torch.toml")
    assert (added.candidate, added.versions, added.reference_versions) == ("torch", "==2.13.0", "==2.0.1")
    assert (tmp_path / added.reproducer).read_text() == 'OTHER = ""\nprint(OTHER)\n'


@pytest.mark.parametrize("refused", [True, False])
def test_a_death_in_a_refused_call_is_written_down_as_one(command, tmp_path, kept, refused):
    store = Store(tmp_path / ".autotest")
    entry = store.load(kept)
    detail, why = ("refused", "torch refuses (RuntimeError: of another dtype), ") if refused else ("", "")
    message = f"relu: {why}faulty dies (SIGABRT)"
    first = dataclasses.replace(entry.finding.first, symptom="crash", message=message, detail=detail)
    dead = dataclasses.replace(entry.finding, mismatches=(first,), shown=None)
    store.save(dead, entry.report)
    (tmp_path / "twenty_six.py").write_text((SUITES / "twenty_six.py").read_text())
    assert command("ledger", "add", dead.identity.key, "--reason", "dies").status == 0
    (added,) = read(tmp_path / "ledger-faulty.toml")
    assert (added.symptom, added.refused) == ("crash", refused)


def test_what_is_expected_of_another_candidate_stands_in_its_own_ledger(command, tmp_path, kept):
    (tmp_path / "twenty_six.py").write_text((SUITES / "twenty_six.py").read_text())
    assert command("ledger", "add", kept, "--reason", "known").status == 0
    (entry,) = read(tmp_path / "ledger-faulty.toml")
    assert (entry.key, entry.candidate) == (kept, "faulty")
    assert entry.reproducer == f"reproducers/faulty/{kept}.py"
    assert (tmp_path / entry.reproducer).is_file()


def test_the_default_candidates_scripts_lie_in_the_folder_of_reproducers_itself(command, tmp_path, kept):
    store = Store(tmp_path / ".autotest")
    entry = store.load(kept)
    store.save(dataclasses.replace(entry.finding, sides=("torch", "oneflow")), entry.report)
    (tmp_path / "twenty_six.py").write_text((SUITES / "twenty_six.py").read_text())
    assert command("ledger", "add", kept, "--reason", "known").status == 0
    (added,) = read(tmp_path / "ledger.toml")
    assert (added.candidate, added.reproducer) == ("", f"reproducers/{kept}.py")


def test_show_prints_the_report_of_the_only_key_that_begins_so(command, kept):
    ended = command("show", "relu")
    assert ended.output.startswith("faulty diverges from torch: relu, value (forward)")


@pytest.mark.usefixtures("warm")
@pytest.mark.parametrize(
    ("script", "state", "status"),
    [
        (None, "still diverges", 1),
        ("print('relu: all is well')", "fixed", 0),
        ("print('something_else: not close'); raise SystemExit(1)", "changed", 1),
        ("raise SystemExit(2)", "cannot tell", 3),
        ("raise NameError('the script is broken')", "cannot tell", 3),
    ],
)
def test_replay_tells_what_became_of_a_failure(command, tmp_path, kept, script, state, status):
    if script is not None:
        with_script(tmp_path, kept, script)
    ended = command("replay", kept)
    assert f"{kept}: {state}\n" in ended.output
    assert ended.status == status


def test_replay_all_passes_over_what_is_damaged(command, tmp_path, kept):
    with_script(tmp_path, kept, "pass")
    damaged = tmp_path / ".autotest" / "failures" / "broken-entry"
    damaged.mkdir()
    ended = command("replay", "--all")
    assert f"{kept}: fixed" in ended.output
    assert "broken-entry: DAMAGED" in ended.output
    assert ended.status == 0


@pytest.mark.usefixtures("warm")
def test_replay_notes_that_a_failure_is_verified(command, tmp_path, shown):
    assert not Store(tmp_path / ".autotest").load(shown).finding.verified.tried
    command("replay", shown)
    assert Store(tmp_path / ".autotest").load(shown).finding.verified.holds


def test_export_is_a_bug_report_with_versions_expectation_and_script(command, tmp_path, kept):
    ended = command("export", kept)
    for part in ("# relu: value differs from torch", "- torch ", "Expected (torch) and seen (faulty)", "def program("):
        assert part in ended.output
    command("export", kept, "-o", tmp_path / "bug.md")
    assert (tmp_path / "bug.md").read_text() == ended.output


def test_export_points_out_the_call_that_show_does(command, tmp_path, kept):
    store = Store(tmp_path / ".autotest")
    entry = store.load(kept)
    # The report names the tensor of the gradient, and not the call whose gradient is wrong.
    first = dataclasses.replace(entry.finding.first, name="x0.grad", slot=0, symptom="gradient", stage="backward")
    for divergent, marked in ((1, ["relu"]), (None, [])):
        store.save(dataclasses.replace(entry.finding, mismatches=(first,), divergent=divergent), entry.report)
        lines = command("export", entry.key).output.splitlines()
        found = [line for line in lines if line.endswith("# <-- first divergent call")]
        assert [name for line in found for name in ("tensor(", "relu") if name in line] == marked


def test_merge_takes_what_is_not_here_yet_and_prefers_what_is_verified(command, tmp_path, shown):
    assert "new: 1 failure and 1 campaign; " in command("merge", ".autotest", directory="here").output
    assert "new: 0 failures and 0 campaigns; " in command("merge", ".autotest", directory="here").output
    command("replay", shown)
    assert "new: 1 failure and 0 campaigns; " in command("merge", ".autotest", directory="here").output
    assert Store(tmp_path / "here").load(shown).finding.verified.tried


def test_merge_refuses_a_folder_without_results_before_it_copies_anything(command, tmp_path):
    (tmp_path / "right" / ".autotest" / "failures").mkdir(parents=True)
    (tmp_path / "wrong").mkdir()
    for folder, meant in (("right", "did you mean right/.autotest?"), ("wrong", "such as shard-1/.autotest")):
        ended = command("merge", "right/.autotest", folder, directory="here")
        assert ended.status == 2
        assert f"{folder}: expected a folder with the results of a run" in ended.errors
        assert meant in ended.errors
        assert not (tmp_path / "here").exists()
    assert command("merge", "right/.autotest", directory="here").status == 0


@pytest.mark.parametrize("shard", ["shard-1/.autotest", "shard-2/trails"])
def test_merge_accepts_the_folder_of_a_run_without_failures(command, tmp_path, shard):
    (tmp_path / shard).mkdir(parents=True)
    folder = shard.removesuffix("/trails")
    assert "new: 0 failures and 0 campaigns; " in command("merge", folder, directory="here").output


def test_a_ledger_entry_quotes_whatever_is_said_and_brings_its_reproducer(command, tmp_path, kept):
    reason = 'says "no" \\ and é, since\tever'
    ended = command("ledger", "add", kept, "--reason", reason, "--ledger", tmp_path / "new" / "ledger.toml")
    assert ended.status == 0, ended.errors
    (entry,) = read(tmp_path / "new" / "ledger.toml")
    assert (entry.key, entry.reason, entry.operator, entry.symptom) == (kept, reason, "relu", "value")
    assert (tmp_path / "new" / entry.reproducer).is_file()
    again = command("ledger", "add", kept, "--reason", "twice", "--ledger", tmp_path / "new" / "ledger.toml")
    assert again.status == 2
    assert "extend the `test` pattern of that entry" in again.errors


def test_an_entry_expects_what_the_trial_showed_although_the_report_is_of_a_smaller_program(command, tmp_path, kept):
    store = Store(tmp_path / ".autotest")
    entry = store.load(kept)
    shrunk = dataclasses.replace(entry.finding.first, symptom="gradient", stage="backward")
    store.save(dataclasses.replace(entry.finding, mismatches=(shrunk,), shown=entry.finding.identity), entry.report)
    assert command("ledger", "add", kept, "--reason", "known", "--ledger", tmp_path / "ledger.toml").status == 0
    (added,) = read(tmp_path / "ledger.toml")
    assert (added.key, added.symptom) == (kept, "value")


def test_an_entry_that_would_be_wrong_is_not_written(command, tmp_path, kept):
    path = tmp_path / "ledger.toml"
    path.write_bytes(b"# ours\r\n")
    ended = command("ledger", "add", kept, "--reason", "known", "--match", "(", "--ledger", path)
    assert ended.status == 2
    assert "match is not a regular expression" in ended.errors
    assert path.read_bytes() == b"# ours\r\n"
    assert not (tmp_path / "reproducers").exists()
    assert command("ledger", "add", kept, "--reason", "known", "--ledger", path).status == 0
    assert path.read_bytes().startswith(b"# ours\r\n")


def test_a_ledger_that_cannot_be_written_is_a_usage_error(command, tmp_path, kept):
    (tmp_path / "file").touch()
    ended = command("ledger", "add", kept, "--reason", "known", "--ledger", tmp_path / "file" / "ledger.toml")
    assert ended.status == 2
    assert "file cannot be created: File exists" in ended.errors


def test_the_ledger_is_beside_the_only_test_file_of_that_name_and_others_are_named(command, tmp_path, kept):
    ended = command("ledger", "add", kept, "--reason", "known")
    assert "no file below this folder is named twenty_six.py; choose the ledger with --ledger FILE" in ended.errors
    for folder in ("b", "a", ".venv"):
        (tmp_path / folder).mkdir()
        (tmp_path / folder / "twenty_six.py").touch()
    ended = command("ledger", "add", kept, "--reason", "known")
    assert "2 files below this folder are named twenty_six.py (a/twenty_six.py, b/twenty_six.py)" in ended.errors
    (tmp_path / "b" / "twenty_six.py").unlink()
    assert command("ledger", "add", kept, "--reason", "known").status == 0
    assert [entry.key for entry in read(tmp_path / "a" / "ledger-faulty.toml")] == [kept]


def test_a_folder_whose_path_has_a_dot_holds_tests_like_any_other(command, tmp_path, kept, monkeypatch):
    """Worktrees and CI caches are often below hidden folders."""
    place = tmp_path / ".worktrees" / "mine"
    place.mkdir(parents=True)
    (place / "twenty_six.py").touch()
    monkeypatch.chdir(place)
    assert command("ledger", "add", kept, "--reason", "known", directory=str(tmp_path / ".autotest")).status == 0
    assert (place / "ledger-faulty.toml").exists()


def test_a_ledger_entry_says_in_which_tests_it_holds(command, tmp_path, kept):
    """All arguments of a test share one key. With an entry for some of them, the others still fail."""
    one, any_of_them = tmp_path / "one" / "ledger.toml", tmp_path / "any" / "ledger.toml"
    ended = command("ledger", "add", kept, "--reason", "known", "--ledger", one)
    assert f"{kept} is expected from now on, in twenty_six.py::test_operator[name='relu'] only" in ended.output
    assert 'write `test = "twenty_six.py::test_operator"`' in ended.output
    assert "Each of them must show the difference then" in ended.output
    assert "unless it says `strict = false`\n" in ended.output
    ended = command("ledger", "add", kept, "--reason", "known", "--ledger", any_of_them, "--test", "*::test_operator")
    assert ended.output.endswith("is expected from now on, in *::test_operator\n")
    for ledger, speaks in ((one, False), (any_of_them, True)):
        (entry,) = read(ledger)
        assert entry.applies_to_test("twenty_six.py::test_operator[name='relu']")
        assert entry.applies_to_test("twenty_six.py::test_operator[name='exp']") == speaks


@pytest.mark.parametrize(
    ("pattern", "fits"),
    [
        ("twenty_six.py::test_operater", False),
        ("*::test_operator[name='exp']", False),
        ("*::test_operator[name='re*']", True),
        ("a/twenty_six.py::test_operator", True),
        ("b/twenty_six.py::test_operator", False),
    ],
)
def test_a_pattern_that_does_not_fit_the_failures_own_test_is_told(command, tmp_path, kept, pattern, fits):
    (tmp_path / "a").mkdir()
    (tmp_path / "a" / "twenty_six.py").touch()
    ended = command("ledger", "add", kept, "--reason", "known", "--test", pattern)
    assert ended.status == (0 if fits else 2)
    assert (tmp_path / "a" / "ledger-faulty.toml").exists() == fits
    if not fits:
        assert f"--test {pattern!r} does not match twenty_six.py::test_operator[name='relu'], where" in ended.errors
        assert "such as 'twenty_six.py::test_operator'" in ended.errors


LARGEST = """
from autotest import autotest, random_tensor, torch

@autotest(n=3, check_errors=False, auto_backward=False)
def test_largest():
    return torch.max(random_tensor(shape=(2, 3), low=1, high=2, requires_grad=False), 1)
"""
KNOWN = """
[[divergence]]
key = "swapped-{symptom}"
test = "test_largest.py::test_largest"
symptom = "{symptom}"
operator = "max"
reason = "planted: the two results are swapped"
"""
SWAPPED = "tests.support.subtle:swapped_outputs"


def test_what_a_known_divergence_hid_is_told_by_entry(command, tmp_path):
    (tmp_path / "test_largest.py").write_text(LARGEST)
    (tmp_path / "ledger.toml").write_text("".join(KNOWN.format(symptom=symptom) for symptom in ("value", "dtype")))
    ended = command("ledger", "hidden", tmp_path, candidate=SWAPPED)
    assert ended.output.splitlines() == [
        "2 entries of the ledger seen; in the same trials, 1 of them hid 1 other:",
        "  swapped-dtype",
        "      hid swapped-value, 3 of 3 times",
    ]
    assert ended.status == 0


def test_what_a_known_divergence_hides_and_nobody_knows_fails_the_test_and_is_told(command, tmp_path):
    (tmp_path / "test_largest.py").write_text(LARGEST)
    (tmp_path / "ledger.toml").write_text(KNOWN.format(symptom="dtype"))
    ended = command("ledger", "hidden", tmp_path, candidate=SWAPPED)
    assert ended.output.startswith("0 entries of the ledger seen; none was hidden behind another one")
    assert "test_largest.py::test_largest: faulty diverges from torch: max, value" in ended.output
    assert ended.status == 1


OTHERS = """

@autotest(n=3)
def test_skips():
    pytest.skip("no device")


@autotest(n=3)
def test_fails():
    pytest.fail("planted")


@autotest(n=3)
def test_raises():
    raise NameError("planted, too")
"""


def test_tests_that_skip_or_fail_by_other_means_do_not_keep_others_from_telling_what_was_hidden(command, tmp_path):
    (tmp_path / "test_largest.py").write_text(f"import pytest\n{LARGEST}{OTHERS}")
    (tmp_path / "ledger.toml").write_text("".join(KNOWN.format(symptom=symptom) for symptom in ("value", "dtype")))
    ended = command("ledger", "hidden", tmp_path, candidate=SWAPPED)
    assert ended.output.splitlines()[2:] == [
        "      hid swapped-value, 3 of 3 times",
        "these tests failed, so not all of their trials ran:",
        "  test_largest.py::test_fails: planted",
        "  test_largest.py::test_raises: planted, too",
    ]
    assert ended.status == 1


def test_the_beginning_of_several_keys_is_not_told_as_one_that_is_stored_nowhere(command, tmp_path, kept):
    store = Store(tmp_path / ".autotest")
    entry = store.load(kept)
    first = dataclasses.replace(entry.finding.first, symptom="dtype")
    store.save(dataclasses.replace(entry.finding, mismatches=(first,), shown=None), entry.report)
    keys = sorted(one.key for one in store.list())
    assert len(keys) == 2
    ended = command("show", "faulty-relu")
    assert ended.status == 2
    assert f"'faulty-relu' is the beginning of several keys: {', '.join(keys)}" in ended.errors
    assert command("show", kept).status == 0
