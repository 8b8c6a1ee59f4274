"""A framework that spells as torch does, and may be made of torch, is read as torch is, and its scripts find it."""

from __future__ import annotations

import subprocess
import sys

import numpy as np
import pytest
import torch as real

from autotest.diagnosis.verification import verify
from autotest.emission import reproducer
from autotest.emission.about import About
from autotest.emission.checker import Criterion
from autotest.frameworks import Namespace, Pair, framework
from autotest.results.verification import State, Verification

KERNELS = """
from torch import *


def relu(x):
    return x
"""


@pytest.mark.parametrize(
    "made",
    [
        lambda: real._efficientzerotensor((3,)),
        lambda: real.tensor([1 + 2j, 3j]).conj(),
        lambda: real.tensor([1 + 2j, 3j]).conj().imag,
        lambda: real.tensor([0.0, 2.0]).to_sparse(),
    ],
    ids=["zeros without memory", "a conjugate", "a negative", "a sparse one"],
)
def test_what_numpy_cannot_read_of_torch_is_settled_first(made):
    torch, mine = framework("torch"), Namespace("mine", module="torch")
    for _ in range(20):  # memory that nobody wrote may hold zeros by chance
        filled = np.full(3, 7.0)
        del filled
        assert np.array_equal(mine.to_numpy(made()), torch.to_numpy(made()))


def test_the_script_of_a_framework_that_lies_in_the_project_finds_it_from_the_project_alone(
    build, tmp_path, monkeypatch
):
    (tmp_path / "src").mkdir()
    (tmp_path / "src" / "kernels_of_a_project.py").write_text(KERNELS)
    monkeypatch.chdir(tmp_path)
    monkeypatch.syspath_prepend(tmp_path / "src")
    pair = Pair(framework("torch"), Namespace("mine", module="kernels_of_a_project"))
    try:
        build.function("relu", build.tensor([-1.0, 2.0]))
        program = build.program()
        script = reproducer(About(program, pair.scripts(program), "relu", ()), Criterion(observed=["v1"]))
    finally:
        sys.modules.pop("kernels_of_a_project", None)
    assert verify(script) == Verification(State.VERIFIED)
    (tmp_path / "kept").mkdir()
    (tmp_path / "kept" / "repro.py").write_text(script)
    told = subprocess.run([sys.executable, "kept/repro.py"], capture_output=True, text=True, check=False)
    assert (told.returncode, str(tmp_path) in script) == (1, False), told.stdout


def test_the_script_of_an_installed_framework_says_no_folder():
    assert Namespace("mine", module="torch").script().lines == ("import torch",)
