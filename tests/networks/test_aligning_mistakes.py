"""Mistakes in a call of `align`, in its models, and in their results: each error is one sentence."""

from __future__ import annotations

import contextlib
import dataclasses
import math
import re
from typing import Any

import numpy as np
import pytest
import torch

import autotest
from autotest.aligning.matching import Match, match
from autotest.base.errors import UsageError
from autotest.cli import main
from tests.networks.ports import Original

X = np.random.default_rng(0).standard_normal((4, 6)).astype("float32")


def test_a_file_in_place_of_a_module_is_told_in_a_sentence(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["align", "tests/networks/ports.py:Original", "tests.networks.ports:Original", "--input", "2,6"]) == 2
    assert "not of a file: tests.networks.ports:Original" in capsys.readouterr().err


def test_a_candidate_that_runs_whole_programs_has_no_model_of_its_own(capsys: pytest.CaptureFixture[str]) -> None:
    models = ["tests.networks.ports:Original", "tests.networks.ports:Original", "--input", "4,6"]
    assert main(["align", *models, "--candidate", "torch+compile=eager"]) == 2
    assert "candidate 'torch+compile=eager': expected a framework that runs call by call" in capsys.readouterr().err


def test_wrong_steps_on_the_command_line_are_told_by_its_options(capsys: pytest.CaptureFixture[str]) -> None:
    models = ["tests.networks.ports:Original", "tests.networks.ports:Original", "--input", "2,6"]
    assert main(["align", *models, "--steps", "3"]) == 2
    told = "--steps 3: without an optimizer every step repeats the first one; give --optimizer MODULE:FUNCTION"
    assert told in capsys.readouterr().err
    for wrong in ("0", "two"):
        with pytest.raises(SystemExit, match="2"):
            main(["align", *models, "--steps", wrong])
        assert f"argument --steps: '{wrong}': expected a whole number, at least 1" in capsys.readouterr().err


def _sgd(parameters: Any) -> Any:
    return torch.optim.SGD(parameters, lr=0.1)


@pytest.mark.parametrize(
    ("options", "said"),
    [
        ({"steps": 2}, "align(steps=2): without an optimizer every step repeats the first one"),
        ({"steps": 2.0}, "align(steps=2.0): expected a whole number"),
        ({"rtol": "1e-3"}, "align(rtol='1e-3'): expected a number, 0 or more"),
        ({"atol": -1.0}, "align(atol=-1.0): expected a number, 0 or more"),
        ({"optimizer": lambda parameters: None}, "a function that returns an optimizer, got a NoneType for torch"),
        ({"optimizer": lambda parameters: [_sgd(parameters)]}, "got a list for torch (reference), which has no step()"),
        ({"optimizer": lambda parameters: _sgd(Original().parameters())}, "has none of the parameters of its model"),
        ({"optimizer": "sgd"}, "align(optimizer=...): expected a function of the parameters, got 'sgd'"),
        ({"loss": "mse"}, "align(loss=...): expected a function of the output, got 'mse'"),
        ({"loss": lambda output: output.detach().sum()}, "does not depend on any parameter or input"),
        ({"mapping": {"first": 1}}, "mapping['first'] is 1: expected the candidate's name"),
        ({"mapping": {"last.weight": ("last.weight", "transposed")}}, "expected the candidate's name"),
        ({"mapping": {"last.weight": ("last.weight", ["x", "y"])}}, "expected the candidate's name"),
        ({"mapping": {"last.weight": ("last.weight", [0.9, 1.2])}}, "expected the candidate's name"),
        ({"mapping": {"last.weight": "last"}}, "is 'last', a module of the candidate: expected a parameter"),
        (
            {"mapping": {"first.weight": ("first.weight", "transpose")}},
            "the reference has (8, 6), which is (6, 8) with its axes in the order (1, 0): correct the order, or leave",
        ),
        (
            {"mapping": {"body": ("body", "transpose")}},
            "only a parameter or buffer has axes; name each of them, such as 'body.0.weight'",
        ),
        (
            {"mapping": {"norm.weight": "norm.weight", "norm.bias": "norm.weight"}},
            "'norm.weight' and 'norm.bias' of the reference are both 'norm.weight' of the candidate",
        ),
    ],
)
def test_a_mistake_in_the_call_is_told_in_a_sentence(options: dict[str, Any], said: str) -> None:
    with pytest.raises(UsageError, match=re.escape(said)):
        autotest.align(Original(), Original(), X, **options)


@pytest.mark.filterwarnings("ignore:Lazy modules are a new feature:UserWarning")
def test_what_the_models_or_inputs_lack_is_told_in_a_sentence() -> None:
    class Lazy(Original):
        def __init__(self) -> None:
            super().__init__()
            self.last = torch.nn.LazyLinear(3)

    class Silent(Original):
        def forward(self, x: Any) -> Any:
            super().forward(x)

    empty = Original()
    torch.nn.init.constant_(empty.first.weight, math.nan)
    one = Original()
    for models, inputs, said in (
        ((Original(), Lazy()), X, r"in the torch \(port\) model, last.weight has no values"),
        ((Original(), Original().to("meta")), X, r"in the torch \(port\) model, first.weight has no values"),
        ((Silent(), Original()), X, "returned None, which contains no tensor"),
        ((empty, Original()), X, "returned no finite number, so nothing can be compared"),
        ((one, one), X, "the same model twice"),
        ((Original(), Original()), {"x": X}, "in the order of forward's arguments, got a dict"),
        (
            (Original(), Original().double()),
            X,
            r"first.weight \(and 7 more\) is float32 in the torch \(reference\) model",
        ),
    ):
        with pytest.raises(UsageError, match=said):
            autotest.align(*models, inputs)


class Drawing(Original):
    """A model that draws random numbers, and uses the `share` of them."""

    def __init__(self, share: float) -> None:
        super().__init__()
        self.share = share

    def forward(self, x: Any) -> Any:
        y = super().forward(x)
        return y + torch.rand(y.shape) * self.share if self.training else y


def test_a_model_whose_forward_draws_what_it_returns_is_refused_in_a_sentence() -> None:
    with pytest.raises(UsageError, match="draws random numbers in its forward, on which its results depend"):
        autotest.align(Drawing(0.1), Drawing(0.1), X)
    assert autotest.align(Drawing(0.1).eval(), Drawing(0.1).eval(), X).passed
    assert autotest.align(Drawing(0.0), Drawing(0.0), X).passed


@pytest.mark.parametrize("share", [0.0, 0.1])
def test_random_generators_are_left_as_they_were(share: float) -> None:
    models = Drawing(share), Drawing(share)
    torch.manual_seed(17)
    before = torch.get_rng_state()
    with contextlib.suppress(UsageError):
        autotest.align(*models, X)
    assert torch.equal(torch.get_rng_state(), before)


class Returning(Original):
    """A model that returns `made` of its two outputs."""

    def __init__(self, made: Any) -> None:
        super().__init__()
        self.made = made

    def forward(self, x: Any) -> Any:
        y = super().forward(x)
        return self.made(y, y * 2)


@dataclasses.dataclass
class Output:
    one: Any
    other: Any


def test_what_a_model_returns_is_compared_by_name_where_it_has_names() -> None:
    swapped = autotest.align(
        Returning(lambda one, other: {"one": one, "other": other}),
        Returning(lambda one, other: {"other": other, "one": one}),
        X,
    )
    assert swapped.passed, str(swapped)
    pair = Returning(lambda one, other: (one, other))
    assert autotest.align(pair, Returning(lambda one, other: [one, other]), X).passed
    for made, told in (
        (lambda one, other: {"one": one, "other": other}, r"actual a dict \(one: a tensor, other: a tensor\)"),
        (Output, r"actual a Output \(one: a tensor, other: a tensor\)"),
        (lambda one, other: {1: one, "1": other}, r"actual a dict \(int 1: a tensor, 1: a tensor\)"),
    ):
        found = autotest.align(pair, Returning(made), X)
        assert not found.passed
        message = next(item.message for item in found.mismatches if item.symptom == "structure")
        assert re.search(rf"expected a (tuple|list) .*{told}", message)


def test_a_name_that_contains_the_word_list_is_no_list() -> None:
    one = Returning(lambda one, _: {"list_loss": one})
    other = Returning(lambda one, _: {"tuple_loss": one})
    assert any(item.symptom == "structure" for item in autotest.align(one, other, X).mismatches)


def test_what_is_set_up_otherwise_is_noticed() -> None:
    frozen = Original()
    frozen.last.weight.requires_grad_(False)
    assert "requires a gradient in the torch (reference) model only: last.weight" in str(
        autotest.align(Original(), frozen, X)
    )
    still = Original()
    still.body.eval()
    found = autotest.align(Original(), still, X)
    assert found.passed
    assert "in training mode in the torch (reference) model only: body, body.0, body.1; call .train()" in str(found)
    whole = autotest.align(Original().eval(), Original(), X)
    assert "in training mode in the torch (port) model only: all of it" in str(whole)

    class Tied(torch.nn.Module):
        def __init__(self, tied: bool) -> None:
            super().__init__()
            self.one, self.other = torch.nn.Linear(6, 6, bias=False), torch.nn.Linear(6, 6, bias=False)
            if tied:
                self.other.weight = self.one.weight

        def forward(self, x: Any) -> Any:
            return self.other(self.one(x))

    assert "one.weight and other.weight are the same tensor in the torch (port) model only" in str(
        autotest.align(Tied(tied=False), Tied(tied=True), X)
    )


def test_a_table_of_the_port_that_no_checkpoint_replaces_is_noticed_if_it_was_another() -> None:
    class Rotary(torch.nn.Linear):
        def __init__(self, base: float, persistent: bool) -> None:
            super().__init__(6, 6)
            self.register_buffer("rate", base ** -(torch.arange(6) / 6), persistent=persistent)

    for base, persistent, noticed in ((1e3, False, True), (1e3, True, False), (1e4, False, False)):
        found = autotest.align(Rotary(1e4, persistent), Rotary(base, persistent), X)
        told = "had other values in the torch (port) model, and are in no checkpoint of it: rate"
        assert (told in str(found)) == noticed


def test_a_name_that_a_mapping_gives_away_is_not_matched_by_itself() -> None:
    shapes = {"one.weight": (2, 2), "other.weight": (2, 2)}
    found = match(shapes, shapes, {"one.weight": "other.weight"})
    assert found.pairs == (Match("one.weight", "other.weight"), Match("other.weight", "one.weight"))


class _Wrapped(torch.nn.Module):
    """A model that has the layers of another one, as `torch.compile` makes one."""

    def __init__(self, original: torch.nn.Module) -> None:
        super().__init__()
        self._orig_mod = original

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return self._orig_mod(x)  # type: ignore[no-any-return]


def test_a_port_made_of_the_layers_of_the_original_is_compared_as_if_it_had_its_own() -> None:
    original = torch.nn.Sequential(torch.nn.Linear(3, 4), torch.nn.BatchNorm1d(4))
    found = autotest.align(original, _Wrapped(original), torch.randn(5, 3), optimizer=_sgd, steps=2)
    assert found.passed, str(found)


def test_a_port_of_the_memory_of_the_original_is_told_in_a_sentence() -> None:
    flow = pytest.importorskip("oneflow")
    original, port = torch.nn.Linear(3, 2), flow.nn.Linear(3, 2)
    port.weight = flow.nn.Parameter(flow.from_numpy(original.weight.detach().numpy()))
    with pytest.raises(UsageError, match="a step of the torch model also changed weight of the oneflow model"):
        autotest.align(original, port, torch.randn(5, 3), optimizer=_sgd_of_side, steps=2)


def _sgd_of_side(lib: Any, parameters: Any) -> Any:
    return lib.optim.SGD(parameters, lr=0.1)


def _small(scale: float) -> torch.nn.Module:
    model = torch.nn.Sequential(torch.nn.Linear(6, 3), torch.nn.Tanh())
    with torch.no_grad():
        for parameter in model.parameters():
            parameter.fill_(scale)
    return model


def test_a_tolerance_that_accepts_a_port_of_zeros_is_refused() -> None:
    said = r"align\(rtol=0.0001, atol=1000\): a port whose modules return zeros would pass, too: the greatest number"
    with pytest.raises(UsageError, match=said):
        autotest.align(_small(0.5), _small(0.4), X, atol=1e3)
    with pytest.raises(UsageError, match="or leave it out"):
        autotest.align(_small(0.5), _small(0.5), X, rtol=0.5, atol=3.0)


@pytest.mark.parametrize(("scale", "atol"), [(0.5, 0.01), (0.0, 0.01), (1e-5, 0.01), (0.5, None)])
def test_a_tolerance_that_some_result_exceeds_or_that_only_hides_tiny_ones_is_accepted(scale: float, atol: Any) -> None:
    assert autotest.align(_small(scale), _small(scale), X, atol=atol).passed
