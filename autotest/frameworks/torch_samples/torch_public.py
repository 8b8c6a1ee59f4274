"""torch's public names that its databases leave out, as programs with random arguments.

The sampler of arguments learns from the calls that torch rejects.
"""

from __future__ import annotations

import contextlib
import functools
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from typing import Any, Final

import torch

from autotest.base.errors import NotReplayable
from autotest.frameworks.families import family_of
from autotest.frameworks.namespace import DIFFERENTIABLE, Namespace
from autotest.frameworks.pair import warnings_ignored
from autotest.frameworks.samples import DatabaseEntry, Form, Sample, SampleKind
from autotest.frameworks.torch_lowering import Builder
from autotest.frameworks.torch_names import object_at
from autotest.frameworks.torch_samples.torch_random import with_own_state
from autotest.frameworks.torch_schemas import overloads, public_names
from autotest.program import Operand, Ref
from generators import Source
from generators.arguments import ArgumentSampler, DrawnArguments, Parameter, TensorSpec, contents

#: Maximum numbers of draws for one name, and of accepted and rejected draws that are kept.
_DRAWS, _ACCEPTED, _REFUSED = 500, 16, 4
_DTYPES: Final = ("float32", "float64", "int64", "bool")
#: Methods that move data between devices, attach something to a tensor, or return facts about this process only.
_NO_OPERATORS: Final = frozenset(
    "Tensor.backward Tensor.register_hook Tensor.retain_grad Tensor.cuda Tensor.pin_memory Tensor.is_pinned Tensor.xpu "
    "Tensor.ipu Tensor.numpy Tensor.data_ptr Tensor.storage Tensor.share_memory_ Tensor.get_device "
    "Tensor.record_stream Tensor.set_ Tensor.set_data Tensor.untyped_storage Tensor.module_load".split()
)


class PublicDatabase:
    """Functions and tensor methods, except those in `covered`."""

    name = "public names"

    def __init__(self, framework: Namespace, covered: Callable[[], Collection[str]]) -> None:
        self._framework = framework
        self._covered = covered

    @functools.cached_property
    def _paths(self) -> dict[str, list[tuple[Parameter, ...]]]:
        covered = self._covered()
        found: dict[str, list[tuple[Parameter, ...]]] = {}
        for path in public_names():
            if path in covered or path in _NO_OPERATORS or "__" in path:
                continue
            signatures = overloads(path)
            if signatures:
                found[path] = signatures
        return found

    def entries(self) -> Sequence[DatabaseEntry]:
        return [
            DatabaseEntry(
                self.name, path, "", family_of(path), (_form(path),), _DTYPES, ("sample",), {_form(path): path}
            )
            for path in self._paths
        ]

    def samples(self, key: str, form: Form, dtype: str, kind: SampleKind, seed: int) -> Iterator[Sample]:
        yield from with_own_state(self._drawn(key, dtype, seed), seed)

    def _drawn(self, key: str, dtype: str, seed: int) -> Iterator[Sample]:
        source = Source(seed)
        accepted = 0
        refused = 0
        learners = [(parameters, ArgumentSampler(parameters)) for parameters in self._paths[key]]
        seen: set[str] = set()
        for turn in range(_DRAWS):
            if accepted >= _ACCEPTED:
                break
            parameters, learner = learners[turn % len(learners)]
            drawn = learner.draw(source)
            bits = source.bits()
            if str(drawn) in seen:
                continue
            seen.add(str(drawn))
            takes = _accepts(key, _live(parameters, drawn, dtype, bits))
            learner.learn(drawn, accepted=takes)
            if not takes and refused >= _REFUSED:
                continue
            accepted += takes
            refused += not takes
            yield self._lowered(key, _live(parameters, drawn, dtype, bits))
        if not accepted:
            yield Sample(None, f"{_DRAWS} draws of its arguments are refused")

    def _lowered(self, path: str, live: tuple[list[Any], Mapping[str, Any]]) -> Sample:
        builder = Builder(self._framework)
        args, named = live
        try:
            operands: list[Operand] = [builder.operand(item) for item in args]
            keywords = {name: builder.operand(item) for name, item in named.items()}
        except NotReplayable as error:
            return Sample(None, str(error))
        name = path.removeprefix("Tensor.")
        if name.endswith("_") and operands and type(operands[0]) is Ref and args[0].requires_grad:
            operands[0] = Ref(builder.call("method", "clone", (operands[0],), {}))
        builder.call("function" if name == path else "method", name, tuple(operands), keywords)
        return Sample(builder.program())


def _form(path: str) -> Form:
    if not path.startswith("Tensor."):
        return "function"
    return "in-place" if path.endswith("_") else "method"


def _live(
    parameters: Sequence[Parameter], drawn: DrawnArguments, dtype: str, bits: int
) -> tuple[list[Any], Mapping[str, Any]]:
    """Return the arguments for torch, positional and named ones; those after an omitted argument are named."""
    args: list[Any] = []
    named: dict[str, Any] = {}
    for place, parameter in enumerate(parameters):
        if parameter.name not in drawn.arguments:
            continue
        value = _live_value(drawn.arguments[parameter.name], dtype, bits + place)
        if parameter.named or len(args) < place:
            named[parameter.name] = value
        else:
            args.append(value)
    return args, named


def _live_value(value: Any, dtype: str, bits: int) -> Any:
    if isinstance(value, TensorSpec):
        data, own = contents(value, dtype, bits % 2**64)
        tensor = torch.from_numpy(data)
        return tensor.requires_grad_() if own in DIFFERENTIABLE else tensor
    if isinstance(value, list):
        return [_live_value(item, dtype, bits + 97 * (place + 1)) for place, item in enumerate(value)]
    return value


def _accepts(path: str, live: tuple[list[Any], Mapping[str, Any]]) -> bool:
    """Return whether torch accepts these arguments and returns something other than None."""
    args, named = live
    function = object_at(path, torch)
    if path.endswith("_") and args and isinstance(args[0], torch.Tensor):
        args = [args[0].clone(), *args[1:]]
    with contextlib.suppress(Exception), warnings_ignored():
        return function(*args, **named) is not None
    return False
