"""Two existing models are matched, and compared forward, backward and after optimizer steps."""

from __future__ import annotations

import itertools
import re
from typing import Any

import numpy as np
import pytest
import torch

import autotest
from autotest.aligning.matching import Match, match, module_names
from autotest.base.errors import UsageError
from autotest.cli import main
from autotest.results.divergence import Divergence
from tests.networks import ports
from tests.networks.models import INPUTS, MODELS
from tests.networks.ports import RENAMED, Original, Renamed
from tests.support.faulty import with_gradient

X = np.random.default_rng(0).standard_normal((4, 6)).astype("float32")


def trained(**options: Any) -> dict[str, Any]:
    """Do three steps of gradient descent."""
    return {
        "loss": lambda output: (output**2).mean(),
        "optimizer": lambda parameters: torch.optim.SGD(parameters, lr=0.1, **options),
        "steps": 3,
    }


def test_a_port_that_is_right_passes_after_its_weights_were_copied() -> None:
    found = autotest.align(Original(), Original(), X, **trained())
    assert found.passed
    assert found.check() is found
    assert len(found.matched) == 8
    assert "agrees with" in str(found)


def test_renames_and_transposes_are_told_by_a_mapping() -> None:
    found = autotest.align(Original(), Renamed(), X, mapping=RENAMED, **trained())
    assert found.passed, str(found)
    assert Match("first.weight", "stem.kernel", (1, 0)) in found.matched
    assert "first.weight is stem.kernel" in str(found)


def test_what_has_no_counterpart_is_listed() -> None:
    class Larger(Original):
        def __init__(self) -> None:
            super().__init__()
            self.extra = torch.nn.Linear(2, 2)

    found = autotest.align(Original(), Larger(), X)
    assert found.unmatched == ((), ("extra.weight", "extra.bias"))
    assert not found.passed
    assert not found.mismatches
    with pytest.raises(Divergence, match=r"Unmatched:  of torch \(port\): extra\.weight, extra\.bias"):
        found.check()


def test_names_that_fit_nowhere_are_matched_by_shape_and_order() -> None:
    found = match({"a.w": (2, 3), "b.w": (2, 3), "c": (4,)}, {"one": (2, 3), "two": (2, 3), "c": (4,)}, {})
    assert found.pairs == (Match("a.w", "one"), Match("b.w", "two"), Match("c", "c"))
    renamed = match({"a.w": (2,)}, {"one.w": (2,)}, {})
    assert module_names(renamed, {}, ["", "a"], ["", "one"]) == {"": "", "a": "one"}


def test_a_parameter_of_another_shape_is_taken_for_no_buffer() -> None:
    reference = {"conv.bias": (4,), "norm.bias": (4,), "norm.running_mean": (4,)}
    candidate = {"conv.bias": (6,), "other.bias": (4,), "other.running_mean": (4,)}
    found = match(reference, candidate, {"norm": "other"})
    assert found.pairs == (Match("norm.bias", "other.bias"), Match("norm.running_mean", "other.running_mean"))
    assert found.unmatched == (("conv.bias",), ("conv.bias",))
    renamed = match({"a.weight": (4,), "a.bias": (4,)}, {"b.bias": (4,), "b.kernel": (4,)}, {})
    assert renamed.pairs == (Match("a.weight", "b.kernel"), Match("a.bias", "b.bias"))


def test_the_first_module_that_differs_is_named_and_whether_it_is_wrong_itself() -> None:
    found = autotest.align(Original(), ports.wrong_epsilon(), X)
    assert found.network is not None
    assert (found.network.path, found.network.alone) == ("norm", True)
    assert [layer.path for layer in found.network.layers] == ["first", "norm", "body.0", "body.1", "body", "last", ""]
    assert found.mismatches[0].name == "norm[output]"
    with pytest.raises(Divergence, match="norm is wrong"):
        found.check()


class Gated(torch.nn.Module):
    """A class with two layers, and an operation of its own between them."""

    def __init__(self, factor: float = 1.0) -> None:
        super().__init__()
        self.value, self.out, self.factor = torch.nn.Linear(6, 6), torch.nn.Linear(6, 6), factor

    def forward(self, x: Any) -> Any:
        return self.out(torch.sigmoid(self.value(x) * self.factor) * x)


def test_a_class_whose_own_forward_is_wrong_is_named_and_not_the_layer_that_it_feeds() -> None:
    original, port = (torch.nn.Sequential(torch.nn.Linear(6, 6), Gated(factor)) for factor in (1.0, 2.0))
    found = autotest.align(original, port, X)
    assert found.network is not None
    assert (found.network.path, found.network.alone) == ("1", True)
    alone = autotest.align(Gated(), Gated(2.0), X)
    assert "Layer:      the whole model is wrong" in str(alone)


def test_what_is_only_rounding_does_not_hide_a_buffer_that_is_updated_otherwise() -> None:
    class Rough(torch.nn.Linear):
        def forward(self, x: Any) -> Any:
            y = super().forward(x)
            return y * (1 + 1e-3) if y.dtype == torch.float32 else y

    models = (
        torch.nn.Sequential(kind(6, 3), torch.nn.BatchNorm1d(3, momentum=momentum), torch.nn.Linear(3, 2))
        for kind, momentum in ((torch.nn.Linear, 0.1), (Rough, 0.5))
    )
    found = autotest.align(*models, X)
    assert found.network is not None
    assert (found.network.path, found.network.alone) == ("1", True)


def test_a_function_that_fits_one_framework_alone_is_told_in_a_sentence() -> None:
    def refusing(parameters: Any) -> Any:
        raise TypeError("not these")

    with pytest.raises(
        UsageError, match=r"raised TypeError for torch \(reference\) \(not these\).*lambda lib, parameters"
    ):
        autotest.align(Original(), Original(), X, optimizer=refusing)


def test_a_wrong_gradient_is_told_by_its_module() -> None:
    class Wrong(torch.nn.Linear):
        def forward(self, x: Any) -> Any:
            return with_gradient(lambda gradient: gradient * 1.5)(super().forward)(x)

    port = Original()
    port.body[0] = Wrong(8, 8)
    found = autotest.align(Original(), port, X)
    assert found.network is not None
    assert (found.network.path, found.network.stage) == ("body.0", "backward")


def test_a_wrong_step_shows_in_the_parameters_that_it_leaves() -> None:
    options = trained()
    decays = itertools.cycle([0.0, 0.1])
    options["optimizer"] = lambda parameters: torch.optim.SGD(parameters, lr=0.1, weight_decay=next(decays))
    found = autotest.align(Original(), Original(), X, **options)
    assert found.mismatches[0].name == "first.weight"
    assert "[output]" not in found.mismatches[0].name


def test_a_buffer_that_is_not_updated_is_told() -> None:
    class Frozen(torch.nn.BatchNorm1d):
        def forward(self, x: Any) -> Any:
            before = self.running_var.clone()
            result = super().forward(x)
            self.running_var = before
            return result

    one, other = (torch.nn.Sequential(torch.nn.Linear(6, 3), kind(3)) for kind in (torch.nn.BatchNorm1d, Frozen))
    found = autotest.align(one, other, X)
    assert found.mismatches[0].name == "1.running_var"
    assert found.network is not None
    assert found.network.path == "1"


@pytest.mark.parametrize("name", ["resnet", "encoder", "vae", "language_model"])
def test_the_models_agree_with_themselves(name: str) -> None:
    drawn = np.random.default_rng(0)
    inputs = [
        drawn.integers(0, spec[1], spec[0]) if isinstance(spec[0], tuple) else drawn.random(spec, dtype=np.float32)
        for spec in INPUTS[name]
    ]
    assert autotest.align(MODELS[name](torch), MODELS[name](torch), inputs).check()


@pytest.mark.parametrize(
    ("mapping", "message"),
    [
        ({"nowhere": "norm"}, "the reference has no parameter, buffer or module 'nowhere'"),
        ({"norm": "nowhere"}, "the candidate has no parameter, buffer or module 'nowhere'"),
        ({"first.weight": "stem.kernel"}, "if the axes are permuted"),
        ({"first.weight": ("stem.kernel", (0, 0))}, "is not a permutation of the 2 axes"),
    ],
)
def test_a_mapping_that_does_not_fit_is_refused_in_a_sentence(mapping: Any, message: str) -> None:
    with pytest.raises(UsageError, match=message):
        autotest.align(Original(), Renamed(), X, mapping=mapping)


def test_a_mapping_that_is_no_dictionary_is_refused_in_a_sentence() -> None:
    with pytest.raises(UsageError, match=r"expected a dictionary of the reference's names .*, got \['a', 'b'\]"):
        autotest.align(Original(), Original(), X, mapping=["a", "b"])  # type: ignore[arg-type]


def test_what_cannot_be_aligned_says_so() -> None:
    with pytest.raises(UsageError, match=r"call \.eval\(\) on both"):
        autotest.align(torch.nn.Dropout(0.5), torch.nn.Dropout(0.5), X)
    with pytest.raises(UsageError, match="expected a module of torch first"):
        autotest.align(print, Original(), X)
    with pytest.raises(UsageError, match="expected arrays or tensors"):
        autotest.align(Original(), Original(), ["x"])


@pytest.mark.parametrize(
    ("loss", "said"),
    [
        (lambda output: output, "got a Tensor of shape (4, 2) for torch (reference)"),
        (lambda output: output.sum().item(), "got a float for torch (reference)"),
        (lambda output: None, "got a NoneType for torch (reference)"),
    ],
)
def test_a_loss_that_is_none_is_told_in_a_sentence(loss: Any, said: str) -> None:
    with pytest.raises(UsageError, match=re.escape(said) + r": end the function with \.mean\(\) or \.sum\(\)"):
        autotest.align(torch.nn.Linear(6, 2), torch.nn.Linear(6, 2), X, loss=loss)


def test_a_difference_in_layers_that_their_module_does_not_hold_is_told() -> None:
    # In a list, they are neither copied nor converted to double precision.
    class Listed(torch.nn.Module):
        def __init__(self, weight: float) -> None:
            super().__init__()
            self.layers = [torch.nn.Linear(6, 2)]
            torch.nn.init.constant_(self.layers[0].weight, weight)

        def forward(self, x: Any) -> Any:
            return self.layers[0](x)

    found = autotest.align(Listed(1.0), Listed(2.0), X)
    assert not found.passed
    assert "not close" in found.report()


def test_the_command_tells_the_same(capsys: pytest.CaptureFixture[str]) -> None:
    names = ["tests.networks.ports:Original", "tests.networks.ports:wrong_epsilon"]
    assert main(["align", *names, "--input", "4,6"]) == 1
    assert "Layer:      norm is wrong" in capsys.readouterr().out
    renames = ["--rename", "first=stem", "--rename", "first.bias=stem.shift", "--rename", "body=trunk"]
    other = ["tests.networks.ports:Original", "tests.networks.ports:Renamed"]
    assert main(["align", *other, "--input", "4,6", *renames, "--transpose", "first.weight=stem.kernel"]) == 0
    assert main(["align", *names, "--input", "4,x"]) == 2
    assert "--input 4,x: expected" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("factory", "shape", "message"),
    [
        ("Dense", "2,6", r"tests\.networks\.ports:Dense\(\) raised TypeError: .*missing 2 required"),
        (
            "Original",
            "2,5",
            r"the torch \(reference\) model raised RuntimeError when it was called with float32 of shape",
        ),
        ("Orignal", "2,6", "tests.networks.ports has no Orignal; did you mean Original?"),
        ("Original", "2,-6", "--input 2,-6: expected"),
        ("Original", "2,6:flot32", "--input 2,6:flot32: expected"),
    ],
)
def test_a_factory_or_an_input_that_does_not_fit_is_told_in_a_sentence(
    factory: str, shape: str, message: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["align", f"tests.networks.ports:{factory}", "tests.networks.ports:Original", "--input", shape]) == 2
    said = capsys.readouterr().err
    assert re.search(message, said), said
    assert "Traceback" not in said


def rough(error: float) -> torch.nn.Module:
    """Return a model whose results in single precision have the relative error `error`."""

    class Rough(Original):
        def forward(self, x: Any) -> Any:
            y = 1000 * super().forward(x)
            return y * (1 + error) if y.dtype == torch.float32 else y

    return Rough()


def test_what_is_gone_in_double_precision_is_rounding() -> None:
    class Cancelling(Original):
        def forward(self, x: Any) -> Any:
            return super().forward(x) + 1e5 - 1e5

    found = autotest.align(Cancelling(), Original(), X)
    assert found.passed
    assert found.rounding > 1
    assert "none in double precision" in str(found)
    assert not autotest.align(Cancelling(), Original(), X, rtol=1e-4, atol=1e-5).passed


@pytest.mark.parametrize("error", [1e-3, 1.0, float("nan")])
def test_what_is_gone_in_double_precision_but_larger_than_rounding_is_a_fault(error: float) -> None:
    found = autotest.align(rough(0), rough(error), X)
    assert not found.passed
    assert found.mismatches[0].name == "the model[output]"


def returning(*further: Any) -> torch.nn.Module:
    """Return a model whose output also contains plain values."""

    class Returning(Original):
        def forward(self, x: Any) -> Any:
            return {"logits": super().forward(x), "further": list(further)}

    return Returning()


@pytest.mark.parametrize(
    ("one", "other"),
    [
        (3, 4),
        (1.5, 2.5),
        ("mean", "sum"),
        (True, False),
        (1.5, float("nan")),
        (np.float32(1.5), np.float32(2.5)),
        (np.arange(3), np.arange(3)[::-1]),
        ({1, 2}, {1, 3}),
    ],
)
def test_what_the_output_has_beside_tensors_is_compared(one: Any, other: Any) -> None:
    assert autotest.align(returning(0, one), returning(0, one), X).passed
    found = autotest.align(returning(0, one), returning(0, other), X)
    assert [item.name for item in found.mismatches] == ["the model[output]['further'][1]"]


def test_a_number_that_is_taken_of_a_tensor_may_be_off_by_rounding() -> None:
    class Sum(Original):
        def forward(self, x: Any, rounded: float = 0.0) -> Any:
            y = super().forward(x)
            return y, float((y + rounded - rounded).detach().sum())

    class Cancelling(Sum):
        def forward(self, x: Any, rounded: float = 1e5) -> Any:
            return super().forward(x, rounded)

    assert autotest.align(Cancelling(), Sum(), X).passed
    assert not autotest.align(Cancelling(), Sum(), X, rtol=1e-4, atol=1e-5).passed


def test_an_array_that_is_taken_of_a_tensor_may_be_off_by_rounding_and_no_more() -> None:
    class Converted(Original):
        def __init__(self, rounded: float, error: float = 0.0) -> None:
            super().__init__()
            self.rounded, self.error = rounded, error

        def forward(self, x: Any) -> Any:
            y = super().forward(x)
            z = (y + self.rounded - self.rounded).detach()
            return y, (z * (1 + self.error) if y.dtype == torch.float32 else z).numpy()

    assert autotest.align(Converted(1e5), Converted(0.0), X).passed
    assert not autotest.align(Converted(0.0), Converted(0.0, 0.1), X).passed


@pytest.mark.oneflow
def test_a_port_to_oneflow_agrees() -> None:
    import oneflow

    drawn = np.random.default_rng(0).random((4, 3, 8, 8), dtype=np.float32)
    found = autotest.align(
        MODELS["resnet"](torch),
        MODELS["resnet"](oneflow),
        drawn,
        loss=lambda output: (output**2).mean(),
        optimizer=lambda namespace, parameters: namespace.optim.SGD(parameters, lr=0.01),
        steps=2,
    )
    assert found.passed, str(found)
    assert found.network is not None
    assert all(layer.gradient is not None for layer in found.network.layers)


@pytest.mark.oneflow
@pytest.mark.parametrize("options", [{"weight_decay": 0.01}, {}])
def test_rates_in_single_precision_are_no_difference_and_another_decay_by_default_is_one(options: Any) -> None:
    import oneflow

    torch.manual_seed(0)
    found = autotest.align(
        MODELS["mlp"](torch),
        MODELS["mlp"](oneflow),
        np.random.default_rng(0).standard_normal((5, 8)).astype("float32"),
        loss=lambda output: (output**2).mean(),
        optimizer=lambda namespace, parameters: namespace.optim.AdamW(parameters, lr=0.01, **options),
        steps=10,
    )
    assert found.passed == bool(options), str(found)
