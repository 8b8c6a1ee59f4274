"""An adapter for libraries of functions whose backward functions are called by hand, as kernel libraries have them."""

from __future__ import annotations

import abc
import functools
import math
import operator
from collections.abc import Callable, Mapping, Sequence
from typing import Any, Final, NamedTuple, TypeAlias

import numpy as np

from autotest.frameworks.base import Framework
from autotest.frameworks.created_arrays import created
from autotest.frameworks.failures import Absent
from autotest.frameworks.functional import Functional
from autotest.frameworks.functional_calls import VIEWS
from autotest.frameworks.numpy_translations import arrangements
from autotest.frameworks.tape import ArrayLike, Pure, listed
from autotest.frameworks.traced import Transcript
from autotest.frameworks.transcribing import Transcribing
from autotest.program import leaves, map_operand

#: A backward function. It is called with the gradient of the result (a tuple if there are several results), the result
#: and the arguments of the forward function. It returns the gradients of these arguments in their order, the first one
#: alone without a tuple. Those of arguments that are no arrays are ignored, None stands for none, and the last ones may
#: be left out.
Backward: TypeAlias = Callable[..., Any]

#: Functions that only select and arrange elements. Their gradients follow from the places of the elements.
SELECTIONS: Final = VIEWS | set("cat concat stack take part roll flip index_select gather clone repeat".split())
#: Those among them by which this library itself lays out what it draws, and writes into tensors. Of a library that
#: lacks them NumPy's are taken. A trial that calls nothing else compares nothing.
ARRANGING: Final = frozenset("reshape view transpose t permute squeeze unsqueeze expand broadcast_to cat".split())


class Called(NamedTuple):
    """One call of a function of the library."""

    name: str
    function: Pure
    args: tuple[Any, ...]
    kwargs: dict[str, Any]
    made: Any


class HandWritten(Functional):
    """A `Functional` framework that calls the backward functions in `backward` instead of a `vjp` of the library.

    A subclass whose arrays are not NumPy's also defines `array_types`. `own_calls` counts the calls of the library's
    own functions.
    """

    transcribing_class = Transcribing

    def __init_subclass__(cls, **kwargs: Any) -> None:
        super().__init_subclass__(**kwargs)
        for name in ("cast", "take", "part"):
            method = getattr(cls, name)
            if not getattr(method, "__isabstractmethod__", False) and not hasattr(method, "noted"):
                setattr(cls, name, _noted(name, method))

    def __init__(self, name: str, origin: str = "") -> None:
        super().__init__(name, origin)
        #: The calls that the function to differentiate makes, while it runs.
        self._calls: list[Called] | None = None
        self._recorded: dict[str, Pure] = {}
        self.own_calls: int = 0

    @property
    @abc.abstractmethod
    def backward(self) -> Mapping[str, Backward]:
        """The backward functions by torch's name of the forward function; `Backward` says how they are called.

        Functions in `SELECTIONS` need none. A function that has none and needs one is absent, which is no finding.
        """

    def translated(self, path: str) -> Pure:
        found = self._recorded.get(path)
        if found is None:
            found = self._recorded[path] = self._recording(path, self.own_or_arranging(path))
        return found

    def own_or_arranging(self, path: str) -> Pure:
        """Return the library's function for torch's at `path`, or one that creates or arranges elements without it."""
        try:
            own = super().translated(path)
        except Absent:
            create = created(path)
            if create is not None:
                return functools.wraps(create)(lambda *args, **kwargs: self.array(*create(*args, **kwargs)))
            if path not in ARRANGING:
                raise
            return self.through_numpy(arrangements(np)[path])

        @functools.wraps(own)
        def counted(*args: Any, **kwargs: Any) -> Any:
            self.own_calls += 1
            return own(*args, **kwargs)

        return counted

    def through_numpy(self, function: Pure) -> Pure:
        """Return `function` of NumPy's arrays, whose result has the dtype of the first, as one of this library's."""

        def read(leaf: Any) -> Any:
            return self.numpy(leaf) if self._is_array(leaf) else leaf

        @functools.wraps(function)
        def call(*args: Any, **kwargs: Any) -> ArrayLike:
            first = next(leaf for leaf in leaves((args, kwargs)) if self._is_array(leaf))
            given = [map_operand(item, read) for item in args]
            made = function(*given, **{key: map_operand(item, read) for key, item in kwargs.items()})
            return self.array(made, self.dtype_of_array(first))

        return call

    def add(self, one: ArrayLike, other: ArrayLike) -> ArrayLike:
        try:
            return super().add(one, other)
        except Absent:  # gradients of an operand that is used twice are added up all the same
            return self.through_numpy(operator.add)(one, other)

    def call_noted(self, name: str, function: Pure, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
        """Call `function` and note the call, if a function to differentiate makes it."""
        calls, self._calls = self._calls, None  # calls that the function makes belong to it
        try:
            made = function(*args, **kwargs)
        finally:
            self._calls = calls
        if calls is not None:
            calls.append(Called(name, function, args, kwargs, made))
        return made

    def _recording(self, name: str, function: Pure) -> Pure:
        return functools.wraps(function)(lambda *args, **kwargs: self.call_noted(name, function, args, kwargs))

    def vjp(self, function: Pure, arrays: list[ArrayLike], cotangents: list[ArrayLike]) -> list[ArrayLike]:
        calls: list[Called] = []
        self._calls = calls
        varied = [*map(self.distinct, arrays)]
        try:
            made = self.called_again(function, varied)
        finally:
            self._calls = None
        gradients: dict[int, ArrayLike] = {}
        for array, cotangent in zip(made, cotangents, strict=True):
            self._give(gradients, array, cotangent)
        for called in reversed(calls):
            results = listed(called.made)
            operands = [leaf for leaf in leaves((called.args, called.kwargs)) if self._is_array(leaf)]
            if {id(one) for one in results} & {id(one) for one in operands}:
                continue  # it returned an operand, which keeps its gradient
            held = [gradients.pop(id(one), None) for one in results]
            if any(one is not None for one in held):
                for operand, gradient in zip(operands, self._pushed(called, operands, held), strict=True):
                    if gradient is not None and self.is_floating(operand):
                        self._give(gradients, operand, gradient)
        return [gradients[id(array)] if id(array) in gradients else self.no_gradient(array) for array in varied]

    def no_gradient(self, array: ArrayLike) -> ArrayLike:
        """Return the gradient of an `array` for which no backward function returns one."""
        return self.zeros_like(array)

    def distinct(self, array: ArrayLike) -> ArrayLike:
        """Return a copy of `array`: arrays are told apart by identity, and a constant may be the same one."""
        return self.array(self.numpy(array), self.dtype_of_array(array))

    def called_again(self, function: Pure, arrays: list[ArrayLike]) -> Any:
        """Return ``function(*arrays)``, which was called before with the same numbers."""
        return function(*arrays)

    def _is_array(self, value: Any) -> bool:
        return isinstance(value, self.array_types() or (np.ndarray, np.generic))

    def _give(self, gradients: dict[int, ArrayLike], array: ArrayLike, gradient: ArrayLike) -> None:
        held = gradients.get(id(array))
        gradients[id(array)] = gradient if held is None else self.add(held, gradient)

    def _pushed(
        self, called: Called, operands: list[ArrayLike], held: Sequence[ArrayLike | None]
    ) -> Sequence[ArrayLike | None]:
        """Return the gradient of each operand for the gradients `held` of the results."""
        results = listed(called.made)
        given = [self.zeros_like(made) if one is None else one for made, one in zip(results, held, strict=True)]
        last = called.name.rpartition(".")[2]
        if called.name == "cast":
            return [self.cast(given[0], self.dtype_of_array(operands[0]))]
        known = self.table("backward")
        backward = known.get(called.name) or known.get(last) or known.get(last.rstrip("_"))
        if backward is None and last in SELECTIONS:
            return self._selected(called, operands, given)
        if backward is None:
            raise Absent(self.name, f"backward of {last}")
        gradient = tuple(given) if isinstance(called.made, (tuple, list)) else given[0]
        found = backward(gradient, called.made, *called.args, **called.kwargs)
        by_operand = {id(one): given for one, given in self._paired(called, listed(found))}
        for operand in operands:
            one = by_operand.get(id(operand))
            if one is not None and self.shape_of(one) != self.shape_of(operand):
                shapes = f"shape {self.shape_of(one)} for an argument of shape {self.shape_of(operand)}"
                raise ValueError(f"backward of {last} returned a gradient of {shapes}")
        return [by_operand.get(id(operand)) for operand in operands]

    def _paired(self, called: Called, found: list[Any]) -> list[tuple[ArrayLike, ArrayLike]]:
        """Return each array among the arguments with its gradient; a list of arrays has a list of gradients."""
        pairs: list[tuple[ArrayLike, ArrayLike]] = []
        for argument, gradient in zip((*called.args, *called.kwargs.values()), found, strict=False):
            several = isinstance(argument, (tuple, list)) and gradient is not None
            both = zip(argument, gradient, strict=True) if several else ((argument, gradient),)
            pairs += [(one, given) for one, given in both if self._is_array(one)]
        return pairs

    def _selected(self, called: Called, operands: list[ArrayLike], given: list[ArrayLike]) -> list[ArrayLike]:
        """Return the gradients of a function that only selects: each element gives its gradient to where it is from."""
        sizes = [int(np.prod(self.shape_of(operand), dtype=np.int64)) for operand in operands]
        starts = np.cumsum([0, *sizes])
        varied = {id(operand) for operand in operands if self.is_floating(operand)}
        places = {
            id(operand): self.array(np.arange(start, start + size).reshape(self.shape_of(operand)), "int64")
            for operand, start, size in zip(operands, starts[:-1], sizes, strict=True)
            if id(operand) in varied
        }

        def place(leaf: Any) -> Any:
            return places.get(id(leaf), leaf)

        args = [map_operand(item, place) for item in called.args]
        named = {key: map_operand(item, place) for key, item in called.kwargs.items()}
        sources = [self.numpy(source) for source in listed(called.function(*args, **named))]
        return [
            self.zeros_like(operand)
            if id(operand) not in varied
            else self.cast(
                self.through_numpy(functools.partial(_put_back, sources, start, self.shape_of(operand)))(*given),
                self.dtype_of_array(operand),
            )
            for operand, start in zip(operands, starts[:-1], strict=True)
        ]

    def transcribing(self) -> tuple[Framework, Transcript] | None:
        made = super().transcribing()
        if made is not None:
            vars(made[0])["_recorded"] = {}  # those of the copy call it, and not this adapter
        return made


def _put_back(sources: Sequence[Any], start: int, shape: tuple[int, ...], *gradients: Any) -> Any:
    """Return sums of the elements of `gradients`, each at the place that `sources` gives, from `start` on."""
    size = math.prod(shape)
    total: Any = 0
    for source, gradient in zip(sources, gradients, strict=True):
        at, numbers = source.reshape(-1) - start, gradient.reshape(-1)
        kept = (at >= 0) & (at < size)
        if not kept.all():
            at, numbers = at[kept], numbers[kept]
        if numbers.dtype.kind == "c":
            total = total + 1j * np.bincount(at, numbers.imag, size)
            numbers = numbers.real
        total = total + np.bincount(at, numbers, size)
    return total.reshape(shape)


def _noted(name: str, method: Callable[..., Any]) -> Callable[..., Any]:
    """Return `method` of an adapter as one whose calls are noted under `name`."""

    @functools.wraps(method)
    def call(self: HandWritten, *args: Any, **kwargs: Any) -> Any:
        return self.call_noted(name, functools.partial(method, self), args, kwargs)

    call.noted = True  # type: ignore[attr-defined]
    return call


__all__ = ["SELECTIONS", "Backward", "Called", "HandWritten"]
