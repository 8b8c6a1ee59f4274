"""What the reference says of its own parameters: the part of the protocol that only reports of inputs use."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from autotest.results.optional_arguments import OptionalArgument


class Parameters:
    """Names of parameters. A framework that cannot be the reference, or does not know them, leaves both as they are."""

    def argument_names(
        self, path: str, function: Any, tensors: Sequence[bool | None], keywords: Iterable[str], *, method: bool
    ) -> tuple[str, ...]:
        """Return the names of the positional arguments of `function`; empty if unknown. The last may be ``*starred``.

        Used to report which arguments a test always gives the same value. `tensors` says of each positional argument
        whether it is a tensor, with None for another object of the framework, such as a dtype; the other arguments
        are those of `Framework.annotations`.
        """
        return ()

    def documented_words(self, path: str) -> tuple[str, ...]:
        """Return the words in quotes in the documentation of the function or class at `path`: values of its arguments.

        Used to find out with which of them a failure shows, so that other words among them do no harm.
        """
        return ()

    def optional_arguments(self, operator: str, called_as: str) -> Mapping[str, OptionalArgument]:
        """Return the arguments that calls of `operator` may leave out, by name; empty if they are unknown.

        Used to report which arguments no test gives.

        Args:
            operator: the dotted path of a function or of a module's class, or the name of a tensor's method.
            called_as: ``"function"``, ``"method"`` or ``"module"``.
        """
        return {}
