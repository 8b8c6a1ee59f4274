"""What a framework is asked and what it answers, where more than one value goes either way."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple, TypeAlias

from autotest.program import CallKind


class FunctionCalled(NamedTuple):
    """A public function of a framework with copies of the operands that it was given, as they were before it."""

    #: Its dotted path below the root: ``"nn.functional.relu"``, ``"Tensor.add_"``.
    path: str
    args: tuple[Any, ...]
    kwargs: dict[str, Any]
    #: The operand that it wrote its result into, if it did: the object itself, and no copy.
    written: Any = None


class Implementation(NamedTuple):
    """A second implementation of a public function, by which a result can be checked."""

    name: str
    #: Takes the operands of the public function. Raises whatever it likes where it has no answer.
    function: Callable[..., Any]


#: (inputs, leaves, modules) -> outputs, and what to push back: outputs, each with its cotangent (None for a one)
Build: TypeAlias = Callable[[list[Any], list[Any], list[Any]], tuple[list[Any], list[tuple[Any, Any]]]]


class NotGraphed(Exception):
    """A program that this library cannot hand to a graph mode; the text is the reason. No fault of the framework's."""


def telling(error: Exception) -> str:
    """The line of an exception of a graph mode that says what happened, and not where, or that more follows."""
    lines = [line.strip() for line in str(error).splitlines() if line.strip()]
    said = [line for line in lines if not line.startswith(("File ", "at "))]
    return next((line for line in said if not line.endswith(":")), (said or [""])[0])[:300]


class Given(NamedTuple):
    """What one call of a graph is given; parameters `trained` of `modules` are those whose gradients are wanted."""

    inputs: list[Any]
    leaves: list[Any]
    modules: list[Any]
    trained: list[Any]


class Graphed(NamedTuple):
    """What one call of a graph gave: outputs, and the gradients of leaves and trained parameters, None for none."""

    outputs: list[Any]
    leaves: list[Any]
    trained: list[Any]


class PublicCall(NamedTuple):
    """A call of one of a framework's public functions, as a program spells it."""

    kind: CallKind
    target: str
    args: tuple[Any, ...]
    kwargs: dict[str, Any]
