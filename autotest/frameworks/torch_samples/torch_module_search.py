"""Searches for ways to construct and call a module that torch accepts, and for some that it rejects."""

from __future__ import annotations

import contextlib
import functools
import inspect
import itertools
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, Final, NamedTuple

import torch

from autotest.frameworks.pair import warnings_ignored
from autotest.frameworks.torch_samples.torch_options import changed_options, option_values
from autotest.frameworks.torch_samples.torch_search import (
    CallArguments,
    TensorDrawer,
    accepted,
    first_effect,
    given,
    module_inputs,
    odd_inputs,
)

#: Constructor arguments to try, in this order.
CONSTRUCTED: Final[tuple[tuple[Any, ...], ...]] = (
    (), (4,), (2,), (4, 4), (2, 4), (4, 6), (4, 4, 3), (4, 4, 4), (4, 2, 2), (2, 2), (4, 2), ((2, 2),), (8, 2),
    ((4, 4),), ((3, 3), (2, 2)), (2, 0.5), (-1.0, 1.0), ((0, 1),), ((1, 0, 0, 1),), ((1, 0, 0, 1, 1, 0),),
)  # fmt: skip
#: Deprecated parameters.
_GIVEN_UP: Final = frozenset(("size_average", "reduce"))
#: Numbers of accepted inputs for one constructor, and of constructors of one module.
_INPUTS, _CONSTRUCTORS = 2, 3
#: Numbers of constructors whose options are changed, of pairs of options of one constructor, and of rejected options.
_OPTIONED, _PAIRS, _REFUSED = 2, 40, 12
#: Number of constructor options with which the options of the call are tried.
_CALLED: Final = 1
#: Integers that a layer may be constructed with but rarely is.
_SELDOM: Final = (0, 1)


class ModuleUse(NamedTuple):
    """The arguments that a module is constructed and called with."""

    args: tuple[Any, ...]
    kwargs: Mapping[str, Any]
    inputs: tuple[Any, ...]
    named: Mapping[str, Any]
    training: bool
    #: Whether it is called a second time, in evaluation mode, with the buffers that the first call left.
    again: bool = False
    #: Whether it is called at all.
    called: bool = True


def module_uses(kind: Any, drawer: TensorDrawer) -> Iterator[ModuleUse]:
    """Yield ways to construct and call `kind` that torch accepts, then the same with changed constructor options."""
    inputs = module_inputs(drawer)
    offered = option_values(drawer)
    found: list[ModuleUse] = []
    for args in (built for built in CONSTRUCTED if _are_plausible(kind, built)):
        if len(found) >= _CONSTRUCTORS * _INPUTS and any(_are_alike(args, made.args) for made in found):
            continue  # arguments of other types may still be accepted
        for accepted_inputs in _of_two_ranks(_called(kind, args, inputs, drawer)):
            found.append(ModuleUse(args, {}, accepted_inputs, {}, training=True))
            yield found[-1]
            yield found[-1]._replace(training=False)
    yield from (made._replace(again=True) for made in found[:1])
    yield from (one for made in found[:1] for one in _of_seldom_sizes(kind, made.args, drawer))
    # What an option does may depend on whether a kernel is odd or even.
    bases = {made.args: made for made in reversed(found) if len(made.args) == len(found[0].args)}
    tried = [*inputs, *odd_inputs(drawer)]
    for base in list(reversed(bases.values()))[:_OPTIONED]:
        shown: list[ModuleUse] = []
        silent: list[ModuleUse] = []
        refused: list[ModuleUse] = []
        for name, value in changed_options(kind, len(base.args), offered):
            one = base._replace(kwargs={name: value})
            taken, tells = _first_effect(kind, one, base, [base.inputs, *tried], drawer)
            if taken is None:
                refused.append(one)
            else:
                (shown if tells else silent).append(one._replace(inputs=taken))
        yield from (*shown, *silent)
        # Two options at once: some options only have an effect together with others.
        for one, other in (*itertools.pairwise([*shown, *silent]), *_words_and_sizes(shown)):
            both = one._replace(kwargs={**one.kwargs, **other.kwargs})
            taken, _ = _first_effect(kind, both, one, [one.inputs, other.inputs], drawer)
            if taken is not None:
                yield both._replace(inputs=taken)
        yield from _beside_another(kind, [*silent, *refused], shown, drawer)
        yield from (one._replace(inputs=base.inputs) for one in refused[:_REFUSED])
        for made in (base, *shown[:_CALLED]):
            yield from _called_with_options(kind, made, offered, drawer)


def _words_and_sizes(made: Sequence[ModuleUse]) -> Iterator[tuple[ModuleUse, ModuleUse]]:
    """Yield pairs of a use with a string option, such as ``padding="same"``, and one with a size for each dimension."""
    for one, other in itertools.product(made, made):
        words, sizes = one.kwargs.values(), other.kwargs.values()
        if any(isinstance(word, str) for word in words) and any(isinstance(size, tuple) for size in sizes):
            yield one, other


def _called_with_options(
    kind: Any, base: ModuleUse, offered: tuple[Any, ...], drawer: TensorDrawer
) -> Iterator[ModuleUse]:
    """Yield `base` with one more optional argument of the call, if that changes the result."""
    module, arguments = _built(kind, base, drawer), (base.inputs, base.named)
    plain = functools.cache(lambda _: given(module, arguments))
    for name, value in changed_options(kind.forward, 1 + len(base.inputs), (*offered, *_other_sizes(plain(0)))):
        if first_effect(functools.partial(module, **{name: value}), plain, [arguments])[1]:
            yield base._replace(named={**base.named, name: value})


def _other_sizes(came: Any) -> Iterator[tuple[int, ...]]:
    """Yield sizes that may be requested for the images or sequences in a module's result, other than their own."""
    value = came[0] if came is not None else None
    if isinstance(value, torch.Tensor) and value.dim() > 2:
        yield tuple(size + 1 for size in value.shape[2:])


def _built(kind: Any, use: ModuleUse, drawer: TensorDrawer) -> Any:
    """Return the module of `use`. The seed of its parameters is always the same."""
    torch.default_generator.manual_seed(0)
    with warnings_ignored():  # deprecation warnings of torch
        return kind(*use.args, **use.kwargs).to(drawer.dtype)


def _of_seldom_sizes(kind: Any, args: tuple[Any, ...], drawer: TensorDrawer) -> Iterator[ModuleUse]:
    """Yield `kind` with each integer argument replaced by 0 and by 1. It is called if inputs of such a size fit."""
    for place, old in enumerate(args):
        for size in _SELDOM if type(old) is int else ():
            changed = (*args[:place], size, *args[place + 1 :])
            inputs = [*module_inputs(drawer, {old: size}), *module_inputs(drawer)]
            fitting = _called(kind, changed, inputs, drawer)
            yield ModuleUse(changed, {}, next(iter(fitting), ()), {}, training=True, called=bool(fitting))


def _beside_another(
    kind: Any, alone: Sequence[ModuleUse], shown: Sequence[ModuleUse], drawer: TensorDrawer
) -> Iterator[ModuleUse]:
    """Yield each option that has no effect or is rejected `alone`, with the first other one that gives it an effect."""
    done: set[int] = set()
    pairs = ((place, one, other) for other in shown for place, one in enumerate(alone))
    for place, one, other in itertools.islice(pairs, _PAIRS):
        if place not in done and one.kwargs.keys().isdisjoint(other.kwargs):
            both = other._replace(kwargs={**other.kwargs, **one.kwargs})
            taken, tells = _first_effect(kind, both, other, [other.inputs, one.inputs], drawer)
            if taken is not None and tells:
                done.add(place)
                yield both._replace(inputs=taken)


def _first_effect(
    kind: Any, made: ModuleUse, plain: ModuleUse, inputs: Sequence[tuple[Any, ...]], drawer: TensorDrawer
) -> tuple[tuple[Any, ...] | None, bool]:
    """Return the first of `inputs` for which the results of `made` and `plain` differ, and whether there is one.

    If there is none, the first inputs that `made` accepts are returned, or None; see `torch_search.first_effect`.
    """
    modules: list[Any] = []
    with contextlib.suppress(Exception), warnings_ignored():
        modules += [_built(kind, one, drawer) for one in (made, plain)]
        candidates: list[CallArguments] = [(given_inputs, {}) for given_inputs in inputs]
        index, tells = first_effect(modules[0], lambda index: given(modules[1], candidates[index]), candidates)
        return None if index is None else inputs[index], tells
    return None, False


def _are_plausible(kind: Any, args: tuple[Any, ...]) -> bool:
    """Return whether users would pass these constructor arguments by position: none is a flag or deprecated."""
    with contextlib.suppress(ValueError, TypeError):
        given = zip(inspect.signature(kind).parameters.values(), args, strict=False)
        return not any(type(parameter.default) is bool or parameter.name in _GIVEN_UP for parameter, _ in given)
    return True


def _are_alike(args: tuple[Any, ...], others: tuple[Any, ...]) -> bool:
    """Return whether both have arguments of the same types, with tuples of the same lengths."""

    def types(given: tuple[Any, ...]) -> list[Any]:
        return [len(item) if isinstance(item, tuple) else type(item) for item in given]

    return types(args) == types(others)


def _called(
    kind: Any, args: tuple[Any, ...], inputs: Sequence[tuple[Any, ...]], drawer: TensorDrawer
) -> list[tuple[Any, ...]]:
    with contextlib.suppress(Exception), warnings_ignored():
        return accepted(kind(*args).to(drawer.dtype), inputs)
    return []


def _of_two_ranks(found: Sequence[tuple[Any, ...]]) -> list[tuple[Any, ...]]:
    """Return the first of `found`, and one whose first tensor has another rank, or else the second."""
    others = [given for given in found[1:] if given[0].ndim != found[0][0].ndim]
    return [*found[:1], *(others or found[1:])[:1]]
