"""Training for some steps: a slightly wrong update is found, and rounding that grows with steps is no finding."""

from __future__ import annotations

import copy
import itertools
import pickle
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
import torch as real

from autotest import random_tensor, torch
from autotest.base.errors import UsageError
from autotest.base.options import Options
from autotest.base.settings import Settings
from autotest.diagnosis.attribution.lockstep import first_divergent
from autotest.diagnosis.failed_trial import FailedTrial
from autotest.frameworks import Framework
from autotest.frameworks.oneflow import OneFlowFramework
from autotest.recording.disabled import DeviceGradScaler
from autotest.report import text
from autotest.results.finding import Finding
from autotest.trials.context import RunContext
from autotest.trials.decorated import Test as ATest
from autotest.trials.trial import run_trial
from tests.networks.bodies import inputs
from tests.networks.models import MODELS, discriminator, generator
from tests.support.faulty import FaultyTorch, Replacement, returning, with_gradient
from tests.support.faulty_oneflow import FaultyOneFlow
from tests.support.running import agrees, pair_with, trial

Make = Callable[[Any], Any]

OPTIMIZERS: dict[str, Make] = {
    "SGD": lambda parameters: torch.optim.SGD(parameters, lr=0.01, momentum=0.9, weight_decay=1e-3),
    "Adam": lambda parameters: torch.optim.Adam(parameters, lr=1e-3),
    "Adam with decay": lambda parameters: torch.optim.Adam(parameters, lr=1e-3, weight_decay=0.01),
    "AdamW": lambda parameters: torch.optim.AdamW(parameters, lr=1e-3, weight_decay=0.01),
}
#: Hyperparameters. One percent more is a wrong update.
WRONG = [("Adam", "eps"), ("SGD", "weight_decay"), ("AdamW", "weight_decay")]
SETTINGS = Settings(n=1)


def training(make: Make, steps: int = 10, model: str = "mlp") -> Callable[[], Any]:
    def body() -> Any:
        network = MODELS[model](torch)
        optimizer = make(network.parameters())
        scheduler = torch.optim.lr_scheduler.StepLR(optimizer, 4, gamma=0.5)
        batch = [one.detach() for one in inputs(model)]
        for _ in range(steps):
            optimizer.zero_grad()
            network(*batch).pow(2).mean().backward()
            optimizer.step()
            scheduler.step()
        return network(*batch)

    return body


def off_by_one_percent(key: str) -> Replacement:
    """Return an optimizer with one hyperparameter that is a little wrong."""

    def replacement(original: Any) -> Any:
        def make(*args: Any, **kwargs: Any) -> Any:
            optimizer = original(*args, **kwargs)
            for group in optimizer.param_groups:
                group[key] *= 1.01
            return optimizer

        return make

    return replacement


@pytest.mark.parametrize(("name", "key"), WRONG)
def test_one_percent_in_one_number_of_an_optimizer_is_found_within_ten_steps(name: str, key: str) -> None:
    outcome = trial(training(OPTIMIZERS[name]), FaultyTorch({f"optim.{name}": off_by_one_percent(key)}))
    assert outcome.update is not None
    assert outcome.mismatches == [outcome.update.mismatch]
    assert "updates a parameter differently with the same gradients" in outcome.mismatches[0].message


MADE_OF: dict[str, Callable[[], Any]] = {
    "what a function gives": lambda: torch.ones(4),
    "what is computed": lambda: 0.5 * torch.ones(4),
    "a view": lambda: torch.ones(8).view(2, 4)[0],
}


@pytest.mark.parametrize("made_of", MADE_OF)
def test_a_wrong_update_is_found_of_parameters_that_were_there_as_tensors_before(made_of: str) -> None:
    def body() -> Any:
        scale = torch.nn.Parameter(MADE_OF[made_of]())
        shown = scale.view(2, 2)
        optimizer = torch.optim.AdamW([scale], lr=0.01, weight_decay=0.1)
        (shown.sum() * random_tensor(shape=(4,), low=-1, high=1)).sum().backward()
        optimizer.step()
        return scale

    assert agrees(trial(body))
    doubled = FaultyTorch({"optim.AdamW": lambda original: lambda tensors, **rest: original(tensors, lr=0.02)})
    assert trial(body, doubled).update is not None


@pytest.mark.parametrize(("rate", "wrong"), [(0.1, 0.0), (0.0, 0.1)])
def test_an_update_of_only_one_side_is_a_wrong_update(rate: float, wrong: float) -> None:
    def body() -> Any:
        scale = torch.nn.Parameter(torch.ones(4))
        optimizer = torch.optim.SGD([scale], lr=rate)
        (scale * random_tensor(shape=(4,), low=-1, high=1)).sum().backward()
        optimizer.step()
        return scale

    other = FaultyTorch({"optim.SGD": lambda original: lambda tensors, **rest: original(tensors, lr=wrong)})
    assert trial(body, other).update is not None


@pytest.mark.parametrize("wrong", [lambda copy: copy[None], lambda copy: copy.expand(4, 4), lambda copy: [copy]])
def test_what_the_update_is_measured_with_may_itself_be_wrong(wrong: Any) -> None:
    def body() -> Any:
        scale = torch.nn.Parameter(torch.ones(4))
        optimizer = torch.optim.SGD([scale], lr=0.1)
        (scale * random_tensor(shape=(4,), low=-1, high=1)).sum().backward()
        optimizer.step()
        return scale

    outcome = trial(body, FaultyTorch(tensors={"sub": returning(wrong)}))
    assert outcome.updates is not None
    assert not outcome.updates.checked


@pytest.mark.parametrize("layout", ["contiguous", "transposed"])
def test_a_wrong_step_is_the_first_divergent_call_whatever_the_memory_of_its_parameter(layout: str) -> None:
    def body() -> Any:
        w = random_tensor(shape=(2, 3), low=1, high=2, layout=layout)
        optimizer = torch.optim.SGD([w], lr=0.1)
        for _ in range(2):
            optimizer.zero_grad()
            (w * w).sum().backward()
            optimizer.step()
        return w

    doubled = FaultyTorch({"optim.SGD": lambda original: lambda tensors, lr: original(tensors, lr=2 * lr)})
    pair = pair_with(doubled)
    program = trial(body, doubled).program
    slot = first_divergent(program, pair, Settings())
    assert slot == next(call.slot for call in program.calls if call.target == "step")


def test_a_parameter_that_becomes_infinite_on_both_sides_is_compared_without_a_warning() -> None:
    def body() -> Any:
        w = random_tensor(shape=(3,), low=1, high=2)
        (float("inf") * w).sum().backward()
        torch.optim.SGD([w], lr=0.1).step()
        return w

    assert agrees(trial(body))


def test_an_optimizer_that_gives_nan_for_a_gradient_of_zero_is_found_where_no_gradient_is_zero() -> None:
    """It divides zero by zero, as Adam does if it adds its epsilon in the wrong place."""

    def dividing_by_zero(original: Any) -> Any:
        class Dividing(original):  # type: ignore[misc]
            def step(self, closure: Any = None) -> Any:
                done = super().step(closure)
                for group in self.param_groups:
                    for tensor in group["params"]:
                        tensor.data += 0 * (tensor.grad / tensor.grad)
                return done

        return Dividing

    def body() -> Any:
        scale = torch.nn.Parameter(torch.ones(4))
        optimizer = torch.optim.Adam([scale], lr=0.1)
        (scale * random_tensor(shape=(4,), low=1, high=2)).sum().backward()
        optimizer.step()
        return scale

    assert agrees(trial(body))
    update = trial(body, FaultyTorch({"optim.Adam": dividing_by_zero})).update
    assert update is not None
    assert "with gradients up to 0" in update.description


@pytest.mark.parametrize("name", OPTIMIZERS)
@pytest.mark.parametrize("model", ["mlp", "resnet", "encoder"])
def test_ten_healthy_steps_raise_no_alarm(name: str, model: str) -> None:
    assert agrees(trial(training(OPTIMIZERS[name], model=model)))


def passes(body: Callable[[], Any], candidate: Framework) -> bool:
    """Return whether a trial agrees, or differs by rounding only."""
    pair = pair_with(candidate)
    outcome = run_trial(body, 0, SETTINGS, pair)
    assert outcome.rejection is None
    return (
        not outcome.mismatches
        or FailedTrial(ATest("file.py::test", body, SETTINGS), outcome, pair).cleared() is not None
    )


#: The two that are not slow.
TRAINED = [
    pytest.param(
        model, name, marks=[pytest.mark.slow] * ((model, name) not in [("encoder", "AdamW"), ("resnet", "SGD")])
    )
    for model in ("mlp", "lenet", "resnet", "unet", "language_model", "encoder", "vit")
    for name in OPTIMIZERS
]


@pytest.mark.oneflow
@pytest.mark.parametrize(("model", "name"), TRAINED)
def test_ten_healthy_steps_with_rates_in_single_precision_raise_no_alarm(model: str, name: str) -> None:
    assert passes(training(OPTIMIZERS[name], model=model), OneFlowFramework())


@pytest.mark.oneflow
@pytest.mark.parametrize(("name", "key"), [("Adam", "eps"), ("Adam with decay", "weight_decay"), *WRONG[1:]])
@pytest.mark.parametrize("model", ["mlp", "encoder"])
def test_one_percent_in_one_number_of_an_optimizer_with_rates_in_single_precision_is_found(
    model: str, name: str, key: str
) -> None:
    faulty = FaultyOneFlow({f"optim.{name.partition(' ')[0]}": off_by_one_percent(key)})
    outcome = run_trial(training(OPTIMIZERS[name], model=model), 0, SETTINGS, pair_with(faulty))
    assert outcome.update is not None
    assert outcome.mismatches[0] is outcome.update.mismatch


def test_a_wrong_gradient_after_the_first_step_is_no_rounding() -> None:
    def replacement(original: Any) -> Any:
        calls = itertools.count()

        def halved(x: Any) -> Any:
            late = next(calls) > 4
            return with_gradient(lambda gradient: gradient * (0.5 if late else 1.0))(original)(x)

        return halved

    def body() -> Any:
        layer = torch.nn.Linear(4, 4)
        optimizer = torch.optim.SGD(layer.parameters(), lr=0.1)
        x = random_tensor(shape=(5, 4), low=-1, high=1, requires_grad=False)
        for _ in range(10):
            optimizer.zero_grad()
            torch.tanh(layer(x)).pow(2).mean().backward()
            optimizer.step()
        return layer(x)

    assert passes(body, FaultyTorch({"tanh": lambda original: original}))
    assert not passes(body, FaultyTorch({"tanh": replacement}))


def diagnosed(body: Any, replaced: dict[str, Any], folder: Path, shrink: float = 5.0, **tensors: Any) -> Finding:
    pair = pair_with(FaultyTorch(replaced, tensors=tensors))
    outcome = run_trial(body, 0, SETTINGS, pair)
    context = RunContext(pair, Options(verify=False, shrink=shrink, directory=folder))
    return FailedTrial(ATest("file.py::test", body, SETTINGS), outcome, pair).diagnosed(context, 0)


def test_the_report_says_which_default_of_an_optimizer_is_another_one(tmp_path: Path) -> None:
    def replacement(original: Any) -> Any:
        def make(parameters: Any, lr: float = 1e-3, weight_decay: float = 0.0) -> Any:
            return original(parameters, lr=lr, weight_decay=weight_decay)

        return make

    body = training(lambda parameters: torch.optim.AdamW(parameters, lr=0.01), steps=2)
    finding = diagnosed(body, {"optim.AdamW": replacement}, tmp_path, shrink=0.0)
    assert "default of weight_decay in optim.AdamW: torch 0.01, faulty 0.0" in finding.verdict


def test_the_report_shows_the_steps_alone_with_the_optimizer_that_is_wrong(tmp_path: Path) -> None:
    finding = diagnosed(training(OPTIMIZERS["Adam"], steps=2), {"optim.Adam": off_by_one_percent("eps")}, tmp_path)
    assert finding.operator == "optim.Adam"
    assert finding.program is not None
    targets = [call.target for call in finding.program.calls]
    assert targets.count("step") == 1
    assert "nn.Linear" not in targets
    assert finding.script is not None
    assert "same gradients" in text.divergence(finding, "place", "")


def test_a_wrong_learning_rate_is_the_fault_of_the_scheduler_that_sets_it(tmp_path: Path) -> None:
    class StepLR(real.optim.lr_scheduler.StepLR):  # type: ignore[misc]
        def get_lr(self) -> list[float]:
            return [rate * (0.5 if self.last_epoch == 4 else 1) for rate in super().get_lr()]

    finding = diagnosed(training(OPTIMIZERS["Adam"], 5), {"optim.lr_scheduler.StepLR": lambda _: StepLR}, tmp_path)
    assert finding.operator == finding.identity.operator == "optim.lr_scheduler.StepLR"
    assert "faulty sets another learning rate: 0.00025, torch sets 0.0005" in finding.verdict[0]


def test_a_wrong_update_is_not_shrunk_to_a_detach_that_keeps_the_gradient(tmp_path: Path) -> None:
    def body() -> Any:
        scale = torch.nn.Parameter(torch.ones(4))
        (scale * random_tensor(shape=(4,), low=1, high=2)).sum().backward()
        torch.optim.SGD([scale], lr=0.1).step()
        return scale

    other = {"optim.SGD": off_by_one_percent("lr")}
    finding = diagnosed(body, other, tmp_path, detach=lambda original: lambda one: one.view_as(one))
    assert (finding.operator, finding.first.symptom) == ("optim.SGD", "value")


def test_a_wrong_update_is_not_shrunk_to_an_optimizer_that_raises(tmp_path: Path) -> None:
    def without_defaults(original: Any) -> Any:
        return lambda parameters, *, lr, momentum: original(parameters, lr=1.01 * lr, momentum=momentum)

    body = training(lambda parameters: torch.optim.SGD(parameters, lr=0.1, momentum=0.5), steps=2)
    finding = diagnosed(body, {"optim.SGD": without_defaults}, tmp_path)
    assert finding.program is not None
    (made,) = (call for call in finding.program.calls if call.target == "optim.SGD")
    assert {*made.kwargs} == {"lr", "momentum"}


def test_a_tolerance_of_the_tests_own_is_law() -> None:
    faulty = FaultyTorch({"optim.Adam": off_by_one_percent("eps")})
    assert trial(training(OPTIMIZERS["Adam"]), faulty, rtol=1e-4, atol=1e-5).update is None


def test_gradients_are_accumulated_and_clipped_before_a_step() -> None:
    def body() -> Any:
        layer = torch.nn.Linear(3, 2)
        groups = [{"params": [layer.weight], "lr": 0.1}, {"params": [layer.bias]}]
        optimizer = torch.optim.AdamW(groups, lr=0.01, weight_decay=0.5)
        for _ in range(2):
            for _ in range(2):
                (layer(random_tensor(shape=(4, 3), low=-1, high=1)) ** 2).mean().backward()
            torch.nn.utils.clip_grad_norm_(layer.parameters(), 0.5)
            optimizer.step()
            optimizer.zero_grad()
        return layer.weight

    assert agrees(trial(body))
    assert trial(body, FaultyTorch({"optim.AdamW": off_by_one_percent("eps")})).update is not None


CHOSEN: dict[str, Make] = {
    "a list": lambda network: [one for one in network.parameters() if one.requires_grad],
    "groups": lambda network: [
        {"params": [one for name, one in network.named_parameters() if "bias" in name], "weight_decay": 0.0},
        {"params": [one for name, one in network.named_parameters() if "bias" not in name]},
    ],
}


@pytest.mark.parametrize("chosen", CHOSEN)
def test_an_optimizer_of_many_parameters_that_were_chosen_one_by_one_is_checked_too(chosen: str) -> None:
    def body() -> Any:
        network = MODELS["encoder"](torch)
        optimizer = torch.optim.AdamW(CHOSEN[chosen](network), lr=0.01, weight_decay=0.1)
        network(*inputs("encoder")).pow(2).mean().backward()
        optimizer.step()
        return network(*inputs("encoder"))

    outcome = trial(body)
    assert agrees(outcome)
    assert outcome.updates is None or outcome.updates.checked
    assert trial(body, FaultyTorch({"optim.AdamW": off_by_one_percent("weight_decay")})).update is not None


def a_step_against_each_other() -> Any:
    one, other = generator(torch), discriminator(torch)
    of_generator = torch.optim.Adam(one.parameters(), lr=1e-3, betas=(0.5, 0.999))
    of_discriminator = torch.optim.Adam(other.parameters(), lr=1e-3, betas=(0.5, 0.999))
    loss = torch.nn.BCEWithLogitsLoss()
    for _ in range(2):
        noise, shown = (drawn.detach() for drawn in inputs("gan"))
        fake = one(noise)
        of_discriminator.zero_grad()
        right, wrong = other(shown), other(fake.detach())
        (loss(right, torch.ones_like(right)) + loss(wrong, torch.zeros_like(wrong))).backward()
        of_discriminator.step()
        of_generator.zero_grad()
        fooled = other(fake)
        loss(fooled, torch.ones_like(fooled)).backward()
        of_generator.step()
    return other(one(noise))


def test_two_networks_are_trained_against_each_other_with_two_optimizers() -> None:
    assert agrees(trial(a_step_against_each_other))
    faulty = FaultyTorch({"optim.Adam": off_by_one_percent("eps")})
    assert trial(a_step_against_each_other, faulty).update is not None


@pytest.mark.oneflow
def test_two_networks_that_are_trained_against_each_other_raise_no_alarm() -> None:
    assert passes(a_step_against_each_other, OneFlowFramework())


@pytest.mark.parametrize("framework", [FaultyTorch, pytest.param(OneFlowFramework, marks=pytest.mark.oneflow)])
def test_what_people_do_around_a_training_works(framework: type[Framework], tmp_path: Path) -> None:
    def body() -> Any:
        network = torch.nn.Sequential(torch.nn.Linear(3, 4), torch.nn.Tanh(), torch.nn.Linear(4, 2))
        assert len(network) == 3
        assert "Linear(in_features=3, out_features=4" in str(network)
        optimizer = torch.optim.SGD(network.parameters(), lr=0.1)
        scaler = torch.cuda.amp.GradScaler(enabled=False)
        shown, wanted = (random_tensor(shape=(6, size), low=-1, high=1, requires_grad=False) for size in (3, 2))
        for x, y in torch.utils.data.DataLoader(torch.utils.data.TensorDataset(shown, wanted), batch_size=2):
            optimizer.zero_grad()
            loss = torch.nn.functional.mse_loss(network(x), y)
            scaler.scale(loss).backward()
            scaler.unscale_(optimizer)
            scaler.step(optimizer)
            scaler.update()
        other = copy.deepcopy(network)
        other.load_state_dict({name: value.detach() for name, value in network.named_parameters()})
        return other(shown)

    assert agrees(trial(body, framework()))


def test_a_disabled_gradient_scaler_takes_the_arguments_of_torch_in_their_order() -> None:
    assert not torch.cuda.amp.GradScaler(2.0, 2.0, 0.5, 100, False).is_enabled()
    assert not DeviceGradScaler("cpu", 2.0, 2.0, 0.5, 100, False).is_enabled()
    with pytest.raises(UsageError, match="expected enabled=False"):
        DeviceGradScaler("cpu", 2.0)
    with pytest.raises(TypeError, match="unexpected keyword argument 'growth'"):
        torch.cuda.amp.GradScaler(growth=2.0, enabled=False)


@pytest.mark.parametrize(
    ("use", "message"),
    [
        (lambda: torch.cuda.amp.GradScaler(init_scale=2.0), "expected enabled=False"),
        (lambda: torch.utils.data.DataLoader(torch.ones(4, 2), shuffle=True), r"order = torch.randperm\(n\)"),
        (lambda: torch.utils.data.random_split(torch.ones(4), [2, 2]), r"take x\[order\]"),
        (lambda: torch.utils.data.Dataset, "TensorDataset of dual tensors"),
    ],
)
def test_what_each_side_would_draw_or_find_for_itself_is_told_in_a_sentence(use: Any, message: str) -> None:
    with pytest.raises(UsageError, match=message):
        trial(use)


def test_a_state_is_saved_to_a_file_and_not_pickled(tmp_path: Path) -> None:
    def saved() -> Any:
        network = torch.nn.Linear(3, 2)
        torch.save(network.state_dict(), str(tmp_path / "state.pt"))
        network.load_state_dict(torch.load(str(tmp_path / "state.pt")))
        return network(random_tensor(shape=(4, 3), low=-1, high=1))

    assert agrees(trial(saved))
    with pytest.raises(TypeError, match=r"write torch.save\(x, path\)"):
        trial(lambda: pickle.dumps(torch.nn.Linear(3, 2).state_dict()))
