"""A wrong gradient is named after the call whose backward is wrong, wherever the leaf is."""

from __future__ import annotations

import itertools
from collections.abc import Callable
from typing import Any

import pytest

import autotest as at
from autotest import torch as dual
from autotest.base.options import Options
from autotest.base.settings import Settings
from autotest.diagnosis.failed_trial import FailedTrial
from autotest.program import operator_of
from autotest.replaying import guilty_backward
from autotest.replaying.operator_of_mismatch import MismatchNames
from autotest.results.ledger import Ledger, LedgerEntry
from autotest.trials.context import RunContext
from autotest.trials.decorated import Test as ATest
from autotest.trials.judgement import Diverged, Expected, Judgement, identity_of_trial
from tests.support.faulty import FaultyTorch, with_gradient
from tests.support.running import trial

#: Operators whose gradients are of about one size, in the order in which a chain calls them.
CHAIN = ("tanh", "sin", "exp", "cumsum", "sigmoid", "softmax")
WRONG: dict[str, Callable[[Any], Any]] = {
    "twice": lambda gradient: gradient * 2,
    "a percent": lambda gradient: gradient * 1.01,
    "zero": lambda gradient: gradient * 0,
}
twice = with_gradient(WRONG["twice"])
SEEDS = range(4)


def rounding(gradient: Any) -> Any:
    """Return `gradient` with errors of a few roundings, as another implementation has them."""
    import torch

    return gradient * (1 + 8 * torch.finfo(gradient.dtype).eps * torch.randn_like(gradient))


def leaf(*shape: int) -> Any:
    return at.random_tensor(shape=shape or (3, 4), low=-1, high=1)


def operators(body: Callable[[], Any], candidate: FaultyTorch, **settings: Any) -> set[str]:
    """Return the operators after which failures of `body` are named, in several trials that each fail."""
    outcomes = [trial(body, candidate, seed=seed, **settings) for seed in SEEDS]
    assert all(outcome.mismatches[0].stage == "backward" for outcome in outcomes)
    return {identity_of_trial(outcome, Settings(**settings)).operator for outcome in outcomes}


def keys(body: Callable[[], Any], candidate: FaultyTorch) -> set[str]:
    return {identity_of_trial(trial(body, candidate, seed=seed), Settings()).key for seed in SEEDS}


def chain() -> Any:
    value = leaf()
    for name in CHAIN:
        value = getattr(dual, name)(value, *([1] if name in ("cumsum", "softmax") else []))
    return value


@pytest.mark.parametrize("wrong", WRONG)
@pytest.mark.parametrize("guilty", CHAIN)
def test_in_a_chain_it_is_the_guilty_call_in_each_trial_whatever_rounding_does(guilty: str, wrong: str) -> None:
    replaced = {name: with_gradient(rounding) for name in CHAIN} | {guilty: with_gradient(WRONG[wrong])}
    assert operators(chain, FaultyTorch(replaced)) == {guilty}


def test_a_tolerance_of_the_test_decides_what_differs() -> None:
    """The wrong gradient of exp is within the tolerance, and comes first in the backward."""
    replaced = {"exp": with_gradient(WRONG["a percent"]), "sin": twice}
    assert operators(chain, FaultyTorch(replaced), rtol=0.1) == {"sin"}


def test_two_faults_behind_one_call_have_two_keys_and_one_fault_has_one() -> None:
    def relu() -> Any:
        return dual.relu(leaf() * 2 + 3)

    def tanh() -> Any:
        return dual.tanh(leaf() * 2 + 3)

    both = FaultyTorch({"relu": twice, "tanh": twice})
    assert (len(keys(relu, both)), len(keys(tanh, both))) == (1, 1)
    assert keys(relu, both) != keys(tanh, both)


@pytest.fixture
def replays(monkeypatch: pytest.MonkeyPatch) -> list[object]:
    """Return a list that grows by one with each comparison of all gradients of a program."""
    real, done = guilty_backward.compare_gradients, list[object]()

    def counted(*arguments: Any) -> Any:
        done.append(arguments)
        return real(*arguments)

    monkeypatch.setattr(guilty_backward, "compare_gradients", counted)
    return done


def test_the_key_of_a_failure_of_one_operator_takes_no_replay(replays: list[object]) -> None:
    def body() -> Any:
        return dual.tanh(dual.tanh(at.random_tensor(shape=(3, 4), layout="transposed")))

    assert operators(body, FaultyTorch({"tanh": twice})) == {"tanh"}
    assert not replays


def sum_of_two() -> Any:
    x = leaf()
    return dual.sin(x) + dual.tanh(dual.exp(x))


def product_of_leaves() -> Any:
    return dual.tanh(dual.matmul(leaf(3, 4), leaf(4, 3))) + dual.sin(leaf(3, 3))


def around_a_layer() -> Any:
    layer = dual.nn.Linear(4, 3)
    return dual.tanh(layer(dual.sin(leaf())))


def layers_of_a_container() -> Any:
    layers = dual.nn.Sequential(dual.nn.Linear(4, 4), dual.nn.Sigmoid(), dual.nn.Linear(4, 2))
    return dual.tanh(layers(leaf()))


def one_layer_twice() -> Any:
    layer = dual.nn.Linear(4, 4)
    return dual.tanh(layer(dual.sin(layer(leaf()))))


def written_in_place() -> Any:
    value = dual.exp(leaf()) * 2
    value.add_(1)
    value.sin_()
    return dual.tanh(value)


def assigned_items() -> Any:
    value = dual.zeros(3, 4)
    value[0:2] = dual.sin(leaf(2, 4))
    return dual.tanh(value)


def copied_and_assigned() -> Any:
    x = leaf(4)
    value = dual.zeros(3, 4)
    value.copy_(x)
    value[0] = x
    return value


def parts_of_a_split() -> Any:
    one, other = dual.split(leaf(), 2, dim=1)
    return dual.tanh(one) * dual.sin(other)


def two_backward_calls() -> Any:
    x = leaf()
    dual.tanh(dual.exp(x)).sum().backward()
    dual.sin(dual.exp(x)).sum().backward()
    return x.grad


def without_a_gradient_in_between() -> Any:
    x = leaf()
    with dual.no_grad():
        scale = dual.cos(x)
    return dual.tanh(dual.sin(x)) * scale + dual.exp(x.detach())


def turned() -> Any:
    return dual.tanh(dual.sin(leaf()).T)


def made_by_a_call() -> Any:
    x = dual.ones(3, 4)
    x.requires_grad_()
    return dual.tanh(dual.sin(x * 2))


def a_parameter() -> Any:
    return dual.tanh(dual.sin(dual.nn.Parameter(dual.ones(3, 4)) * 2))


def behind_a_mask() -> Any:
    return dual.tanh(dual.nn.functional.dropout(dual.sin(leaf()), 0.5))


BODIES: dict[Callable[[], Any], str] = {
    sum_of_two: "sin tanh exp",
    product_of_leaves: "tanh matmul",
    around_a_layer: "tanh sin",
    layers_of_a_container: "tanh nn.Linear",
    one_layer_twice: "tanh sin nn.Linear",
    written_in_place: "tanh exp add_",
    assigned_items: "tanh sin",
    copied_and_assigned: "copy_",
    parts_of_a_split: "tanh sin split",
    two_backward_calls: "tanh sin exp",
    without_a_gradient_in_between: "tanh sin",
    turned: "tanh sin",
    made_by_a_call: "tanh sin",
    a_parameter: "tanh sin",
    behind_a_mask: "tanh sin",
}


def _wrong_linear(linear: Any) -> Any:
    class Linear(linear):  # type: ignore[misc]
        def forward(self, x: Any) -> Any:
            return twice(super().forward)(x)

    return Linear


def _wrong_addition(_: Any) -> Any:
    import torch

    return lambda x, other: x.copy_(twice(torch.add)(x.clone(), other))


FAULTS = {
    "nn.Linear": FaultyTorch({"nn.Linear": _wrong_linear}),
    "add_": FaultyTorch(tensors={"add_": _wrong_addition}),
    "copy_": FaultyTorch(tensors={"copy_": lambda copy: lambda value, other: copy(value, other.detach())}),
}
CASES = [(body, guilty) for body, named in BODIES.items() for guilty in named.split()]


@pytest.mark.parametrize(("body", "guilty"), CASES, ids=[f"{body.__name__}-{guilty}" for body, guilty in CASES])
def test_it_is_the_guilty_call_in_programs_of_any_shape(body: Callable[[], Any], guilty: str) -> None:
    assert operators(body, FAULTS.get(guilty) or FaultyTorch({guilty: twice})) == {guilty}


@pytest.mark.parametrize("guilty", ["tanh", "exp"])
def test_a_gradient_that_a_call_returns_has_the_operator_that_makes_it_wrong(guilty: str) -> None:
    def body() -> Any:
        x, y = leaf(), leaf()
        z = dual.tanh(x * dual.exp(y))
        again = dual.autograd.grad(outputs=dual.tanh(x * 2), inputs=x, grad_outputs=x)
        return dual.autograd.grad(z.sum(), [y, z])[0], again

    outcomes = [trial(body, FaultyTorch({guilty: twice}), seed=seed) for seed in SEEDS]
    assert {identity_of_trial(outcome, Settings()).operator for outcome in outcomes} == {guilty}


def test_a_gradient_that_a_call_returns_for_an_input_in_strided_memory_has_the_operator_that_makes_it_wrong() -> None:
    def body() -> Any:
        x = at.random_tensor(shape=(3, 4), low=-1, high=1, layout="strided", requires_grad=True)
        return dual.autograd.grad(dual.tanh(x).sum(), [x])[0]

    outcome = trial(body, FaultyTorch({"tanh": twice}))
    assert identity_of_trial(outcome, Settings()).operator == "tanh"


def test_gradients_that_a_call_returns_in_another_order_are_its_own_fault() -> None:
    def body() -> Any:
        x, y = leaf(), leaf()
        return dual.autograd.grad((dual.tanh(x) * dual.exp(y)).sum(), [x, y])

    reversing = FaultyTorch({"autograd.grad": lambda grad: lambda *args: tuple(reversed(grad(*args)))})
    assert {identity_of_trial(trial(body, reversing), Settings()).operator} == {"autograd.grad"}


def test_a_gradient_that_a_call_returns_wrong_in_one_precision_only_is_the_operators_fault() -> None:
    def body() -> Any:
        x = at.random_tensor(shape=(3, 4), low=-1, high=1, dtype="float32")
        return dual.autograd.grad(dual.tanh(x), [x], x)[0]

    def in_single(tanh: Any) -> Any:
        return lambda x: (twice(tanh) if str(x.dtype) == "torch.float32" else tanh)(x)

    assert {identity_of_trial(trial(body, FaultyTorch({"tanh": in_single})), Settings()).operator} == {"tanh"}


def test_the_heading_of_a_gradient_that_a_call_returns_has_the_operator_of_its_key() -> None:
    def body() -> Any:
        x = leaf()
        return dual.autograd.grad(dual.tanh(x).sum(), x, create_graph=True)[0]

    outcome = trial(body, FaultyTorch({"tanh": twice}))
    failed = FailedTrial(ATest("test_it.py::test_it", body, Settings()), outcome, outcome.recorder.pair)
    finding = failed.diagnosed(RunContext(outcome.recorder.pair, Options(verify=False, shrink=2.0)), 0)
    assert (finding.operator, finding.identity.operator) == ("tanh", "tanh")


def test_gradients_that_are_wrong_only_after_clipping_are_named_after_it() -> None:
    def body() -> None:
        layer = dual.nn.Linear(4, 3)
        dual.tanh(layer(leaf())).sum().backward()
        dual.nn.utils.clip_grad_norm_(layer.parameters(), 0.1)

    clipping = "nn.utils.clip_grad_norm_"
    weaker = FaultyTorch({clipping: lambda clip: lambda given, norm: clip(given, 2 * norm)})
    assert operators(body, weaker) == {clipping}


def test_each_leaf_has_the_operator_that_makes_its_own_gradient_wrong() -> None:
    def body() -> Any:
        return dual.tanh(dual.exp(leaf())) + dual.sin(dual.exp(leaf()))

    outcome = trial(body, FaultyTorch({"tanh": twice, "sin": twice}))
    names = MismatchNames(outcome.program, outcome.recorder.pair, Settings())
    assert [names.operator(item) for item in outcome.mismatches] == ["tanh", "sin"]


def test_a_known_wrong_gradient_does_not_hide_that_of_another_operator_behind_the_same_call() -> None:
    def body() -> Any:
        return dual.tanh(dual.exp(leaf())) + dual.sin(dual.exp(leaf()))

    def judged(*known: str) -> Judgement:
        outcome = trial(body, FaultyTorch({"tanh": twice, "sin": twice}))
        entries = [LedgerEntry(name, "test_it.py::test_it", "gradient", "why", operator=name) for name in known]
        test = ATest("test_it.py::test_it", body, Settings())
        return FailedTrial(test, outcome, outcome.recorder.pair).judged(Ledger(tuple(entries)))

    found = judged("tanh")
    assert isinstance(found, Diverged)
    assert found.identity.operator == "sin"
    assert isinstance(judged("tanh", "sin"), Expected)
    assert isinstance(judged("exp"), Diverged)


def test_the_mismatches_of_a_trial_share_their_replay(replays: list[object]) -> None:
    outcome = trial(around_a_layer, FaultyTorch({"tanh": twice}))
    names = MismatchNames(outcome.program, outcome.recorder.pair, Settings())
    assert {names.operator(item) for item in outcome.mismatches} == {"tanh"}
    assert len(outcome.mismatches) > 2
    assert len(replays) == 1


def test_a_trial_is_replayed_for_its_key_once(replays: list[object]) -> None:
    outcome = trial(around_a_layer, FaultyTorch({"tanh": twice}))
    assert {identity_of_trial(outcome, Settings()).operator for _ in range(3)} == {"tanh"}
    assert len(replays) == 1


class _OnlySingle(FaultyTorch):
    def tensor(self, array: Any, **kwargs: Any) -> Any:
        if array.dtype == "float64":
            raise RuntimeError("no double precision")
        return super().tensor(array, **kwargs)


def test_a_candidate_without_double_precision_is_compared_in_its_own() -> None:
    assert operators(chain, _OnlySingle({"exp": twice})) == {"exp"}


def test_a_fault_that_no_replay_shows_keeps_the_name_of_the_first_reader() -> None:
    def once(exp: Any) -> Any:
        implementations = itertools.chain([twice(exp)], itertools.repeat(exp))

        def changing(x: Any) -> Any:
            return next(implementations)(x)

        return changing

    outcome = trial(chain, FaultyTorch({"exp": once}))
    first = outcome.mismatches[0]
    named = identity_of_trial(outcome, Settings()).operator
    assert named == operator_of(outcome.program.calls, first.slot, gradient=True) == "tanh"


def test_a_program_that_cannot_be_replayed_keeps_the_name_of_the_first_reader(monkeypatch: pytest.MonkeyPatch) -> None:
    outcome = trial(chain, FaultyTorch({"exp": twice}))
    monkeypatch.setattr(outcome.recorder, "opaque", "it holds a function")
    assert identity_of_trial(outcome, Settings()).operator == "tanh"


def test_of_two_gradients_within_the_tolerance_whose_sum_is_not_it_is_the_one_that_differs_more() -> None:
    def body() -> Any:
        x = at.random_tensor(shape=(3, 4), low=1, high=2, dtype="float64")
        return dual.neg(x).sum() + dual.abs(x).sum()  # the gradients of the two sum to zero

    replaced = {"neg": with_gradient(lambda one: one + 2e-10), "abs": with_gradient(lambda one: one + 9e-10)}
    assert operators(body, FaultyTorch(replaced)) == {"abs"}
