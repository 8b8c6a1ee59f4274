"""Dual objects in containers, as test bodies use them, are unwrapped on both sides."""

from __future__ import annotations

import collections
import dataclasses
import enum
import io
import itertools
from typing import NamedTuple

import pytest
import torch as plain

from autotest import UsageError, nothing, random, random_tensor, torch
from autotest.base.errors import NotReplayable
from autotest.base.settings import Settings
from autotest.emission import program_text
from autotest.program.serialisation import from_json, pack_arrays, to_json, unpack_arrays
from autotest.replaying.agreement import agree
from tests.support.faulty import FaultyTorch, plus
from tests.support.running import agrees, pair_with, trial


class Two(NamedTuple):
    one: object
    other: object


def layer():
    return torch.nn.Linear(3, 3)


def rows():
    return random_tensor(ndim=2, dim0=4, dim1=3)


def optimized(*layers, parameters):
    optimizer = torch.optim.SGD(parameters, lr=0.1)
    y = rows()
    for each in layers:
        y = each(y)
    y.sum().backward()
    optimizer.step()


def filtered_parameters():
    linear = layer()
    optimized(linear, parameters=filter(lambda parameter: parameter.requires_grad, linear.parameters()))


def chained_parameters():
    one, other = layer(), layer()
    optimized(one, other, parameters=itertools.chain(one.parameters(), other.parameters()))


def values_of_a_dict():
    linear = layer()
    optimized(linear, parameters=dict(linear.named_parameters()).values())


def named_tuple():
    x = rows()
    return torch.cat(Two(x * 2, x * 3))


@pytest.mark.parametrize("body", [filtered_parameters, chained_parameters, values_of_a_dict, named_tuple])
def test_iterators_views_and_named_tuples_are_arguments_like_lists_and_tuples(body):
    outcome = trial(body)
    assert agrees(outcome)
    assert outcome.program


def test_an_ordered_dict_of_modules_makes_a_network_with_their_names():
    def body():
        network = torch.nn.Sequential(collections.OrderedDict([("one", layer()), ("two", torch.nn.ReLU())]))
        assert [name for name, _ in network.named_children()] == ["one", "two"]
        return network(rows())

    outcome = trial(body)
    assert agrees(outcome)
    program = outcome.program
    assert from_json(to_json(program), unpack_arrays(pack_arrays(program))).calls == program.calls
    assert 'collections.OrderedDict({"one": m0, "two": m2})' in program_text(program)
    assert not agree(program, pair_with(), Settings()).refused
    assert trial(body, FaultyTorch(tensors={"relu": plus(1.0)})).mismatches


@pytest.mark.parametrize("momentum", [nothing(), random(0.1, 0.9)])
def test_nothing_leaves_its_key_out_of_a_dict(momentum):
    def body():
        linear = layer()
        optimized(linear, parameters=[{"params": linear.parameters(), "momentum": momentum}])

    assert agrees(trial(body))


def test_nothing_in_a_slice_is_an_end_that_was_left_open():
    def body():
        x = rows()
        assert x[1 : nothing()].shape == (3, 3)
        return x[nothing() : 1]

    assert agrees(trial(body))


def applied_function():
    def fill(module):
        if isinstance(module, torch.nn.Linear):
            torch.nn.init.constant_(module.weight, 0.5)

    return layer().apply(fill)(rows())


def closure_of_a_step():
    x = rows()
    optimizer = torch.optim.LBFGS([x], max_iter=2)

    def loss():
        optimizer.zero_grad()
        squares = (x**2).sum()
        squares.backward()
        return squares

    optimizer.step(loss)


def decorated_function():
    @torch.no_grad()
    def doubled(x):
        return torch.add(x, x)

    return doubled(rows())


def test_a_function_that_is_applied_to_modules_gets_dual_ones():
    assert agrees(trial(applied_function))


def test_a_function_under_a_context_runs_on_both_sides_within_it():
    outcome = trial(decorated_function)
    assert agrees(outcome)
    assert [call.kind for call in outcome.recorder.calls][-3:] == ["enter", "function", "exit"]


def test_a_function_that_one_side_calls_cannot_use_both():
    with pytest.raises(UsageError, match="called a function of the test"):
        trial(closure_of_a_step)


def test_each_side_writes_into_a_buffer_of_its_own():
    def body():
        buffer = io.BytesIO()
        x = rows()
        torch.save(x, buffer)
        buffer.seek(0)
        again = torch.load(buffer)
        buffer.seek(0)
        buffer.truncate()
        torch.save(x * 2, buffer)
        buffer.seek(0)
        return again + torch.load(buffer)

    # The candidate writes a longer file with another beginning, so that neither side can read the other's.
    fault = FaultyTorch({"save": lambda save: saved_behind_a_mark, "load": lambda load: loaded_behind_a_mark})
    outcome = trial(body, fault)
    assert agrees(outcome)
    with pytest.raises(NotReplayable, match="BytesIO objects are written and read differently"):
        outcome.program  # noqa: B018


def saved_behind_a_mark(value, buffer):
    buffer.write(b"mark")
    plain.save(value, buffer)


def loaded_behind_a_mark(buffer):
    assert buffer.read(4) == b"mark"
    return plain.load(io.BytesIO(buffer.read()))


@dataclasses.dataclass
class Both:
    one: object


def test_an_argument_that_is_no_data_is_named_where_a_program_is_wanted():
    outcome = trial(lambda: (torch.is_tensor(Both(1)), rows() + 1)[1])
    with pytest.raises(
        NotReplayable, match=r"an argument of type Both \(Both\(one=1\)\) is neither plain data nor dual"
    ):
        outcome.program  # noqa: B018


class Dimension(enum.IntEnum):
    ROWS = 0


class Reduction(str, enum.Enum):
    SUM = "sum"


class Factor(float):
    def __repr__(self):
        return "a factor"


def test_members_of_enumerations_and_other_plain_values_of_a_subclass_are_data():
    def body():
        x = rows()
        return (
            x.sum(dim=Dimension.ROWS),
            x[Dimension.ROWS] * Factor(0.1),
            torch.nn.functional.mse_loss(x, x + 1, reduction=Reduction.SUM),
        )

    outcome = trial(body, FaultyTorch({}))
    assert agrees(outcome)
    again = from_json(to_json(outcome.program), unpack_arrays(pack_arrays(outcome.program)))
    assert not agree(again, outcome.recorder.pair, Settings()).mismatches
    given = [item for call in again.calls if call.kind != "tensor" for item in (*call.args, *call.kwargs.values())]
    assert [item for item in given if type(item) in (int, float, str)][:4] == [0, 0, 0.1, 1]
    assert "sum" in given
