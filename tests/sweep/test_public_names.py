"""torch's public names without a database entry are found, called with accepted arguments, and judged."""

from __future__ import annotations

import pytest

from autotest.frameworks import framework
from autotest.frameworks.torch_samples.torch_public import PublicDatabase
from autotest.frameworks.torch_schemas import overloads, public_names
from autotest.program.serialisation import pack_arrays
from autotest.replaying.replay import replay
from tests.support.faulty import FaultyTorch
from tests.sweep.planted import TORCH, failing, swept


@pytest.fixture(scope="module")
def database() -> PublicDatabase:
    return PublicDatabase(framework("torch"), lambda: {"add"})  # type: ignore[arg-type]


def test_public_names_are_functions_and_methods_without_private_ones() -> None:
    names = public_names()
    assert {"add", "nn.functional.relu", "Tensor.add_", "Tensor.__add__"} <= set(names)
    assert "_assert_async" not in names


def test_a_signature_says_what_each_parameter_takes() -> None:
    (written,) = [found for found in overloads("nn.functional.gelu") if len(found) == 2]
    assert [(item.name, item.takes, item.optional) for item in written] == [
        ("self", "tensor", False), ("approximate", "word", True),
    ]  # fmt: skip
    assert any(item.takes == "scalar" for found in overloads("threshold") for item in found)
    assert overloads("Tensor.nelement")[0][0].takes == "tensor"


def test_what_another_database_has_is_left_to_it(database: PublicDatabase) -> None:
    names = {entry.name for entry in database.entries()}
    assert "add" not in names
    assert {"relu", "Tensor.copy_"} <= names


@pytest.mark.parametrize("name", ["relu", "threshold", "Tensor.copy_", "nn.functional.conv3d", "selu"])
def test_torch_accepts_some_of_the_arguments_that_are_drawn(database: PublicDatabase, name: str) -> None:
    form = "in-place" if name.endswith("_") else "function"
    made = [sample.program for sample in database.samples(name, form, "float32", "sample", 1)]  # type: ignore[arg-type]
    accepted = [program for program in made if program is not None and replay(program, TORCH).error is None]
    assert len(accepted) >= 2


def test_the_same_seed_gives_the_same_programs(database: PublicDatabase) -> None:
    once, again = (
        [pack_arrays(sample.program) for sample in database.samples("threshold", "function", "float32", "sample", 9)
         if sample.program]
        for _ in range(2)
    )  # fmt: skip
    assert once == again


def test_a_wrong_method_without_a_database_entry_is_found() -> None:
    wrong = FaultyTorch(tensors={"copy_": lambda copy_: lambda x, y, *rest: copy_(x, y, *rest).mul_(2)})
    assert "value" in failing(swept(wrong, "Tensor.copy_/in-place/float32", "sample"))
    assert failing(swept(TORCH, "Tensor.copy_/in-place/float32", "sample")) == set()
