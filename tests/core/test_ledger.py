"""Ledgers of known divergences: which files are read, what entries cover, and which files are refused."""

from __future__ import annotations

import pytest

from autotest import UsageError
from autotest.comparison import SPECIAL, Mismatch
from autotest.results import ledger as results_ledger
from autotest.results.ledger import Ledger, LedgerEntry, find, read

WHOLE = """
[[divergence]]
key = "logsumexp-minus-inf"
test = "test_reduction.py::*"
symptom = "value"
operator = "logsumexp"
match = "NaN|nan"
reason = "NaN where all elements are -inf"
reproducer = "reproducers/logsumexp-minus-inf.py"
date = 2026-11-20
"""


def mismatch(symptom="value", message="y: NaN at (0,)"):
    return Mismatch("y", 0, symptom, "forward", "candidate", message)


def written(folder, text):
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "ledger.toml").write_text(text)
    return folder / "ledger.toml"


def test_an_entry_is_read_whole(tmp_path):
    (entry,) = read(written(tmp_path, WHOLE))
    assert entry.key == "logsumexp-minus-inf"
    assert entry.date == "2026-11-20"


def test_an_entry_covers_what_it_describes_and_nothing_else(tmp_path):
    ledger = Ledger(tuple(read(written(tmp_path, WHOLE))))
    test = "test_reduction.py::TestReduction.test_logsumexp"
    assert ledger.expects(test, mismatch(), "logsumexp")
    assert not ledger.expects(test, mismatch("gradient"), "logsumexp")
    assert not ledger.expects(test, mismatch(), "sum")
    assert not ledger.expects(test, mismatch(message="y: not close"), "logsumexp")
    assert not ledger.expects("test_other.py::test_logsumexp", mismatch(), "logsumexp")


def test_a_tests_arguments_do_not_matter_to_the_glob():
    entry = LedgerEntry("k", "test_a.py::test_b", "value", "r")
    assert entry.applies_to_test("test_a.py::test_b['sum', keepdim=True]")
    assert not entry.applies_to_test("test_a.py::test_bc")


@pytest.mark.parametrize(
    ("written", "applies", "does_not"),
    [
        ("test_a.py::test_b", ["test_a.py::test_b#2", "x/test_a.py::test_b", "test_a.py::test_b[n=1]#2.1"], []),
        ("test_a.py::test_b[n=1]", ["test_a.py::test_b[n=1]#2", "x/test_a.py::test_b[n=1]"], ["test_a.py::test_b#2"]),
        ("test_a.py::test_b#2", ["test_a.py::test_b#2", "test_a.py::test_b[n=1]#2"], ["test_a.py::test_b"]),
        ("x/test_a.py::test_b", ["x/test_a.py::test_b", "y/x/test_a.py::test_b"], ["y/test_a.py::test_b"]),
        ("test_*::test_b[path='a/b']", ["x/test_a.py::test_b[path='a/b']"], ["test_a.py::test_b[path='b']"]),
        ("*", ["x/test_a.py::test_b[n=1]#2"], []),
    ],
)
def test_a_number_and_folders_that_an_entry_does_not_name_do_not_matter(written, applies, does_not):
    entry = LedgerEntry("k", written, "value", "r")
    assert all(map(entry.applies_to_test, applies))
    assert not any(map(entry.applies_to_test, does_not))


def test_the_folders_of_an_entry_are_those_of_the_file_and_not_of_an_id(tmp_path):
    """The id of a test names folders only if another file of the same name was collected with it."""
    written(tmp_path, WHOLE.replace("test_reduction.py", "one/test_reduction.py"))
    for folder, applies in (("one", True), ("other", False)):
        ledger = find(tmp_path / folder / "test_reduction.py")
        for test in ("test_reduction.py::test_it", f"{folder}/test_reduction.py::test_it"):
            assert bool(ledger.entries_for(test)) is applies


def test_ledgers_beside_the_test_and_above_it_apply_up_to_the_projects_root(tmp_path):
    outside, project = tmp_path, tmp_path / "project"
    written(outside, WHOLE.replace("logsumexp-minus-inf", "outside"))
    written(project, WHOLE.replace("logsumexp-minus-inf", "project"))
    written(project / "tests", WHOLE.replace("logsumexp-minus-inf", "tests"))
    (project / "pyproject.toml").write_text("")
    ledger = find(project / "tests" / "test_reduction.py")
    assert [entry.key for entry in ledger.entries] == ["tests", "project"]


def test_a_ledger_is_parsed_once_until_it_changes(tmp_path, monkeypatch):
    parsed, original = [], results_ledger.parsed
    monkeypatch.setattr(results_ledger, "parsed", lambda text, path: parsed.append(text) or original(text, path))
    file = written(tmp_path, WHOLE)
    first = read(file)
    first.clear()
    assert len(read(file)) == len(read(file)) == 1
    assert len(parsed) == 1
    written(tmp_path, WHOLE.replace("minus", "great"))
    assert [entry.key for entry in read(file)] == ["logsumexp-great-inf"]
    assert len(parsed) == 2


def test_a_ledger_may_be_of_some_versions_of_either_side(tmp_path):
    top = 'candidate = "torch"\nversions = ">=2.13,<2.14"\nreference_versions = ">=2.0,<2.1"\n'
    file = written(tmp_path, top + WHOLE)
    (entry,) = read(file)
    assert (entry.candidate, entry.reference_versions) == ("torch", ">=2.0,<2.1")

    def expected(candidate, version, beside):
        return bool(find(tmp_path / "test_a.py", candidate, lambda: version, lambda: beside).entries)

    assert expected("torch", "2.13.0+cpu", "2.0.1+cu117")
    assert expected("torch@venv", "2.13.0+cpu (Python 3.11.7)", "2.0.1")  # at any place
    assert expected("torch", "", "")  # an unknown one
    assert not expected("torch", "2.13.0", "2.13.0")
    assert not expected("torch", "2.0.1", "2.13.0")
    assert not expected("torch:xla", "2.13.0", "2.0.1")


def test_versions_are_asked_for_where_they_count_alone(tmp_path):
    written(tmp_path, 'candidate = "paddle"\nversions = ">=3"\nreference_versions = ">=2"\n' + WHOLE)

    def refuse():
        raise AssertionError("importing a framework takes seconds")

    assert not find(tmp_path / "test_a.py", "oneflow", refuse, refuse).entries


def test_no_ledger_is_an_empty_one(tmp_path):
    (tmp_path / ".git").mkdir()
    assert find(tmp_path / "test_a.py") == Ledger()


@pytest.mark.parametrize(
    ("text", "says"),
    [
        ("[[divergence]\n", "not a ledger, because it is not TOML"),
        ('[[divergence]]\nkey = "k"\n', r"divergence 1 \(k\): test, symptom, reason missing or empty"),
        (WHOLE.replace('reason = "NaN where all elements are -inf"', 'reason = " "'), "reason missing or empty"),
        (WHOLE.replace('reason = "NaN where all elements are -inf"', "reason = 3"), "reason = 3: expected text"),
        (WHOLE + 'reference_versions = "2"\n', "versions '2': expected a range"),
        (WHOLE + 'reson = "x"\n', "unknown reson; expected key, test"),
        (WHOLE.replace("NaN|nan", "(NaN"), "match is not a regular expression"),
        (WHOLE + WHOLE.replace('symptom = "value"\n', ""), "divergence 2 .*symptom missing"),
        (
            WHOLE.replace("[[divergence]]", "[[divergences]]"),
            "unknown 'divergences'; expected .* Did you mean 'divergence'\\?",
        ),
        ("[[entry]]\n" + WHOLE, r"unknown 'entry'; expected \[\[divergence\]\], or candidate, versions"),
        (WHOLE.replace("[[divergence]]", "[divergence]"), "with two brackets"),
        (WHOLE + 'refused = "yes"\n', "refused = 'yes': expected true or false"),
        (WHOLE + "strict = 0\n", "strict = 0: expected true or false"),
        (WHOLE.replace('"value"', '"values"'), "symptom = 'values'; expected .* Did you mean 'value'"),
        (WHOLE + 'candidate = ["torch", "oneflow"]\n', "expected text for each of candidate"),
        (WHOLE + WHOLE, "2 divergences have the key"),
        ('divergence = ["a"]\n', r"a table that begins with \[\[divergence\]\]"),
    ],
)
def test_a_bad_ledger_is_refused_by_file_and_entry(tmp_path, text, says):
    path = written(tmp_path, text)
    with pytest.raises(UsageError, match=says) as caught:
        read(path)
    assert str(path) in str(caught.value)


def test_a_ledger_may_be_about_one_candidate(tmp_path):
    entry = '[[divergence]]\nkey = "k"\ntest = "t.py::t"\nsymptom = "value"\nreason = "r"\n'
    (tmp_path / "ledger.toml").write_text(f'candidate = "oneflow"\n{entry}', encoding="utf-8")
    test = tmp_path / "t.py"

    assert find(test, "oneflow").entries
    assert not find(test, "torch").entries


RANGES = """
candidate = "mine*"
versions = ">=1.10,<2"

[[divergence]]
key = "k"
test = "test_it.py::*"
symptom = "value"
reason = "known"
"""


@pytest.mark.parametrize(
    ("candidate", "version", "known"),
    [
        ("mine", "1.10", True),
        ("mine+other", "1.99.1+cpu", True),
        ("mine", "", True),
        ("mine", "1.9", False),
        ("mine", "2.0", False),
        ("yours", "1.10", False),
    ],
)
def test_a_ledger_is_about_a_candidate_and_its_versions(tmp_path, candidate, version, known):
    (tmp_path / "ledger-mine.toml").write_text(RANGES)
    (tmp_path / "pyproject.toml").touch()
    assert bool(find(tmp_path / "test_it.py", candidate, lambda: version).entries) is known


def test_a_version_is_asked_for_only_where_it_counts(tmp_path):
    def importing():
        raise AssertionError("nobody needs it")

    (tmp_path / "ledger-mine.toml").write_text(RANGES)
    (tmp_path / "pyproject.toml").touch()
    assert find(tmp_path / "test_it.py", "yours", importing).entries == ()


def test_what_is_no_range_of_versions_is_told(tmp_path):
    written(tmp_path, RANGES.replace(">=1.10", "about 1"))
    with pytest.raises(UsageError, match=r"divergence 1 \(k\): versions 'about 1,<2': expected a range such as"):
        read(tmp_path / "ledger.toml")


@pytest.mark.parametrize(
    ("symptom", "refused", "needs"),
    [("accepted", False, True), ("crash", True, True), ("crash", False, False), ("value", False, False)],
)
def test_what_happens_in_refused_calls_is_stale_only_where_the_candidate_was_asked_for_them(symptom, refused, needs):
    ledger = Ledger((LedgerEntry("k", "test_a.py::test_b", symptom, "r", refused=refused),))
    assert bool(ledger.stale("test_a.py::test_b", (), error_parity=False)) is not needs
    assert ledger.stale("test_a.py::test_b", (), error_parity=True)
    assert not ledger.stale("test_a.py::test_b", ("k",), error_parity=True)


def test_what_happens_with_special_values_is_stale_only_where_they_are_drawn():
    ledger = Ledger((LedgerEntry("k", "test_a.py::test_b", SPECIAL, "r"),))
    assert ledger.stale("test_a.py::test_b", (), error_parity=False)
    assert not ledger.stale("test_a.py::test_b", (), error_parity=False, special_values=False)


def test_what_is_too_seldom_for_every_run_is_expected_and_never_stale(tmp_path):
    ledger = Ledger(tuple(read(written(tmp_path, WHOLE + "strict = false\n"))))
    (entry,) = ledger.entries
    assert not ledger.stale(entry.test, (), error_parity=True)
    assert ledger.expects(entry.test, Mismatch("v", 1, "value", "forward", "candidate", "NaN"), entry.operator) is entry


@pytest.mark.parametrize("refused", [True, False])
def test_a_death_in_refused_calls_keeps_no_test_out_of_a_process_that_does_not_make_them(tmp_path, refused):
    entry = '[[divergence]]\nkey = "k"\ntest = "t.py::t"\nsymptom = "crash"\nreason = "r"\n'
    ledger = Ledger(tuple(read(written(tmp_path, f"{entry}refused = {str(refused).lower()}\n"))))
    assert ledger.expects_death("t.py::t", error_parity=False) is not refused
    assert ledger.expects_death("t.py::t", error_parity=True)
