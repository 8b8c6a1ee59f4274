"""The meaning of calls is in one table, which agrees with torch's schemas."""

from __future__ import annotations

import inspect

import pytest
import torch as real

from autotest.comparison import Mismatch
from autotest.program import LAYOUT, Call, Ref, operator_of
from autotest.program import semantics as of
from autotest.program.calls import PROPERTY
from autotest.program.randomness import KnownContents, contents_of
from autotest.program.semantics import always_shares_memory, in_place, may_share_memory, overwrites, writes, written
from autotest.results.identity import operator_behind

NORMALISING = ("batch_norm", "instance_norm")


def function(target, *args, **kwargs):
    return Call("function", target, args, kwargs, 9)


def method(target, *args, **kwargs):
    return Call("method", target, (Ref(0), *args), kwargs, 9)


def operator(target, *args):
    return Call("operator", target, (Ref(0), *args), {}, 9)


def schemas():
    """Return the schemas of functions and methods of tensors, without private ones and those of lists and dicts."""
    for schema in real._C._jit_get_all_schemas():
        namespace, _, name = schema.name.partition("::")
        public = namespace == "aten" and not name.startswith("_")
        if public and schema.arguments and str(schema.arguments[0].type) == "Tensor" and hasattr(real.Tensor, name):
            yield name, schema


def changed(argument):
    return bool(argument.alias_info is not None and argument.alias_info.is_write)


#: Functions that write according to their schemas, although contents do not change.
ATTRIBUTES_ONLY = {"rename_", "requires_grad_", "retain_grad", "record_stream"}


def test_in_place_is_what_torchs_schemas_say():
    wrong = {
        name
        for name, schema in schemas()
        if not any(argument.name == "out" for argument in schema.arguments)
        and in_place(method(name)) != changed(schema.arguments[0])
    }
    assert wrong - ATTRIBUTES_ONLY == set()


def test_a_finding_about_an_input_has_the_name_of_the_first_call_that_computes_with_it():
    made = Call("tensor", "", (), {"requires_grad": True}, 0)
    asked = [Call("method", name, (Ref(0),), {}, at) for at, name in enumerate(("numel", "dim", "retain_grad"), 1)]
    assert operator_of([made, *asked, Call("function", "relu", (Ref(0),), {}, 4)], 0) == "relu"
    assert operator_of([made, *asked], 0) == "numel"


def test_a_finding_about_a_gradient_has_the_name_of_a_call_that_the_gradient_flows_through():
    made = Call("tensor", "", (), {"requires_grad": True}, 0)
    beside = Call("method", "permute", (Ref(0), 1, 0), {}, 1), Call("method", "detach", (Ref(0),), {}, 2)
    through = Call("method", "clone", (Ref(0),), {}, 3), Call("operator", "mul", (Ref(3), Ref(2)), {}, 4)
    calls = [made, *beside, *through, Call("method", "backward", (Ref(4),), {}, 5)]
    named = {
        symptom: operator_behind(calls, Mismatch("x0.grad", 0, symptom, "backward", "candidate", ""))
        for symptom in ("gradient", "value")
    }
    assert named == {"gradient": "clone", "value": "permute"}


def test_a_finding_about_a_cotangent_has_the_name_of_the_call_that_last_changed_what_it_is_pushed_through():
    leaf, pushed, other = (Call("tensor", "", (), {"requires_grad": at == 0}, at) for at in (0, 3, 4))
    made = Call("method", "clone", (Ref(0),), {}, 1)
    outputs, cotangents = [Ref(0), Ref(1)], [Ref(4), Ref(3)]
    backward = Call("function", "autograd.backward", (outputs, cotangents), {}, 5)
    for changed, name in (("fill_", "fill_"), ("numel", "clone")):
        calls = [leaf, made, Call("method", changed, (Ref(1),), {}, 2), pushed, other, backward]
        assert operator_of(calls, 3) == name


def test_a_view_is_what_torchs_schemas_say():
    views = {
        name
        for name, schema in schemas()
        if not any(map(changed, schema.arguments)) and any(r.alias_info is not None for r in schema.returns)
    }
    unknown = {"slice", "slice_inverse", "is_pinned", "pin_memory", "to_here", "local_value", "keys", "get"}
    sparse = {"indices", "crow_indices", "col_indices", "ccol_indices", "row_indices", "coalesce"}
    assert {name for name in views if not may_share_memory(method(name))} - unknown - sparse == set()


@pytest.mark.parametrize("name", ["t", "detach", "squeeze", "unsqueeze", "diagonal", "expand", "view", "select"])
def test_what_always_shares_memory_does_so_on_strided_operands_too(name):
    arguments = {"unsqueeze": (0,), "expand": (2, 3), "view": (2, 3), "select": (0, 0)}.get(name, ())
    x = real.arange(6.0).reshape(2, 3)
    assert always_shares_memory(method(name))
    assert getattr(x, name)(*arguments).untyped_storage().data_ptr() == x.untyped_storage().data_ptr()


@pytest.mark.parametrize(
    ("name", "dtype"),
    [
        *[("bool", "bool"), ("byte", "uint8"), ("char", "int8"), ("short", "int16"), ("int", "int32")],
        *[("long", "int64"), ("cfloat", "complex64"), ("cdouble", "complex128"), ("double", "float64")],
    ],
)
def test_a_cast_to_the_dtype_that_a_tensor_has_already_is_the_tensor(name, dtype):
    x = real.ones(2, dtype=getattr(real, dtype))
    assert getattr(x, name)() is x
    assert may_share_memory(method(name))
    assert not always_shares_memory(method(name))


@pytest.mark.parametrize(
    ("name", "arguments", "named"),
    [
        *[("atleast_1d", (), {}), ("atleast_2d", (), {}), ("atleast_3d", (), {})],
        *[("unsafe_chunk", (2,), {}), ("unsafe_split", (2,), {}), ("meshgrid", (), {"indexing": "ij"})],
    ],
)
def test_a_view_that_no_schema_tells_of_is_known(name, arguments, named):
    x = real.ones(4) if name == "meshgrid" else real.ones(2, 3, 4)
    made = getattr(real, name)(x, *arguments, **named)
    first = made[0] if isinstance(made, tuple | list) else made
    assert first.untyped_storage().data_ptr() == x.untyped_storage().data_ptr()
    assert may_share_memory(function(name, Ref(0)))


def test_statistics_are_where_torchs_signatures_have_them():
    aten = {
        name: [argument.name for argument in schema.arguments]
        for schema in real._C._jit_get_all_schemas()
        if (name := schema.name.removeprefix("aten::")) in of._STATISTICS and not schema.overload_name
    }
    functional = {
        f"nn.functional.{name}": [*inspect.signature(getattr(real.nn.functional, name)).parameters]
        for name in NORMALISING
    }
    found = {
        path: tuple((names.index(name), name) for name in ("running_mean", "running_var"))
        for path, names in {**aten, **functional}.items()
    }
    assert found == dict(of._STATISTICS)


@pytest.mark.parametrize("name", ["orthogonal", "sparse", "normal", "uniform"])
def test_numbers_that_a_deprecated_initialisation_draws_are_shared(name):
    assert contents_of(f"nn.init.{name}", (), {}) is KnownContents.SHARED
    assert of.fills(function(f"nn.init.{name}", Ref(0)))


def test_reshape_may_share_memory_but_need_not():
    assert may_share_memory(method("reshape"))
    assert not always_shares_memory(method("reshape"))


def test_positions_of_inplace_are_those_of_torchs_signatures():
    signatures = {
        name: list(inspect.signature(value).parameters)
        for name, value in vars(real.nn.functional).items()
        if inspect.isfunction(value) and not name.startswith("_") and not name.endswith("_")
    }
    known = {name: names.index("inplace") for name, names in signatures.items() if "inplace" in names}
    assert known == dict(of._INPLACE_AT)


@pytest.mark.parametrize(
    "call",
    [
        method("add_", 1),
        operator("iadd", 1),
        operator("setitem", 0, 1),
        function("nn.functional.relu", Ref(0), inplace=True),
        function("nn.functional.elu", Ref(0), 1.0, True),
        function("nn.functional.relu", input=Ref(0), inplace=True),
        function("nn.functional.hardswish", Ref(0), 1),  # torch takes any true value
        function("relu_", input=Ref(0)),
        function("add", Ref(1), Ref(2), out=Ref(0)),
        function("nn.functional.batch_norm", Ref(1), Ref(0), None, training=True),
        function("batch_norm", Ref(1), None, None, Ref(0), Ref(2), True, 0.1, 1e-5, False),
        function("instance_norm", Ref(1), None, None, Ref(2), Ref(0), True, 0.1, 1e-5, False),
        function("nn.functional.embedding", Ref(1), Ref(0), max_norm=1.0),
        function("nn.functional.embedding_bag", Ref(1), weight=Ref(0), max_norm=1.0),
        function("nn.functional.embedding_bag", Ref(1), Ref(0), None, 1.0),
        function("nn.init.normal_", Ref(0)),
        function("nn.init.constant", Ref(0), 1.0),  # deprecated, and as much in place as `constant_`
        Call("overwrite", "", (Ref(0), 1), {}, 9),
    ],
    ids=lambda call: f"{call.kind} {call.target} {call.kwargs}",
)
def test_what_writes_into_an_operand_is_known(call):
    assert Ref(0) in list(written(call))
    assert writes(call)


@pytest.mark.parametrize(
    "call",
    [
        method("add", 1),
        method("requires_grad_"),
        operator("invert"),
        operator("is_"),
        operator("imatmul", Ref(1)),  # torch's tensors have none: x @= y makes a new tensor
        method("__call__", Ref(1)),
        function("nn.functional.relu", Ref(0), inplace=False),
        function("nn.functional.relu", Ref(0), 0),
        function("normal", Ref(0), 1.0),
        function("nn.functional.gelu", Ref(0)),
        function("nn.functional.embedding", Ref(0), Ref(1), 0),
        function("embedding", Ref(0), Ref(1), 0, False),
        Call("getattr", "real_", (Ref(0),), {}, 9),
    ],
    ids=lambda call: f"{call.kind} {call.target}",
)
def test_what_writes_into_nothing_is_known(call):
    assert not writes(call)


def test_new_contents_need_not_depend_on_the_old_ones():
    assert all(map(overwrites, [method("zero_"), method("copy_", Ref(1)), operator("setitem", 0, 1)]))
    assert not any(map(overwrites, [method("add_", 1), operator("iadd", 1), method("clone")]))


def test_gradients_are_pushed_back_by_three_calls():
    pushes = [method("backward"), function("autograd.backward", Ref(0)), function("autograd.grad", Ref(0), Ref(1))]
    assert all(map(of.pushes_gradients, pushes))
    assert [of.returns_gradients(call) for call in pushes] == [False, False, True]
    assert not of.pushes_gradients(Call("getattr", "grad", (Ref(0),), {}, 1))


def test_what_is_differentiated_names_its_gradients():
    x = Call("tensor", "float32", (), {}, 0)
    one = Call("function", "exp", (Ref(0),), {}, 1)
    once = Call("function", "autograd.grad", (Ref(1), Ref(0)), {"create_graph": True}, 2)
    first = Call("operator", "getitem", (Ref(2), 0), {}, 3)
    again = Call("function", "autograd.backward", ([Ref(3)], [Ref(0)]), {}, 4)
    assert {operator_of((x, one, once, first, again), slot) for slot in range(5)} == {"exp"}


def test_an_item_of_several_results_that_is_differentiated_is_of_their_operator():
    x = Call("tensor", "float32", (), {}, 0)
    both = Call("function", "sort", (Ref(0),), {}, 1)
    item = Call("operator", "getitem", (Ref(1), 0), {}, 2)
    calls = (x, both, item, Call("function", "autograd.grad", ([Ref(2)], [Ref(0)]), {}, 3))
    assert operator_of(calls, 3) == "sort"


def test_a_leaf_that_is_differentiated_by_itself_has_no_operator():
    x = Call("tensor", "float32", (), {}, 0)
    calls = (x, Call("function", "autograd.grad", (Ref(0), Ref(0)), {}, 1))
    assert operator_of(calls, 1) == "autograd.grad"


def test_a_leaf_that_is_only_pushed_back_from_is_known_by_its_own_call():
    x = Call("tensor", "float32", (), {}, 0)
    leaf = Call("method", "requires_grad_", (Ref(0),), {}, 1, LAYOUT)
    cotangent = Call("tensor", "float32", (), {}, 2)
    alone = (x, leaf, cotangent, Call("function", "autograd.backward", ([Ref(1)], [Ref(2)]), {}, 3))
    assert [operator_of(alone, slot) for slot in range(2)] == ["tensor", "requires_grad_"]
    both = Call("function", "autograd.backward", ([Ref(1), Ref(3)], [Ref(2), Ref(2)]), {}, 4)
    calls = (x, leaf, cotangent, Call("function", "exp", (Ref(1),), {}, 3), both)
    assert {operator_of(calls, slot) for slot in (0, 1, 3)} == {"exp"}


def test_a_property_without_the_call_that_drew_is_known_by_its_own_call():
    x = Call("tensor", "float32", (), {}, 0)
    greatest = Call("method", "max", (Ref(0),), {}, 1, PROPERTY)
    assert [operator_of((x, greatest), slot) for slot in range(2)] == ["max", "max"]


def test_a_cotangent_is_known_by_what_it_is_pushed_back_through():
    x = Call("tensor", "float32", (), {}, 0)
    cotangent = Call("tensor", "float32", (), {}, 2)
    calls = (
        x,
        Call("method", "exp", (Ref(0),), {}, 1),
        cotangent,
        method("backward", Ref(2))._replace(args=(Ref(1), Ref(2))),
    )
    assert operator_of(calls, 2) == "exp"


@pytest.mark.parametrize(
    ("call", "found"),
    [
        (method("backward"), (Ref(0), None)),
        (method("backward", Ref(1)), (Ref(0), Ref(1))),
        (method("backward", gradient=Ref(1)), (Ref(0), Ref(1))),
        (function("autograd.backward", [Ref(0)], [Ref(1)]), ([Ref(0)], [Ref(1)])),
        (function("autograd.backward", Ref(0), grad_tensors=Ref(1)), (Ref(0), Ref(1))),
        (function("autograd.grad", Ref(0), Ref(2)), (Ref(0), None)),
        (function("autograd.grad", Ref(0), inputs=Ref(2), grad_outputs=Ref(1)), (Ref(0), Ref(1))),
        (function("autograd.grad", outputs=Ref(0), inputs=Ref(2), grad_outputs=Ref(1)), (Ref(0), Ref(1))),
    ],
)
def test_what_is_pushed_back_is_found_by_position_and_by_keyword(call, found):
    assert of.backward_arguments(call) == found
