"""What is recorded of a running program, and that recording does not change the program's behaviour."""

from __future__ import annotations

import base64
import operator
import os
import subprocess
import sys
import threading
import zlib
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest
import torch

from autotest import UsageError, harvest
from autotest.frameworks.harvester.call_recorder import CallRecorder
from autotest.frameworks.harvester.calls_file import CallsFile
from autotest.sources.calls_file import Harvest, HarvestedCall, read
from tests.harvest import networks

Run = Callable[..., Harvest]
Only = Callable[..., HarvestedCall]


def test_a_call_is_written_with_its_name_form_and_arguments(only: Only) -> None:
    x = torch.ones(2, 3, requires_grad=True)
    call = only(lambda: torch.nn.functional.softmax(x.t() * 2, dim=-1), "nn.functional.softmax")
    assert (call.form, call.kwargs, call.gradients) == ("function", {"dim": -1}, True)
    (argument,) = call.args
    assert argument["tensor"] == {
        "dtype": "float32", "shape": [3, 2], "strides": [1, 3], "requires_grad": True, "device": "cpu",
        "range": [2.0, 2.0], "nonfinite": [], "contents": argument["tensor"]["contents"],
    }  # fmt: skip


@pytest.mark.parametrize(
    ("make", "name", "form"),
    [
        (torch.Tensor.relu, "Tensor.relu", "method"),
        (torch.Tensor.relu_, "Tensor.relu_", "in-place"),
        (lambda x: 1 - x, "Tensor.__rsub__", "reflected"),
        (lambda x: x[0], "Tensor.__getitem__", "operator"),
        (lambda x: x[:, 0], "Tensor.__getitem__", "operator"),
        (lambda x: torch.mm(x, x), "mm", "function"),
        (lambda x: torch.einsum("ij->ji", x), "einsum", "function"),
        (lambda x: torch.nn.functional.normalize(x, out=None), "nn.functional.normalize", "function"),
        (
            lambda x: torch.nn.functional.max_pool2d(x[None], 1, return_indices=True),
            "nn.functional.max_pool2d",
            "function",
        ),
        (lambda x: operator.setitem(x, 0, 1.0), "Tensor.__setitem__", "in-place operator"),
        (lambda x: x.T, "Tensor.T", "attribute"),
        (lambda x: torch.add(x, x, out=torch.empty(2, 2)), "add", "out="),
        (torch.nn.ReLU(inplace=True), "nn.ReLU", "module"),
    ],
)
def test_every_form_of_a_call_is_told_from_the_others(
    only: Only, make: Callable[[torch.Tensor], object], name: str, form: str
) -> None:
    assert only(lambda: make(torch.ones(2, 2)), name).form == form


def test_integers_booleans_and_masks_are_written_exactly(harvested: Run) -> None:
    def program() -> None:
        weights = torch.ones(5, 2)
        torch.nn.functional.embedding(torch.tensor([[4, 0]]), weights)
        torch.where(torch.tensor([True, False]), 1.0, 2.0)
        torch.triu(torch.full((3, 3), float("-inf")))

    calls = {call.name: call for call in harvested(program).calls}
    indices = calls["nn.functional.embedding"].args[0]["tensor"]
    assert np.frombuffer(zlib.decompress(base64.b64decode(indices["contents"])), "<i8").tolist() == [4, 0]
    assert "contents" in calls["where"].args[0]["tensor"]
    assert calls["triu"].args[0]["tensor"]["nonfinite"] == ["-inf"]
    assert "contents" in calls["triu"].args[0]["tensor"]


def test_the_same_call_is_written_once_and_counted(only: Only) -> None:
    def program() -> None:
        for step in range(7):
            torch.sin(torch.full((2,), float(step)))

    assert only(program, "sin").times == 7


def test_floats_that_change_in_every_step_do_not_fill_the_file(harvested: Run) -> None:
    def program() -> None:
        x = torch.ones(2)
        for step in range(50):
            torch.mul(x, 0.1 * step)

    assert 1 <= sum(call.name == "mul" for call in harvested(program).calls) <= 3


def test_of_one_name_a_limited_number_of_calls_is_kept_and_the_rest_is_counted(harvested: Run) -> None:
    def program() -> None:
        for size in range(1, 9):
            torch.sin(torch.ones(size))

    found = harvested(program, limit=5)
    assert sum(call.name == "sin" for call in found.calls) == 5
    assert found.left_out["sin"] == 3


def test_a_module_is_written_with_how_it_was_made_its_state_and_its_mode(only: Only) -> None:
    call = only(lambda: torch.nn.Linear(3, 2, bias=False).eval()(torch.ones(1, 3)), "nn.Linear")
    assert call.constructor == {"args": [3, 2], "kwargs": {"bias": False}}
    assert list(call.state) == ["weight"]
    assert call.training is False


def test_a_module_that_was_made_before_is_described_by_its_attributes(only: Only) -> None:
    made_before = torch.nn.Conv2d(4, 6, 3, groups=2, bias=False)
    call = only(lambda: made_before(torch.ones(1, 4, 5, 5)), "nn.Conv2d")
    assert call.constructor is not None
    assert call.constructor["kwargs"]["in_channels"] == 4
    assert call.constructor["kwargs"]["groups"] == 2
    assert call.constructor["kwargs"]["bias"] is False


def test_calls_of_constructors_and_optimizers_are_theirs(harvested: Run) -> None:
    def program() -> None:
        linear = torch.nn.Linear(2, 2)
        optimizer = torch.optim.Adam(linear.parameters())
        linear(torch.ones(1, 2)).sum().backward()
        optimizer.step()

    names = {call.name for call in harvested(program).calls}
    assert {"nn.Linear", "nn.functional.linear", "Tensor.sum"} <= names
    assert not names & {"nn.init.kaiming_uniform_", "Tensor.addcdiv_", "Tensor.lerp_"}


def test_a_call_says_in_which_module_it_was_made(only: Only) -> None:
    assert only(lambda: torch.nn.ReLU()(torch.ones(2)), "nn.functional.relu").within == "nn.ReLU"


def test_threads_are_recorded_too(only: Only) -> None:
    def program() -> None:
        thread = threading.Thread(target=lambda: torch.sin(torch.ones(2)))
        thread.start()
        thread.join()

    assert only(program, "sin").form == "function"


def test_what_is_compiled_runs_as_it_was_written_and_is_seen(only: Only) -> None:
    def program() -> None:
        torch.compile(lambda x: torch.sin(x) + 1, backend="eager")(torch.ones(2))

    assert only(program, "sin").form == "function"
    assert "TORCHDYNAMO_DISABLE" not in os.environ


#: A program that imports Dynamo while its calls are recorded, and compiles a function after that.
COMPILES_LATER = """
import sys, torch
from autotest import harvest

with harvest(sys.argv[1]):
    torch.compile(lambda x: torch.sin(x) + 1, backend="eager")(torch.ones(2))
compiled = []
torch.compile(lambda x: x * 2, backend=lambda graph, inputs: compiled.append(graph) or graph.forward)(torch.ones(2))
assert compiled
"""


def test_what_is_compiled_after_a_harvest_is_compiled(tmp_path: Path) -> None:
    command = [sys.executable, "-c", COMPILES_LATER, str(tmp_path / "calls")]
    told = subprocess.run(command, capture_output=True, text=True, check=False)
    assert told.returncode == 0, told.stderr


def test_a_forked_process_writes_into_the_same_file(only: Only) -> None:
    def program() -> None:
        pid = os.fork()
        if pid == 0:
            torch.cos(torch.ones(3))
            os._exit(0)  # as workers of a DataLoader do
        assert os.waitpid(pid, 0)[1] == 0

    assert only(program, "cos").times == 0


def test_calls_that_were_left_out_before_a_fork_are_counted_once(tmp_path: Path) -> None:
    recorder = CallRecorder(CallsFile(str(tmp_path / "calls.jsonl")), limit=1)
    recorder.start()
    torch.sin(torch.ones(1))
    torch.sin(torch.ones(2))
    pid = os.fork()
    if pid == 0:
        torch.sin(torch.ones(3))
        recorder.summarise()  # as at the end of a process that `autotest harvest` watches
        os._exit(0)
    ended = os.waitpid(pid, 0)[1]
    recorder.stop()
    assert ended == 0
    assert read(tmp_path / "calls.jsonl").left_out["sin"] == 2


def test_what_fails_leaves_its_exception_and_what_was_recorded(tmp_path: Path) -> None:
    with pytest.raises(RuntimeError, match="shapes cannot be multiplied"), harvest(tmp_path / "calls.jsonl"):
        torch.mm(torch.ones(2, 3), torch.ones(2, 3))
    assert [call.name for call in read(tmp_path / "calls.jsonl").calls][-1] == "mm"


def test_an_object_that_raises_when_it_is_described_ends_nothing(harvested: Run) -> None:
    class Hostile:
        @property
        def shape(self) -> None:
            raise ValueError("not yours")

        @classmethod
        def __torch_function__(cls, *details: object) -> int:
            return 3

    assert harvested(lambda: torch.add(Hostile(), 1)).calls is not None


def test_nothing_is_recorded_any_more_when_the_block_has_ended(tmp_path: Path) -> None:
    originals = torch.nn.Module.__call__, torch.nn.Linear.__init__, torch.optim.SGD.step, threading.Thread.run
    with harvest(tmp_path / "calls.jsonl"):
        pass
    size = (tmp_path / "calls.jsonl").stat().st_size
    torch.nn.Linear(2, 2)(torch.ones(1, 2))
    assert (tmp_path / "calls.jsonl").stat().st_size == size
    assert originals == (
        torch.nn.Module.__call__, torch.nn.Linear.__init__, torch.optim.SGD.step, threading.Thread.run
    )  # fmt: skip


@pytest.mark.parametrize("train", [networks.images, networks.texts])
def test_training_gives_the_same_numbers_while_it_is_harvested(harvested: Run, train: Callable[[int], float]) -> None:
    torch.manual_seed(3)
    expected = train(2)
    torch.manual_seed(3)
    actual: list[float] = []
    found = harvested(lambda: actual.append(train(2)))
    assert actual == [expected]
    assert not found.broken
    assert {"nn.Linear", "nn.functional.cross_entropy"} <= {call.name for call in found.calls}


def test_a_file_that_cannot_be_written_is_told_before_anything_runs(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="cannot be written: No such file or directory"):
        harvest(tmp_path / "nowhere" / "calls.jsonl").__enter__()


def test_a_full_disk_ends_the_recording_and_not_the_program(capsys: pytest.CaptureFixture[str]) -> None:
    with harvest("/dev/full"):
        assert float(torch.sin(torch.zeros(()))) == 0
        torch.cos(torch.zeros(()))
    said = capsys.readouterr().err
    assert said.count("cannot be written any more (No space left on device)") == 1
