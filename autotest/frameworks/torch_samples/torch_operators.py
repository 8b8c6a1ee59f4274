"""torch's own operator database (OpInfo) as entries and programs.

Samples are never modified: each tensor is copied when it is lowered, and each form lowers it again. The random
generators are seeded before samples are drawn, so that samples do not depend on earlier ones.
"""

from __future__ import annotations

import contextlib
import functools
import operator
import random
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any, Final

import numpy as np
import torch

from autotest.base.errors import FrameworkMissing, NotReplayable
from autotest.frameworks.families import family_of
from autotest.frameworks.namespace import DIFFERENTIABLE, Namespace, repeats_elements
from autotest.frameworks.samples import DatabaseEntry, Form, Sample, SampleKind
from autotest.frameworks.torch_functions import Recording
from autotest.frameworks.torch_lowering import Builder
from autotest.frameworks.torch_names import REFLECTED, object_at
from autotest.frameworks.torch_samples.torch_options import with_fewer_options, with_names, with_options
from autotest.frameworks.torch_samples.torch_search import TensorDrawer
from autotest.frameworks.torch_samples.torch_testing import UNCHECKED, internal, seeding_the_cpu_only
from autotest.program import CallKind, Operand, Ref
from generators import DTYPES

#: Entry -> its operator, for operators that the database does not list. Each has an in-place form, too.
_WRITTEN: Final = {"floor_divide": "floordiv", "div:no_rounding_mode": "truediv"}
#: Number of samples that are searched for calls with named arguments.
_NAMED: Final = 40
#: Prefix of entries that need a CUDA compiler and are not operators of torch.
_NOT_AN_OPERATOR: Final = "jiterator"


class OperatorDatabase:
    """`torch.testing._internal.common_methods_invocations.op_db`, with the aliases that it lists."""

    name = "operators"

    def __init__(self, framework: Namespace) -> None:
        self._framework = framework

    @functools.cached_property
    def _operators(self) -> dict[str, _Operator]:
        found: dict[str, _Operator] = {}
        for info in internal("common_methods_invocations").op_db:
            if info.name.startswith(_NOT_AN_OPERATOR) or _is_private(info.name):
                continue
            for one in (_Operator(info, info.name, info), *(_Operator(info, it.name, it) for it in info.aliases)):
                # An alias may also have an entry of its own, which is preferred.
                if one.own or one.key not in found:
                    found[one.key] = one
        return found

    def entries(self) -> Sequence[DatabaseEntry]:
        return [one.entry(self.name) for one in self._operators.values()]

    def paths(self) -> frozenset[str]:
        """Return the dotted paths of the entries' functions; empty if there is no database."""
        try:
            return frozenset(path for entry in self.entries() for path in (entry.name, *entry.paths.values()))
        except FrameworkMissing:
            return frozenset()

    def samples(self, key: str, form: Form, dtype: str, kind: SampleKind, seed: int) -> Iterator[Sample]:
        one = self._operators[key]
        # Draw all samples before the first is yielded, because the caller may draw random numbers in between.
        made, failed = _drawn(one.info, dtype, kind, seed)
        for turn, sample in enumerate(made):
            yield self._lowered(one, form, sample, turn)
        if failed:
            yield Sample(None, failed)

    def _lowered(self, one: _Operator, form: Form, sample: Any, turn: int) -> Sample:
        try:
            builder = Builder(self._framework, gradients=form != "out=")
            one.lower(builder, form, sample, turn)
            program = builder.program()
        except (NotReplayable, ValueError) as error:  # NumPy has no array of more than 32 dimensions
            return Sample(None, str(error))
        return Sample(program)


class _Operator:
    """An entry of the database, or an alias of one."""

    def __init__(self, info: Any, name: str, callables: Any) -> None:
        self.info = info
        self.name = name
        self.own = callables is info
        self._callables = callables

    @property
    def key(self) -> str:
        variant = self.info.variant_test_name
        return f"{self.name}:{variant}" if variant else self.name

    def entry(self, database: str) -> DatabaseEntry:
        info = self.info
        supported = {str(dtype).removeprefix("torch.") for dtype in info.supported_dtypes("cpu")}
        kinds: list[SampleKind] = ["sample", "noncontiguous"]
        if self.own and callable(object_at(self.name, torch)):
            kinds.append("option")
        if self.own and info.error_inputs_func is not None:
            kinds.append("error")
        if self.own and info.reference_inputs_func is not None:
            kinds.append("reference")
        paths = dict(self._paths())
        return DatabaseEntry(
            database,
            self.name,
            info.variant_test_name,
            family_of(self.name, type(info).__name__),
            tuple(paths),
            tuple(dtype for dtype in DTYPES if dtype in supported),
            tuple(kinds),
            {form: path for form, path in paths.items() if path},
            self.name not in UNCHECKED,
        )

    def _paths(self) -> Iterator[tuple[Form, str]]:
        """Yield the forms of this entry and their paths; a path is empty if the database wraps the function."""
        info, own = self.info, self._callables
        form: Form
        if self.name in REFLECTED:
            yield "reflected", ""
            return
        yield "function", self.name if _is_at(self.name, own.op) else ""
        for form, variant in (("method", own.method_variant), ("in-place", own.inplace_variant)):
            path = f"Tensor.{getattr(variant, '__name__', '')}"
            if variant is not None and _is_at(path, variant):
                yield form, path
        if info.supports_out and _is_at(self.name, own.op):
            yield "out=", self.name
        if self._written("operator"):
            yield "operator", ""
        if self._written("in-place operator"):
            yield "in-place operator", ""

    def _written(self, form: Form) -> str:
        """Return the name in :mod:`operator` of this entry's operator for `form`, or an empty string."""
        if not self.own:
            return ""
        if self.key == "__getitem__" and form != "operator":
            return "setitem"
        if self.key in _WRITTEN:
            return f"{'i' if form != 'operator' else ''}{_WRITTEN[self.key]}"
        info = self.info
        variant = info.operator_variant if form == "operator" else info.inplace_operator_variant
        name: str = getattr(variant, "__name__", "")
        return name if hasattr(operator, name) else ""

    def lower(self, builder: Builder, form: Form, sample: Any, turn: int) -> None:
        """Append the call of the `turn`-th sample to `builder`.

        Raises:
            NotReplayable: with the reason, if the sample has no such form.
        """
        args = (sample.input, *sample.args)
        if form == "function" and (_processes(sample) or not _is_at(self.name, self._callables.op)):
            self._record(builder, self._callables.op, sample)
            return
        if form == "method" and _processes(sample):
            self._record(builder, self._callables.method_variant, sample)
            return
        if _processes(sample):
            raise NotReplayable("only a function of its result is unique")
        if form == "reflected":
            target = REFLECTED[self.name]
            _call(builder, "operator", target, (_left(target, args[1]), args[0]), {})
        elif form in ("operator", "in-place operator"):
            if sample.kwargs or len(sample.args) > 1:
                raise NotReplayable("an operator takes one operand or two")
            if self._written(form) == "setitem":
                _assigned(builder, args, turn)
            else:
                _call(builder, "operator", self._written(form), args, {}, written=form != "operator")
        elif form in ("method", "in-place"):
            variant = self._callables.method_variant if form == "method" else self._callables.inplace_variant
            if not isinstance(sample.input, torch.Tensor):
                raise NotReplayable("a method needs a tensor")
            if form == "in-place" and sample.broadcasts_input:
                raise NotReplayable("broadcasts its first operand, so it has no in-place form")
            _call(builder, "method", variant.__name__, args, sample.kwargs, written=form == "in-place")
        else:
            operands = [builder.operand(item) for item in args]
            if sample.kwargs.get("inplace") is True and type(operands[0]) is Ref:
                operands[0] = Ref(builder.call("method", "clone", (operands[0],), {}))
            keywords = {key: builder.operand(value) for key, value in sample.kwargs.items()}
            if form == "out=":
                keywords["out"] = builder.operand(self._results(sample))
            builder.call("function", self.name, tuple(operands), keywords)

    def _results(self, sample: Any) -> Any:
        """Return tensors with the result's shapes and dtypes, to pass as `out=`.

        They contain ones, so that the results differ if an operator adds to them instead of overwriting them.
        """
        inputs, args, kwargs = _without_gradients((sample.input, sample.args, sample.kwargs))
        try:
            given = self._callables.op(inputs, *args, **kwargs)
        except Exception:  # noqa: BLE001 - then the call with out= is rejected, too
            return torch.zeros(())
        if isinstance(given, torch.Tensor):
            return torch.ones(given.shape, dtype=given.dtype)
        if isinstance(given, (tuple, list)) and all(isinstance(item, torch.Tensor) for item in given):
            return tuple(torch.ones(item.shape, dtype=item.dtype) for item in given)
        raise NotReplayable(f"gives a {type(given).__name__}, which has no out= form")

    def _record(self, builder: Builder, function: Callable[..., Any], sample: Any) -> None:
        """Record the public calls that `function` makes on one sample."""
        fresh = sample.transform(lambda item: _copy(item) if isinstance(item, torch.Tensor) else item)
        recording = Recording(builder)
        # A call that the reference rejects is recorded, too.
        with recording, contextlib.suppress(Exception):
            result = function(fresh.input, *fresh.args, **fresh.kwargs)
            if _processes(sample):
                # The result is not unique; only this function of it is, such as the magnitude of an eigenvector.
                builder.undefined.update(call.slot for call in builder.calls if call.kind != "tensor")
                sample.output_process_fn_grad(result)
        if recording.opaque:
            raise NotReplayable(recording.opaque)
        if not recording.seen:
            raise NotReplayable("it makes no public call")


def _left(target: str, operand: Any) -> Any:
    """Return a number for the left operand: for two tensors, Python never calls the reflected operator."""
    if target == "matmul" or not isinstance(operand, torch.Tensor):
        return operand
    elements = operand.detach().reshape(-1)
    return (elements[0] if len(elements) else elements.new_ones(())).item()


def _assigned(builder: Builder, args: Sequence[Any], turn: int) -> None:
    """Append calls that assign to items of a copy of a tensor and then read the copy.

    The assigned value is in turn a tensor of the items' shape, a tensor of one item, and a number.
    """
    tensor, index = args
    value: Any = torch.zeros(())
    with contextlib.suppress(Exception):  # then the assignment is rejected, too
        items = torch.full_like(tensor.detach()[index], 2)
        one = items.new_full((), 2)
        value = (items.requires_grad_(tensor.requires_grad), one.requires_grad_(tensor.requires_grad), 2)[turn % 3]
    written = Ref(builder.call("method", "clone", (builder.operand(tensor),), {}))
    builder.call("operator", "setitem", (written, builder.operand(index), builder.operand(value)), {})
    builder.call("method", "clone", (written,), {})


def _call(
    builder: Builder, kind: CallKind, target: str, args: Sequence[Any], kwargs: Mapping[str, Any], written: bool = False
) -> int:
    """Append one call, whose operands are lowered first.

    A call that writes into a first operand that requires grad gets a copy of it: autograd forbids writing into leaves.
    """
    operands: list[Operand] = [builder.operand(item) for item in args]
    keywords = {key: builder.operand(value) for key, value in kwargs.items()}
    if written and operands and type(operands[0]) is Ref and args[0].requires_grad:
        operands[0] = Ref(builder.call("method", "clone", (operands[0],), {}))
    return builder.call(kind, target, tuple(operands), keywords)


def _drawn(info: Any, dtype: str, kind: SampleKind, seed: int) -> tuple[list[Any], str]:
    """Return all samples of one kind, and the reason why some are missing, if the database failed."""
    kept = torch.get_rng_state(), random.getstate(), np.random.get_state()  # noqa: NPY002 - the database draws from it
    torch.default_generator.manual_seed(seed)
    random.seed(seed)
    np.random.seed(seed % 2**32)  # noqa: NPY002 - as before
    made: list[Any] = []
    try:
        with seeding_the_cpu_only():
            made.extend(_inputs(info, dtype, kind))
    except Exception as error:  # noqa: BLE001 - a bug of the database ends its samples and is reported
        return made, f"the database failed: {type(error).__name__}: {str(error)[:200]}"
    finally:
        torch.set_rng_state(kept[0])
        random.setstate(kept[1])
        np.random.set_state(kept[2])  # noqa: NPY002 - as before
    return made, ""


def _inputs(info: Any, dtype: str, kind: SampleKind) -> Iterator[Any]:
    own = getattr(torch, dtype)
    if kind == "error":
        yield from (each.sample_input for each in info.error_inputs("cpu"))
        return
    gradients = info.supports_autograd and dtype in DIFFERENTIABLE and own in info.supported_backward_dtypes("cpu")
    draw = info.reference_inputs if kind == "reference" else info.sample_inputs
    drawn = draw("cpu", own, requires_grad=gradients)
    if kind == "option":
        samples: list[Any] = []
        failed: Exception | None = None
        try:
            samples.extend(drawn)
        except Exception as error:  # noqa: BLE001 - a bug of the database, raised again after the samples that it made
            failed = error
        yield from with_options(info.name, info.op, samples, TensorDrawer(0, dtype))
        if _is_at(info.name, info.op):
            yield from with_fewer_options(samples)
            yield from with_names(info.name, samples[:_NAMED])
        if failed is not None:
            raise failed
        return
    for sample in drawn:
        yield sample.noncontiguous() if kind == "noncontiguous" else sample


def _is_private(name: str) -> bool:
    """Return whether `name` is private. Special methods are not, because operators call them."""
    last = name.rpartition(".")[2]
    return last.startswith("_") and not last.startswith("__")


def _is_at(name: str, function: Any) -> bool:
    """Return whether `function` is the object at the dotted path `name` below torch."""
    return object_at(name, torch) is function


def _processes(sample: Any) -> bool:
    """Return whether the result is not unique, but a function of it is."""
    code = getattr(sample.output_process_fn_grad, "__code__", None)
    return code is not None and code.co_code != _identity.__code__.co_code


def _identity(value: Any) -> Any:
    return value


def _copy(tensor: Any) -> Any:
    """Return a new leaf with the contents and strides of `tensor`."""
    plain = tensor.detach()
    if plain.layout is torch.strided and not repeats_elements(plain.size(), plain.stride()):
        plain = torch.empty_strided(plain.size(), plain.stride(), dtype=plain.dtype).copy_(plain)
    else:
        plain = plain.clone()
    return plain.requires_grad_(tensor.requires_grad)


def _without_gradients(value: Any) -> Any:
    if isinstance(value, torch.Tensor):
        return value.detach().clone()
    if isinstance(value, (tuple, list)):
        return type(value)(_without_gradients(item) for item in value)
    if isinstance(value, dict):
        return {key: _without_gradients(item) for key, item in value.items()}
    return value
