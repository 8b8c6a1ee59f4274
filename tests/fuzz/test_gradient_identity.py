"""Wrong gradients of different operators behind one call: each door finds all of them, under the same keys."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from autotest import Divergence
from autotest.results.ledger import read
from autotest.sources import collection
from autotest.storage.store import Store
from tests.fuzz.conftest import entries
from tests.support.running import Ended

#: A candidate whose tanh, exp and sin have twice the right gradient.
FAULTY = "tests.support.faults:wrong_gradients"
OPERATORS = ("tanh", "exp", "sin")
SUITE = """
from autotest import autotest, random_tensor, torch
"""
for name in OPERATORS:
    SUITE += f"""

@autotest(n=3)
def test_{name}_of_double():
    return torch.{name}(random_tensor(ndim=2, low=-1, high=1) * 2)
"""

Command = Callable[..., Ended]


@pytest.fixture
def suite(tmp_path: Path) -> Path:
    file = tmp_path / "test_double.py"
    file.write_text(SUITE)
    return file


@pytest.fixture
def fuzzed(command: Command, suite: Path) -> Ended:
    return command("fuzz", suite, "--jobs", 0, "--trials", 3, candidate=FAULTY)


def scripts(folder: Path) -> dict[str, str]:
    """Return the stored reproducers, by key."""
    found = {entry.key: entry.finding.script for entry in entries(folder).values()}
    return {key: script for key, script in found.items() if script is not None}


@pytest.mark.usefixtures("fuzzed")
def test_a_campaign_finds_each_fault(tmp_path: Path) -> None:
    assert {entry.finding.identity.operator for entry in entries(tmp_path).values()} == set(OPERATORS)


def test_tests_and_a_campaign_find_the_same_keys_each_with_a_script_of_its_own(
    command: Command, suite: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("AUTOTEST_CANDIDATE", FAULTY)
    for name in OPERATORS:
        with pytest.raises(Divergence):
            collection.find(suite, f"{suite.name}::test_{name}_of_double").call()
    kept = scripts(tmp_path)
    assert len(kept) == len(OPERATORS)
    for name in OPERATORS:
        (own,) = (script for key, script in kept.items() if f"-{name}-" in key)
        assert f".{name}(" in own
    command("fuzz", suite, "--jobs", 0, "--trials", 3, candidate=FAULTY, directory="fuzzed")
    assert {entry.key for entry in Store(tmp_path / "fuzzed").list()} == {*kept}


@pytest.mark.usefixtures("fuzzed")
def test_a_ledger_entry_expects_its_own_fault_and_no_other(command: Command, suite: Path, tmp_path: Path) -> None:
    tanh = entries(tmp_path)["tanh"]
    assert command("ledger", "add", tanh.key, "--reason", "known", candidate=FAULTY).status == 0
    (added,) = read(tmp_path / "ledger-faulty.toml")
    assert (added.operator, added.symptom) == ("tanh", "gradient")
    ended = command("fuzz", suite, "--jobs", 0, "--trials", 3, candidate=FAULTY, directory="again")
    assert "3 of them diverged as the ledger expects (1 entry)" in ended.output
    assert {entry.finding.identity.operator for entry in Store(tmp_path / "again").list()} == {"exp", "sin"}
    # The entry is for the test of tanh; in another test, too, it expects no other operator.
    ledger = tmp_path / "ledger-faulty.toml"
    ledger.write_text(ledger.read_text().replace("test_tanh_of_double", "*"))
    command("fuzz", suite, "--jobs", 0, "--trials", 3, candidate=FAULTY, directory="third")
    assert {entry.finding.identity.operator for entry in Store(tmp_path / "third").list()} == {"exp", "sin"}
