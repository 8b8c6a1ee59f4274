"""Draws arguments for a signature, and learns from refusals which choices to draw less often."""

from __future__ import annotations

import collections
import dataclasses
from collections.abc import Mapping, Sequence
from typing import Any, Final, Literal, NamedTuple, TypeAlias

import numpy as np

from generators.contents import Spec, array_from
from generators.source import Source

#: What a parameter takes. ``"numbers"`` are whole ones, as sizes and dims are; ``"tensors"`` is a list of them.
Takes: TypeAlias = Literal["tensor", "tensors", "integer", "numbers", "fraction", "scalar", "flag", "word"]


@dataclasses.dataclass(frozen=True, slots=True)
class Parameter:
    """One parameter of a signature."""

    name: str
    takes: Takes
    #: Whether it may be left out.
    optional: bool = False
    #: Whether it is given by name only.
    named: bool = False
    #: How many numbers it takes; 0 for any.
    count: int = 0


class TensorSpec(NamedTuple):
    """A tensor to be made: of the call's own dtype, of indices, or of booleans."""

    shape: tuple[int, ...]
    of: Literal["values", "indices", "booleans", "positive"]


#: Shapes from the commonest on; all of them fit one another somewhere.
_SHAPES: Final = (
    (2, 4), (4,), (2, 4, 8), (2, 4, 6, 6), (2, 4, 4, 6, 6), (4, 4), (2, 4, 4), (2, 2, 3), (), (1,), (2, 1, 3, 3),
)  # fmt: skip
#: What tensors hold, and how often beside the others.
_OF: Final[Mapping[Literal["values", "indices", "booleans", "positive"], float]] = {
    "values": 1.0, "positive": 0.4, "indices": 0.3, "booleans": 0.2,
}  # fmt: skip
_INTEGERS: Final = (1, 0, -1, 2, 3, 4)
_FRACTIONS: Final = (0.5, 0.3, 1.0, 2.0, 0.0, -0.5)
_NUMBERS: Final = ((1,), (2, 2), (0, 1), (1, 0), (2, 4), (4,), (3, 3), (1, 1, 1), (2, 4, 2, 2), (-1,), ())
#: How often an optional argument is given, beside being left out.
_GIVEN: Final = 0.5
_WORDS: Final = ("mean", "sum", "none", "constant", "reflect", "trunc", "floor", "linear", "nearest", "bilinear", "L")
#: How often all tensors of one call have the same shape.
_ALIKE: Final = 0.6


class DrawnArguments(NamedTuple):
    """Arguments by name, and which choice each of them is."""

    arguments: Mapping[str, Any]
    choices: Mapping[str, int]


class ArgumentSampler:
    """Draws the arguments of one signature.

    What was refused is drawn less often, what was accepted more often: each choice weighs what it came to so far.
    """

    def __init__(self, parameters: Sequence[Parameter]) -> None:
        self._parameters = tuple(parameters)
        #: What each parameter is offered.
        self._offers = [_offered(parameter) for parameter in self._parameters]
        #: What the choices of each parameter weigh at first, and whether an optional one is given.
        self._own: dict[str, Sequence[float]] = {}
        for parameter, offered in zip(self._parameters, self._offers, strict=True):
            self._own[parameter.name] = [_weight(value) for value in offered]
            if parameter.optional:
                self._own[_given(parameter)] = (1.0, _GIVEN)
        #: What they came to so far, as factors of that, and both multiplied: many are drawn for one that is learnt of.
        self._factors: dict[tuple[str, int], float] = collections.defaultdict(lambda: 1.0)
        self._weights = {name: list(own) for name, own in self._own.items()}

    def draw(self, source: Source) -> DrawnArguments:
        """Arguments for one call; those that are optional are left out now and then."""
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
        """Take note of whether `drawn` was accepted."""
        for choice in drawn.choices.items():
            name, index = choice
            factor = self._factors[choice] = min(8.0, max(0.05, self._factors[choice] * (2.0 if accepted else 0.8)))
            self._weights[name][index] = self._own[name][index] * factor

    def _chosen(self, source: Source, name: str) -> int:
        weights = self._weights[name]
        return source.index(len(weights), weights)


def _given(parameter: Parameter) -> str:
    """What the choice is called whether an optional parameter is given."""
    return f"{parameter.name} given"


def _weight(value: Any) -> float:
    return _OF[value.of] if isinstance(value, TensorSpec) else 1.0


def _offered(parameter: Parameter) -> Sequence[Any]:
    """What a parameter is offered, the commonest first."""
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
    """The values of a tensor that was drawn, and the name of their dtype; the same ones for the same 64-bit `seed`."""
    own = {"indices": "int64", "booleans": "bool"}.get(tensor.of, dtype)
    low, high = {"indices": (0, 2), "booleans": (0, 2), "positive": (0.1, 1) if "float" in own else (1, 4)}.get(
        tensor.of, (-2, 2) if "float" in own else (-3, 4)
    )
    low = max(0, low) if own.startswith("uint") else low
    return array_from(Spec(tensor.shape, own, low, high), seed), own
