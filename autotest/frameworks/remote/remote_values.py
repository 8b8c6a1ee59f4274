"""Stand-ins in this process for the values and names of another process."""

from __future__ import annotations

from typing import Any

from autotest.frameworks.remote.wire import Link, Name


class RemoteValue:
    """A value in the other process, identified by `key`. Its type and contents are unknown until it is read.

    Attributes:
        key: the number of the value, by which messages refer to it.
        facts: the properties that are known without asking, such as the shape; None if none are.
        held: for a module, its parameters, and the names and shapes of its buffers; None if they are not known.
    """

    __slots__ = ("_dropped", "facts", "held", "key")

    def __init__(self, key: int, dropped: list[int]) -> None:
        self.key = key
        self._dropped = dropped
        self.facts: dict[str, Any] | None = None
        self.held: tuple[dict[str, RemoteValue], list[tuple[str, tuple[int, ...]]]] | None = None

    def __del__(self) -> None:
        self._dropped.append(self.key)


class RemoteName:
    """An object of the framework's namespace in the other process, identified by its path."""

    def __init__(self, path: str) -> None:
        self.path = path


def linked(item: Any) -> Any:
    """Return an operand in the form in which it is sent: a `Link` or `Name` for an object of the other process."""
    if type(item) is RemoteValue:
        return Link(item.key)
    return Name(item.path) if type(item) is RemoteName else item
