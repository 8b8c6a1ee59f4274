"""Annotations of torch's callables, from which untyped generators take their type."""

from __future__ import annotations

import pytest
import torch as real

from autotest import oneof, random, random_tensor, torch
from autotest.frameworks import Pair
from autotest.frameworks.signatures import Signatures
from autotest.frameworks.torch import TorchFramework
from generators import TRIAL_BITS
from generators.annotations import DIMENSION, FLOAT, SIZE, describe
from tests.support.running import agrees, trial

STUBS = {
    "functions": """
def scale(input: Tensor, factor: Number, *, inplace: _bool=False) -> Tensor: ...
@overload
def clamp(input: Tensor, min: Optional[Tensor]=None) -> Tensor: ...
@overload
def clamp(input: Tensor, min: Optional[Number]=None) -> Tensor: ...
@overload
def ones(size: Sequence[_int], *, dtype: _dtype=None, requires_grad: _bool=False) -> Tensor: ...
@overload
def ones(*size: _int, dtype: _dtype=None) -> Tensor: ...
""",
    "methods": """
    def roll(self, shifts: _int, dims: _int=()) -> Tensor: ...
    def scale(self, factor: Number, inplace: _bool=False) -> Tensor: ...
""",
}


def annotations(path, positional, *keywords, function=len):
    return Signatures(STUBS).annotations(path, function, positional, keywords)


def test_parameters_of_a_built_in_function_come_from_the_stub():
    table = annotations("scale", 2, "inplace", function=real.relu)
    assert (table[1], table["factor"], table["inplace"]) == ("Number", "Number", "_bool")


def test_a_path_is_known_by_its_last_part_and_methods_lose_self():
    assert annotations("roll", 1, function=real.zeros(1).roll) == {0: "_int", "shifts": "_int", "dims": "_int"}


def test_a_method_does_not_take_the_annotations_of_the_function_with_its_name():
    of_method = annotations("scale", 2, function=real.zeros(1).mul)
    of_function = annotations("scale", 2, function=real.mul)
    assert [table[0] for table in (of_method, of_function)] == ["Number", "Tensor"]
    assert [table[1] for table in (of_method, of_function)] == ["_bool", "Number"]


def test_of_overloads_the_one_that_a_generator_can_draw_is_taken():
    assert annotations("clamp", 1, "min", function=real.relu)["min"] == "Optional[Number]"


def test_sizes_are_numbers_also_if_there_is_only_one():
    for count in (1, 2):
        table = annotations("ones", count, function=real.relu)
        assert all(table[position] is SIZE for position in range(count))


def test_an_unknown_function_has_no_annotations():
    assert annotations("unheard_of", 1, function=real.relu) == {}


def test_python_functions_and_classes_say_it_themselves():
    framework = TorchFramework()
    table = framework.annotations("nn.Linear", real.nn.Linear, 2, ["bias"])
    assert table[0] is table["out_features"] is DIMENSION
    assert table["bias"] is bool
    table = framework.annotations("nn.functional.dropout", real.nn.functional.dropout, 1, ["p", "training"])
    assert (table["p"], table["training"]) == (float, bool)


@pytest.mark.parametrize(
    ("name", "arguments", "parameter"),
    [
        ("pad", 2, "value"),
        ("softplus", 1, "beta"),
        ("softshrink", 1, "lambd"),
        ("hardtanh_", 1, "min_val"),
        ("leaky_relu_", 1, "negative_slope"),
        ("scaled_dot_product_attention", 3, "dropout_p"),
    ],
)
def test_a_number_of_a_function_without_a_stub_is_annotated_by_its_schema(name, arguments, parameter):
    function = getattr(real.nn.functional, name)
    table = TorchFramework().annotations(f"nn.functional.{name}", function, arguments, [parameter])
    assert FLOAT in getattr(describe(table[parameter]), "options", [describe(table[parameter])])


@pytest.mark.parametrize(
    "call",
    [
        lambda: torch.nn.Conv2d(random(1, 4), random(1, 4), random(1, 3), bias=random()),
        lambda: torch.nn.MaxPool2d(kernel_size=random(1, 3), stride=random(1, 3)),
        lambda: torch.ones(random(1, 4), random(1, 4)),
        lambda: torch.ones((random(1, 4), random(1, 4))),
        lambda: torch.nn.MaxPool2d(kernel_size=(random(1, 3), 2))(random_tensor(shape=(2, 6, 6))),
        lambda: torch.nn.functional.pad(random_tensor(ndim=2), [random(0, 3), random(0, 3)]),
        lambda: torch.optim.Adam(torch.nn.Linear(1, 1).parameters(), betas=(random(0.5, 0.9), random(0.5, 0.9))),
        lambda: random_tensor(ndim=3).transpose(random(0, 3), random(0, 3)),
        lambda: torch.sum(random_tensor(ndim=3), dim=random(0, 3), keepdim=random()),
        lambda: random_tensor(ndim=2).roll(random(0, 3), random(0, 2)),
        lambda: torch.clamp(random_tensor(), min=random(0.1, 0.5), max=oneof(0.9, 0.8)),
        lambda: torch.nn.functional.leaky_relu(random_tensor(), random(0.1, 0.9)),
    ],
)
def test_untyped_generators_draw_what_the_call_takes(call):
    for seed in range(4):
        assert trial(call, seed=seed).rejection is None


@pytest.mark.parametrize(
    "made",
    [
        lambda size: torch.ones(size) * 2,
        lambda size: random_tensor(ndim=1).repeat(size),
        lambda size: torch.ones(9).tensor_split(size),
    ],
    ids=["ones", "repeat", "tensor_split"],
)
def test_a_size_that_a_call_draws_can_be_the_size_of_a_tensor(made):
    def call():
        size = random(1, 6)
        result = made(size)
        assert type(size.value()) is int
        return result, random_tensor(ndim=2, dim1=size)

    for seed in range(4):
        assert trial(call, seed=seed).rejection is None


@pytest.mark.parametrize(
    "module",
    [
        lambda: torch.nn.Linear(4, random()),
        lambda: torch.nn.Embedding(5, embedding_dim=random()),
        lambda: torch.nn.Conv1d(random(), 2, 1),
    ],
)
def test_the_width_of_a_module_is_drawn_like_a_dimension(module):
    widths = set()
    for index in range(20):
        made = trial(lambda: tuple(module().weight.shape), seed=index << TRIAL_BITS | 7)
        widths |= {*made.recorder.expected[-1]}
    assert {1, 17, 33, 65} <= widths
    assert max(widths) > 128
    assert 0 not in widths


def test_untyped_generators_never_draw_none():
    def body():
        x = torch.nn.functional.leaky_relu(random_tensor(), random(0.1, 0.9))
        return x + random(1, 3)

    for seed in range(5):
        outcome = trial(body, seed=seed)
        assert agrees(outcome)
        drawn = [call.args[1] for call in outcome.recorder.calls if call.target.endswith(("leaky_relu", "add"))]
        assert len(drawn) == 2
        assert None not in drawn


def test_modules_of_two_classes_have_annotations_and_names_of_their_own():
    class First(real.nn.Module):
        def forward(self, count: int): ...

    class Second(real.nn.Module):
        def forward(self, ratio: float): ...

    pair = Pair(TorchFramework(), TorchFramework())
    call = ("method", "__call__")
    assert [pair.annotations(*call, module(), 1, ()) for module in (First, Second)] == [
        pair.reference.annotations("__call__", module(), 1, ()) for module in (First, Second)
    ]
    assert pair.annotations(*call, First(), 1, ()) != pair.annotations(*call, Second(), 1, ())


def test_two_functions_of_one_class_are_two():
    def first(x: int, size: float) -> None:
        pass

    def second(x: float, scale: int) -> None:
        pass

    pair = Pair(TorchFramework(), TorchFramework())
    call = ("method", "__call__")
    assert [pair.annotations(*call, one, 1, ())[0] for one in (first, second)] == [int, float]
    assert [pair.argument_names(*call, one, (True, False), ()) for one in (first, second)] == [
        ("x", "size"),
        ("x", "scale"),
    ]
