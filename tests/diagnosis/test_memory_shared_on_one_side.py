"""The call whose result shares memory on one side alone is blamed, and not the write that shows it."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from autotest import Divergence, random_tensor
from autotest import torch as dual
from tests.support.faulty import FaultyTorch, returning
from tests.support.running import trials


def drawn() -> Any:
    return random_tensor(shape=(3, 3), low=1, high=2, requires_grad=False, layout="contiguous")


def read_afterwards() -> Any:
    """Compute from the owner of a view of a view only after the view was written into."""
    x = drawn()
    x.transpose(0, 1)[0].fill_(3.0)
    return x.reshape(-1)


def written_owner() -> Any:
    """Write into the operand of a copy, and use the copy."""
    x = drawn()
    first = x[:, 0].clone()
    x[:, 0] = x[:, 1].clone()
    x[:, 1] = first
    return x


def selected() -> Any:
    x = drawn()
    y = x[[0]]
    y += 1
    return x


def joined() -> Any:
    x = drawn()
    y = dual.cat([x])
    y += 1
    return x


def attribute() -> Any:
    x = drawn()
    x.data.mul_(2.0)
    return x


def cloned() -> Any:
    """Use a copy after its original was overwritten."""
    x = drawn() * 1
    y = x.clone()
    x.zero_()
    return dual.exp(y)


def stepped() -> Any:
    """Let an optimizer change the parameter that was made of a tensor."""
    x = drawn() * 1
    parameter = dual.nn.Parameter(x)
    optimizer = dual.optim.SGD([parameter], lr=0.1)
    (parameter * 2).sum().backward()
    optimizer.step()
    return x + 0


def copied_attribute(original: Any) -> Any:
    """Return the right attribute, but ``x.data`` as a copy; all attributes have one name in torch's protocol."""
    is_data = original.args[1].__self__.__name__ == "data"
    return lambda x: original(x).clone() if is_data else original(x)


CASES: dict[str, tuple[Callable[[], Any], FaultyTorch]] = {
    "transpose": (read_afterwards, FaultyTorch(tensors={"transpose": returning(lambda y: y.clone())})),
    "clone": (written_owner, FaultyTorch(tensors={"clone": lambda clone: lambda x: x.view_as(x)})),
    "getitem": (
        selected,
        FaultyTorch(tensors={"__getitem__": lambda get: lambda x, at: x[:1] if at == [0] else get(x, at)}),
    ),
    "cat": (joined, FaultyTorch({"cat": lambda cat: lambda given: given[0]})),
    "nn.Parameter": (stepped, FaultyTorch({"nn.Parameter": lambda cls: lambda x: cls(x.clone())})),
    "data": (attribute, FaultyTorch(tensors={"__get__": copied_attribute})),
}


@pytest.mark.parametrize("operator", CASES)
def test_the_call_whose_result_shares_memory_on_one_side_is_named_and_marked(operator: str, quick: Any) -> None:
    body, fault = CASES[operator]
    with pytest.raises(Divergence) as raised:
        trials(body, quick, fault, n=1, options={"shrink": 2.0})
    finding = raised.value.finding
    assert finding is not None
    assert finding.operator == operator
    assert finding.divergent is not None
    assert finding.program.calls[finding.divergent].target == operator


def test_a_write_that_only_one_side_makes_is_blamed_itself(quick: Any) -> None:
    def body() -> Any:
        x = drawn()
        x[0].mul_(2.0)
        return x.reshape(-1)

    with pytest.raises(Divergence) as raised:
        trials(body, quick, FaultyTorch(tensors={"mul_": lambda mul: lambda x, y: x}), n=1, options={"shrink": 2.0})
    finding = raised.value.finding
    assert finding is not None
    assert finding.operator == "mul_"


def test_a_call_that_gives_the_tensor_for_its_result_other_memory_is_blamed_and_not_the_view(quick: Any) -> None:
    def body() -> Any:
        buffer, x = dual.zeros(4, 3), random_tensor(shape=(3, 4), dtype="float32", requires_grad=False)
        dual.exp(x, out=buffer.t())
        return buffer

    replacing = FaultyTorch({"exp": lambda exp: lambda x, out: out.set_(exp(x))})
    with pytest.raises(Divergence) as raised:
        trials(body, quick, replacing, n=1, options={"shrink": 2.0})
    finding = raised.value.finding
    assert finding is not None
    assert finding.operator == "exp"


def test_a_copy_that_shares_memory_is_named_and_marked_though_only_a_later_call_is_given_something_else(
    quick: Any,
) -> None:
    sharing = FaultyTorch(tensors={"clone": lambda clone: lambda x: x.view_as(x)})
    with pytest.raises(Divergence) as raised:
        trials(cloned, quick, sharing, n=1, options={"shrink": 2.0})
    finding = raised.value.finding
    assert finding is not None
    assert finding.operator == finding.identity.operator == "clone"
    assert finding.divergent is not None
    assert finding.program.calls[finding.divergent].target == "clone"
