"""Errors that newcomers meet say what to do next."""

from __future__ import annotations

import math
from typing import Any

import pytest
import torch as real

import autotest
from autotest import UsageError, random_tensor, torch
from autotest.base import options
from autotest.cli import main
from autotest.results import ledger
from autotest.storage.store import Store
from generators import GeneratorError
from tests.support.faulty import FaultyTorch
from tests.support.running import trial


def _linear() -> Any:
    return real.nn.Linear(2, 2)


def test_an_attribute_of_a_framework_is_replaced_by_a_function_of_the_test(against: Any) -> None:
    against()  # without OneFlow, only what another test has looked up before could be looked up
    said = "torch.nn.functional.relu = ...: the attributes of a framework cannot be assigned"
    with pytest.raises(UsageError) as raised:
        torch.nn.functional.relu = None
    assert str(raised.value).startswith(said)
    assert str(raised.value).endswith("call it in place of torch.nn.functional.relu")
    with pytest.raises(UsageError, match=r"^torch\.relu = \.\.\.: the attributes"):
        torch.relu = None


@pytest.mark.parametrize(
    ("misspelt", "meant"),
    [
        ({"dtype": "flaot32"}, "float32"),
        ({"layout": "channels-last"}, "channels_last"),
        ({"contents": "interger"}, "integers"),
    ],
)
def test_a_misspelt_word_is_corrected(misspelt: dict[str, str], meant: str) -> None:
    with pytest.raises(GeneratorError, match=f"Did you mean '{meant}'[?]"):
        trial(lambda: random_tensor(**misspelt), FaultyTorch())


@pytest.mark.parametrize(
    ("asked", "next_step"),
    [
        (lambda: autotest.align(3, _linear(), real.ones(1, 2)), "got an object of type int; its port comes second"),
        (
            lambda: autotest.align(_linear(), _linear(), real.full((1, 2), math.nan)),
            "give inputs and weights for which it returns some",
        ),
        (
            lambda: autotest.align(_linear(), _linear(), real.ones(1, 2), mapping={"weight": "bias", "bias": "bias"}),
            "expected another name for one of them",
        ),
        (lambda: options.from_environment({"AUTOTEST_LEDGER": "gone.toml"}), "correct the path, or leave it out"),
        (
            lambda: ledger.parsed('[[divergence]]\nkey = "k"\n', ledger.Path("ledger.toml")),
            "expected key, test, symptom, reason in each divergence; `autotest ledger add` writes them",
        ),
        (
            lambda: ledger.parsed("divergense = 3", ledger.Path("ledger.toml")),
            "for all of them. Did you mean 'divergence'",
        ),
    ],
)
def test_what_is_to_be_corrected_is_told(asked: Any, next_step: str) -> None:
    with pytest.raises(UsageError) as raised:
        asked()
    assert next_step in str(raised.value)


def test_what_fills_an_empty_store_is_told(tmp_path: Any) -> None:
    with pytest.raises(UsageError, match=r"it is empty\. A test that fails and `autotest fuzz` store failures there"):
        Store(tmp_path).load("a-key")


def test_a_name_that_is_no_module_is_corrected(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["adapter", "new", "my-framework"]) == 2
    assert "expected the name of a Python module, such as my_framework" in capsys.readouterr().err
