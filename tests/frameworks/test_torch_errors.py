"""torch's errors have their message, and no C++ stack."""

from __future__ import annotations

import torch

from autotest.frameworks.torch_errors import without_stacks

_SHOWN = """
import os, torch
from autotest.frameworks.torch_errors import without_stacks
print(without_stacks(torch))
os.environ["TORCH_SHOW_CPP_STACKTRACES"] = "1"  # torch reads it at its first error
try:
    torch.ones(2, 3) @ torch.ones(2, 3)
except RuntimeError as error:
    print(error)
"""


def test_an_error_says_what_it_said_without_a_stack(run_module, tmp_path, monkeypatch):
    (tmp_path / "shown.py").write_text(_SHOWN)
    monkeypatch.chdir(tmp_path)
    done, message = run_module("shown").stdout.str().split("\n", 1)
    assert message.startswith("mat1 and mat2 shapes cannot be multiplied (2x3 and 2x3)")
    assert done == "False" or "frame #" not in message


def test_a_stack_that_was_asked_for_stays(monkeypatch):
    monkeypatch.setenv("TORCH_SHOW_CPP_STACKTRACES", "1")
    assert not without_stacks(torch)
