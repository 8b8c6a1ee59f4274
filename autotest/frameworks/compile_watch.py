"""Watches whether a backend of `torch.compile` computes anything of a program, or leaves all of it to torch.

A backend that lacks an operator usually hands it back to torch without a word. Where it hands back all of them, torch
is compared with itself.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any, Final

#: The operator that takes over memory which torch did not compute, as `from_numpy` does.
_TAKES_OVER: Final = "lift_fresh"


class Watch:
    """A backend that notes whether the functions that another backend returns compute anything themselves.

    Whatever torch computes passes by a dispatch mode. A tensor that did not, and was not given, is the backend's own.

    Attributes:
        computed: whether the backend's functions made a tensor.
    """

    def __init__(self, torch: Any, backend: Callable[..., Any]) -> None:
        self._torch, self._backend = torch, backend
        self.computed = False

    def __call__(self, graph: Any, inputs: Any) -> Callable[..., Any]:
        function = self._backend(graph, inputs)
        held = [*graph.parameters(), *graph.buffers()]

        def run(*given: Any) -> Any:
            mode = _mode(self._torch, [*given, *held])
            with mode:
                made = function(*given)
            self.computed = self.computed or mode.met or mode.is_new(made)
            return made

        run._boxed_call = getattr(function, "_boxed_call", False)  # type: ignore[attr-defined]
        return run


def _mode(torch: Any, known: Any) -> Any:
    """Return a mode that notes the memory of all tensors that torch is given or makes; `known` is known before."""
    from torch.utils._python_dispatch import TorchDispatchMode

    class Mode(TorchDispatchMode):  # type: ignore[misc]
        def __init__(self) -> None:
            super().__init__()
            self.met = False
            #: The memory itself is kept, so that no other tensor gets its address meanwhile.
            self._known: dict[int, Any] = {}
            self._learn(known)

        def __torch_dispatch__(self, function: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
            named = kwargs or {}
            made = function(*args, **named)
            if _TAKES_OVER not in str(function):
                self.met = self.met or self.is_new((args, named))
                self._learn(made)
            return made

        def is_new(self, value: Any) -> bool:
            """Return whether a tensor in `value` has other memory than all that were seen."""
            return any(memory._cdata not in self._known for memory in _memories(torch, value))

        def _learn(self, value: Any) -> None:
            self._known.update((memory._cdata, memory) for memory in _memories(torch, value))

    return Mode()


def _memories(torch: Any, value: Any) -> Iterator[Any]:
    """Yield the memory of each tensor in `value`; tensors without memory, such as sparse ones, are left out."""
    if isinstance(value, torch.Tensor):
        try:
            yield value.untyped_storage()
        except (NotImplementedError, RuntimeError):
            return
    elif isinstance(value, (tuple, list)):
        for item in value:
            yield from _memories(torch, item)
    elif isinstance(value, dict):
        yield from _memories(torch, list(value.values()))
