"""Argument and result types of the methods of `Framework` that take or return more than one value."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple, TypeAlias

from autotest.program import CallKind


class FunctionCalled(NamedTuple):
    """A call of a public function of a framework, with copies of its operands from before the call."""

    #: The function's dotted path below the framework's root: ``"nn.functional.relu"``, ``"Tensor.add_"``.
    path: str
    args: tuple[Any, ...]
    kwargs: dict[str, Any]
    #: The operand that the function wrote its result into, if any: the object itself, not a copy.
    written: Any = None


class Implementation(NamedTuple):
    """A second implementation of a public function, which a result can be checked against."""

    name: str
    #: Takes the operands of the public function. May raise any exception if it does not support them.
    function: Callable[..., Any]


#: (inputs, leaves, modules) -> (outputs, roots). Roots are the outputs to backpropagate from, each with its cotangent;
#: None stands for a cotangent of 1.
Build: TypeAlias = Callable[[list[Any], list[Any], list[Any]], tuple[list[Any], list[tuple[Any, Any]]]]


class NotGraphed(Exception):
    """Raised if this library cannot run a program in a graph mode; the text is the reason. Not a framework's bug."""


def error_line(error: Exception) -> str:
    """Return the line of a graph mode's exception that says what happened, at most 300 characters.

    Lines that give a location, and lines that end with a colon, are skipped.
    """
    lines = [line.strip() for line in str(error).splitlines() if line.strip()]
    said = [line for line in lines if not line.startswith(("File ", "at "))]
    return next((line for line in said if not line.endswith(":")), (said or [""])[0])[:300]


class Given(NamedTuple):
    """Arguments of one call of a graph; `trained` are the parameters of `modules` whose gradients are wanted."""

    inputs: list[Any]
    leaves: list[Any]
    modules: list[Any]
    trained: list[Any]


class Graphed(NamedTuple):
    """Results of one call of a graph: outputs, and gradients of leaves and trained parameters (None if none).

    Attributes:
        overwritten: the indices of the outputs that a later call of the graph changed.
        vacuous: why the results say nothing about the graph mode if they agree; empty if they do say something.
    """

    outputs: list[Any]
    leaves: list[Any]
    trained: list[Any]
    overwritten: frozenset[int] = frozenset()
    vacuous: str = ""


class PublicCall(NamedTuple):
    """A call of a public function of a framework, in the terms of a program."""

    kind: CallKind
    target: str
    args: tuple[Any, ...]
    kwargs: dict[str, Any]
