"""A call that writes into an operand of its own, such as ``out=``, is named, judged and shrunk like any other."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

import autotest as at
from autotest import Divergence
from autotest import torch as dual
from autotest.base.allocator import unwritten_memory
from autotest.diagnosis.attribution.verdict import Evidence, judge
from autotest.frameworks.torch import TorchFramework
from autotest.program import Call, Program, Ref, Root
from autotest.replaying.replay import replay
from autotest.results.finding import Finding
from tests.support.faulty import FaultyTorch
from tests.support.running import trials


def drawn(*shape: int) -> Any:
    return at.random_tensor(shape=shape, low=1, high=3, dtype="float32", layout="contiguous", requires_grad=False)


def ignores_out(original: Any) -> Any:
    def called(*args: Any, out: Any = None, **named: Any) -> Any:
        return original(*args, **named)

    return called


def leaves_the_last_element(original: Any) -> Any:
    def called(*args: Any, out: Any = None, **named: Any) -> Any:
        result = original(*args, **named)
        out.view(-1)[:-1] = result.view(-1)[:-1]
        return out

    return called


def one_too_much_in_place(original: Any) -> Any:
    def called(x: Any, *args: Any) -> Any:
        return original(x, *args).sub_(-1)

    return called


def whole_batch_as_momentum(original: Any) -> Any:
    def called(x: Any, mean: Any, variance: Any, **named: Any) -> Any:
        return original(x, mean, variance, **{**named, "momentum": 1.0})

    return called


def sum_into(result: Callable[[], Any]) -> Callable[[], Any]:
    def body() -> Any:
        x, y, into = drawn(3, 4), drawn(3, 4), result()
        dual.add(x, y, out=into)
        return into

    return body


NEW: dict[str, Callable[[], Any]] = {
    "zeros": lambda: dual.zeros(3, 4),
    "uninitialised": lambda: dual.empty(3, 4),
    "random": lambda: dual.rand(3, 4),
    "drawn": lambda: drawn(3, 4),
}
OUT = {"ignored": ignores_out, "not filled": leaves_the_last_element}


def sevens(original: Any) -> Any:
    """Fill new memory, which may otherwise hold what another test left there: by chance the right result."""
    return lambda *args, **named: original(*args, **named).fill_(7)


def found(body: Callable[[], Any], faulty: FaultyTorch, folder: Path) -> Finding:
    with pytest.raises(Divergence) as raised:
        trials(body, folder, faulty, n=1, options={"shrink": 5.0})
    assert raised.value.finding is not None
    return raised.value.finding


@pytest.mark.parametrize("fault", OUT)
@pytest.mark.parametrize("result", NEW)
def test_an_output_operand_that_is_not_written_is_the_fault_of_the_call_that_gets_it(
    result: str, fault: str, tmp_path: Path
) -> None:
    finding = found(sum_into(NEW[result]), FaultyTorch({"add": OUT[fault], "empty": sevens}), tmp_path)
    assert (finding.operator, finding.identity.operator) == ("add", "add")
    assert finding.blame == "candidate"
    assert finding.program is not None
    # Nothing but two numbers is needed to show it, or one.
    assert max(array.data.size for array in finding.program.arrays) <= 2


@pytest.mark.parametrize("result", NEW)
def test_a_write_in_place_has_one_key_wherever_its_tensor_comes_from(result: str, tmp_path: Path) -> None:
    def body() -> Any:
        x = NEW[result]()
        if result == "uninitialised":
            x.zero_()
        x.add_(drawn(3, 4))
        return x

    finding = found(body, FaultyTorch(tensors={"add_": one_too_much_in_place}), tmp_path)
    assert finding.identity.operator == "add_"
    assert finding.blame == "candidate"


@pytest.mark.parametrize("result", ["zeros", "drawn"])
def test_statistics_that_a_layer_writes_wrongly_are_the_fault_of_that_layer(result: str, tmp_path: Path) -> None:
    def body() -> Any:
        mean = dual.zeros(4) if result == "zeros" else drawn(4)
        dual.nn.functional.batch_norm(drawn(3, 4), mean, drawn(4), training=True, momentum=0.1)
        return mean

    finding = found(body, FaultyTorch({"nn.functional.batch_norm": whole_batch_as_momentum}), tmp_path)
    assert finding.identity.operator == "nn.functional.batch_norm"
    assert finding.shrinking[0] != ""
    assert "nondeterministic" not in finding.verdict[0]


def test_what_is_computed_from_memory_that_was_not_written_is_told_by_the_call_that_did_not(tmp_path: Path) -> None:
    def body() -> Any:
        x = drawn(3, 4)
        into = x.new_empty(3, 4)
        dual.exp(x, out=into)
        return into.sum()

    # What is left in memory is of another size in the trial than in each replay.
    faulty = FaultyTorch({"exp": lambda exp: lambda x, out: out}, tensors={"new_empty": sevens})
    finding = found(body, faulty, tmp_path)
    assert finding.identity.operator == "exp"
    assert finding.blame == "candidate"


def one_too_much(original: Any) -> Any:
    def called(tensor: Any, *args: Any) -> Any:
        import torch

        result = original(tensor, *args)
        with torch.no_grad():
            return result.add_(1)

    return called


LAYERS: dict[str, Callable[[], tuple[Any, Any]]] = {
    "called": lambda: (layer := dual.nn.Linear(4, 4), layer.weight),
    "inside of another": lambda: (layer := dual.nn.Sequential(dual.nn.Tanh(), dual.nn.Linear(4, 2)), layer[1].bias),
}


@pytest.mark.parametrize("layer", LAYERS)
def test_the_initialisation_of_a_weight_has_one_key_in_every_layer(layer: str, tmp_path: Path) -> None:
    def body() -> Any:
        module, weight = LAYERS[layer]()
        dual.nn.init.constant_(weight, 0.5)
        return module(drawn(2, 4))

    finding = found(body, FaultyTorch({"nn.init.constant_": one_too_much}), tmp_path)
    assert (finding.operator, finding.identity.operator) == ("nn.init.constant_", "nn.init.constant_")
    assert finding.blame == "candidate"


@pytest.mark.parametrize("name", ["zeros_", "ones_", "eye_"])
def test_numpy_is_an_oracle_of_an_initialisation_that_is_not_random(name: str, tmp_path: Path) -> None:
    def body() -> Any:
        weight = drawn(3, 4)
        getattr(dual.nn.init, name)(weight)
        return weight

    finding = found(body, FaultyTorch({f"nn.init.{name}": one_too_much}), tmp_path)
    assert finding.blame == "candidate"


@pytest.mark.parametrize("dtype", ["float32", "int64", "bool"])
def test_new_memory_has_the_same_contents_in_each_replay_unless_they_are_to_differ(dtype: str) -> None:
    import torch

    program = Program((Call("function", "empty", (3, 4), {"dtype": Root(dtype)}, 0),), ())

    def contents() -> Any:
        (made,) = replay(program, TorchFramework()).values
        found = made.clone()
        made.fill_(1)  # what an earlier replay may leave there
        return found

    once, again = contents(), contents()
    with unwritten_memory(0x00):
        zeros = contents()
    assert torch.equal(once, again)
    assert not torch.equal(once, zeros)
    assert not zeros.any()


@pytest.mark.usefixtures("quick")
def test_an_output_operand_of_no_elements_is_resized_in_a_replay_too(report: Callable[..., str]) -> None:
    def resizes_nothing(original: Any) -> Any:
        return lambda x, y, out: out.copy_(original(x, y))

    told = report("add", resizes_nothing, lambda: dual.add(drawn(2, 3), 1, out=dual.empty(0)))
    assert "refuses or lacks what torch accepts [candidate]" in told


def test_a_constructor_that_is_given_numbers_returns_these_in_a_replay() -> None:
    made = Call("function", "Tensor", ([1.0, 2.0],), {}, 0)
    like = Call("method", "new", (Ref(0), [3.0, 4.0]), {}, 1)
    values = replay(Program((made, like), ()), TorchFramework()).values
    assert [value.tolist() for value in values] == [[1.0, 2.0], [3.0, 4.0]]


@pytest.mark.parametrize(
    ("in_new_memory", "noise", "blame"),
    [(True, (0.0, 1.0), "candidate"), (True, (1.0, 1.0), "nondeterministic"), (False, (0.0, 1.0), "nondeterministic")],
)
def test_runs_that_differ_accuse_only_a_side_that_leaves_new_memory_as_it_was(
    in_new_memory: bool, noise: tuple[float, float], blame: str
) -> None:
    evidence = Evidence("value", ("torch", "faulty"), noise, in_new_memory=in_new_memory)
    assert judge(evidence).blame == blame
