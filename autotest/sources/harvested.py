"""Turns the harvested calls of a program into entries and samples of a sweep."""

from __future__ import annotations

import dataclasses
import functools
import hashlib
import re
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, Final

import numpy as np

from autotest.base.errors import NotReplayable, UsageError
from autotest.frameworks.families import family_of
from autotest.frameworks.namespace import DIFFERENTIABLE
from autotest.frameworks.samples import DatabaseEntry, Form, Sample, SampleKind
from autotest.frameworks.torch_lowering import arranged
from autotest.frameworks.torch_names import call_name
from autotest.program import Array, Call, CallKind, Captured, Operand, Program, Ref, Root
from autotest.program.serialisation import decode
from autotest.sources.calls_file import HarvestedCall, read
from autotest.sources.harvested_tensors import array

#: Initializers that draw random numbers.
_DRAWS: Final = re.compile(r"nn\.init\.(\w*uniform_|\w*normal_|orthogonal_|sparse_)")
#: Number of steps of a harvested optimizer.
_STEPS: Final = 3


class HarvestedCalls:
    """A database of the calls of one file, each a sample of the operator that it calls."""

    name = "calls"

    def __init__(self, path: Path) -> None:
        self._path = path

    @functools.cached_property
    def _cells(self) -> Mapping[tuple[str, Form, str], list[HarvestedCall]]:
        found: dict[tuple[str, Form, str], list[HarvestedCall]] = {}
        for call in read(self._path).calls:
            found.setdefault((operator_of(call), call.form, dtype_of(call)), []).append(call)
        return found

    def inside(self) -> Mapping[str, str]:
        """Return the cells that are called only inside modules of torch, by name, with the modules that call them."""
        found = {"/".join(cell): {call.within for call in calls} for cell, calls in self._cells.items()}
        return {cell: ", ".join(sorted(modules)) for cell, modules in found.items() if "" not in modules}

    def entries(self) -> Sequence[DatabaseEntry]:
        dtypes: dict[tuple[str, Form], list[str]] = {}
        for operator, form, dtype in self._cells:
            dtypes.setdefault((operator, form), []).append(dtype)
        return [
            DatabaseEntry(
                self.name, operator, "", _family(operator, form), (form,), tuple(known), ("sample",),
                {form: path} if (path := self._path_of(operator, form, known[0])) else {}, mutated=False,
            )
            for (operator, form), known in dtypes.items()
        ]  # fmt: skip

    def _path_of(self, operator: str, form: Form, dtype: str) -> str:
        name = self._cells[operator, form, dtype][0].name
        named = None if form in ("operator", "reflected", "in-place operator", "attribute") else call_name(name)
        return "" if named is None else f"Tensor.{named.target}" if named.kind == "method" else named.target

    def samples(self, key: str, form: Form, dtype: str, kind: SampleKind, seed: int) -> Iterator[Sample]:
        for call in self._cells.get((key, form, dtype), ()):
            yield sample(call, seed)


def _family(operator: str, form: Form) -> str:
    return "optimizer" if form == "optimizer" else family_of(operator)


def operator_of(call: HarvestedCall) -> str:
    """Return the operator's name in the map."""
    return call.name.removeprefix("Tensor.")


def dtype_of(call: HarvestedCall) -> str:
    """Return the dtype of the call's first floating-point tensor, else of its first tensor, else of its result."""
    found = [str(facts.get("dtype")) for facts in _tensors([call.args, *call.kwargs.values(), *call.state.values()])]
    floating = [dtype for dtype in found if dtype in DIFFERENTIABLE]
    asked = call.kwargs.get("dtype")
    named = [asked["root"]] if isinstance(asked, dict) and "root" in asked else []
    return next(iter([*floating, *found, *named]), "float32")


def _tensors(value: Any) -> Iterator[Mapping[str, Any]]:
    if isinstance(value, dict) and value.keys() == {"tensor"} and isinstance(value["tensor"], dict):
        yield value["tensor"]
    elif isinstance(value, (list, dict)):
        for item in value.values() if isinstance(value, dict) else value:
            yield from _tensors(item)


def sample(call: HarvestedCall, seed: int) -> Sample:
    """Return the program of one call; its random numbers depend only on `seed` and the call."""
    try:
        return Sample(_Lowering(call, seed).program())
    except NotReplayable as error:
        return Sample(None, str(error))
    except (ValueError, KeyError, TypeError, AttributeError) as error:
        return Sample(None, f"line {call.line} of the calls is damaged: {type(error).__name__}: {error}")


class _Lowering:
    """Converts one harvested call into a program."""

    def __init__(self, call: HarvestedCall, seed: int) -> None:
        self._call = call
        digest = hashlib.blake2b(f"{seed}\0{call.signature}".encode(), digest_size=8).digest()
        self._generator = np.random.default_rng(int.from_bytes(digest, "big"))
        self._calls: list[Call] = []
        self._arrays: list[Array] = []
        #: The operands that refer to each tensor, in the order in which the tensors were recorded.
        self._tensors: list[Operand] = []

    def program(self) -> Program:
        call = self._call
        if call.form == "module":
            self._module(call)
        elif call.form == "optimizer":
            self._optimizer(call)
        else:
            self._function(call)
        # The random numbers of an initializer cannot be compared, nor can the tensor that it fills.
        undefined = range(len(self._calls)) if _DRAWS.fullmatch(call.name) else ()
        return Program(tuple(self._calls), tuple(self._arrays), frozenset(undefined))

    def _module(self, call: HarvestedCall) -> None:
        made: Any = call.constructor
        changes = any(item is True for item in made["args"]) or made["kwargs"].get("inplace") is True
        slot = self._add(
            "function",
            call.name,
            self._operands(made["args"], as_no_leaf=False),
            self._named(made["kwargs"], as_no_leaf=False),
        )
        self._tensors.clear()  # the constructor's tensors were numbered apart from those of the state and the call
        state = {name: self._captured(facts) for name, facts in call.state.items()}
        dtypes = {str(item["tensor"]["dtype"]) for item in call.state.values()} & DIFFERENTIABLE - {"float32"}
        for dtype in sorted(dtypes):
            self._add("method", "to", (Ref(slot), Root(dtype)), {})
        if state:
            self._add("load_state", "", (Ref(slot), state), {})
        self._add("method", "train", (Ref(slot), call.training), {})
        operands = self._operands(call.args, as_no_leaf=changes)
        self._add("method", "__call__", (Ref(slot), *operands), self._named(call.kwargs, as_no_leaf=changes))

    def _optimizer(self, call: HarvestedCall) -> None:
        """Add a few steps with drawn gradients, on parameters like those of the harvested optimizer."""
        ((facts, *more),) = call.args
        parameters = [self._parameter(tree["tensor"]) for tree in (facts, *more)]
        optimizer = Ref(
            self._add("function", call.name, (list(parameters),), self._named(call.kwargs, as_no_leaf=False))
        )
        for _ in range(_STEPS):
            self._add("method", "zero_grad", (optimizer,), {})
            for parameter, tree in zip(parameters, (facts, *more), strict=True):
                squared = Ref(self._add("operator", "mul", (parameter, parameter), {}))
                gradient = self._tensor(_without_gradient(tree["tensor"]), as_no_leaf=False)
                self._add("method", "backward", (squared, gradient), {})
            self._add("method", "step", (optimizer,), {})

    def _parameter(self, facts: Mapping[str, Any]) -> Ref:
        return Ref(
            self._add("function", "nn.Parameter", (self._tensor(_without_gradient(facts), as_no_leaf=False),), {})
        )

    def _function(self, call: HarvestedCall) -> None:
        path = f"{call.name}.__get__" if call.form == "attribute" else call.name
        named = call_name(path)
        if named is None:
            raise NotReplayable(f"{call.name} is not a public function")
        changes = call.form in ("in-place", "in-place operator") or call.kwargs.get("inplace") is True
        written = dict(call.kwargs)
        if call.name.startswith("nn.init.") and not call.args and "tensor" in written:
            # torch passes the tensor by keyword; a candidate may have another name for the parameter.
            call = dataclasses.replace(call, args=[written.pop("tensor")], kwargs=written)
        args = self._operands(call.args[:1], as_no_leaf=changes or call.name.endswith("_"))
        args += self._operands(call.args[1:], as_no_leaf=False)
        kwargs = self._named(call.kwargs, as_no_leaf=changes or call.name.endswith("_"))
        self._add(named.kind, named.target, args[::-1] if named.swapped else args, kwargs)

    def _add(self, kind: CallKind, target: str, args: tuple[Operand, ...], kwargs: dict[str, Operand]) -> int:
        self._calls.append(Call(kind, target, args, kwargs, len(self._calls)))
        return len(self._calls) - 1

    def _operands(self, trees: Sequence[Any], *, as_no_leaf: bool) -> tuple[Operand, ...]:
        return tuple([self._operand(tree, as_no_leaf=as_no_leaf) for tree in trees])

    def _named(self, trees: Mapping[str, Any], *, as_no_leaf: bool) -> dict[str, Operand]:
        return {name: self._operand(tree, as_no_leaf=as_no_leaf) for name, tree in trees.items()}

    def _operand(self, tree: Any, *, as_no_leaf: bool = False) -> Operand:
        if isinstance(tree, list):
            return [self._operand(item) for item in tree]
        if not isinstance(tree, dict):
            return tree
        ((tag, content),) = tree.items()
        if tag == "tensor":
            return self._tensor(content, as_no_leaf=as_no_leaf)
        if tag == "same":
            return self._tensors[content]
        if tag == "object":
            raise NotReplayable(f"an argument of type {content}")
        if tag == "device":
            return "cpu"
        if tag == "tuple":
            return tuple([self._operand(item) for item in content])
        if tag == "dict":
            return {self._operand(key): self._operand(item) for key, item in content}
        if tag == "slice":
            return slice(*[self._operand(part) for part in content])
        return decode(tree)

    def _captured(self, tree: Any) -> Captured:
        facts = tree["tensor"]
        self._arrays.append(Array(np.array(array(facts, self._generator), order="C"), facts["dtype"]))
        self._tensors.append(None)
        return Captured(len(self._arrays) - 1)

    def _tensor(self, facts: Mapping[str, Any], *, as_no_leaf: bool) -> Operand:
        dtype = str(facts["dtype"])
        data, views = arranged(array(facts, self._generator))
        self._arrays.append(Array(np.array(data, order="C"), dtype))
        wanted = bool(facts["requires_grad"]) and self._call.gradients and dtype in DIFFERENTIABLE
        captured = Captured(len(self._arrays) - 1)
        slot = self._add("tensor", dtype, (captured,), {"requires_grad": wanted, "device": "cpu"})
        for kind, target, rest in views:
            slot = self._add(kind, target, (Ref(slot), *rest), {})
        if as_no_leaf and wanted and not views:
            # A leaf that requires a gradient cannot be changed in place, so it was no leaf in the harvested program.
            slot = self._add("method", "clone", (Ref(slot),), {})
        self._tensors.append(Ref(slot))
        return Ref(slot)


def _without_gradient(facts: Mapping[str, Any]) -> Mapping[str, Any]:
    return {**facts, "requires_grad": False}


def database(path: Path) -> HarvestedCalls:
    """Return the calls in `path` as a database.

    Raises:
        UsageError: The file has no calls, or cannot be read.
    """
    found = HarvestedCalls(path)
    if not found.entries():
        raise UsageError(f"{path} contains no calls; did the harvested program use torch?")
    return found
