"""Which calls return unspecified contents."""

from __future__ import annotations

import inspect

import pytest
import torch as real

from autotest import random_tensor, torch
from autotest.frameworks.torch import TorchFramework
from autotest.program import Call, Ref
from autotest.program.randomness import NAMES, KnownContents, contents_of, function_name
from autotest.program.semantics import fills
from tests.support.running import agrees, trial


@pytest.mark.parametrize(
    "target", ["rand", "randn", "randint", "bernoulli", "normal_", "nn.init.xavier_uniform_", "rand_like"]
)
def test_drawn_numbers_are_shared(target):
    assert contents_of(target, (2, 3), {}) is KnownContents.SHARED


@pytest.mark.parametrize("target", ["empty", "empty_like", "new_empty", "empty_strided"])
def test_fresh_memory_is_undefined(target):
    assert contents_of(target, (2, 3), {}) is KnownContents.UNDEFINED


@pytest.mark.parametrize(
    ("target", "args", "kwargs", "expected"),
    [
        ("nn.functional.dropout", ("x",), {}, KnownContents.UNDEFINED),
        ("nn.functional.dropout", ("x",), {"training": False}, KnownContents.DEFINED),
        ("nn.functional.dropout", ("x", 0.5, False), {}, KnownContents.DEFINED),
        ("nn.functional.dropout", ("x", 0), {}, KnownContents.DEFINED),
        ("nn.functional.dropout", ("x",), {"p": 0.0}, KnownContents.DEFINED),
        ("nn.functional.dropout", ("x", 1.0), {}, KnownContents.DEFINED),
        ("nn.functional.alpha_dropout", ("x",), {"p": 1}, KnownContents.DEFINED),
        ("nn.functional.alpha_dropout", ("x",), {}, KnownContents.DEFINED),
        ("nn.functional.feature_alpha_dropout", ("x", 0.5, True), {}, KnownContents.UNDEFINED),
        ("dropout", ("x",), {"p": 0.5, "train": False}, KnownContents.DEFINED),
        ("dropout", ("x",), {"p": 0.5, "train": True}, KnownContents.UNDEFINED),
        ("nn.functional.rrelu", ("x",), {}, KnownContents.DEFINED),
        ("nn.functional.rrelu", ("x",), {"training": True}, KnownContents.UNDEFINED),
        ("nn.functional.gumbel_softmax", ("x",), {}, KnownContents.UNDEFINED),
        ("dropout_", ("x", 0.5, True), {}, KnownContents.UNDEFINED),
        ("dropout_", ("x", 0.5, False), {}, KnownContents.DEFINED),
        ("alpha_dropout_", ("x", 0.5, True), {}, KnownContents.UNDEFINED),
        ("rrelu_", ("x", 0.1, 0.9, True), {}, KnownContents.UNDEFINED),
        ("nn.functional.rrelu_", ("x",), {}, KnownContents.DEFINED),
        ("native_dropout", ("x", 0.5, True), {}, KnownContents.UNDEFINED),
        ("native_dropout", ("x", 0.5, None), {}, KnownContents.UNDEFINED),
        ("native_dropout", ("x", 0.5, False), {}, KnownContents.DEFINED),
        ("nn.functional.scaled_dot_product_attention", ("q", "k", "v"), {}, KnownContents.DEFINED),
        ("nn.functional.scaled_dot_product_attention", ("q", "k", "v", None, 0.5), {}, KnownContents.UNDEFINED),
        ("nn.functional.scaled_dot_product_attention", "qkv", {"dropout_p": 0.5}, KnownContents.UNDEFINED),
        ("svd_lowrank", ("x",), {}, KnownContents.UNDEFINED),
        ("lobpcg", ("x", 2), {}, KnownContents.UNDEFINED),
        ("lobpcg", ("x", 2), {"X": "start"}, KnownContents.DEFINED),
        ("lobpcg", ("x", None, None, "start"), {}, KnownContents.DEFINED),
        ("pca_lowrank", ("x",), {}, KnownContents.UNDEFINED),
        ("sample", ((2,),), {}, KnownContents.SHARED),
        ("rsample", ((2,),), {}, KnownContents.UNDEFINED),
        ("nn.functional.fractional_max_pool2d", ("x", 2), {}, KnownContents.UNDEFINED),
        ("Tensor", (2, 3), {}, KnownContents.UNDEFINED),
        ("Tensor", ([2, 3],), {}, KnownContents.DEFINED),
        ("FloatTensor", (), {}, KnownContents.DEFINED),
        ("relu", ("x",), {}, KnownContents.DEFINED),
        ("randint_that_is_not", (), {}, KnownContents.DEFINED),
    ],
)
def test_contents_depend_on_the_arguments(target, args, kwargs, expected):
    assert contents_of(target, args, kwargs) is expected


def test_every_name_that_may_matter_is_looked_at():
    for name in NAMES:
        asked = {"training": True, "dropout_p": 0.5}
        answers = {contents_of(name, args, asked) for args in ((2, 3), ("x", 0.5), ("x", 0.5, True))}
        assert answers != {KnownContents.DEFINED}, name


def test_every_function_that_torch_says_draws_random_numbers_is_known():
    places = {"": real, "Tensor": real.Tensor, "nn.functional": real.nn.functional, "nn.init": real.nn.init}
    drawing = set()
    for whole in real._C._dispatch_get_all_op_names():
        namespace, _, name = whole.partition("::")
        name, _, overload = name.partition(".")
        called = getattr(getattr(real.ops, namespace), name, None) if namespace == "aten" else None
        tags = getattr(getattr(called, overload or "default", None), "tags", ())
        if real.Tag.nondeterministic_seeded in tags:
            found = [path for path, one in places.items() if callable(getattr(one, name, None))]
            drawing.update(function_name(f"{path}.{name}") for path in found)
    assert {"dropout", "randn", "bernoulli_"} <= drawing
    # Newer torch says so of functions of whole layers, too, which draw only between layers, and only if asked to.
    layers = {"lstm", "gru", "rnn_tanh", "rnn_relu", "miopen_rnn"}
    assert {name for name in drawing - layers if not name.startswith("_")} <= NAMES


@pytest.mark.parametrize(
    "call",
    [
        lambda x: torch.nn.functional.scaled_dot_product_attention(x, x, x, dropout_p=0.5),
        lambda x: torch.dropout_(x.detach(), 0.5, True),
        lambda x: torch.alpha_dropout_(x.detach(), 0.5, True),
        lambda x: torch.rrelu_(-x.detach(), 0.1, 0.9, True),
        lambda x: torch.native_dropout(x, 0.5, True)[0],
        lambda x: torch.svd_lowrank(x, 2),
        lambda x: torch.lobpcg(x @ x.mT + torch.eye(8), 1),
        lambda x: torch.pca_lowrank(x, 2),
        lambda x: torch.nn.functional.fractional_max_pool2d(x, 2, output_size=3, return_indices=True),
    ],
)
def test_two_right_sides_that_draw_different_numbers_agree(call):
    outcome = trial(lambda: call(random_tensor(shape=(2, 8, 8), low=1, high=2, dtype="float32")))
    assert agrees(outcome)
    assert outcome.program.undefined


def test_filling_makes_contents_defined_again():
    assert fills(Call("method", "zero_", (Ref(0),), {}, 1))
    assert fills(Call("function", "nn.init.ones_", (Ref(0),), {}, 1))
    assert not fills(Call("method", "add_", (Ref(0),), {}, 1))


@pytest.mark.parametrize(
    ("module", "draws"),
    [
        (lambda: real.nn.Dropout(0.5), True),
        (lambda: real.nn.Dropout(0.0), False),
        (lambda: real.nn.Dropout(1.0), False),
        (lambda: real.nn.Dropout(0.5).eval(), False),
        (lambda: real.nn.Sequential(real.nn.Linear(1, 1), real.nn.Sequential(real.nn.Dropout2d())), True),
        (lambda: real.nn.LSTM(2, 2, num_layers=2, dropout=0.3), True),
        (lambda: real.nn.LSTM(2, 2, num_layers=2), False),
        (real.nn.RReLU, True),
        (lambda: real.nn.FractionalMaxPool2d(2, output_size=3).eval(), True),
        (lambda: real.nn.Linear(1, 1), False),
    ],
)
def test_modules_draw_masks_in_training_only(module, draws):
    assert TorchFramework().draws(module()) is draws


@pytest.mark.parametrize(
    "name", ["dropout", "dropout1d", "dropout2d", "dropout3d", "alpha_dropout", "feature_alpha_dropout", "rrelu"]
)
def test_dropout_that_is_not_asked_to_train_is_what_torch_says(name):
    function = getattr(real.nn.functional, name)
    default = inspect.signature(function).parameters["training"].default
    expected = KnownContents.UNDEFINED if default else KnownContents.DEFINED
    assert contents_of(f"nn.functional.{name}", ("x",), {}) is expected
