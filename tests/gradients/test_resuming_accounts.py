"""`autotest gradients --resume`: a test whose account is stored is not run again."""

from __future__ import annotations

import contextlib
from pathlib import Path

import pytest

from autotest.base.errors import UsageError
from autotest.cli import main
from autotest.cli.status import FAILED
from autotest.results.gradient_account import GradientAccount, Use
from autotest.results.tasks import Where
from autotest.storage.stored_account import AccountRequest, StoredAccount

ASKED = AccountRequest(2, "torch")
SUITE = """
from autotest import autotest, random_tensor, torch

@autotest(special_values=False)
def test_relu():
    return torch.relu(random_tensor(ndim=2))

@autotest(special_values=False)
def test_exp():
    return torch.exp(random_tensor(ndim=2))
"""


def where(name: str, file: Path = Path("test_x.py")) -> Where:
    return Where(file, f"test_x.py::{name}", 0)


def of(operator: str) -> GradientAccount:
    account = GradientAccount()
    account.add("test", [Use(operator, "compared")])
    return account


def test_accounts_that_were_kept_are_known_to_the_next_run_by_test_and_group(tmp_path):
    with contextlib.closing(StoredAccount(tmp_path, ASKED)) as kept:
        kept.begin()
        kept.add(where("a"), of("relu"))
        kept.add(where("b"), of("exp"), "on cuda")
        assert kept.account(where("a")) is None  # of this run, which does not read it again
    with contextlib.closing(StoredAccount(tmp_path, ASKED, resume=True)) as kept:
        kept.begin()
        assert kept.account(where("a")) == of("relu")
        assert kept.account(where("b")) is None
        assert kept.account(where("b"), "on cuda") == of("exp")
        assert kept.all_of([where("a"), where("b"), where("c")]) == of("relu")
        kept.add(where("c"), of("sin"))
    with contextlib.closing(StoredAccount(tmp_path, ASKED, resume=True)) as kept:
        assert len(kept.known) == 3


def test_what_a_killed_run_wrote_halfway_is_kept_again(tmp_path):
    with contextlib.closing(StoredAccount(tmp_path, ASKED)) as kept:
        kept.begin()
        kept.add(where("a"), of("relu"))
        kept.add(where("b"), of("exp"))
    file = tmp_path / "gradients" / "last"
    file.write_bytes(file.read_bytes()[:-3])
    with contextlib.closing(StoredAccount(tmp_path, ASKED, resume=True)) as kept:
        assert [key[2] for key in kept.known] == ["test_x.py::a"]


@pytest.mark.parametrize(
    ("before", "said"),
    [
        (None, "nothing to resume"),
        (b"nonsense", "it is damaged or from another version"),
        (AccountRequest(3, "torch"), "--trials 3 against torch; got --trials 2 against torch"),
    ],
    ids=["nothing", "damaged", "asked for otherwise"],
)
def test_accounts_that_cannot_be_gone_on_with_are_told(tmp_path, before, said):
    if isinstance(before, AccountRequest):
        kept = StoredAccount(tmp_path, before)
        kept.begin()
        kept.close()
    elif before is not None:
        (tmp_path / "gradients").mkdir()
        (tmp_path / "gradients" / "last").write_bytes(before)
    with pytest.raises(UsageError, match=said):
        StoredAccount(tmp_path, ASKED, resume=True)


@pytest.mark.usefixtures("warm")
@pytest.mark.parametrize("jobs", ["0", pytest.param("1", marks=pytest.mark.slow)], ids=["here", "in worker processes"])
def test_only_tests_whose_accounts_were_not_kept_are_run(tmp_path, monkeypatch, capsys, quick, jobs):
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("AUTOTEST_CANDIDATE", "torch")
    file = tmp_path / "test_x.py"
    file.write_text(SUITE)
    asked = ["gradients", str(file), "--trials", "2", "--jobs", jobs]
    assert main(asked) == 0
    whole = capsys.readouterr().out
    assert "2 operators in 4 trials" in whole
    # The completed test does not run again: now it would fail.
    with contextlib.closing(StoredAccount(quick, AccountRequest(2, "torch"))) as kept:
        kept.begin()
        kept.add(where("test_relu", file), of("relu"))
    file.write_text(SUITE.replace("torch.relu", "torch.relus"))
    assert main([*asked, "--resume"]) == 0
    told = capsys.readouterr().out
    assert "2 operators in 3 trials" in told
    assert "could not be run" not in told


def test_a_cluster_that_is_not_there_costs_an_earlier_run_none_of_its_account(tmp_path, monkeypatch, capsys, quick):
    pytest.importorskip("ray")
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("AUTOTEST_CANDIDATE", "torch")
    (tmp_path / "test_x.py").write_text(SUITE)
    with contextlib.closing(StoredAccount(quick, ASKED)) as kept:
        kept.begin()
        kept.add(where("test_relu"), of("relu"))
    before = (quick / "gradients" / "last").read_bytes()
    nobody = ("--executor", "ray://127.0.0.1:1")
    assert main(["gradients", "test_x.py", "--trials", "2", *nobody]) == FAILED
    assert "ray://127.0.0.1:1" in capsys.readouterr().err
    assert (quick / "gradients" / "last").read_bytes() == before
