"""Process servers that several tests share, because each imports frameworks and reads databases when it starts."""

from __future__ import annotations

from collections.abc import Sequence

from autotest.frameworks import chosen_names
from autotest.processes.client import Server


class SharedServer(Server):
    """A server that those who use it do not close."""

    def close(self) -> None:
        pass

    def ended(self) -> None:
        """Kill the server and all its children."""
        super().close()


class SharedServers:
    """One server for each pair of frameworks and the modules that it imports, in place of the class `Server`."""

    def __init__(self) -> None:
        self._started: dict[tuple[tuple[str, str], tuple[str, ...]], SharedServer] = {}

    def __call__(self, modules: Sequence[str]) -> Server:
        key = chosen_names(), tuple(modules)
        if key not in self._started:
            self._started[key] = SharedServer(modules, frameworks=key[0])
        return self._started[key]

    def ended(self) -> None:
        """Kill all servers."""
        for server in self._started.values():
            server.ended()
