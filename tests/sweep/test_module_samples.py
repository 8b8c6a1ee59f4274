"""Programs of torch's modules: they create a module, load the reference's parameters, and call it."""

from __future__ import annotations

from typing import Any

import pytest
import torch

from autotest.frameworks import framework
from autotest.frameworks.samples import Form
from autotest.frameworks.torch_samples.torch_modules import ModuleDatabase
from autotest.program import Program
from autotest.program.serialisation import pack_arrays
from autotest.replaying.replay import replay
from tests.sweep.planted import TORCH, failing, fault, swept


@pytest.fixture(scope="module")
def database() -> ModuleDatabase:
    return ModuleDatabase(framework("torch"))  # type: ignore[arg-type]


def programs(database: ModuleDatabase, name: str, dtype: str = "float32") -> list[Program]:
    return [sample.program for sample in database.samples(name, "module", dtype, "sample", 1) if sample.program]


@pytest.mark.parametrize("name", ["nn.Linear", "nn.CELU"])
def test_a_module_is_made_and_called(database: ModuleDatabase, name: str) -> None:
    found = programs(database, name)
    assert found
    assert {call.target for call in found[0].calls} >= {name, "train", "__call__"}
    assert any(replay(program, TORCH).error is None for program in found)


@pytest.mark.parametrize("name", ["nn.MaxUnpool1d", "nn.MaxUnpool2d", "nn.MaxUnpool3d"])
def test_what_undoes_a_maximum_is_given_places_that_fit(database: ModuleDatabase, name: str) -> None:
    accepted = [program for program in programs(database, name) if replay(program, TORCH).error is None]
    assert "__call__" in {program.calls[-1].target for program in accepted}


@pytest.mark.parametrize("name", ["nn.SELU", "nn.MSELoss"])
def test_no_number_is_given_by_position_for_a_flag_or_what_torch_has_given_up(
    database: ModuleDatabase, name: str
) -> None:
    assert {call.args for program in programs(database, name) for call in program.calls if call.target == name} == {()}


@pytest.mark.slow
def test_a_module_without_an_entry_of_its_own_gets_options_changed(database: ModuleDatabase) -> None:
    options = {tuple(program.calls[0].kwargs) for program in programs(database, "nn.SmoothL1Loss")}
    assert {("reduction",), ("beta",)} <= options


@pytest.mark.slow
def test_the_same_seed_gives_the_same_programs(database: ModuleDatabase) -> None:
    first = [pack_arrays(program) for program in programs(database, "nn.Linear")]
    programs(database, "nn.GRU")
    assert [pack_arrays(program) for program in programs(database, "nn.Linear")] == first


@pytest.mark.parametrize(
    ("base", "key", "form"), [("modules", "nn.Linear", "module"), ("public names", "affine_grid_generator", "function")]
)
def test_draws_of_the_caller_between_two_samples_change_neither_samples_nor_draws(
    base: str, key: str, form: Form
) -> None:
    database = next(one for one in TORCH.sample_databases() if one.name == base)
    alone = [pack_arrays(sample.program) for sample in database.samples(key, form, "float32", "sample", 1)]
    generator, together, draws = torch.Generator().manual_seed(7), [], []
    torch.manual_seed(7)
    for sample in database.samples(key, form, "float32", "sample", 1):
        together.append(pack_arrays(sample.program))
        draws.append(torch.rand(()))
    assert len(together) > 3
    assert together == alone
    assert draws == [torch.rand((), generator=generator) for _ in draws]


@pytest.mark.slow
def test_a_wrong_module_is_found_and_torch_itself_agrees() -> None:
    cell = "nn.CELU/module/float32"
    wrong = fault("nn.CELU", lambda kind: lambda *args, **kwargs: TORCH.resolve("nn.ELU")(alpha=0.5))
    assert {"value", "gradient"} & failing(swept(wrong, cell))
    assert failing(swept(TORCH, cell)) == set()


@pytest.mark.slow
def test_options_are_changed_on_odd_and_on_even_kernels(database: ModuleDatabase) -> None:
    made = [program.calls[0] for program in programs(database, "nn.Conv2d")]
    same = {call.args[2] for call in made if call.kwargs.get("padding") == "same"}
    assert {size % 2 for size in same if isinstance(size, int)} == {0, 1}


def test_a_module_that_works_in_place_is_given_no_leaf(database: ModuleDatabase) -> None:
    made = [program for program in programs(database, "nn.ReLU6") if program.calls[0].kwargs.get("inplace")]
    assert made
    assert all(replay(program, TORCH).error is None for program in made)


def test_working_in_place_is_tried_on_fractions_that_carry_a_gradient(database: ModuleDatabase) -> None:
    made = [program for program in programs(database, "nn.Hardtanh") if program.calls[0].kwargs.get("inplace")]
    assert made
    assert all(call.target == "float32" and call.kwargs["requires_grad"] for one in made for call in one.inputs())


def test_a_module_with_parameters_is_searched_in_double_precision_too(database: ModuleDatabase) -> None:
    assert any(replay(program, TORCH).error is None for program in programs(database, "nn.PReLU", "float64"))


def test_the_states_of_modules_are_an_operator_of_their_own(database: ModuleDatabase) -> None:
    reading = {program.calls[0].target: program for program in programs(database, "nn.Module.state_dict")}
    assert list(replay(reading["nn.Linear"], TORCH).values[-1]) == ["weight", "bias"]
    assert "nn.CELU" not in reading
    assert {len(program.calls) for program in reading.values()} == {3}


def test_the_state_of_a_module_that_is_attached_to_autograd_is_found() -> None:
    def attached(kind: Any) -> Any:
        class Wrong(kind):  # type: ignore[misc]
            def state_dict(self) -> Any:
                return dict(self.named_parameters())

        return Wrong

    cell = "nn.Module.state_dict/method/float32"
    assert failing(swept(fault("nn.Linear", attached), cell)) == {"gradient"}
    assert failing(swept(TORCH, cell)) == set()


def test_what_writes_beyond_its_memory_is_not_mutated(database: ModuleDatabase) -> None:
    mutated = {entry.key: entry.mutated for entry in database.entries()}
    assert mutated["nn.NLLLoss"]
    assert not mutated["nn.CTCLoss"]


@pytest.mark.slow
def test_a_module_with_another_state_shows_it_without_being_called() -> None:
    def stateless(kind: Any) -> Any:
        return lambda *args, **kwargs: TORCH.resolve("nn.Linear")(*args, **{**kwargs, "bias": False})

    cell = swept(fault("nn.Linear", stateless), "nn.Linear/module/float32", "sample")
    (found,) = [one for one in cell.divergences.values() if "names of parameters" in one.message]
    assert found.check == "shape"
    assert found.program is not None
    assert [call.target for call in found.program.calls] == ["nn.Linear"]


def remembers_its_first_result(kind: Any) -> Any:
    class Wrong(kind):  # type: ignore[misc]
        def forward(self, input: Any) -> Any:  # noqa: A002 - as torch calls it
            if not hasattr(self, "first"):
                self.first = super().forward(input)
            return self.first

    return Wrong


def cannot_be_empty(kind: Any) -> Any:
    def made(*sizes: int, **options: Any) -> Any:
        if 0 in sizes:
            raise ZeroDivisionError("float division by zero")
        return kind(*sizes, **options)

    return made


def takes_any_slope(kind: Any) -> Any:
    return lambda *args, **options: kind(*args, **{name: value for name, value in options.items() if value is not None})


@pytest.mark.filterwarnings("ignore:Initializing zero-element tensors")
@pytest.mark.parametrize(
    ("name", "change", "check"),
    [
        ("nn.BatchNorm1d", remembers_its_first_result, "value"),
        ("nn.Linear", cannot_be_empty, "errors"),
        ("nn.LeakyReLU", takes_any_slope, "errors"),
    ],
    ids=["called a second time", "made of nothing", "made of what torch refuses"],
)
def test_a_fault_of_a_seldom_use_is_found(name: str, change: Any, check: str) -> None:
    cell = f"{name}/module/float32"
    assert check in failing(swept(fault(name, change), cell, "sample"))
    assert failing(swept(TORCH, cell, "sample")) == set()


def test_a_module_that_torch_warns_of_is_made_in_silence(database: ModuleDatabase) -> None:
    assert programs(database, "nn.NLLLoss2d")
