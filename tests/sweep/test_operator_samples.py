"""Programs of torch's operator database: the same each time, in every variant and form, and never modified."""

from __future__ import annotations

import traceback
import unittest

import numpy as np
import pytest
import torch

from autotest.base.errors import FrameworkMissing
from autotest.frameworks import framework
from autotest.frameworks.samples import DatabaseEntry, Sample
from autotest.frameworks.torch_lowering import arranged
from autotest.frameworks.torch_samples.torch_operators import OperatorDatabase
from autotest.frameworks.torch_samples.torch_testing import internal
from autotest.program import Program, Ref, Root
from autotest.program.serialisation import pack_arrays, to_json
from autotest.replaying.replay import replay

TORCH = framework("torch")


@pytest.fixture(scope="module")
def database() -> OperatorDatabase:
    return OperatorDatabase(TORCH)


@pytest.fixture(scope="module")
def entries(database: OperatorDatabase) -> dict[str, DatabaseEntry]:
    return {entry.key: entry for entry in database.entries()}


def programs(samples: list[Sample]) -> list[Program]:
    return [sample.program for sample in samples if sample.program is not None]


def written(samples: list[Sample]) -> list[tuple[str, bytes]]:
    return [(str(to_json(program)), pack_arrays(program)) for program in programs(samples)]


def test_variants_of_one_name_are_entries_of_their_own(entries: dict[str, DatabaseEntry]) -> None:
    variants = {entry.variant for entry in entries.values() if entry.name == "div"}
    assert variants == {"no_rounding_mode", "trunc_rounding", "floor_rounding"}


def test_aliases_are_entries_too(entries: dict[str, DatabaseEntry]) -> None:
    assert {"abs", "absolute", "special.expit"} <= set(entries)


def test_an_operator_has_all_of_its_forms(entries: dict[str, DatabaseEntry]) -> None:
    assert set(entries["add"].forms) == {"function", "method", "in-place", "out=", "operator", "in-place operator"}
    assert entries["__rsub__"].forms == ("reflected",)
    assert entries["add"].paths["in-place"] == "Tensor.add_"


def test_samples_do_not_depend_on_what_was_drawn_before(database: OperatorDatabase) -> None:
    first = written(list(database.samples("softmax", "function", "float32", "sample", 7)))
    torch.manual_seed(123)
    list(database.samples("add", "function", "float32", "sample", 7))
    assert written(list(database.samples("softmax", "function", "float32", "sample", 7))) == first
    # Newer torch seeds its samples itself.
    if torch.__version__.startswith("2.0"):
        assert written(list(database.samples("softmax", "function", "float32", "sample", 8))) != first


def test_samples_are_the_same_inside_of_a_unittest(database: OperatorDatabase) -> None:
    """Newer torch would seed samples by the name of the test."""
    made: list[list[tuple[str, bytes]]] = []

    class Inside(unittest.TestCase):
        def test_it(self) -> None:
            made.append(written(list(database.samples("softmax", "function", "float32", "sample", 7))))

    Inside("test_it").debug()
    assert made == [written(list(database.samples("softmax", "function", "float32", "sample", 7)))]


def test_making_samples_notes_no_stack_for_accelerators(
    database: OperatorDatabase, monkeypatch: pytest.MonkeyPatch
) -> None:
    """torch formats a stack for each unused device. This takes longer than a sample, and some are kept for ever."""
    noted: list[int] = []
    monkeypatch.setattr(traceback, "format_stack", lambda *given: noted.append(1) or [])
    for kind in ("sample", "error", "reference"):
        assert list(database.samples("cat", "function", "float32", kind, 7))  # type: ignore[arg-type]
    assert noted == []


def test_making_samples_leaves_torchs_generator_alone(database: OperatorDatabase) -> None:
    torch.manual_seed(5)
    before = torch.get_rng_state()
    list(database.samples("mul", "function", "float32", "sample", 7))
    assert torch.equal(torch.get_rng_state(), before)


@pytest.mark.parametrize(
    ("form", "kind", "target"),
    [
        ("function", "function", "add"),
        ("method", "method", "add"),
        ("in-place", "method", "add_"),
        ("out=", "function", "add"),
        ("operator", "operator", "add"),
        ("in-place operator", "operator", "iadd"),
    ],
)
def test_each_form_is_written_as_it_is_called(database: OperatorDatabase, form: str, kind: str, target: str) -> None:
    program = programs(list(database.samples("add", form, "float32", "sample", 7)))[0]  # type: ignore[arg-type]
    call = program.calls[-1]
    assert (call.kind, call.target) == (kind, target)
    assert ("out" in call.kwargs) == (form == "out=")


def test_an_in_place_form_writes_into_a_copy_of_a_leaf(database: OperatorDatabase) -> None:
    program = programs(list(database.samples("add", "in-place", "float32", "sample", 7)))[0]
    written_into = program.calls[program.calls[-1].args[0].slot]
    assert written_into.target == "clone"
    assert program.calls[written_into.args[0].slot].kwargs["requires_grad"]


def test_what_is_wrapped_in_a_function_is_unwrapped(database: OperatorDatabase) -> None:
    program = programs(list(database.samples("expand", "function", "float32", "sample", 7)))[0]
    assert [call.target for call in program.calls if call.kind == "method"] == ["expand"]


def test_of_an_eigenvector_only_what_is_unique_is_compared(database: OperatorDatabase) -> None:
    program = programs(list(database.samples("linalg.eigh", "function", "float64", "sample", 7)))[0]
    decomposed = next(call.slot for call in program.calls if call.target == "linalg.eigh")
    assert decomposed in program.undefined
    assert program.calls[-1].slot not in program.undefined


def test_error_inputs_are_refused_by_torch(database: OperatorDatabase) -> None:
    found = programs(list(database.samples("cat", "function", "float32", "error", 7)))
    assert found
    assert all(replay(program, TORCH).error is not None for program in found)


def test_noncontiguous_samples_keep_their_strides(database: OperatorDatabase) -> None:
    found = programs(list(database.samples("exp", "function", "float32", "noncontiguous", 7)))
    inputs = [replay(program, TORCH).values[program.calls[-1].args[0].slot] for program in found]
    assert any(not tensor.is_contiguous() for tensor in inputs)


def test_a_sample_that_is_no_data_is_left_out_with_its_reason(database: OperatorDatabase) -> None:
    (key,) = ["nn.functional.triplet_margin_with_distance_loss"]
    left_out = [sample.left_out for sample in database.samples(key, "function", "float32", "sample", 7)]
    assert "an argument of type PairwiseDistance" in left_out


def test_samples_are_not_changed_by_running_them(database: OperatorDatabase) -> None:
    for program in programs(list(database.samples("add", "in-place", "float32", "sample", 7))):
        before = pack_arrays(program)
        replay(program, TORCH)
        assert pack_arrays(program) == before


BASE = np.arange(24.0).reshape(2, 3, 4)


@pytest.mark.parametrize(
    "data",
    [
        BASE,
        BASE.transpose(2, 0, 1),
        BASE[..., ::2],
        BASE.transpose(1, 0, 2)[:, :, ::3],
        np.broadcast_to(BASE[:1], (5, 3, 4)),
        np.broadcast_to(BASE[:, :, :1], (2, 3, 7)),
        np.lib.stride_tricks.as_strided(np.arange(9.0), (3, 3), (16, 8)),
        BASE[:, 1:2, :],
        BASE[:, :0],
        np.array(3.0),
    ],
    ids=str,
)
def test_an_arrangement_has_the_values_and_strides_of_the_original(data: np.ndarray) -> None:
    base, views = arranged(data)
    assert base.flags.c_contiguous
    tensor = torch.from_numpy(np.array(base))
    for kind, target, rest in views:
        tensor = tensor[rest[0]] if kind == "operator" else getattr(tensor, target)(*rest)
    assert np.array_equal(tensor.numpy(), data)
    if data.size > 1:
        longer = [dim for dim, size in enumerate(data.shape) if size > 1]
        assert [tensor.stride(dim) for dim in longer] == [data.strides[dim] // data.itemsize for dim in longer]


def test_a_tensor_used_twice_is_one_value_of_the_program(database: OperatorDatabase) -> None:
    from autotest.frameworks.torch_lowering import Builder

    builder = Builder(TORCH)  # type: ignore[arg-type]
    tensor = torch.ones(2)
    assert builder.operand([tensor, tensor]) == [Ref(0), Ref(0)]


def test_a_torch_without_the_database_says_so() -> None:
    with pytest.raises(FrameworkMissing, match="no database"):
        internal("no_such_module")


def test_an_optional_argument_is_given_that_no_sample_gives(database: OperatorDatabase) -> None:
    found = programs(list(database.samples("nn.functional.elu", "function", "float32", "option", 7)))
    assert {name for program in found for name in program.calls[-1].kwargs} == {"alpha", "inplace"}
    in_place = next(program for program in found if "inplace" in program.calls[-1].kwargs)
    assert replay(in_place, TORCH).error is None


def test_two_options_are_given_at_once_that_both_show(database: OperatorDatabase) -> None:
    def given(name: str) -> set[frozenset[str]]:
        made = database.samples(name, "function", "float32", "option", 1)
        return {frozenset(sample.program.calls[-1].kwargs) for sample in made if sample.program is not None}

    assert frozenset(("alpha", "inplace")) in given("nn.functional.elu")
    # The effect of these shows where there are infinities.
    assert frozenset(("posinf", "neginf")) in given("nan_to_num")


def test_schemas_tell_the_optional_arguments_of_built_in_functions(database: OperatorDatabase) -> None:
    found = programs(list(database.samples("sort", "function", "float32", "option", 7)))
    given = {name for program in found if replay(program, TORCH).error is None for name in program.calls[-1].kwargs}
    assert {"dim", "descending", "stable"} <= given


def test_what_computes_in_another_dtype_is_asked_to(database: OperatorDatabase) -> None:
    found = programs(list(database.samples("mean", "function", "float32", "option", 7)))
    given = {program.calls[-1].kwargs.get("dtype") for program in found if replay(program, TORCH).error is None}
    assert Root("float64") in given


def test_items_are_assigned_wherever_they_are_read(database: OperatorDatabase) -> None:
    found = programs(list(database.samples("__getitem__", "in-place operator", "float32", "sample", 7)))
    assert {call.target for program in found for call in program.calls if call.kind == "operator"} >= {"setitem"}
    ran = [replay(program, TORCH) for program in found]
    assert all(one.error is None and one.values[-1].requires_grad for one in ran)


def test_a_reflected_operator_has_a_number_on_its_left(database: OperatorDatabase) -> None:
    for program in programs(list(database.samples("__rsub__", "reflected", "float32", "sample", 7))):
        assert isinstance(program.calls[-1].args[0], float)


def test_optional_arguments_are_left_out_that_all_samples_give(database: OperatorDatabase) -> None:
    """The samples of unique always give ``sorted``, ``return_inverse``, ``return_counts`` and ``dim``."""
    found = {
        tuple(sample.program.calls[-1].kwargs)
        for sample in database.samples("unique", "function", "int64", "option", 0)
        if sample.program is not None
    }
    assert {(), ("return_inverse",), ("sorted", "return_inverse", "return_counts")} <= found


@pytest.mark.parametrize(("name", "names"), [("add", "other"), ("transpose", "dim0 dim1"), ("gather", "dim index")])
def test_arguments_are_given_by_their_names(database: OperatorDatabase, name: str, names: str) -> None:
    last = [
        sample.program.calls[-1]
        for sample in database.samples(name, "function", "float32", "option", 0)
        if sample.program
    ]
    assert any(len(call.args) == 1 and call.kwargs.keys() >= set(names.split()) for call in last)
