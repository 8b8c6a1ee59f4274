"""torch's neural-network modules as entries and programs: its own database's inputs, and others that it accepts."""

from __future__ import annotations

import contextlib
import functools
import inspect
import itertools
import warnings
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, Final, NamedTuple

import torch

from autotest.base.errors import FrameworkMissing, NotReplayable
from autotest.frameworks.families import family_of
from autotest.frameworks.namespace import Namespace
from autotest.frameworks.samples import DatabaseEntry, Form, Sample, SampleKind
from autotest.frameworks.torch_lowering import Builder
from autotest.frameworks.torch_options import changed_options, option_values
from autotest.frameworks.torch_search import CallArguments, Drawer, accepted, given, module_inputs, odd_inputs, telling
from autotest.frameworks.torch_testing import UNCHECKED, internal
from autotest.program import Ref

#: Hold other modules or parameters, or are made into others by their first input.
_NO_OPERATORS: Final = frozenset(
    "Module Container Sequential ModuleList ModuleDict ParameterList ParameterDict DataParallel".split()
)
#: Constructor arguments that are tried, in this order.
_CONSTRUCTED: Final[tuple[tuple[Any, ...], ...]] = (
    (), (4,), (2,), (4, 4), (2, 4), (4, 6), (4, 4, 3), (4, 4, 4), (4, 2, 2), (2, 2), (4, 2), ((2, 2),), (8, 2),
    ((3, 3), (2, 2)), (2, 0.5), (-1.0, 1.0),
)  # fmt: skip
#: Parameters that torch keeps for old programs only.
_GIVEN_UP: Final = frozenset(("size_average", "reduce"))
#: Accepted inputs for one constructor, constructors of one module, and programs of one module.
_INPUTS, _CONSTRUCTORS, _PROGRAMS = 2, 3, 96
#: Elements of a state that is too large to be read for nothing but its names.
_LARGEST_STATE: Final = 1 << 12
#: What the method that reads the state of a module is called.
_STATE: Final = "nn.Module.state_dict"
#: Constructors whose options are changed, and pairs of options of one of them.
_OPTIONED, _PAIRS = 2, 40


class _Made(NamedTuple):
    """How one module is made and called."""

    args: tuple[Any, ...]
    kwargs: Mapping[str, Any]
    inputs: tuple[Any, ...]
    named: Mapping[str, Any]
    training: bool


class ModuleDatabase:
    """The classes of `torch.nn`, with the inputs of ``module_db`` in torch's testing modules where it has some."""

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
        kept = torch.get_rng_state()
        torch.default_generator.manual_seed(seed)
        try:
            if key == _STATE:
                yield from [*self._states(dtype)]
                return
            made = list(self._made(key, dtype, seed))[:_PROGRAMS]
            modules = [self._module(key, one, dtype) for one in made]
        finally:
            torch.set_rng_state(kept)
        if not made:
            yield Sample(None, "no arguments and inputs are known that torch accepts")
        for one, module in zip(made, modules, strict=True):
            if module is not None:
                yield self._lowered(key, one, module, dtype)

    def _states(self, dtype: str) -> Iterator[Sample]:
        """The state of a new module of each class that has some. It is an operator of its own: all modules share it."""
        for key in self._classes:
            tried = (_Made(args, {}, (), {}, True) for args in _CONSTRUCTED)
            made = ((one, self._module(key, one, dtype)) for one in tried)
            one, module = next((pair for pair in made if pair[1] is not None), (None, None))
            if one is not None and 0 < sum(tensor.numel() for tensor in _state(module).values()) < _LARGEST_STATE:
                yield self._lowered(key, one, module, dtype, of_state=True)

    def _made(self, key: str, dtype: str, seed: int) -> Iterator[_Made]:
        info, kind = self._infos.get(key), self._classes[key]
        own = getattr(torch, dtype)
        if info is not None:
            for training in (True, False):
                with contextlib.suppress(Exception):
                    for given in info.module_inputs_func(
                        info, device="cpu", dtype=own, requires_grad=True, training=training
                    ):
                        if given.forward_input is not None:
                            built, called = given.constructor_input, given.forward_input
                            yield _Made(built.args, built.kwargs, called.args, called.kwargs, training)
        yield from _searched(kind, Drawer(seed, dtype))

    def _module(self, key: str, made: _Made, dtype: str) -> Any:
        with contextlib.suppress(Exception), warnings.catch_warnings():
            warnings.simplefilter("ignore")
            return self._classes[key](*made.args, **made.kwargs).to(getattr(torch, dtype)).train(made.training)
        return None

    def _lowered(self, key: str, made: _Made, module: Any, dtype: str, *, of_state: bool = False) -> Sample:
        """The module made and called, or its state read."""
        builder = Builder(self._framework)
        try:
            args = tuple(builder.operand(item) for item in made.args)
            slot = builder.call(
                "function", key, args, {name: builder.operand(item) for name, item in made.kwargs.items()}
            )
            if dtype == "float64":
                builder.call("method", "double", (Ref(slot),), {})
            state = _state(module)
            if state:
                captured = {name: builder.captured(tensor) for name, tensor in state.items()}
                builder.call("load_state", "", (Ref(slot), captured), {})
            if of_state:
                builder.call("method", "state_dict", (Ref(slot),), {})
                return Sample(builder.program())
            builder.call("method", "train", (Ref(slot), made.training), {})
            inputs = tuple(builder.operand(item) for item in made.inputs)
            if made.kwargs.get("inplace") and type(inputs[0]) is Ref:
                # A leaf that asks for its gradient must not be written into.
                inputs = (Ref(builder.call("method", "clone", (inputs[0],), {})), *inputs[1:])
            named = {name: builder.operand(item) for name, item in made.named.items()}
            builder.call("method", "__call__", (Ref(slot), *inputs), named)
        except NotReplayable as error:
            return Sample(None, str(error))
        return Sample(builder.program())


def _state(module: Any) -> dict[str, Any]:
    return {**dict(module.named_parameters()), **dict(module.named_buffers())}


def _searched(kind: Any, drawer: Drawer) -> Iterator[_Made]:
    """Ways to make and call `kind` that torch accepts, then the same with options of the constructor changed."""
    inputs = module_inputs(drawer)
    offered = option_values(drawer)
    found: list[_Made] = []
    for args in (built for built in _CONSTRUCTED if _are_meant(kind, built)):
        for accepted_inputs in _of_two_ranks(_called(kind, args, inputs, drawer)):
            found.append(_Made(args, {}, accepted_inputs, {}, True))
            yield found[-1]
            yield found[-1]._replace(training=False)
        if len(found) >= _CONSTRUCTORS * _INPUTS:
            break
    # What an option does may depend on whether a kernel is odd or even.
    bases = {made.args: made for made in reversed(found) if len(made.args) == len(found[0].args)}
    tried = [*inputs, *odd_inputs(drawer)]
    for base in list(reversed(bases.values()))[:_OPTIONED]:
        shown: list[_Made] = []
        silent: list[_Made] = []
        refused: list[_Made] = []
        for name, value in changed_options(kind, len(base.args), offered):
            one = base._replace(kwargs={name: value})
            taken, tells = _telling(kind, one, base, [base.inputs, *tried], drawer)
            if taken is None:
                refused.append(one)
            else:
                (shown if tells else silent).append(one._replace(inputs=taken))
        yield from (*shown, *silent)
        # Two of them at once: some options matter beside others only.
        for one, other in itertools.pairwise([*shown, *silent]):
            both = one._replace(kwargs={**one.kwargs, **other.kwargs})
            taken, _ = _telling(kind, both, one, [one.inputs, other.inputs], drawer)
            if taken is not None:
                yield both._replace(inputs=taken)
        yield from _beside_another(kind, [*silent, *refused], shown, drawer)


def _beside_another(kind: Any, alone: Sequence[_Made], shown: Sequence[_Made], drawer: Drawer) -> Iterator[_Made]:
    """Those options that change nothing `alone`, or are refused, each with the first other one beside which it does."""
    done: set[int] = set()
    pairs = ((place, one, other) for other in shown for place, one in enumerate(alone))
    for place, one, other in itertools.islice(pairs, _PAIRS):
        if place not in done and one.kwargs.keys().isdisjoint(other.kwargs):
            both = other._replace(kwargs={**other.kwargs, **one.kwargs})
            taken, tells = _telling(kind, both, other, [other.inputs, one.inputs], drawer)
            if taken is not None and tells:
                done.add(place)
                yield both._replace(inputs=taken)


def _telling(
    kind: Any, made: _Made, plain: _Made, inputs: Sequence[tuple[Any, ...]], drawer: Drawer
) -> tuple[tuple[Any, ...] | None, bool]:
    """The first of `inputs` for which `made` gives something else than `plain`, as `telling` says."""
    modules: list[Any] = []
    with contextlib.suppress(Exception), warnings.catch_warnings():
        warnings.simplefilter("ignore")
        for one in (made, plain):
            # With the same parameters.
            torch.default_generator.manual_seed(0)
            modules.append(kind(*one.args, **one.kwargs).to(drawer.dtype))
        candidates: list[CallArguments] = [(given_inputs, {}) for given_inputs in inputs]
        index, tells = telling(modules[0], lambda index: given(modules[1], candidates[index]), candidates)
        return None if index is None else inputs[index], tells
    return None, False


def _are_meant(kind: Any, args: tuple[Any, ...]) -> bool:
    """Whether somebody would write these arguments of a constructor: none is a flag, or what torch has given up."""
    with contextlib.suppress(ValueError, TypeError):
        given = zip(inspect.signature(kind).parameters.values(), args, strict=False)
        return not any(type(parameter.default) is bool or parameter.name in _GIVEN_UP for parameter, _ in given)
    return True


def _called(
    kind: Any, args: tuple[Any, ...], inputs: Sequence[tuple[Any, ...]], drawer: Drawer
) -> list[tuple[Any, ...]]:
    with contextlib.suppress(Exception), warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return accepted(kind(*args).to(drawer.dtype), inputs)
    return []


def _of_two_ranks(found: Sequence[tuple[Any, ...]]) -> list[tuple[Any, ...]]:
    """The first of `found` and one whose first tensor has another rank, if there is any, or the second."""
    others = [given for given in found[1:] if given[0].ndim != found[0][0].ndim]
    return [*found[:1], *(others or found[1:])[:1]]
