"""torch with a graph mode that runs eagerly, so that faults can be planted in the graph mode only."""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any

from autotest.frameworks.requests import Graphed
from tests.support.faulty import FaultyTorch


class GraphTorch(FaultyTorch):
    """torch whose graph mode has faults of its own.

    Args:
        inside: dotted path -> replacement that is used while a graph runs.
        refuses: arguments of the `RuntimeError` that each graph raises; by default graphs run.
    """

    graph_mode = "graph"

    def __init__(self, inside: Mapping[str, Callable[[Any], Any]] | None = None, refuses: Sequence[str] = ()) -> None:
        self.running = False
        self.built = 0
        super().__init__({path: self._inside_only(fault) for path, fault in (inside or {}).items()})
        self.refuses = refuses

    def _inside_only(self, fault: Callable[[Any], Any]) -> Callable[[Any], Any]:
        def replacement(original: Any) -> Any:
            wrong = fault(original)
            # Decided at each call, because the pair caches the functions that it has resolved.
            return lambda *args, **kwargs: (wrong if self.running else original)(*args, **kwargs)  # noqa: PLW0108

        return replacement

    @contextlib.contextmanager
    def _graph(self) -> Iterator[None]:
        self.running = True
        try:
            yield
        finally:
            self.running = False

    def run_in_graph(self, build: Any, calls: Any) -> list[Graphed]:
        if self.refuses:
            raise RuntimeError(*self.refuses)
        self.built += 1
        return [self._run(build, *given) for given in calls]

    def _run(self, build: Any, inputs: Any, leaves: Any, modules: Any, trained: Any) -> Graphed:
        import torch

        held = [leaf.detach().requires_grad_() for leaf in leaves]
        with self._graph():
            outputs, pushed = build(list(inputs), list(held), list(modules))
        if not (held or trained):
            return Graphed(outputs, [], [])
        results, cotangents = zip(*pushed, strict=True)
        gradients = list(torch.autograd.grad(results, [*held, *trained], cotangents))
        return Graphed(outputs, gradients[: len(held)], gradients[len(held) :])
