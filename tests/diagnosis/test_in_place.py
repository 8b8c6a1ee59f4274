"""If an in-place call is wrong, the report names it, and not the call that created its tensor."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import autotest as at
from autotest import Divergence
from autotest import torch as dual
from autotest.base.settings import Settings
from autotest.diagnosis.attribution.lockstep import first_divergent_in
from autotest.diagnosis.rounding.perturbed_operands import can_be_scaled, factors
from autotest.diagnosis.shrinking.failure_signature import FailureSignature
from autotest.frameworks import Pair
from autotest.frameworks.torch import TorchFramework
from autotest.program import Array, Call, Program, Ref
from autotest.program.rewriting import tensor_call, widened
from autotest.replaying.agreement import agree, results
from autotest.results.finding import Finding
from autotest.results.ledger import Ledger, LedgerEntry
from tests.support import planted_inplace
from tests.support.faulty import FaultyTorch, plus, returning
from tests.support.running import pair_with, trial, trials


def drawn(**named: Any) -> Any:
    return at.random_tensor(shape=(2, 3), low=1, high=3, dtype="float32", **named)


def power() -> Any:
    y = drawn() * 1
    y **= 2
    return y


def difference() -> Any:
    y = drawn() * 1
    y -= drawn()
    return y


def through_a_view() -> Any:
    x = drawn(requires_grad=False)
    x.view(6).add_(1)
    return x


def a_row_filled() -> Any:
    x = drawn(requires_grad=False)
    x[0].fill_(0.5)
    return x


def told_to_be_in_place() -> Any:
    y = drawn() - 2
    dual.relu_(y)
    return y


def first_of_three() -> Any:
    y = dual.exp(drawn(requires_grad=False))
    y += 1
    y *= 3
    return y


def found(body: Callable[[], Any], folder: Path) -> Finding:
    with pytest.raises(Divergence) as raised:
        trials(body, folder, planted_inplace.wrong(), n=1, options={"shrink": 1.0})
    assert raised.value.finding is not None
    return raised.value.finding


@pytest.mark.parametrize(
    ("body", "operator"),
    [
        (power, "ipow"),
        (difference, "isub"),
        (through_a_view, "add_"),
        (a_row_filled, "fill_"),
        (told_to_be_in_place, "relu_"),
        (first_of_three, "iadd"),
    ],
)
def test_a_call_in_place_is_named_itself_in_heading_and_key(
    body: Callable[[], Any], operator: str, tmp_path: Path
) -> None:
    finding = found(body, tmp_path)
    assert finding.operator == operator
    assert finding.identity.operator == operator
    assert finding.identity.key.startswith(f"faulty-{operator}-value-")


def scaled_view(name: str, *args: Any) -> Any:
    x = drawn(requires_grad=False)
    getattr(x, name)(*args).mul_(2.0)
    return x


def copied(original: Any) -> Any:
    return lambda *args: original(*args).clone()


def beyond_its_operand(original: Any) -> Any:
    """Return a call in place that changes the whole tensor of which its operand is a part."""

    def wrong(x: Any, *args: Any) -> Any:
        held = x.untyped_storage().nbytes() // x.element_size()
        original(x.as_strided((held,), (1,), 0), *args)
        return x

    return wrong


@pytest.mark.parametrize(
    ("name", "args", "fault", "operator"),
    [
        ("view", (6,), {"view": copied}, "view"),
        ("select", (0, 0), {"mul_": beyond_its_operand}, "mul_"),
    ],
)
def test_a_call_whose_result_shares_memory_on_one_side_only_is_named_and_not_the_write_that_shows_it(
    name: str, args: Any, fault: Any, operator: str, tmp_path: Path
) -> None:
    with pytest.raises(Divergence) as raised:
        trials(lambda: scaled_view(name, *args), tmp_path, FaultyTorch(tensors=fault), n=1, options={"shrink": 1.0})
    finding = raised.value.finding
    assert finding is not None
    assert (finding.operator, finding.identity.operator) == (operator, operator)


def test_a_value_that_was_wrong_before_it_was_written_into_is_its_own_calls(tmp_path: Path) -> None:
    def body() -> Any:
        y = dual.exp(drawn(requires_grad=False))
        y += 1
        return y

    with pytest.raises(Divergence) as raised:
        trials(body, tmp_path, FaultyTorch({"exp": plus(1.0)}), n=1)
    assert raised.value.finding is not None
    assert raised.value.finding.identity.operator == "exp"


def test_a_result_that_a_later_call_wrote_into_by_mistake_has_the_name_of_that_call(tmp_path: Path) -> None:
    def body() -> Any:
        x = dual.exp(drawn(requires_grad=False))
        return x, dual.sin(x)

    def written_into(sin: Any) -> Any:
        return lambda x: x.copy_(sin(x))

    with pytest.raises(Divergence) as raised:
        trials(body, tmp_path, FaultyTorch({"sin": written_into}), n=1)
    assert raised.value.finding is not None
    assert raised.value.finding.identity.operator == "sin"


def masked(x: Any) -> Any:
    return x.masked_fill_(x > 2, 1.0)


def put(x: Any) -> Any:
    x[x > 2] = 1.0
    return x


def scaled_twice(x: Any) -> Any:
    y = x * 1
    y.mul_(x > 2)
    return x.mul_(y)


@pytest.mark.parametrize("body", [masked, put, scaled_twice])
def test_what_is_written_by_means_of_a_wrong_result_has_the_name_of_that_result(body: Any, tmp_path: Path) -> None:
    fault = FaultyTorch(tensors={"gt": lambda gt: lambda *args: ~gt(*args)})
    with pytest.raises(Divergence) as raised:
        trials(lambda: body(drawn(requires_grad=False).clone()), tmp_path, fault, n=1)
    finding = raised.value.finding
    assert finding is not None
    assert (finding.operator, finding.identity.operator) == ("gt", "gt")


def test_a_cotangent_that_a_backward_wrote_into_has_the_name_of_the_operator_that_it_differentiates(
    tmp_path: Path,
) -> None:
    import torch

    class EmptiesItsCotangent(torch.autograd.Function):
        @staticmethod
        def forward(ctx: Any, x: Any) -> Any:
            return x.sin()

        @staticmethod
        def backward(ctx: Any, cotangent: Any) -> Any:
            return cotangent.clone() + 0 * cotangent.zero_()

    def body() -> Any:
        cotangent = drawn(layout="strided", requires_grad=False)
        dual.sin(drawn()).backward(cotangent)

    faulty = FaultyTorch({"sin": lambda sin: lambda x: EmptiesItsCotangent.apply(x)})  # noqa: PLW0108 - no signature
    with pytest.raises(Divergence) as raised:
        trials(body, tmp_path, faulty, n=1)
    assert raised.value.finding is not None
    assert raised.value.finding.identity.operator == "sin"


def test_an_input_that_a_later_call_wrote_into_by_mistake_is_not_hidden_by_what_is_known_of_the_first_reader(
    tmp_path: Path,
) -> None:
    def writes_into_its_operand(sin: Any) -> Any:
        def called(x: Any) -> Any:
            result = sin(x)
            x.add_(1)
            return result

        return called

    def body() -> Any:
        x = drawn(requires_grad=False)
        return dual.exp(x), dual.sin(x)

    known = Ledger((LedgerEntry("known", "*", "value", "planted", "exp"),))
    faulty = FaultyTorch({"exp": plus(1.0), "sin": writes_into_its_operand})
    with pytest.raises(Divergence) as raised:
        trials(body, tmp_path, faulty, n=1, ledger=known)
    assert raised.value.finding is not None
    assert raised.value.finding.identity.operator == "sin"
    assert trials(body, tmp_path, FaultyTorch({"exp": plus(1.0)}), n=1, ledger=known).expected


@pytest.mark.parametrize(
    "writing",
    [
        Call("method", "relu_", (Ref(1),), {}, 2),
        Call("function", "nn.functional.relu", (Ref(1),), {"inplace": True}, 2),
    ],
    ids=lambda call: call.target,
)
def test_a_smaller_program_shows_the_failure_of_a_call_that_wrote_into_the_result_of_another(writing: Call) -> None:
    numbers = Array(np.ones(2, "float32"), "float32")
    made = (tensor_call(0, 0, numbers, requires_grad=False), Call("function", "exp", (Ref(0),), {}, 1))
    adds = returning(lambda result: result.add_(1))
    pair = Pair(TorchFramework(), FaultyTorch({"nn.functional.relu": adds}, tensors={"relu_": adds}))
    agreement = agree(Program((*made, writing), (numbers,)), pair, Settings())
    assert agreement.mismatches[0].slot == 1
    assert FailureSignature("value", "forward", "candidate", writing.target, "").shown_by(agreement)


def test_a_module_that_works_in_place_is_named_itself(tmp_path: Path) -> None:
    def wrong(relu: type) -> type:
        return type("ReLU", (relu,), {"forward": lambda self, x: relu.forward(self, x).add_(1)})

    def body() -> Any:
        y = drawn(requires_grad=False) - 2
        dual.nn.ReLU(inplace=True)(y)
        return dual.exp(y)

    with pytest.raises(Divergence) as raised:
        trials(body, tmp_path, FaultyTorch({"nn.ReLU": wrong}), n=1, options={"shrink": 5.0})
    finding = raised.value.finding
    assert finding is not None
    assert finding.operator == "nn.ReLU"
    assert finding.program is not None
    assert [call.target for call in finding.program.calls if call.kind != "tensor"] == ["nn.ReLU", "__call__"]


def test_an_operand_that_is_written_into_may_be_given_by_keyword(tmp_path: Path) -> None:
    """The call is recognised as one in place, so that the candidate is accused and the smallest program is found."""

    def body() -> Any:
        y = drawn(requires_grad=False) - 2
        dual.nn.functional.relu(input=y, inplace=True)
        return y

    with pytest.raises(Divergence) as raised:
        trials(body, tmp_path, FaultyTorch({"nn.functional.relu": plus(1.0)}), n=1, options={"shrink": 5.0})
    finding = raised.value.finding
    assert finding is not None
    assert finding.blame == "candidate"
    assert finding.program is not None
    assert [call.target for call in finding.program.calls if call.kind != "tensor"] == ["nn.functional.relu"]


def test_a_weight_whose_norm_is_limited_is_written_into_by_the_embedding(tmp_path: Path) -> None:
    def body() -> Any:
        weight = drawn(requires_grad=False) + 2
        dual.nn.functional.embedding(dual.tensor([0, 1]), weight, max_norm=1.0)
        return dual.sin(weight)

    def beside(embedding: Any) -> Any:
        def scaled(rows: Any, weight: Any, max_norm: float) -> Any:
            found = embedding(rows, weight, max_norm=max_norm)
            weight.mul_(1.5)
            return found

        return scaled

    with pytest.raises(Divergence) as raised:
        trials(body, tmp_path, FaultyTorch({"nn.functional.embedding": beside}), n=1)
    assert raised.value.finding is not None
    assert raised.value.finding.identity.operator == "nn.functional.embedding"


@pytest.mark.parametrize("view", ["t", "chunk", "detach"])
def test_a_view_whose_owner_a_write_does_not_reach_is_named_beside_the_write(view: str, tmp_path: Path) -> None:
    def body() -> Any:
        x = drawn(requires_grad=False) * 1
        part = x.chunk(2)[0] if view == "chunk" else getattr(x, view)()
        part.zero_()
        return x

    copying = returning(lambda made: tuple(one.clone() for one in made) if view == "chunk" else made.clone())
    with pytest.raises(Divergence) as raised:
        trials(body, tmp_path, FaultyTorch(tensors={view: copying}), n=1, options={"shrink": 5.0})
    finding = raised.value.finding
    assert finding is not None
    assert finding.operator == finding.identity.operator == view
    assert [call.target for call in finding.program.calls if call.kind == "method"] == [view, "zero_"]


@pytest.mark.parametrize("aliased", ["abs", "clone"])
def test_a_call_whose_operand_a_later_write_reaches_is_named(aliased: str, tmp_path: Path) -> None:
    def body() -> Any:
        x = drawn(requires_grad=False) * 1
        getattr(x, aliased)().zero_()
        return x * 2

    same = FaultyTorch(tensors={aliased: lambda original: lambda x: x})
    with pytest.raises(Divergence) as raised:
        trials(body, tmp_path, same, n=1, options={"shrink": 5.0})
    finding = raised.value.finding
    assert finding is not None
    assert finding.operator == finding.identity.operator == aliased
    assert finding.blame == "candidate"


def test_a_call_that_only_reads_what_an_earlier_write_reached_is_not_named(tmp_path: Path) -> None:
    def body() -> Any:
        x = drawn(requires_grad=False)
        x.clone().add_(1.0)
        return x * 2

    same = FaultyTorch(tensors={"clone": lambda original: lambda x: x})
    with pytest.raises(Divergence) as raised:
        trials(body, tmp_path, same, n=1, options={"shrink": 5.0})
    finding = raised.value.finding
    assert finding is not None
    assert finding.operator == finding.identity.operator == "clone"


#: Functions whose result is their operand itself, which no table of names tells.
GIVING_THEIR_OPERAND: dict[str, Callable[[Any], Any]] = {
    "a dropout that drops nothing": lambda y: dual.nn.functional.dropout(y, 0.5, False),
    "a module that does nothing": lambda y: dual.nn.Identity()(y),  # noqa: PLW0108 - modules are made in trials only
    "a matrix as a matrix": lambda y: dual.atleast_2d(y),  # noqa: PLW0108 - outside of trials, it would import OneFlow
}


def written_by_way_of(give: Callable[[Any], Any]) -> Callable[[], Any]:
    def body() -> Any:
        y = dual.sin(at.random_tensor(shape=(3, 4), low=-1, high=1, dtype="float32", requires_grad=False))
        dual.nn.functional.hardswish(give(y), True)
        return y

    return body


def a_percent_more(function: Callable[..., Any]) -> Callable[..., Any]:
    return lambda *args, **named: function(*args, **named).mul_(1.01)


@pytest.mark.parametrize("give", GIVING_THEIR_OPERAND.values(), ids=GIVING_THEIR_OPERAND)
def test_a_wrong_write_by_way_of_a_call_that_gives_its_operand_is_no_rounding(
    give: Callable[[Any], Any], tmp_path: Path
) -> None:
    wrong = FaultyTorch({"nn.functional.hardswish": a_percent_more})
    with pytest.raises(Divergence) as raised:
        trials(written_by_way_of(give), tmp_path, wrong)
    assert raised.value.finding.operator == "nn.functional.hardswish"
    assert "as torch does [candidate]" in str(raised.value)


@pytest.mark.parametrize("give", GIVING_THEIR_OPERAND.values(), ids=GIVING_THEIR_OPERAND)
def test_the_call_that_writes_by_way_of_one_that_gives_its_operand_is_the_divergent_one(
    give: Callable[[Any], Any],
) -> None:
    pair = pair_with(FaultyTorch({"nn.functional.hardswish": a_percent_more}))
    program = trial(written_by_way_of(give)).program
    (written,) = [call.slot for call in program.calls if call.target == "sin"]
    slot = first_divergent_in([written], program, pair, Settings())
    assert slot is not None
    assert program.calls[slot].target == "nn.functional.hardswish"


@pytest.mark.parametrize(("give", "movable"), [("flatten", False), ("exp", True)])
def test_operands_are_perturbed_only_where_a_later_write_reaches_them(give: str, movable: bool) -> None:
    """A perturbed operand is a copy: the write into a view of the copy leaves the result of the first call alone."""

    def body() -> Any:
        y = dual.sin(at.random_tensor(shape=(3, 4), low=-1, high=1, dtype="float32", requires_grad=False))
        dual.nn.functional.hardswish(getattr(dual, give)(y), True)
        return y

    program = trial(body).program
    first = next(call.slot for call in program.calls if call.target == give)
    values = results(program := widened(program)[0], TorchFramework())
    ones = factors(program, [first], values, 0.0, 0)
    assert ones
    assert can_be_scaled(program, TorchFramework(), ones, values) is movable
