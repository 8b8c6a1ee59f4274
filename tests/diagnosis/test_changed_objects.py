"""The call that changes an object wrongly is blamed, and not the one whose result first shows it."""

from __future__ import annotations

import copy
from collections.abc import Callable
from typing import Any, NamedTuple

import pytest

from autotest import Divergence, random_tensor
from autotest import torch as dual
from autotest.base.settings import Settings
from autotest.program import operator_of
from autotest.replaying.object_state import HeldItem, ObjectState, unlike
from tests.diagnosis.test_state_of_modules import method
from tests.support.faulty import FaultyTorch, Replacement
from tests.support.running import trial, trials


def drawn(*shape: int, **options: Any) -> Any:
    return random_tensor(shape=shape, **{"low": -1, "high": 1, "dtype": "float32", **options})


def squares(module: Any, x: Any) -> Any:
    return module(x).pow(2).sum()


def copied_weight(cls: Any) -> Callable[..., None]:
    import torch

    def __setattr__(self: Any, name: str, value: Any) -> None:  # noqa: N807 - it replaces that of a class
        has_one = name == "weight" and "weight" in self._parameters
        cls.__setattr__(self, name, torch.nn.Parameter(value.detach().clone()) if has_one else value)

    return __setattr__


def copied_parameter(cls: Any) -> Callable[..., None]:
    import torch

    def register_parameter(self: Any, name: str, value: Any) -> None:
        own = value is None or name in ("weight", "bias")
        cls.register_parameter(self, name, value if own else torch.nn.Parameter(value.detach().clone()))

    return register_parameter


def without_memory(cls: Any) -> Callable[..., None]:
    return lambda self, state: cls.load_state_dict(self, {**state, "state": {}})


def with_its_rate(cls: Any) -> Callable[..., None]:
    def load_state_dict(self: Any, state: Any) -> None:
        rates = [group["lr"] for group in self.param_groups]
        cls.load_state_dict(self, state)
        for group, rate in zip(self.param_groups, rates, strict=True):
            group["lr"] = rate

    return load_state_dict


def without_its_rate(cls: Any) -> Callable[..., None]:
    return lambda self, group: cls.add_param_group(self, {"params": group["params"]})


def only_itself(cls: Any) -> Callable[..., Any]:
    def train(self: Any, mode: bool = True) -> Any:
        self.training = mode
        return self

    return train


def zeros_are_left(cls: Any) -> Callable[..., None]:
    def zero_grad(self: Any, set_to_none: bool = True) -> None:
        for group in self.param_groups:
            for parameter in group["params"]:
                if parameter.grad is not None:
                    parameter.grad.zero_()

    return zero_grad


def accumulating(grad: Any) -> Any:
    def wrong(outputs: Any, inputs: Any, **options: Any) -> Any:
        found = grad(outputs, inputs, **options)
        for leaf, gradient in zip(inputs, found, strict=True):
            leaf.grad = gradient.detach() if leaf.grad is None else leaf.grad + gradient.detach()
        return found

    return wrong


def tied_gradient() -> Any:
    first, second = dual.nn.Linear(3, 3), dual.nn.Linear(3, 3)
    first.weight = second.weight
    return first(dual.tanh(second(drawn(2, 3))))


def tied_write() -> Any:
    first, second = dual.nn.Linear(3, 3), dual.nn.Linear(3, 3)
    first.weight = second.weight
    with dual.no_grad():
        second.weight.mul_(2.0)
    return first(drawn(2, 3))


def tied_training() -> Any:
    first, second = dual.nn.Linear(3, 3), dual.nn.Linear(3, 3)
    first.weight = second.weight
    optimizer = dual.optim.SGD(second.parameters(), lr=0.1)
    squares(second, drawn(2, 3)).backward()
    optimizer.step()
    return first(drawn(2, 3))


def registered() -> Any:
    first, second = dual.nn.Linear(3, 3), dual.nn.Linear(3, 3)
    first.register_parameter("other", second.weight)
    return dual.nn.functional.linear(drawn(2, 3), first.other) + second(drawn(2, 3))


def registered_buffer() -> Any:
    layer, buffer = dual.nn.Linear(3, 3), drawn(3, requires_grad=False) * 1
    layer.register_buffer("scale", buffer)
    buffer.mul_(2.0)
    return layer(drawn(2, 3)) * layer.scale


def continued(kind: str, **options: Any) -> Callable[[], Any]:
    def body() -> Any:
        layer, x = dual.nn.Linear(3, 2), drawn(4, 3)
        first = getattr(dual.optim, kind)(layer.parameters(), lr=0.1, **options)
        squares(layer, x).backward()
        first.step()
        second = getattr(dual.optim, kind)(layer.parameters(), lr=0.2, **options)
        second.load_state_dict(first.state_dict())
        second.zero_grad()
        squares(layer, x).backward()
        second.step()
        return layer(x)

    return body


def of_two_groups() -> Any:
    first, second, x = dual.nn.Linear(3, 3), dual.nn.Linear(3, 3), drawn(2, 3)
    optimizer = dual.optim.SGD(first.parameters(), lr=0.1)
    optimizer.add_param_group({"params": second.parameters(), "lr": 0.5})
    squares(first, second(x)).backward()
    optimizer.step()
    return first(second(x))


def gradients_between() -> Any:
    layer, x = dual.nn.Linear(3, 1), drawn(4, 3)
    (gradient,) = dual.autograd.grad(layer(x).tanh().sum(), [x], create_graph=True)
    return gradient.pow(2).sum() + layer(x).sum()


def evaluated(layer: Callable[[], Any]) -> Callable[[], Any]:
    def body() -> Any:
        network = dual.nn.Sequential(dual.nn.Linear(3, 3), layer())
        network.eval()
        return network(drawn(4, 3))

    return body


def gradients_of_zero() -> Any:
    first, second, x = dual.nn.Linear(3, 2), dual.nn.Linear(3, 2), drawn(2, 3)
    optimizer = dual.optim.SGD([*first.parameters(), *second.parameters()], lr=0.1, weight_decay=0.5)
    squares(first, x).backward()
    squares(second, x).backward()
    optimizer.zero_grad()
    squares(first, x).backward()
    optimizer.step()
    return first(x) + second(x)


def gradients_clipped_to_zero() -> Any:
    m, x = dual.nn.Linear(3, 2), drawn(2, 3)
    squares(m, x).backward()
    dual.nn.utils.clip_grad_value_(m.parameters(), 0.0)
    dual.optim.SGD(m.parameters(), lr=0.1).step()
    return m(x)


def gradient_given() -> Any:
    x = drawn(3, layout="contiguous")
    x.grad = dual.ones(3)
    dual.optim.SGD([x], lr=0.1).step()
    return x


def doubled_attributes(original: Any) -> Any:
    return lambda tensor, value: original(tensor, value * 2)


def from_vector() -> Any:
    layer = dual.nn.Linear(3, 2)
    dual.nn.utils.vector_to_parameters(drawn(8, low=1, high=2, requires_grad=False), layer.parameters())
    return layer(drawn(2, 3))


def normalised() -> Any:
    layer = dual.nn.utils.remove_weight_norm(dual.nn.utils.weight_norm(dual.nn.Linear(3, 2)))
    with dual.no_grad():
        layer.weight.mul_(2.0)
    return layer(drawn(2, 3))


def deeply_copied() -> Any:
    layer = dual.nn.Linear(3, 2)
    other = copy.deepcopy(layer)
    with dual.no_grad():
        layer.weight.mul_(2.0)
    return other(drawn(2, 3))


def written_state() -> Any:
    layer = dual.nn.Linear(3, 3)
    state = layer.state_dict()
    with dual.no_grad():
        state["weight"].mul_(2.0)
    return layer(drawn(2, 3))


def copied_state(cls: Any) -> Callable[..., Any]:
    return lambda self: {name: tensor.clone() for name, tensor in cls.state_dict(self).items()}


def fixed(name: str) -> Callable[[Any], Callable[..., None]]:
    def changed(cls: Any) -> Callable[..., None]:
        def __setattr__(self: Any, attribute: str, value: Any) -> None:  # noqa: N807 - as above
            if attribute != name or name not in vars(self):
                cls.__setattr__(self, attribute, value)

        return __setattr__

    return changed


def of_another_epsilon() -> Any:
    layer = dual.nn.LayerNorm(3)
    layer.eps = 0.5
    return layer(drawn(5, 3))


def in_a_list() -> Any:
    layer, x = dual.nn.Linear(3, 3), drawn(2, 3)
    layers = dual.nn.ModuleList([layer, dual.nn.Tanh()])
    return layers[1](layers[0](x)) + layer(x)


def of_copies(cls: Any) -> Callable[..., Any]:
    return lambda modules: cls([copy.deepcopy(module) for module in modules])


def reloaded() -> Any:
    layer, x = dual.nn.Linear(3, 2), drawn(4, 3)
    optimizer = dual.optim.SGD(layer.parameters(), lr=0.1, momentum=0.9)
    for _ in range(2):
        optimizer.zero_grad()
        squares(layer, x).backward()
        optimizer.step()
        optimizer.load_state_dict(optimizer.state_dict())
    return layer(x)


def rescheduled() -> Any:
    layer, x = dual.nn.Linear(3, 2), drawn(4, 3)
    optimizer = dual.optim.SGD(layer.parameters(), lr=0.1)
    first, second = (dual.optim.lr_scheduler.StepLR(optimizer, 2, gamma=0.5) for _ in "ab")
    squares(layer, x).backward()
    optimizer.step()
    first.step()
    second.load_state_dict(first.state_dict())
    second.step()
    optimizer.step()
    return layer(x)


def at_the_beginning(cls: Any) -> Callable[..., None]:
    return lambda self, state: cls.load_state_dict(self, {**state, "last_epoch": 0})


def trained_once() -> Any:
    net, x = dual.nn.Sequential(dual.nn.Linear(3, 2), dual.nn.Tanh()), drawn(4, 3)
    optimizer = dual.optim.SGD(net.parameters(), lr=0.1)
    squares(net, x).backward()
    optimizer.step()
    return net(x)


def in_its_own_memory(cls: Any) -> Callable[..., None]:
    """As an optimizer does that adds the decay of weights to the gradients themselves."""

    def step(self: Any, closure: Any = None) -> None:
        cls.step(self, closure)
        for group in self.param_groups:
            for parameter in group["params"]:
                parameter.grad.mul_(2)

    return step


class Case(NamedTuple):
    body: Callable[[], Any]
    path: str
    fault: Replacement
    operator: str
    #: What the verdict says that the call changed; empty if it is a write that shows it.
    told: str = ""
    of_tensors: bool = False

    def faulty(self) -> FaultyTorch:
        return FaultyTorch(tensors={self.path: self.fault}) if self.of_tensors else FaultyTorch({self.path: self.fault})


def of_linear(name: str, change: Callable[[Any], Callable[..., Any]]) -> tuple[str, Replacement]:
    return "nn.Linear", method(name, change)


COPYING = of_linear("__setattr__", copied_weight)
TWO = "are one tensor of torch, and two of faulty"
CASES: dict[str, Case] = {
    "the gradient of a tied weight": Case(tied_gradient, *COPYING, "setattr", TWO),
    "a write into a tied weight": Case(tied_write, *COPYING, "setattr", TWO),
    "a step of a tied weight": Case(tied_training, *COPYING, "setattr", TWO),
    "a registered parameter": Case(
        registered, *of_linear("register_parameter", copied_parameter), "register_parameter", TWO
    ),
    "a registered buffer": Case(
        registered_buffer,
        *of_linear("register_buffer", lambda cls: lambda self, name, x: cls.register_buffer(self, name, x.clone())),
        "register_buffer",
        TWO,
    ),
    "a momentum that is not loaded": Case(
        continued("SGD", momentum=0.9),
        "optim.SGD",
        method("load_state_dict", without_memory),
        "load_state_dict",
        "remembers earlier steps in torch only",
    ),
    "averages that are not loaded": Case(
        continued("Adam"),
        "optim.Adam",
        method("load_state_dict", without_memory),
        "load_state_dict",
        "remembers earlier steps in torch only",
    ),
    "a rate that is not loaded": Case(
        continued("SGD", momentum=0.9),
        "optim.SGD",
        method("load_state_dict", with_its_rate),
        "load_state_dict",
        "lr of group 0 of o",
    ),
    "a momentum that is lost when its own state is loaded": Case(
        reloaded,
        "optim.SGD",
        method("load_state_dict", without_memory),
        "load_state_dict",
        "remembers earlier steps in torch only",
    ),
    "the epoch of a scheduler": Case(
        rescheduled,
        "optim.lr_scheduler.StepLR",
        method("load_state_dict", at_the_beginning),
        "load_state_dict",
        "last_epoch is 1 in torch, 0 in faulty",
    ),
    "the rate of a second group": Case(
        of_two_groups, "optim.SGD", method("add_param_group", without_its_rate), "add_param_group", "lr of group 1 of o"
    ),
    "a gradient that is left": Case(
        gradients_between, "autograd.grad", accumulating, "autograd.grad", "has a gradient in faulty only"
    ),
    "a mode that does not reach a normalisation": Case(
        evaluated(lambda: dual.nn.BatchNorm1d(3)),
        "nn.Sequential",
        method("train", only_itself),
        "eval",
        "is in training mode in faulty only",
    ),
    "a mode that does not reach a dropout": Case(
        evaluated(lambda: dual.nn.Dropout(0.5)),
        "nn.Sequential",
        method("train", only_itself),
        "eval",
        "is in training mode in faulty only",
    ),
    "gradients of zero that decay": Case(
        gradients_of_zero,
        "optim.SGD",
        method("zero_grad", zeros_are_left),
        "zero_grad",
        "has a gradient in faulty only",
    ),
    "a gradient that is clipped to zero": Case(
        gradients_clipped_to_zero,
        "nn.utils.clip_grad_value_",
        lambda original: lambda parameters, value: None,
        "nn.utils.clip_grad_value_",
        "is zero in torch only",
    ),
    "gradients that a step changes": Case(
        trained_once, "optim.SGD", method("step", in_its_own_memory), "optim.SGD", "the gradient of m"
    ),
    "a gradient that is assigned": Case(
        gradient_given, "__set__", doubled_attributes, "grad", "the gradient of x0 differs", of_tensors=True
    ),
    "parameters from a vector": Case(
        from_vector,
        "nn.utils.vector_to_parameters",
        lambda original: lambda vector, parameters: original(vector, [*parameters][:1]),
        "nn.utils.vector_to_parameters",
        "bias differs",
    ),
    "a reparametrisation that stays": Case(
        normalised,
        "nn.utils.remove_weight_norm",
        lambda original: lambda module: module,
        "nn.utils.remove_weight_norm",
        "only torch has m",
    ),
    "a copy that shares": Case(
        deeply_copied,
        *of_linear("__deepcopy__", lambda cls: lambda self, memo: self),
        "deepcopy",
        "are one tensor of faulty, and two of torch",
    ),
    "an attribute": Case(
        of_another_epsilon, "nn.LayerNorm", method("__setattr__", fixed("eps")), "setattr", "eps is 0.5 in torch, 1e-05"
    ),
    "layers in a list": Case(in_a_list, "nn.ModuleList", of_copies, "nn.ModuleList", TWO),
    "a state of an optimizer": Case(
        continued("SGD", momentum=0.9),
        "optim.SGD",
        method("state_dict", lambda cls: lambda self: {**cls.state_dict(self), "state": {}}),
        "state_dict",
        "remembers earlier steps in torch only",
    ),
    "a state that is a copy": Case(written_state, *of_linear("state_dict", copied_state), "state_dict"),
}


@pytest.mark.filterwarnings("ignore:`torch.nn.utils.weight_norm` is deprecated:FutureWarning")
@pytest.mark.parametrize("name", CASES)
def test_the_call_after_which_an_object_differs_is_named_and_marked(name: str, quick: Any) -> None:
    case = CASES[name]
    with pytest.raises(Divergence) as raised:
        trials(case.body, quick, case.faulty(), n=1, options={"shrink": 5.0})
    finding = raised.value.finding
    assert finding is not None
    assert finding.operator == finding.identity.operator == case.operator
    assert finding.divergent is not None
    marked = finding.program.calls[finding.divergent]
    assert case.operator in (marked.target, marked.kind, operator_of(finding.program.calls, finding.divergent))
    assert any(case.told in line for line in finding.verdict)


@pytest.mark.filterwarnings("ignore:`torch.nn.utils.weight_norm` is deprecated:FutureWarning")
@pytest.mark.parametrize("name", CASES)
def test_a_candidate_without_a_fault_changes_objects_alike(name: str) -> None:
    assert trial(CASES[name].body, FaultyTorch()).mismatches == []


def trained_further() -> Any:
    net, x = dual.nn.Sequential(dual.nn.Linear(3, 2), dual.nn.Tanh()), drawn(4, 3, requires_grad=False)
    for optimizer in (first := dual.optim.Adam(net.parameters(), lr=0.1)), dual.optim.Adam(net.parameters(), lr=0.1):
        optimizer.load_state_dict(first.state_dict())
        optimizer.zero_grad()
        squares(net, x).backward()
        optimizer.step()
    return net(x)


@pytest.mark.parametrize(
    ("body", "path", "fault"),
    [
        (trained_once, "optim.SGD", method("step", in_its_own_memory)),
        (trained_further, "optim.Adam", method("load_state_dict", without_memory)),
    ],
    ids=["step", "load_state_dict"],
)
def test_what_an_optimizer_changes_is_no_layers_fault(
    body: Callable[[], Any], path: str, fault: Replacement, quick: Any
) -> None:
    with pytest.raises(Divergence) as raised:
        trials(body, quick, FaultyTorch({path: fault}), n=1)
    finding = raised.value.finding
    assert finding is not None
    assert any("after " in line for line in finding.verdict)
    assert finding.network is None


def test_what_an_earlier_call_made_wrong_is_not_the_fault_of_the_call_that_copies_it(quick: Any) -> None:
    def body() -> Any:
        first, second = dual.nn.Linear(3, 3), dual.nn.Linear(3, 3)
        dual.nn.init.constant_(first.weight, 0.5)
        second.load_state_dict(first.state_dict())
        return second(drawn(2, 3))

    wrong = FaultyTorch({"nn.init.constant_": lambda original: lambda tensor, value: original(tensor, value + 1)})
    with pytest.raises(Divergence) as raised:
        trials(body, quick, wrong, n=1)
    assert raised.value.finding is not None
    assert raised.value.finding.operator == "nn.init.constant_"


def test_numbers_of_an_optimizer_that_mean_the_same_do_not_differ() -> None:
    def held(**options: Any) -> ObjectState:
        return {HeldItem(0, f"{name} of group 0", "setting"): value for name, value in options.items()}

    one = held(lr=0.1, dampening=0, fused=None, betas=(0.9, 0.999))
    assert not unlike(one, held(lr=0.1 + 1e-9, dampening=0.0, fused=False, betas=[0.9, 0.999]), Settings())
    for name, value in {"lr": 0.2, "dampening": 0.5, "fused": True, "betas": (0.9, 0.99)}.items():
        assert unlike(one, held(**{name: value}), Settings()) == {HeldItem(0, f"{name} of group 0", "setting")}


def raising_method(cls: Any) -> Callable[..., None]:
    def refuses(self: Any, *args: Any, **options: Any) -> None:
        raise RuntimeError("planted: not supported")

    return refuses


def loaded() -> Any:
    first, second = dual.nn.Linear(3, 2), dual.nn.Linear(3, 2)
    second.load_state_dict(first.state_dict())
    return second(drawn(2, 3))


def stepped() -> Any:
    layer = dual.nn.Linear(3, 2)
    optimizer = dual.optim.SGD(layer.parameters(), lr=0.1)
    squares(layer, drawn(2, 3)).backward()
    optimizer.step()
    return layer(drawn(2, 3))


@pytest.mark.parametrize(
    ("body", "fault"),
    [
        (from_vector, FaultyTorch(missing=("nn.utils.vector_to_parameters",))),
        (loaded, FaultyTorch({"nn.Linear": method("load_state_dict", raising_method)})),
        (stepped, FaultyTorch({"optim.SGD": method("step", raising_method)})),
    ],
    ids=["vector_to_parameters", "load_state_dict", "step"],
)
def test_what_a_refused_call_was_to_write_into_an_object_is_no_finding_beside_it(
    body: Callable[[], Any], fault: FaultyTorch
) -> None:
    assert [mismatch.symptom for mismatch in trial(body, fault).mismatches] == ["exception"]
