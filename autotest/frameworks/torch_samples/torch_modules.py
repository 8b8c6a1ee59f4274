"""torch's neural-network modules as entries and programs: inputs of torch's own database, and inputs from a search."""

from __future__ import annotations

import contextlib
import functools
import inspect
import itertools
import math
from collections.abc import Iterator, Sequence
from typing import Any, Final

import torch

from autotest.base.errors import FrameworkMissing, NotReplayable
from autotest.frameworks.families import family_of
from autotest.frameworks.namespace import Namespace
from autotest.frameworks.pair import warnings_ignored
from autotest.frameworks.samples import DatabaseEntry, Form, Sample, SampleKind
from autotest.frameworks.torch_lowering import Builder
from autotest.frameworks.torch_samples.torch_module_search import CONSTRUCTED, ModuleUse, module_uses
from autotest.frameworks.torch_samples.torch_random import with_own_state
from autotest.frameworks.torch_samples.torch_search import TensorDrawer
from autotest.frameworks.torch_samples.torch_testing import UNCHECKED, internal
from autotest.program import Ref

#: Classes that contain other modules or parameters. Lazy modules, which their first input turns into others, are left
#: out by the prefix of their names.
_NO_OPERATORS: Final = frozenset(
    "Module Container Sequential ModuleList ModuleDict ParameterList ParameterDict DataParallel".split()
)
#: Maximum number of programs of one module, and about how many of them are from torch's own database.
_PROGRAMS, _KNOWN = 112, 64
#: Number of elements from which on a state is too large to be read only for its names.
_LARGEST_STATE: Final = 1 << 12
#: Name of the method that returns the state of a module.
_STATE: Final = "nn.Module.state_dict"


class ModuleDatabase:
    """The classes of `torch.nn`, with inputs from ``module_db`` in torch's testing modules if it has any."""

    name = "modules"

    def __init__(self, framework: Namespace) -> None:
        self._framework = framework

    @functools.cached_property
    def _classes(self) -> dict[str, Any]:
        return {
            f"nn.{name}": found
            for name, found in sorted(vars(torch.nn).items())
            if inspect.isclass(found)
            and issubclass(found, torch.nn.Module)
            and name not in _NO_OPERATORS
            and not name.startswith("Lazy")
        }

    @functools.cached_property
    def _infos(self) -> dict[str, Any]:
        try:
            return {info.name: info for info in internal("common_modules").module_db}
        except FrameworkMissing:
            return {}

    def entries(self) -> Sequence[DatabaseEntry]:
        return [
            DatabaseEntry(
                self.name,
                name,
                "",
                family_of(name),
                ("module",),
                ("float32", "float64"),
                ("sample",),
                {"module": name},
                mutated=name not in UNCHECKED,
            )
            for name in self._classes
        ] + [
            DatabaseEntry(
                self.name, _STATE, "", "module", ("method",), ("float32", "float64"), ("sample",), {}, mutated=False
            )
        ]

    def samples(self, key: str, form: Form, dtype: str, kind: SampleKind, seed: int) -> Iterator[Sample]:
        made = self._states(dtype) if key == _STATE else self._uses(key, dtype, seed)
        yield from with_own_state(made, seed)

    def _uses(self, key: str, dtype: str, seed: int) -> Iterator[Sample]:
        found = False
        for index, one in enumerate(itertools.islice(self._uses_of(key, dtype, seed), _PROGRAMS)):
            found = True
            # The search seeds the generator, too: without this, all modules would have nearly the same parameters.
            torch.default_generator.manual_seed(seed + index)
            yield self._lowered(key, one, self._module(key, one, dtype), dtype)
        if not found:
            yield Sample(None, "no arguments and inputs are known for it")

    def _states(self, dtype: str) -> Iterator[Sample]:
        """Yield samples that read the state of a new module, for each class that has a state.

        Reading the state is an entry of its own, because all modules share the method.
        """
        for key in self._classes:
            tried = (ModuleUse(args, {}, (), {}, training=True) for args in CONSTRUCTED)
            made = ((one, self._module(key, one, dtype)) for one in tried)
            one, module = next((pair for pair in made if pair[1] is not None), (None, None))
            if one is not None and 0 < sum(tensor.numel() for tensor in _state(module).values()) < _LARGEST_STATE:
                yield self._lowered(key, one, module, dtype, of_state=True)

    def _uses_of(self, key: str, dtype: str, seed: int) -> Iterator[ModuleUse]:
        known = list(self._of_database(key, dtype))
        # There may be hundreds: take evenly spaced ones, or no other inputs would be tried.
        yield from known[:: math.ceil(len(known) / _KNOWN) or 1]
        yield from module_uses(self._classes[key], TensorDrawer(seed, dtype))

    def _of_database(self, key: str, dtype: str) -> Iterator[ModuleUse]:
        info = self._infos.get(key)
        if info is None:
            return
        for training in (True, False):
            with contextlib.suppress(Exception):
                for given in info.module_inputs_func(
                    info, device="cpu", dtype=getattr(torch, dtype), requires_grad=True, training=training
                ):
                    if given.forward_input is not None:
                        built, called = given.constructor_input, given.forward_input
                        yield ModuleUse(built.args, built.kwargs, called.args, called.kwargs, training)

    def _module(self, key: str, made: ModuleUse, dtype: str) -> Any:
        with contextlib.suppress(Exception), warnings_ignored():
            return self._classes[key](*made.args, **made.kwargs).to(getattr(torch, dtype)).train(made.training)
        return None

    def _lowered(self, key: str, made: ModuleUse, module: Any, dtype: str, *, of_state: bool = False) -> Sample:
        """Return a program that makes a module and calls it, or reads its state.

        If `module` is None, torch rejects the constructor arguments, and the program only makes the module.
        """
        builder = Builder(self._framework)
        try:
            args = tuple(builder.operand(item) for item in made.args)
            slot = builder.call(
                "function", key, args, {name: builder.operand(item) for name, item in made.kwargs.items()}
            )
            if module is None:
                return Sample(builder.program())
            if dtype == "float64":
                builder.call("method", "double", (Ref(slot),), {})
            state = _state(module)
            if state:
                captured = {name: builder.captured(tensor) for name, tensor in state.items()}
                builder.call("load_state", "", (Ref(slot), captured), {})
            if of_state:
                builder.call("method", "state_dict", (Ref(slot),), {})
                return Sample(builder.program())
            if made.called:
                self._call(builder, Ref(slot), made)
        except NotReplayable as error:
            return Sample(None, str(error))
        return Sample(builder.program())

    @staticmethod
    def _call(builder: Builder, module: Ref, made: ModuleUse) -> None:
        inputs = tuple(builder.operand(item) for item in made.inputs)
        named = {name: builder.operand(item) for name, item in made.named.items()}
        for training in (made.training, False) if made.again else (made.training,):
            builder.call("method", "train", (module, training), {})
            taken = inputs
            if made.kwargs.get("inplace") and type(inputs[0]) is Ref:
                # A leaf that requires grad must not be written into.
                taken = (Ref(builder.call("method", "clone", (inputs[0],), {})), *inputs[1:])
            builder.call("method", "__call__", (module, *taken), named)


def _state(module: Any) -> dict[str, Any]:
    return {**dict(module.named_parameters()), **dict(module.named_buffers())}
