"""What this process knows of the values and names that live in another one."""

from __future__ import annotations

from typing import Any

from autotest.frameworks.wire import Link, Name


class RemoteValue:
    """A value in the other process. What it is there is known only when it is read."""

    __slots__ = ("_dropped", "facts", "held", "key")

    def __init__(self, key: int, dropped: list[int]) -> None:
        self.key = key
        self._dropped = dropped
        self.facts: dict[str, Any] | None = None
        self.held: tuple[dict[str, RemoteValue], list[tuple[str, tuple[int, ...]]]] | None = None

    def __del__(self) -> None:
        self._dropped.append(self.key)


class RemoteName:
    """An object of the other process's namespace."""

    def __init__(self, path: str) -> None:
        self.path = path


def linked(item: Any) -> Any:
    """An operand as it is sent: a link to what lives there."""
    if type(item) is RemoteValue:
        return Link(item.key)
    return Name(item.path) if type(item) is RemoteName else item
