"""An adapter of functions over what writes down its calls: its gradients become those of one function."""

from __future__ import annotations

import contextlib
import copy
import functools
from collections.abc import Iterable, Iterator
from typing import Any, TypeAlias

import numpy as np

from autotest.base.errors import NotReplayable
from autotest.frameworks.tape import Tensor
from autotest.frameworks.traced import Differentiated, Traced, Written, opened

#: `autotest.frameworks.functional.Functional`, which uses what stands here.
Functional: TypeAlias = Any


def bare(adapter: Any) -> Any:
    """A copy of `adapter` that has looked nothing up yet."""
    made = copy.copy(adapter)
    for name in [*vars(made)]:
        if isinstance(getattr(type(adapter), name, None), functools.cached_property):
            del made.__dict__[name]
    return made


def transcribing(adapter: Functional) -> Functional:
    """A copy of `adapter` whose `written` gets what it does."""
    kind = type(adapter)
    made = bare(adapter)
    made.__class__ = type(f"Transcribing{kind.__name__}", (_Transcribing, kind), {})
    return made


class _Transcribing:
    """What of `Functional` is another thing when its arrays are traced."""

    written: Written
    gradient_lines: tuple[str, ...]

    @contextlib.contextmanager
    def _muted(self) -> Iterator[None]:
        before, self.written.muted = self.written.muted, True
        try:
            yield
        finally:
            self.written.muted = before

    def numpy(self, array: Any) -> np.ndarray[Any, Any]:
        with self._muted():
            return super().numpy(opened(array))  # type: ignore[misc, no-any-return]

    def vjp(self, function: Any, arrays: list[Any], cotangents: list[Any]) -> list[Any]:
        def plain(*given: Any) -> list[Any]:
            return [opened(one) for one in function(*[Traced(one, "", self.written) for one in given])]

        with self._muted():
            own: Any = super()
            found = own.vjp(plain, [opened(one) for one in arrays], [opened(one) for one in cotangents])
            return [Traced(opened(one), "", self.written) for one in found]

    def push_back(self, roots: Iterable[tuple[Tensor, Tensor | None]], *, keep: bool = False) -> dict[Any, Any]:
        own: Any = super()
        written = self.written
        if written.differentiated is not None:
            raise NotReplayable("gradients are asked for twice")
        started = [(root, self._cotangent(root) if given is None else given) for root, given in roots]
        texts = [(written.text(root.array), written.text(given.array)) for root, given in started]
        end = len(written.statements)
        with self._muted():
            found: dict[Any, Any] = own.push_back(started, keep=keep)
        leaves = [target for target in found if isinstance(target, Tensor)]
        names = tuple(f"g{at}" for at in range(len(leaves)))
        listed = {
            "outputs": ", ".join(root for root, _ in texts),
            "cotangents": ", ".join(cotangent for _, cotangent in texts),
            "cotangent": texts[0][1] if len(texts) == 1 else f"[{', '.join(cotangent for _, cotangent in texts)}]",
            "leaves": ", ".join(written.text(leaf.array) for leaf in leaves),
            "gradients": ", ".join(names) + ("," if len(names) == 1 else ""),
        }
        written.differentiated = Differentiated(
            tuple(root for root, _ in texts),
            tuple(written.text(leaf.array) for leaf in leaves),
            tuple(cotangent for _, cotangent in texts),
            tuple(line.format(**listed) for line in self.gradient_lines),
            names,
            end,
        )
        for leaf, name in zip(leaves, names, strict=True):
            found[leaf] = Traced(opened(found[leaf]), name, written)
        return found

    def _cotangent(self, root: Tensor) -> Tensor:
        own: Any = self
        return Tensor(own.array(np.ones(own.shape(root)), own.dtype_of(root)))


__all__ = ["bare", "transcribing"]
