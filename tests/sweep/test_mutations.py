"""Mutations of programs are the same for a seed, are accepted by torch, and change what their name says."""

from __future__ import annotations

import dataclasses
import random
from typing import Any

import numpy as np
import pytest

from autotest.frameworks import framework
from autotest.program import Array, Call, Program, Ref, Root
from autotest.program.reduction import digest
from autotest.program.rewriting import tensor_call
from autotest.program.serialisation import pack_arrays, to_json
from autotest.replaying.replay import replay
from autotest.sources.mutations import CONTENTS, MUTATIONS, mutations

TORCH = framework("torch")


def program() -> Program:
    arrays = (
        Array(np.arange(12, dtype="float32").reshape(3, 4), "float32"),
        Array(np.arange(12, dtype="float32").reshape(3, 4), "float32"),
        Array(np.array([0, 2]), "int64"),
    )
    calls = [tensor_call(at, at, array, requires_grad=at < 2) for at, array in enumerate(arrays)]
    calls.append(Call("method", "index_select", (Ref(0), 0, Ref(2)), {}, 3))
    calls.append(
        Call(
            "function",
            "cross_entropy_like",
            (Ref(0), Ref(1), 1),
            {"rounding_mode": "floor", "dtype": Root("float32")},
            4,
        )
    )
    return Program(tuple(calls), arrays)


def in_place() -> Program:
    """Return a program with an in-place call on an image, with a flag and a fraction."""
    arrays = (Array((np.arange(16, dtype="float32") + 0.25).reshape(1, 2, 2, 4), "float32"),)
    calls = [tensor_call(0, 0, arrays[0], requires_grad=True)]
    calls.append(Call("method", "clone", (Ref(0),), {}, 1))
    calls.append(Call("method", "argsort", (Ref(1), 0), {"descending": True}, 2))
    calls.append(Call("method", "add_", (Ref(1), 0.5), {}, 3))
    return Program(tuple(calls), arrays)


def into_out() -> Program:
    arrays = tuple(Array(np.arange(3, dtype="float32") - 1, "float32") for _ in range(2))
    calls = [tensor_call(at, at, array, requires_grad=False) for at, array in enumerate(arrays)]
    return Program((*calls, Call("function", "abs", (Ref(0),), {"out": Ref(1)}, 2)), arrays)


def reading() -> Program:
    """Return a program that reads items of a tensor, with sizes that have a fixed sum."""
    array = Array(np.arange(12, dtype="float32").reshape(3, 4), "float32")
    calls = [tensor_call(0, 0, array, requires_grad=True)]
    calls.append(Call("operator", "getitem", (Ref(0), (1, slice(None))), {}, 1))
    calls.append(Call("function", "split", (Ref(1), [1, 3]), {}, 2))
    return Program(tuple(calls), (array,))


def into_a_matrix() -> Program:
    """Return a program with a call that writes into a matrix by `out=`, and one with two integers."""
    arrays = tuple(Array(np.arange(6, dtype="float32").reshape(2, 3) - 1, "float32") for _ in range(2))
    calls = [tensor_call(at, at, array, requires_grad=False) for at, array in enumerate(arrays)]
    calls.append(Call("method", "clamp", (Ref(0), 0, 2), {}, 2))
    return Program((*calls, Call("function", "abs", (Ref(2),), {"out": Ref(1)}, 3)), arrays)


def changed(name: str, seed: int = 1) -> Program:
    """Return a mutation of one of the programs."""
    mutated = [
        MUTATIONS[name](made(), random.Random(seed)) for made in (program, in_place, into_out, reading, into_a_matrix)
    ]
    return next(one for one in mutated if one is not None)


@pytest.mark.parametrize("name", MUTATIONS)
def test_a_mutation_changes_the_copy_only(name: str) -> None:
    fitting = 0
    for original in (program(), in_place(), into_out(), reading(), into_a_matrix()):
        before = str(to_json(original)), pack_arrays(original)
        mutated = MUTATIONS[name](original, random.Random(3))
        if mutated is not None:
            fitting += 1
            assert (str(to_json(mutated)), pack_arrays(mutated)) != before
        assert (str(to_json(original)), pack_arrays(original)) == before
    assert fitting


def test_the_same_seed_gives_the_same_mutations() -> None:
    once, again, other = ([name for name, _ in mutations([program()], seed, 6)] for seed in (1, 1, 2))
    assert once == again != other
    assert len(once) == 6


def test_every_mutation_that_fits_has_its_turn() -> None:
    made = mutations([program(), in_place(), into_out(), reading(), into_a_matrix()], 0, 3 * len(MUTATIONS))
    named = {name.partition(",")[0] for name, _ in made}
    assert named == set(MUTATIONS)


def test_a_call_in_place_through_a_view_changes_what_is_read_of_its_base() -> None:
    ran = replay(changed("in place through a view"), TORCH)
    assert ran.error is None
    assert np.array_equal(ran.values[-1].detach().numpy(), in_place().arrays[0].data + 0.5)


def test_a_call_in_place_with_gaps_leaves_what_lies_between_alone() -> None:
    ran = replay(changed("in place with gaps"), TORCH)
    assert ran.error is None
    view, base, data = ran.values[-3], ran.values[-1].detach().numpy(), in_place().arrays[0].data
    assert not view.is_contiguous()
    assert np.array_equal(base[..., ::2], data + 0.5)
    assert np.array_equal(base[..., 1::2], data)


def test_an_out_with_gaps_leaves_what_lies_between_alone() -> None:
    ran = replay(changed("out= with gaps"), TORCH)
    assert ran.error is None
    assert ran.values[-1].tolist() == [1, -1, 0, 0, 1, 1]


def test_an_out_lies_in_memory_the_other_way_round() -> None:
    ran = replay(changed("out= permuted"), TORCH)
    assert ran.error is None
    assert ran.values[-1].stride() == (1, 2)
    assert ran.values[-1].tolist() == [[0, 0, 1], [2, 2, 2]]


def test_two_numbers_are_exchanged() -> None:
    mutated = MUTATIONS["numbers exchanged"](into_a_matrix(), random.Random(0))
    assert mutated is not None
    assert mutated.calls[2].args[1:] == (2, 0)


def test_a_list_of_numbers_is_emptied_and_turned() -> None:
    drawn = [MUTATIONS["another list of numbers"](reading(), random.Random(seed)) for seed in range(40)]
    assert {str(one.calls[2].args[1]) for one in drawn if one} == {"[3, 1]", "[1]", "[1, 3, 3]", "[1, 4]"}
    assert changed("no numbers").calls[3].args[1] == []
    emptied = MUTATIONS["no numbers"](reading(), random.Random(0))
    assert emptied is not None
    assert emptied.calls[2].args[1] == []


def test_any_part_of_an_index_goes_up_to_the_end() -> None:
    drawn = [MUTATIONS["an index up to the end"](reading(), random.Random(seed)) for seed in range(40)]
    given = {str(one.calls[1].args[1]) for one in drawn if one}
    assert {"(slice(None, -1, None), slice(None, None, None))", "(1, slice(None, -1, None))"} <= given


@pytest.mark.parametrize(("index", "given"), [([[0, 1], slice(2)], (None, [0, 1], slice(2))), ([0, 1], (None, [0, 1]))])
def test_a_list_of_parts_is_an_index_of_several_dimensions(index: list[Any], given: tuple[Any, ...]) -> None:
    call = reading().calls[1]._replace(args=(Ref(0), index))
    listed = dataclasses.replace(reading(), calls=(reading().calls[0], call))
    drawn = [MUTATIONS["an index with a new dimension"](listed, random.Random(seed)) for seed in range(9)]
    assert str(given) in {str(one.calls[1].args[1]) for one in drawn if one}


def test_several_tensors_become_unlike_numbers() -> None:
    arrays = tuple(Array(np.ones(2, "float32"), "float32") for _ in range(3))
    calls = [tensor_call(at, at, array, requires_grad=False) for at, array in enumerate(arrays)]
    calls.append(Call("function", "where", (Ref(0), Ref(1), Ref(2)), {}, 3))
    made = [MUTATIONS["numbers for tensors"](Program(tuple(calls), arrays), random.Random(seed)) for seed in range(9)]
    given = [one.calls[-1].args for one in made if one is not None]
    assert {args[0] for args in given} == {Ref(0)}
    assert any(args[1] != args[2] for args in given)


def test_no_mutation_comes_twice() -> None:
    array = Array(np.ones(1, "float32"), "float32")
    one = Program((tensor_call(0, 0, array, requires_grad=False), Call("function", "abs", (Ref(0),), {}, 1)), (array,))
    made = [digest(mutated) for _, mutated in mutations([one], 0, 40)]
    assert len(made) == len({digest(one), *made}) - 1


def test_special_numbers_meet() -> None:
    first, second, _ = changed("special numbers that meet").arrays
    assert {str(number) for number in first.data.reshape(-1)[:4]} == {"nan", "inf", "-inf", "0.0"}
    assert np.array_equal(first.data, second.data, equal_nan=True)


def test_no_input_asks_for_a_gradient() -> None:
    assert [call.kwargs["requires_grad"] for call in changed("no gradients").inputs()] == [False] * 3


def test_a_dim_is_counted_from_the_end() -> None:
    drawn = {changed("counted from the end", seed).calls[3].args[1] for seed in range(20)}
    assert {-1, -2, -3} <= drawn


def test_any_two_tensors_may_be_the_same_one_also_in_a_list() -> None:
    arrays = tuple(Array(np.ones(2, "float32"), "float32") for _ in range(3))
    calls = [tensor_call(at, at, array, requires_grad=False) for at, array in enumerate(arrays)]
    calls.append(Call("function", "cat", ([Ref(0), Ref(1), Ref(2)],), {}, 3))
    listed = Program(tuple(calls), arrays)
    names = ("the same tensor twice", "the same tensor everywhere")
    drawn = [MUTATIONS[name](listed, random.Random(seed)) for name in names for seed in range(20)]
    given = {tuple(ref.slot for ref in one.calls[-1].args[0]) for one in drawn if one is not None}
    assert given == {(0, 0, 2), (0, 1, 0), (0, 1, 1), (0, 0, 0)}


def test_both_extremes_of_integers_are_set_where_there_is_room() -> None:
    array = Array(np.arange(4, dtype="int32"), "int32")
    one = Program((tensor_call(0, 0, array, requires_grad=False), Call("function", "abs", (Ref(0),), {}, 1)), (array,))
    mutated = MUTATIONS["extremes of integers"](one, random.Random(0))
    assert mutated is not None
    assert {-(1 << 31), (1 << 31) - 1} <= set(mutated.arrays[0].data.tolist())


def test_what_is_to_come_first_comes_first() -> None:
    names = [name.partition(",")[0] for name, _ in mutations([program(), in_place()], 0, 12, CONTENTS)]
    assert set(names) <= set(CONTENTS)


@pytest.mark.parametrize("name", ["permuted", "expanded", "offset view", "gaps"])
def test_a_layout_reaches_torch(name: str) -> None:
    ran = replay(changed(name), TORCH, upto=4)
    assert ran.error is None
    views = [value for value in ran.values if hasattr(value, "stride") and value._base is not None]
    assert any(not view.is_contiguous() or view.storage_offset() for view in views)


def test_shapes_change_together() -> None:
    for seed in range(5):
        mutated = MUTATIONS["zero-size"](program(), random.Random(seed))
        assert mutated is not None
        first, second, index = (array.data.shape for array in mutated.arrays)
        assert first == second
        assert 0 in (*first, *index)


def test_what_is_enlarged_stays_small_when_it_is_broadcast() -> None:
    arrays = tuple(Array(np.ones(shape, "float32"), "float32") for shape in ((3, 1, 1), (1, 3, 1), (1, 1, 3)))
    calls = [tensor_call(at, at, array, requires_grad=False) for at, array in enumerate(arrays)]
    calls.append(Call("function", "where", (Ref(0), Ref(1), Ref(2)), {}, 3))
    assert MUTATIONS["a large size"](Program(tuple(calls), arrays), random.Random(0)) is None


def test_integers_do_not_require_grad() -> None:
    mutated = MUTATIONS["another dtype everywhere"](program(), random.Random(0))
    assert mutated is not None
    for call in mutated.inputs():
        assert not (call.kwargs["requires_grad"] and "float" not in call.target)


def test_fractions_are_such_that_single_precision_rounds_them() -> None:
    mutated = MUTATIONS["fractions of double precision"](in_place(), random.Random(1))
    assert mutated is not None
    fraction = mutated.calls[-1].args[1]
    assert 0.4 < fraction < 0.6
    assert float(np.float32(fraction)) != fraction


def test_rows_are_cut_of_all_inputs_that_have_them() -> None:
    mutated = MUTATIONS["no rows"](program(), random.Random(1))
    assert mutated is not None
    assert [array.data.shape for array in mutated.arrays] == [(0, 4), (0, 4), (2,)]
