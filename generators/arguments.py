"""Draws arguments for a signature, and learns from refused calls which choices to draw less often."""

from __future__ import annotations

import collections
import dataclasses
from collections.abc import Mapping, Sequence
from typing import Any, Final, Literal, NamedTuple, TypeAlias

import numpy as np

from generators.contents import Spec, array_from
from generators.source import Source

#: The kind of value that a parameter takes. ``"numbers"`` is a tuple of ints, such as sizes or dims; ``"tensors"`` is a
#: list of tensors.
Takes: TypeAlias = Literal["tensor", "tensors", "integer", "numbers", "fraction", "scalar", "flag", "word"]


@dataclasses.dataclass(frozen=True, slots=True)
class Parameter:
    """One parameter of a signature."""

    name: str
    takes: Takes
    #: Whether it may be omitted.
    optional: bool = False
    #: Whether it is keyword-only.
    named: bool = False
    #: The number of ints it takes; 0 for any.
    count: int = 0


class TensorSpec(NamedTuple):
    """Description of a tensor argument: its values have the call's dtype, or are indices or booleans."""

    shape: tuple[int, ...]
    of: Literal["values", "indices", "booleans", "positive"]


#: Shapes of tensors, the most common first. Each fits some of the others in some operator.
_SHAPES: Final = (
    (2, 4), (4,), (2, 4, 8), (2, 4, 6, 6), (2, 4, 4, 6, 6), (4, 4), (2, 4, 4), (2, 2, 3), (), (1,), (2, 1, 3, 3),
)  # fmt: skip
#: The kinds of values in tensors, with their relative weights.
_OF: Final[Mapping[Literal["values", "indices", "booleans", "positive"], float]] = {
    "values": 1.0, "positive": 0.4, "indices": 0.3, "booleans": 0.2,
}  # fmt: skip
_INTEGERS: Final = (1, 0, -1, 2, 3, 4)
_FRACTIONS: Final = (0.5, 0.3, 1.0, 2.0, 0.0, -0.5)
_NUMBERS: Final = ((1,), (2, 2), (0, 1), (1, 0), (2, 4), (4,), (3, 3), (1, 1, 1), (2, 4, 2, 2), (-1,), ())
#: Weight of giving an optional argument. Omitting it has weight 1.
_GIVEN: Final = 0.5
_WORDS: Final = ("mean", "sum", "none", "constant", "reflect", "trunc", "floor", "linear", "nearest", "bilinear", "L")
#: Chance that all tensors of one call have the same shape.
_ALIKE: Final = 0.6


class DrawnArguments(NamedTuple):
    """The arguments of a call by name, and the position of each in the values offered to its parameter."""

    arguments: Mapping[str, Any]
    choices: Mapping[str, int]


class ArgumentSampler:
    """Draws the arguments of one signature.

    Choices of refused calls are drawn less often, and choices of accepted calls more often.
    """

    def __init__(self, parameters: Sequence[Parameter]) -> None:
        self._parameters = tuple(parameters)
        #: The values offered to each parameter.
        self._offers = [_offered(parameter) for parameter in self._parameters]
        #: The initial weights of each parameter's values, and of omitting or giving an optional parameter.
        self._own: dict[str, Sequence[float]] = {}
        for parameter, offered in zip(self._parameters, self._offers, strict=True):
            self._own[parameter.name] = [_weight(value) for value in offered]
            if parameter.optional:
                self._own[_given(parameter)] = (1.0, _GIVEN)
        #: The factor that each choice has learnt so far.
        self._factors: dict[tuple[str, int], float] = collections.defaultdict(lambda: 1.0)
        #: The products of initial weights and factors. They are stored, because draws are more frequent than updates.
        self._weights = {name: list(own) for name, own in self._own.items()}

    def draw(self, source: Source) -> DrawnArguments:
        """Return arguments for one call; optional ones are sometimes omitted."""
        alike = source.uniform(0.0, 1.0) < _ALIKE
        shape: tuple[int, ...] | None = None
        arguments: dict[str, Any] = {}
        choices: dict[str, int] = {}
        for parameter, offered in zip(self._parameters, self._offers, strict=True):
            if parameter.optional:
                given = choices[_given(parameter)] = self._chosen(source, _given(parameter))
                if not given:
                    continue
            index = self._chosen(source, parameter.name)
            value = offered[index]
            if parameter.takes == "tensor" and alike and shape is not None:
                value = value._replace(shape=shape)
            elif parameter.takes == "tensors" and shape is not None:
                value = [item._replace(shape=shape) for item in value]
            if parameter.takes == "tensor" and shape is None:
                shape = value.shape
            arguments[parameter.name] = value
            choices[parameter.name] = index
        return DrawnArguments(arguments, choices)

    def learn(self, drawn: DrawnArguments, *, accepted: bool) -> None:
        """Update the weights of the choices in `drawn` after its call was accepted or refused."""
        for choice in drawn.choices.items():
            name, index = choice
            factor = self._factors[choice] = min(8.0, max(0.05, self._factors[choice] * (2.0 if accepted else 0.8)))
            self._weights[name][index] = self._own[name][index] * factor

    def _chosen(self, source: Source, name: str) -> int:
        weights = self._weights[name]
        return source.index(len(weights), weights)


def _given(parameter: Parameter) -> str:
    """Return the name of the choice whether an optional parameter is given."""
    return f"{parameter.name} given"


def _weight(value: Any) -> float:
    return _OF[value.of] if isinstance(value, TensorSpec) else 1.0


def _offered(parameter: Parameter) -> Sequence[Any]:
    """Return the values that are offered to a parameter, the most common first."""
    if parameter.takes == "tensor":
        return [TensorSpec(shape, of) for of in _OF for shape in _SHAPES]
    if parameter.takes == "tensors":
        return [[TensorSpec(shape, "values")] * count for count in (2, 1, 3) for shape in _SHAPES[:6]]
    if parameter.takes == "numbers":
        if parameter.count:
            return [(value,) * parameter.count for value in (1, 2, 0, 3, -1)]
        return _NUMBERS
    return {
        "integer": _INTEGERS,
        "fraction": _FRACTIONS,
        "scalar": (*_INTEGERS, *_FRACTIONS),
        "flag": (False, True),
        "word": _WORDS,
    }[parameter.takes]


def contents(tensor: TensorSpec, dtype: str, seed: int) -> tuple[np.ndarray[Any, Any], str]:
    """Return the values of a drawn tensor, determined by the 64-bit `seed`, and the name of their dtype."""
    own = {"indices": "int64", "booleans": "bool"}.get(tensor.of, dtype)
    low, high = {"indices": (0, 2), "booleans": (0, 2), "positive": (0.1, 1) if "float" in own else (1, 4)}.get(
        tensor.of, (-2, 2) if "float" in own else (-3, 4)
    )
    low = max(0, low) if own.startswith("uint") else low
    return array_from(Spec(tensor.shape, own, low, high), seed), own
