"""A sweep judges the graph mode of a candidate that runs whole programs: its eager mode is torch itself."""

from __future__ import annotations

import contextlib
import os
import subprocess
import sys
from pathlib import Path
from typing import Any, Final

import numpy as np
import pytest
import torch

from autotest.base.errors import FrameworkMissing
from autotest.frameworks import Pair, framework
from autotest.frameworks.oneflow_import import import_oneflow
from autotest.program import Array, Call, Program, Ref
from autotest.program.rewriting import tensor_call
from autotest.sweeping.explaining import Question, answer
from autotest.sweeping.judgement import SampleJudgement
from autotest.sweeping.judging import Judge
from autotest.sweeping.worker_position import Running

ROOT: Final = Path(__file__).parents[2]


@pytest.fixture(scope="module", autouse=True)
def _oneflow_before_triton() -> None:
    """Import OneFlow, if it is installed: tests of it that follow could not import it after Triton, which compiles."""
    with contextlib.suppress(FrameworkMissing):
        import_oneflow()


def right(graph: Any, inputs: Any) -> Any:
    """A right backend."""
    return graph.forward


def off_by_one(graph: Any, inputs: Any) -> Any:
    """A backend with wrong numbers."""
    return lambda *args: [one + 1 for one in graph.forward(*args)]


def infinite(graph: Any, inputs: Any) -> Any:
    """A backend whose results are infinite where numbers are right."""
    return lambda *args: [torch.full_like(one, np.inf) for one in graph.forward(*args)]


def with_a_dimension(graph: Any, inputs: Any) -> Any:
    """A backend with a dimension too many."""
    return lambda *args: [one[None] for one in graph.forward(*args)]


def in_double_precision(graph: Any, inputs: Any) -> Any:
    """A backend with a dtype of its own."""
    return lambda *args: [one.double() for one in graph.forward(*args)]


def refusing(graph: Any, inputs: Any) -> Any:
    """A backend that compiles nothing but sums, so that `x + 1` compiles."""
    if any("exp" in str(node.target) for node in graph.graph.nodes):
        raise NotImplementedError("no exponential")
    return graph.forward


def in_numpy(graph: Any, inputs: Any) -> Any:
    """A backend that computes sums, sines and cosines itself, and leaves the rest to torch."""
    named = [str(node.target) for node in graph.graph.nodes]
    own = not any("exp" in name for name in named)
    return lambda *args: [torch.from_numpy(one.numpy().copy()) if own else one for one in graph.forward(*args)]


def aborting(graph: Any, inputs: Any) -> Any:
    """A backend whose exponential ends the process."""

    def run(*args: Any) -> Any:
        if any("exp" in str(node.target) for node in graph.graph.nodes):
            os.abort()
        return graph.forward(*args)

    return run


def pair_with(backend: Any) -> Pair:
    return Pair(framework("torch"), framework(f"torch+compile={__name__}:{backend.__name__}"))


def exponential() -> Program:
    array = Array(np.array([0.5, 1.5], "float32"), "float32")
    return Program((tensor_call(0, 0, array, requires_grad=False), Call("function", "exp", (Ref(0),), {}, 1)), (array,))


def judged(backend: Any) -> SampleJudgement:
    return Judge(pair_with(backend)).judge(exponential())


@pytest.mark.parametrize(
    ("backend", "failed"),
    [
        (right, []),
        (off_by_one, ["value"]),
        (infinite, ["nonfinite"]),
        (with_a_dimension, ["shape"]),
        (in_double_precision, ["dtype"]),
        (refusing, ["errors"]),
    ],
)
def test_what_is_wrong_in_graph_mode_alone_is_found(backend: Any, failed: list[str]) -> None:
    found = judged(backend)
    assert [failure.check for failure in found.failures] == failed
    assert not found.absent
    assert found.failed is ("errors" in failed)
    assert "strides" not in found.checks  # which eager mode would pass


def test_what_a_backend_leaves_to_torch_is_absent_and_does_not_agree() -> None:
    found = judged(in_numpy)
    assert found.absent == f"calls that {__name__}:in_numpy leaves to torch"
    assert not found.checks


def test_a_death_in_graph_mode_is_one_of_the_candidate_and_not_of_a_further_probe() -> None:
    steps: list[Running] = []
    Judge(pair_with(right), steps.append).judge(exponential(), closely=True)
    assert steps[-1] is Running.CANDIDATE  # a sample that dies in a probe is judged again


def test_the_script_of_a_death_runs_the_graph(tmp_path: Path) -> None:
    question = Question("survives", "ends its process", "a sample", exponential(), hangs=False)
    script = tmp_path / "repro.py"
    script.write_text(answer(question, pair_with(aborting)).script)
    ran = subprocess.run(
        [sys.executable, script], env={**os.environ, "PYTHONPATH": str(ROOT)}, capture_output=True, check=False
    )
    assert b"ends with status -6" in ran.stdout
    assert ran.returncode == 1


def test_a_finding_has_a_verdict_and_a_script_of_the_graph_mode() -> None:
    program = exponential()
    found = answer(Question("value", "differs", "a sample", program, hangs=False), pair_with(off_by_one))
    assert found.blame == "candidate"
    assert f"torch.compile(forward, backend={__name__}.off_by_one)" in found.script
    assert "torch.exp(x0)  # <-- first divergent call" in found.text
