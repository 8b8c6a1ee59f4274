"""The score counts right, wrong and open verdicts on reproducers with a label that says who is wrong."""

from __future__ import annotations

from pathlib import Path

import pytest

from autotest.base.errors import UsageError
from autotest.cli import main
from autotest.diagnosis.attribution.verdict_score import Label, Score, read, scores
from autotest.frameworks import Framework, Pair
from autotest.frameworks.torch import TorchFramework
from autotest.results.ledger import LedgerEntry
from tests.support.faulty import FaultyTorch, returning

SCRIPT = """
import sys
import numpy as np

def program(torch):
    m0 = torch.nn.Linear(2, 2)
    with torch.no_grad():
        m0.weight.copy_(torch.tensor(np.ones((2, 2), "float32")))
    x0 = torch.tensor(np.array([[-1.0, 2.0]], "float32"), requires_grad=True)
    v1 = torch.relu(m0(x0))
    v1.backward(torch.tensor(np.ones((1, 2), "float32")))
    return x0.grad

raise SystemExit("only the program of a script is run")
"""
ENTRY = LedgerEntry(key="relu", test="*", symptom="value", reason="planted", reproducer="relu.py")


def score(tmp_path: Path, known: Label, *sides: Framework) -> Score:
    (tmp_path / "relu.py").write_text(SCRIPT, encoding="utf-8")
    return scores([ENTRY], {"relu": known}, tmp_path, Pair(*sides), lambda score: None)[0]


@pytest.fixture
def faulty() -> Framework:
    return FaultyTorch({"relu": returning(lambda result: result + 1)})


def test_a_verdict_that_names_the_wrong_side_is_right(tmp_path: Path, faulty: Framework) -> None:
    assert score(tmp_path, Label("candidate", "numpy"), TorchFramework(), faulty).right
    assert score(tmp_path, Label("reference", "numpy"), faulty, TorchFramework()).right


def test_a_verdict_that_names_the_other_side_is_wrong(tmp_path: Path, faulty: Framework) -> None:
    found = score(tmp_path, Label("reference", "numpy"), TorchFramework(), faulty)
    assert not found.right
    assert not found.open


def test_what_shows_no_difference_is_open_and_says_so(tmp_path: Path) -> None:
    found = score(tmp_path, Label("candidate", "numpy"), TorchFramework(), TorchFramework())
    assert found.open
    assert "shows no difference" in found.trouble


def test_a_death_is_judged_without_being_died(tmp_path: Path) -> None:
    entry = LedgerEntry(key="relu", test="*", symptom="crash", reason="planted", reproducer="there-is-none.py")
    pair = Pair(TorchFramework(), TorchFramework())
    assert scores([entry], {"relu": Label("candidate", "no input may")}, tmp_path, pair, lambda score: None)[0].right


def test_who_is_wrong_needs_a_proof(tmp_path: Path) -> None:
    path = tmp_path / "verdicts.toml"
    path.write_text('[[known]]\nwrong = "candidate"\nbecause = ""\nkeys = ["relu"]\n', encoding="utf-8")
    with pytest.raises(UsageError, match=r"known 1: expected wrong = one of candidate, .*, and because = the proof"):
        read(path)


def test_a_choice_that_no_entry_matches_is_a_mistake_and_no_success(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    for name in ("ledger.toml", "verdicts.toml"):
        (tmp_path / name).write_text("")
    assert main(["verdicts", str(tmp_path)]) == 2
    assert "there are no entries in" in capsys.readouterr().err
    entry = '[[divergence]]\nkey = "relu"\ntest = "test_x.py::test"\nsymptom = "value"\nreason = "planted"\n'
    (tmp_path / "ledger.toml").write_text(entry)
    assert main(["verdicts", str(tmp_path), "-k", "rleu"]) == 2
    assert "-k 'rleu' matches none of" in capsys.readouterr().err
    assert main(["verdicts", str(tmp_path)]) == 2
    assert "verdicts.toml has no label for 1 entry of the ledger, such as 'relu'" in capsys.readouterr().err
    assert main(["verdicts", str(tmp_path / "ledger.toml")]) == 2
    assert "no such file; expected a folder with a ledger.toml" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("content", "said"),
    [
        (b"garbage [", "verdicts.toml: cannot be read as TOML: "),
        (b"\xff", "verdicts.toml: cannot be read as TOML: "),
        (b"[[verdict]]\n", r"unknown 'verdict'; expected only \[\[known\]\]"),
        (b"known = 3", r"expected \[\[known\]\] with two brackets"),
        (b'[[known]]\nwrong = "both"\nbecause = "b"\n', "known 1: expected keys = a list of keys .*, got None"),
        (b'[[known]]\nwrong = "both"\nbecause = "b"\nkeys = "relu"\n', "known 1: expected keys = a list .* got 'relu'"),
    ],
)
def test_labels_that_cannot_be_read_are_told_by_their_file(tmp_path: Path, content: bytes, said: str) -> None:
    path = tmp_path / "verdicts.toml"
    path.write_bytes(content)
    with pytest.raises(UsageError, match=said):
        read(path)
