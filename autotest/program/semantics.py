"""Properties of a call beyond its result, such as whether it writes into operands or runs a backward pass."""

from __future__ import annotations

import itertools
import operator
from collections.abc import Iterable, Iterator, Mapping, Sequence
from types import MappingProxyType
from typing import Final

from autotest.program.calls import COTANGENT, LAYOUT, Call, Operand, Program, Ref, leaves, refs
from autotest.program.randomness import FILLING, KnownContents, contents_of_result, function_name, is_uninitialised

#: Kinds of calls that perform an operation of a framework.
OPERATIONS: Final = frozenset(("function", "method", "operator"))

_IN_PLACE_OPERATORS: Final = frozenset(
    "iadd isub imul itruediv ifloordiv imod ipow iand ior ixor ilshift irshift setitem delitem".split()
)
#: Methods named like an in-place method that do not change the contents.
_ATTRIBUTES_ONLY: Final = frozenset(("requires_grad_", "rename_"))
#: Functions with an argument `inplace` -> its position.
_INPLACE_AT: Final[Mapping[str, int]] = MappingProxyType(
    {
        **dict.fromkeys(("relu", "relu6", "selu", "silu", "mish", "hardswish", "hardsigmoid"), 1),
        **dict.fromkeys(("elu", "celu", "leaky_relu"), 2),
        **dict.fromkeys(("threshold", "hardtanh", "alpha_dropout", "feature_alpha_dropout"), 3),
        **dict.fromkeys(("dropout", "dropout1d", "dropout2d", "dropout3d"), 3),
        "rrelu": 4,
    }
)
#: Positions and names of the running statistics that a normalisation updates in training mode.
_STATISTICS: Final[Mapping[str, tuple[tuple[int, str], ...]]] = MappingProxyType(
    {
        **dict.fromkeys(
            ("nn.functional.batch_norm", "nn.functional.instance_norm"), ((1, "running_mean"), (2, "running_var"))
        ),
        **dict.fromkeys(
            ("batch_norm", "instance_norm", "native_batch_norm"), ((3, "running_mean"), (4, "running_var"))
        ),
    }
)
#: Functions that scale rows of ``weight=``, the second argument, in place if ``max_norm=``, the fourth, is given.
_RENORMALIZING: Final = frozenset(("nn.functional.embedding", "nn.functional.embedding_bag"))
_VIEWS: Final = frozenset(
    (
        "H T adjoint alias align_to as_strided atleast_1d atleast_2d atleast_3d bfloat16 bool broadcast_tensors "
        "broadcast_to byte cdouble cfloat char chunk conj contiguous cpu cuda data detach diagonal double dsplit "
        "expand expand_as flatten float getitem half hsplit imag int long mH mT matrix_H meshgrid moveaxis movedim "
        "narrow numpy_T permute positive ravel real refine_names rename reshape reshape_as resolve_conj resolve_neg "
        "select short slice split split_with_sizes squeeze swapaxes swapdims t tensor_split to transpose type type_as "
        "unbind unflatten unfold unsafe_chunk unsafe_split unsafe_split_with_sizes unsqueeze values view view_as "
        "view_as_complex view_as_real vsplit"
    ).split()
)
#: Views that may contain only a part of their operand.
_PARTS: Final = frozenset(
    "as_strided chunk diagonal dsplit getitem hsplit imag narrow real select slice split split_with_sizes tensor_split "
    "unbind unfold unsafe_chunk unsafe_split unsafe_split_with_sizes values vsplit".split()
)
#: Calls that return a view of their operand or a copy, depending on the operand.
_SOMETIMES_VIEWS: Final = frozenset(
    "bfloat16 bool byte cdouble cfloat char conj contiguous cpu cuda double flatten float half int long positive ravel "
    "reshape reshape_as resolve_conj resolve_neg short to type type_as".split()
)
#: Functions whose result has a shape that depends on the contents of their operands.
_SHAPED_BY_CONTENTS: Final = frozenset(
    "argwhere bincount masked_select nonzero one_hot repeat_interleave unique unique_consecutive where".split()
)
_RETURN_GRADIENTS: Final = frozenset(("autograd.grad",))
_LEAVE_GRADIENTS: Final = frozenset(("backward", "autograd.backward"))
_PUSH_GRADIENTS: Final = _LEAVE_GRADIENTS | _RETURN_GRADIENTS
_GIVE_GRADIENTS: Final = _RETURN_GRADIENTS | {"grad"}
_HOLDERS: Final = frozenset(("nn.Module",))
_target: Final = operator.attrgetter("target")
#: Methods that convert a module, or a tensor, to another precision.
PRECISION_METHODS: Final = ("double", "float", "half", "bfloat16")
#: Methods that change the state of a module or tensor and compute nothing.
_SETTINGS: Final = frozenset(("train", "eval", "requires_grad_", "to", "load_state_dict", *PRECISION_METHODS))
#: Functions and methods that only describe a tensor, or change how its gradient is kept.
_DESCRIBING: Final = frozenset(
    "data_ptr dim element_size get_device is_complex is_contiguous is_floating_point is_signed is_tensor ndimension "
    "nelement numel register_hook requires_grad_ retain_grad size storage_offset stride".split()
)
#: Functions that change a mode of the process.
_MODES: Final = frozenset(
    (
        "set_default_dtype set_default_tensor_type set_grad_enabled inference_mode use_deterministic_algorithms "
        "set_autocast_enabled set_autocast_cpu_enabled set_autocast_cpu_dtype set_autocast_dtype"
    ).split()
)
#: Functions that make a module compute one of its parameters from others, or undo this.
_REPARAMETRIZING: Final = frozenset(
    (
        "weight_norm spectral_norm orthogonal remove_weight_norm remove_spectral_norm remove_parametrizations "
        "register_parametrization"
    ).split()
)


def targets(calls: Iterable[Call]) -> Iterator[str]:
    """Return the targets of `calls`, for a first check of all calls that is as cheap as a full check of one."""
    return map(_target, calls)


def base_name(call: Call) -> str:
    """Return the last part of the target of `call`; see `function_name`."""
    return function_name(call.target)


def argument(call: Call, position: int | None, name: str) -> Operand:
    """Return the argument at `position`, if it has one, or called `name`; None if it is not given."""
    return call.args[position] if position is not None and len(call.args) > position else call.kwargs.get(name)


def plain_name(operator: str) -> str:
    """Return the last part of an operator's name without the in-place suffix: ``relu`` for ``nn.functional.relu_``."""
    return operator.rpartition(".")[2].rstrip("_")


def in_place(call: Call) -> bool:
    """Whether `call` writes into its first operand for any arguments: ``add_``, ``x[...] = y``, ``x += y``."""
    name = base_name(call)
    if call.kind == "operator":
        return name in _IN_PLACE_OPERATORS
    if call.kind not in ("function", "method"):
        return False
    return name.endswith("_") and not name.endswith("__") and name not in _ATTRIBUTES_ONLY


def assigns_items(call: Call) -> bool:
    """Whether `call` is ``x[...] = y`` or ``del x[...]``, which return nothing."""
    return call.kind == "operator" and call.target in ("setitem", "delitem")


def in_place_by_argument(call: Call) -> bool:
    """Whether an argument makes `call` write into its first operand: ``relu(x, inplace=True)``."""
    if call.kind not in ("function", "method"):
        return False
    given = argument(call, _INPLACE_AT.get(base_name(call)), "inplace")
    return type(given) is not Ref and bool(given)  # torch accepts any true value, such as 1


def writes_first_operand(call: Call) -> bool:
    """Whether `call` writes into its first operand, whether its name says so or an argument."""
    return in_place(call) or in_place_by_argument(call)


def first_operand(call: Call) -> Ref | None:
    """Return the first operand if it is an earlier value. A function of torch may get it by keyword, as ``input=x``."""
    given = argument(call, 0, "input")
    return given if type(given) is Ref else None


def with_first_operand(call: Call, operand: Operand) -> Call:
    """Return `call` with `operand` where `first_operand` finds the first one."""
    if call.args:
        return call._replace(args=(operand, *call.args[1:]))
    return call._replace(kwargs={**call.kwargs, "input": operand})


def overwritten_operand(call: Call) -> Ref | None:
    """Return the first operand of `call` if it is an earlier value that the call writes into."""
    return first_operand(call) if writes_first_operand(call) else None


def out_operands(call: Call) -> list[Ref]:
    """Return the tensors that `call` is given by ``out=``, in which it stores its results."""
    return [item for item in leaves(call.kwargs.get("out")) if type(item) is Ref]


def written(call: Call) -> Iterator[Ref]:
    """Yield the earlier values that `call` writes into, except writes of a module to its own buffers and operands."""
    if call.kind in ("overwrite", "load_state", "setattr") or writes_first_operand(call):
        owner = first_operand(call)
        if owner is not None:
            yield owner
    yield from out_operands(call)
    yield from (item for item in _written_by_functions(call) if type(item) is Ref)


def _written_by_functions(call: Call) -> Iterator[Operand]:
    """Yield what functions of layers write into besides their first operand: running statistics, a scaled weight."""
    if call.kind != "function":
        return
    for position, name in _STATISTICS.get(call.target, ()):
        yield argument(call, position, name)
    if call.target in _RENORMALIZING and argument(call, 3, "max_norm") is not None:
        yield argument(call, 1, "weight")


def writes(call: Call) -> bool:
    """Whether `call` writes into any earlier value."""
    return next(written(call), None) is not None


def fills(call: Call) -> bool:
    """Whether `call` overwrites its whole first operand, independently of the old contents: ``zero_``, ``copy_``."""
    return call.kind in ("function", "method") and base_name(call) in FILLING


def returns_new_memory(call: Call) -> bool:
    """Whether `call` returns memory that nobody has written, as ``torch.empty`` does."""
    return is_uninitialised(call.target) and contents_of_result(call) is KnownContents.UNDEFINED


def overwrites(call: Call) -> bool:
    """Whether `call` gives its first operand, or items of it, contents that need not depend on the old ones."""
    return fills(call) or assigns_items(call)


def may_share_memory(call: Call) -> bool:
    """Whether the result of `call` may share memory with its first operand, as views do."""
    return base_name(call) in _VIEWS and call.kind in (*OPERATIONS, "getattr")


def always_shares_memory(call: Call) -> bool:
    """Whether the result of `call` is a view of its first operand for any operand."""
    return may_share_memory(call) and base_name(call) not in _SOMETIMES_VIEWS


def covers_its_operand(call: Call) -> bool:
    """Whether the result of `call`, if it is a view, has all elements of its first operand."""
    return may_share_memory(call) and base_name(call) not in _PARTS


def shaping_operands(call: Call) -> Iterator[Ref]:
    """Return the operands whose contents decide on the shape of the result: the mask of ``x[mask]``."""
    if call.target == "getitem":
        return (leaf for leaf in leaves(call.args[1:]) if type(leaf) is Ref)
    return refs(call) if base_name(call) in _SHAPED_BY_CONTENTS else iter(())


def makes_input(call: Call) -> bool:
    """Whether `call` makes a tensor of a captured array, or a view that gives such a tensor its memory layout."""
    return call.kind == "tensor" or call.note == LAYOUT


def is_backward(call: Call) -> bool:
    """Whether `call` runs a backward pass that accumulates gradients in leaves."""
    return call.kind in ("function", "method") and call.target in _LEAVE_GRADIENTS


def returns_gradients(call: Call) -> bool:
    """Whether `call` runs a backward pass that returns the gradients."""
    return call.kind == "function" and call.target in _RETURN_GRADIENTS


def pushes_gradients(call: Call) -> bool:
    """Whether `call` runs a backward pass, which accumulates gradients in leaves or returns them."""
    return call.kind in ("function", "method") and call.target in _PUSH_GRADIENTS


def backward_arguments(call: Call) -> tuple[Operand, Operand]:
    """Return the outputs that `call` differentiates and the cotangents it passes; None for an argument left out."""
    if call.kind == "method":
        names: tuple[str, ...] = ("", "gradient")
    else:
        names = ("outputs", "inputs", "grad_outputs") if returns_gradients(call) else ("tensors", "grad_tensors")
    return argument(call, 0, names[0]), argument(call, len(names) - 1, names[-1])


def pushed_pairs(call: Call) -> list[tuple[Operand, Operand]]:
    """Return each output that `call` differentiates with its cotangent, None if that is left out."""
    outputs, given = (one if isinstance(one, (list, tuple)) else [one] for one in backward_arguments(call))
    return list(itertools.zip_longest(outputs, given[: len(outputs)]))


def differentiated_slots(call: Call) -> list[int]:
    """Return the slots of the values that the backward pass of `call` starts from."""
    return [item.slot for item in leaves(backward_arguments(call)[0]) if type(item) is Ref]


def pushed_slots(call: Call) -> list[int]:
    """Return the slots of the cotangents that the backward pass of `call` is given."""
    return [item.slot for item in leaves(backward_arguments(call)[1]) if type(item) is Ref]


def cotangent_arrays(program: Program) -> set[int]:
    """Return the indices of the captured arrays that backward passes are given as cotangents."""
    pushed = {slot for call in program.calls if pushes_gradients(call) for slot in pushed_slots(call)}
    # A cotangent with a memory layout of its own is read by the views that give it this.
    given = [call for call in program.inputs() if call.slot in pushed or call.note == COTANGENT]
    return {call.args[0].index for call in given}


def gives_gradients(call: Call) -> bool:
    """Whether the result of `call` is a gradient, or several: ``x.grad``, ``autograd.grad``."""
    return returns_gradients(call) if call.kind == "function" else reads_gradient(call)


def reads_gradient(call: Call) -> bool:
    """Whether `call` is ``x.grad``."""
    return call.kind == "getattr" and call.target == "grad"


def is_step(call: Call) -> bool:
    """Whether `call` is a step of an optimizer or a scheduler."""
    return call.kind == "method" and call.target == "step"


def clips_gradients(call: Call) -> bool:
    """Whether `call` scales the gradients of parameters in place: ``nn.utils.clip_grad_norm_``."""
    return base_name(call).startswith("clip_grad")


def is_module_call(call: Call) -> bool:
    """Whether `call` calls an object, such as a module."""
    return call.kind == "method" and call.target == "__call__"


def is_class(call: Call) -> bool:
    """Whether `call` creates an object of a class of the framework, such as a module."""
    return call.kind == "function" and base_name(call)[:1].isupper()


def makes_module(call: Call) -> bool:
    """Whether `call` creates a module or a parameter from a class of the framework."""
    return is_class(call) and call.target.startswith("nn.")


def makes_optimizer(call: Call) -> bool:
    """Whether `call` creates an optimizer or a scheduler."""
    return is_class(call) and call.target.startswith("optim.")


def is_setting(call: Call) -> bool:
    """Whether `call` changes the state of a module or a tensor and computes nothing."""
    return call.kind in ("load_state", "setattr") or (call.kind == "method" and call.target in _SETTINGS)


def describes(call: Call) -> bool:
    """Whether `call` computes nothing from the contents of its operand: ``x.numel()``, ``x.retain_grad()``."""
    return call.kind in OPERATIONS and base_name(call) in _DESCRIBING


def sets_mode(call: Call) -> bool:
    """Whether `call` changes a mode of the process, such as the default dtype."""
    return base_name(call) in _MODES


def left_for_good(calls: Sequence[Call], call: Call) -> int | None:
    """Return the slot of the context manager that `call` leaves if no later one of `calls` needs it, else None."""
    if call.kind != "exit" or type(call.args[0]) is not Ref:
        return None
    needed = any(call.args[0] in set(refs(later)) for later in calls[call.slot + 1 :])
    return None if needed else call.args[0].slot


def loads_state(call: Call) -> bool:
    """Whether `call` gives a module, or an optimizer, the state that a test took from elsewhere."""
    return call.kind == "method" and call.target == "load_state_dict"


def reparametrizes(call: Call) -> bool:
    """Whether `call` changes which parameters its first operand, a module, has: ``nn.utils.weight_norm``."""
    if call.kind != "function" or not call.target.startswith("nn.utils."):
        return False
    return base_name(call) in _REPARAMETRIZING or call.target.startswith("nn.utils.prune.")


def is_holder(call: Call) -> bool:
    """Whether `call` creates a module that only contains others; it represents a module class defined by a test."""
    return call.kind == "function" and call.target in _HOLDERS


def make_holders(calls: Iterable[Call]) -> bool:
    """Whether one of `calls` may satisfy `is_holder`; a cheap check by target."""
    return not _HOLDERS.isdisjoint(targets(calls))


def give_gradients(calls: Iterable[Call]) -> bool:
    """Whether one of `calls` may satisfy `gives_gradients`; a cheap check by target."""
    return not _GIVE_GRADIENTS.isdisjoint(targets(calls))


def leave_gradients(calls: Iterable[Call]) -> bool:
    """Whether one of `calls` may satisfy `is_backward`; a cheap check by target."""
    return not _LEAVE_GRADIENTS.isdisjoint(targets(calls))
