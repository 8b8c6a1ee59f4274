"""torch's optimizers as entries and programs: a few steps on one parameter, with each option changed."""

from __future__ import annotations

import functools
import inspect
import itertools
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, Final

from autotest.frameworks.harvester.optimizers import optimizer_classes
from autotest.frameworks.namespace import Namespace
from autotest.frameworks.samples import DatabaseEntry, Form, Sample, SampleKind
from autotest.frameworks.torch_lowering import Builder
from autotest.frameworks.torch_samples.torch_search import TensorDrawer
from autotest.program import Ref

#: Values for options whose default is a number.
_FRACTIONS: Final = (0.3, 0.9, 1e-3)
#: Steps of an optimizer in one program, and the maximum number of combinations of options.
_STEPS, _SAMPLES = 3, 60
#: Options that select an implementation and do not change the result.
_LEFT_OUT: Final = frozenset(("foreach", "fused", "capturable", "differentiable"))


class OptimizerDatabase:
    """The classes of `torch.optim`."""

    name = "optimizers"

    def __init__(self, framework: Namespace) -> None:
        self._framework = framework

    @functools.cached_property
    def _classes(self) -> dict[str, Any]:
        return {name: kind for kind, name in sorted(optimizer_classes().items(), key=lambda item: item[1])}

    def entries(self) -> Sequence[DatabaseEntry]:
        return [
            DatabaseEntry(
                self.name, name, "", "optimizer", ("optimizer",), ("float32", "float64"), ("sample",),
                {"optimizer": name},
            )
            for name in self._classes
        ]  # fmt: skip

    def samples(self, key: str, form: Form, dtype: str, kind: SampleKind, seed: int) -> Iterator[Sample]:
        drawer = TensorDrawer(seed, dtype)
        for options in itertools.islice(_options(self._classes[key]), _SAMPLES):
            for transposed in (False, True) if len(options) < 2 else (False,):
                yield Sample(self._program(key, options, drawer, transposed=transposed))

    def _program(self, key: str, options: Mapping[str, Any], drawer: TensorDrawer, *, transposed: bool) -> Any:
        builder = Builder(self._framework)
        slot = builder.operand(drawer.tensor((2, 3)).detach()).slot
        if transposed:
            slot = builder.call("method", "t", (Ref(slot),), {})
        parameter = Ref(builder.call("function", "nn.Parameter", (Ref(slot),), {}))
        optimizer = Ref(builder.call("function", key, ([parameter],), dict(options)))
        shape = (3, 2) if transposed else (2, 3)
        for _ in range(_STEPS):
            squared = Ref(builder.call("operator", "mul", (parameter, parameter), {}))
            cotangent = builder.operand(drawer.tensor(shape).detach())
            builder.call("method", "zero_grad", (optimizer,), {})
            builder.call("method", "backward", (squared, cotangent), {})
            builder.call("method", "step", (optimizer,), {})
        return builder.program()


def _options(kind: Any) -> Iterator[dict[str, Any]]:
    """Yield no options, each option alone, and each pair. Options that torch rejects are counted as rejected later."""
    base: dict[str, Any] = {}
    single: list[dict[str, Any]] = []
    for name, parameter in list(inspect.signature(kind).parameters.items())[1:]:
        default = parameter.default
        if name in _LEFT_OUT:
            continue
        if name == "lr":
            base = {"lr": 0.1}
        elif isinstance(default, bool):
            single.append({name: not default})
        elif isinstance(default, (int, float)):
            single += [{name: value} for value in _FRACTIONS]
        elif isinstance(default, tuple):
            single.append({name: tuple(item * 0.7 for item in default)})
    yield base
    yield from ({**base, **one} for one in single)
    yield from (
        {**base, **one, **other} for one, other in itertools.combinations(single, 2) if one.keys() != other.keys()
    )
