"""Harvested calls become programs that torch accepts, with tensors like those of the harvested program."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest
import torch

from autotest import harvest
from autotest.frameworks import framework
from autotest.frameworks.samples import Sample
from autotest.program import Program, Ref
from autotest.replaying.replay import replay
from autotest.sources.harvested import HarvestedCalls
from tests.harvest import networks


def samples(path: Path) -> list[tuple[str, Sample]]:
    database = HarvestedCalls(path)
    return [
        (f"{entry.key}/{entry.forms[0]}/{dtype}", sample)
        for entry in database.entries()
        for dtype in entry.dtypes
        for sample in database.samples(entry.key, entry.forms[0], dtype, "sample", 0)
    ]


def program_of(path: Path, call: Callable[[], object], cell: str) -> Program:
    with harvest(path):
        call()
    (found,) = [sample.program for name, sample in samples(path) if name == cell]
    assert found is not None
    return found


@pytest.mark.parametrize("train", [networks.images, networks.texts])
def test_all_calls_of_a_network_run_again(tmp_path: Path, train: Callable[[int], float]) -> None:
    with harvest(tmp_path / "calls.jsonl"):
        train(1)
    refused = []
    for name, sample in samples(tmp_path / "calls.jsonl"):
        assert sample.program is not None, (name, sample.left_out)
        ran = replay(sample.program, framework("torch"))
        if ran.error is not None:
            refused.append((name, ran.error))
    assert refused == []


@pytest.mark.parametrize("dtype", [torch.float32, torch.float16, torch.bfloat16, torch.complex64, torch.int8])
def test_a_tensor_has_its_shape_strides_and_range_again(tmp_path: Path, dtype: torch.dtype) -> None:
    x = torch.arange(24).reshape(2, 3, 4).to(dtype).transpose(0, 2)[::2]
    name = str(dtype).removeprefix("torch.")
    program = program_of(tmp_path / "calls.jsonl", lambda: torch.clone(x), f"clone/function/{name}")
    (result,) = replay(program, framework("torch")).values[-1:]
    again = replay(program, framework("torch")).values[program.calls[-1].args[0].slot]
    assert (again.dtype, again.shape, again.stride()) == (x.dtype, x.shape, x.stride())
    numbers = (torch.view_as_real(result) if dtype.is_complex else result).double()
    assert 0 <= float(numbers.min()) <= float(numbers.max()) <= 23


def test_contents_that_matter_are_exact(tmp_path: Path) -> None:
    mask = torch.triu(torch.full((3, 3), float("-inf")), diagonal=1)
    program = program_of(tmp_path / "calls.jsonl", mask.clone, "clone/method/float32")
    np.testing.assert_array_equal(program.arrays[0].data, mask.numpy())


def test_one_tensor_that_is_given_twice_is_one_tensor_again(tmp_path: Path) -> None:
    x = torch.ones(2, 2)
    program = program_of(tmp_path / "calls.jsonl", lambda: torch.matmul(x, x), "matmul/function/float32")
    assert len(program.arrays) == 1


def test_what_is_changed_in_place_is_no_leaf(tmp_path: Path) -> None:
    x = torch.ones(20, requires_grad=True)
    program = program_of(tmp_path / "calls.jsonl", lambda: (x * 1).mul_(2), "mul_/in-place/float32")
    assert replay(program, framework("torch")).error is None


def test_without_autograd_nothing_asks_for_gradients(tmp_path: Path) -> None:
    x = torch.ones(20, requires_grad=True)
    with torch.no_grad():
        program = program_of(
            tmp_path / "calls.jsonl", lambda: torch.nn.functional.relu(x), "nn.functional.relu/function/float32"
        )
    assert program.calls[0].kwargs["requires_grad"] is False


def test_numbers_depend_on_the_seed_and_the_call_only(tmp_path: Path) -> None:
    with harvest(tmp_path / "calls.jsonl"):
        torch.sin(torch.rand(30))
        torch.cos(torch.rand(30))
    database = HarvestedCalls(tmp_path / "calls.jsonl")

    def numbers(seed: int) -> bytes:
        (sample,) = database.samples("cos", "function", "float32", "sample", seed)
        assert sample.program is not None
        return sample.program.arrays[0].data.tobytes()

    first = numbers(1)
    list(database.samples("sin", "function", "float32", "sample", 1))
    assert numbers(1) == first != numbers(2)


def test_what_is_no_data_is_left_out_with_its_type(tmp_path: Path) -> None:
    with harvest(tmp_path / "calls.jsonl"):
        torch.tensor(np.ones(3))
    ((_, sample),) = [one for one in samples(tmp_path / "calls.jsonl") if one[0].startswith("tensor/")]
    assert sample.left_out == "an argument of type numpy.ndarray"


@pytest.mark.parametrize("number", [np.int64(1), np.int8(0), np.bool_(True), np.float32(0.1), np.float64(0.1)])
def test_a_number_of_numpy_is_one_again(tmp_path: Path, number: np.generic) -> None:
    with harvest(tmp_path / "calls.jsonl"):
        torch.full((2,), number)
    ((_, sample),) = samples(tmp_path / "calls.jsonl")
    assert sample.program is not None
    again = sample.program.calls[-1].args[1]
    assert (type(again), again) == (type(number), number)


def test_calls_with_different_numbers_of_numpy_are_two(tmp_path: Path) -> None:
    with harvest(tmp_path / "calls.jsonl"):
        for dim in (np.int64(0), np.int64(1), np.int64(1)):
            torch.sum(torch.ones(2, 2), dim)
    assert len([name for name, _ in samples(tmp_path / "calls.jsonl") if name.startswith("sum/")]) == 2


def test_what_an_initialiser_draws_is_nobody_s_to_compare(tmp_path: Path) -> None:
    weights = torch.zeros(3, 2)
    path = tmp_path / "calls.jsonl"
    program = program_of(
        path, lambda: torch.nn.init.kaiming_uniform_(weights), "nn.init.kaiming_uniform_/function/float32"
    )
    assert program.calls[-1].args[0] == Ref(0)
    assert program.undefined == {0, 1}
    constant = "nn.init.constant_/function/float32"
    program = program_of(path, lambda: torch.nn.init.constant_(weights, 2.0), constant)
    assert not program.undefined


def test_what_only_torch_s_own_modules_call_is_told_apart(tmp_path: Path) -> None:
    with harvest(tmp_path / "calls.jsonl"):
        torch.nn.functional.relu(torch.nn.Linear(2, 2)(torch.ones(1, 2)))
    assert HarvestedCalls(tmp_path / "calls.jsonl").inside() == {"nn.functional.linear/function/float32": "nn.Linear"}


def stepped(kind: Callable[..., torch.optim.Optimizer], **options: object) -> None:
    layer = torch.nn.Linear(3, 2)
    optimizer = kind([{"params": [layer.weight]}, {"params": [layer.bias], "lr": 0.25}], lr=0.5, **options)
    for _ in range(2):
        layer(torch.ones(1, 3)).sum().backward()
        optimizer.step()


@pytest.mark.parametrize("kind", [torch.optim.SGD, torch.optim.AdamW])
def test_an_optimizer_steps_again_with_its_options(tmp_path: Path, kind: Callable[..., torch.optim.Optimizer]) -> None:
    with harvest(tmp_path / "calls.jsonl"):
        stepped(kind, weight_decay=0.1)
    cell = f"optim.{kind.__name__}/optimizer/float32"
    programs = [sample.program for name, sample in samples(tmp_path / "calls.jsonl") if name == cell]
    options = [next(call.kwargs for call in one.calls if call.target.startswith("optim.")) for one in programs if one]
    assert options == [{"lr": 0.5, "weight_decay": 0.1}, {"lr": 0.25, "weight_decay": 0.1}]
    shapes = [one.arrays[0].data.shape for one in programs if one]
    assert shapes == [(2, 3), (2,)]
    for program in filter(None, programs):
        ran = replay(program, framework("torch"))
        assert ran.error is None
        parameter = next(call.slot for call in program.calls if call.target == "nn.Parameter")
        assert not np.allclose(ran.values[parameter].detach().numpy(), program.arrays[0].data)


def test_an_optimizer_is_written_once_for_each_way_in_which_it_is_set_up(tmp_path: Path) -> None:
    with harvest(tmp_path / "calls.jsonl"):
        for rate in (0.1, 0.2, 0.3, 0.4, 0.5):  # as a scheduler does
            layer = torch.nn.Linear(2, 2)
            torch.optim.SGD(layer.parameters(), lr=rate).step()
        torch.optim.LBFGS(layer.parameters()).step(lambda: 0.0)
    names = [name for name, _ in samples(tmp_path / "calls.jsonl") if "optim" in name]
    assert names == ["optim.SGD/optimizer/float32"] * 3


def test_a_tensor_that_is_given_twice_is_the_same_beside_one_of_the_constructor(tmp_path: Path) -> None:
    x = torch.rand(3, 4)

    def call() -> None:
        torch.nn.BCEWithLogitsLoss(pos_weight=torch.rand(4))(x, x)

    program = program_of(tmp_path / "calls.jsonl", call, "nn.BCEWithLogitsLoss/module/float32")
    _, own, target = program.calls[-1].args
    assert target == own
    assert replay(program, framework("torch")).error is None
