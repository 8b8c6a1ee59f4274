"""A functional adapter that records its operations as source; its gradients become those of one function."""

from __future__ import annotations

import contextlib
import copy
import functools
from collections.abc import Iterable, Iterator, Sequence
from typing import Any, TypeAlias

import numpy as np

from autotest.base.errors import NotReplayable
from autotest.frameworks.array_layout import copied, has_gaps, source_of_memory
from autotest.frameworks.tape import ArrayLike, Pure, TapeTensor, ordered, parent_of
from autotest.frameworks.traced import NAME, Traced, TracedGradient, Transcript, opened
from autotest.program import leaves

#: `autotest.frameworks.functional.Functional`, which imports this module.
_Functional: TypeAlias = Any


def bare(adapter: Any) -> Any:
    """Return a copy of `adapter` without the values of its cached properties."""
    made = copy.copy(adapter)
    for name in [*vars(made)]:
        if isinstance(getattr(type(adapter), name, None), functools.cached_property):
            del made.__dict__[name]
    return made


def transcribing(adapter: _Functional, how: type) -> _Functional:
    """Return a copy of `adapter` that records its operations in its attribute `written`, a `Transcript`.

    Args:
        adapter: the adapter.
        how: the class whose methods record: `Transcribing` if gradients are operations like others, and
            `TranscribingFunction` if they are those of a function.
    """
    kind = type(adapter)
    made = bare(adapter)
    made.__class__ = type(f"Transcribing{kind.__name__}", (how, kind), {})
    return made


class Transcribing:
    """Overrides the methods of `Functional` that differ when its arrays are traced."""

    written: Transcript
    constant_text: str
    recording: bool

    @contextlib.contextmanager
    def _muted(self) -> Iterator[None]:
        before, self.written.muted = self.written.muted, True
        try:
            yield
        finally:
            self.written.muted = before

    def array(self, data: np.ndarray[Any, Any], dtype: str) -> ArrayLike:
        own: Any = super()
        made, written = own.array(data, dtype), self.written
        if type(made) is not np.ndarray or written.muted:
            return made
        return written.evaluated(lambda: made, written.text(made))  # an adapter of NumPy has made it without a call

    def constant(self, array: ArrayLike) -> ArrayLike:
        written = self.written
        if written.muted:
            return array
        with self._varying(False):
            return written.evaluated(lambda: opened(array), self.constant_text.format(written.text(array)))

    def apply(self, function: Pure, args: tuple[Any, ...], kwargs: dict[str, Any], *, view: bool = False) -> Any:
        own: Any = super()
        tensors = [leaf for leaf in leaves((args, kwargs)) if type(leaf) is TapeTensor]
        for tensor in tensors:  # reading may compute a view again; those calls are not part of this one
            own.read(tensor)
        differentiable = [tensor for tensor in tensors if parent_of(tensor) is not None]
        with self._varying(self.recording and bool(differentiable)):
            made = own.apply(function, args, kwargs, view=view)
        same = {id(opened(tensor.array)) for tensor in differentiable}
        for result in leaves(made):
            # The result may be an operand's array itself. If gradients end here, it is a different value nevertheless.
            if type(result) is TapeTensor and parent_of(result) is None and id(opened(result.array)) in same:
                result.array = self.constant(result.array)
        return made

    @contextlib.contextmanager
    def _varying(self, varies: bool) -> Iterator[None]:
        before, self.written.varies = self.written.varies, varies
        try:
            yield
        finally:
            self.written.varies = before

    def numpy(self, array: Any) -> np.ndarray[Any, Any]:
        with self._muted():
            return super().numpy(opened(array))  # type: ignore[misc, no-any-return]

    def distinct(self, array: ArrayLike) -> ArrayLike:
        text = self.written.text(array)
        with self._muted():
            own: Any = super()
            return Traced(opened(own.distinct(array)), text, self.written)

    def copy_to_write(self, array: ArrayLike) -> ArrayLike:
        written, real = self.written, opened(array)
        written.pure = False  # what writes into the copy has no result that a later statement names
        if not has_gaps(real):
            return written.evaluated(lambda: copied(real), f"np.copy({written.text(array)})")
        memory = written.evaluated(lambda: copied(real), source_of_memory(real))
        memory[...] = array
        return memory

    def through_numpy(self, function: Pure) -> Pure:
        own: Any = super()
        made: Pure = own.through_numpy(function)
        if made is not function and not self.written.muted:
            raise NotReplayable("elements are moved outside of the framework")
        return made

    def called_again(self, function: Pure, arrays: list[ArrayLike]) -> Any:
        with self.written.repeated():
            own: Any = super()
            return own.called_again(function, arrays)

    def no_gradient(self, array: ArrayLike) -> ArrayLike:
        raise NotReplayable("zeros that no call returns stand for a gradient")


class TranscribingFunction(Transcribing):
    """Records gradients as those of one function."""

    gradient_lines: tuple[str, ...]
    complex_gradient_lines: tuple[str, ...]

    def vjp(self, function: Any, arrays: list[Any], cotangents: list[Any]) -> list[Any]:
        def plain(*given: Any) -> list[Any]:
            return [opened(one) for one in function(*[Traced(opened(one), "", self.written) for one in given])]

        with self._muted(), self._called_plainly():
            own: Any = super()
            found = own.vjp(plain, [opened(one) for one in arrays], [opened(one) for one in cotangents])
            return [Traced(opened(one), "", self.written) for one in found]

    @contextlib.contextmanager
    def _called_plainly(self) -> Iterator[None]:
        """Let the adapter call the framework itself in the block, some of whose functions take no proxies."""
        traced = self.__dict__["root"]
        self.__dict__["root"] = opened(traced)
        try:
            yield
        finally:
            self.__dict__["root"] = traced

    def backpropagate(
        self, roots: Iterable[tuple[TapeTensor, TapeTensor | None]], *, keep: bool = False
    ) -> dict[Any, Any]:
        own: Any = super()
        written = self.written
        if written.differentiated is not None:
            raise NotReplayable("gradients are requested twice")
        if written.stops:
            raise NotReplayable("gradients of a function are computed by several calls")
        started = [(root, self._cotangent(root) if given is None else given) for root, given in roots]
        texts = [(written.text(root.array), written.text(given.array)) for root, given in started]
        end = len(written.statements)
        try:
            with self._muted():
                found: dict[Any, Any] = own.backpropagate(started, keep=keep)
        except Exception:
            self._note_gradient(started, texts, end, self._leaves(started))
            written.raised = True
            raise
        inputs = [target for target in found if isinstance(target, TapeTensor)]
        names = self._note_gradient(started, texts, end, inputs)
        for leaf, name in zip(inputs, names, strict=True):
            found[leaf] = Traced(opened(found[leaf]), name, written)
        return found

    def _leaves(self, started: Iterable[tuple[TapeTensor, Any]]) -> list[TapeTensor]:
        """Return the leaves whose gradients a backward pass would have returned that raised."""
        nodes = ordered(root.edge[0] for root, _ in started if root.edge is not None)
        parents = [parent for node in nodes for parent in node.parents]
        return [*dict.fromkeys(parent for parent in parents if isinstance(parent, TapeTensor))]

    def _note_gradient(
        self,
        started: Sequence[tuple[TapeTensor, TapeTensor]],
        texts: Sequence[tuple[str, str]],
        end: int,
        inputs: Sequence[TapeTensor],
    ) -> tuple[str, ...]:
        """Record the gradients of `inputs` as those of the statements up to `end`; return their names."""
        written = self.written
        names = tuple(f"g{at}" for at in range(len(inputs)))
        listed = {
            "outputs": ", ".join(root for root, _ in texts),
            "cotangents": ", ".join(cotangent for _, cotangent in texts),
            "cotangent": texts[0][1] if len(texts) == 1 else f"[{', '.join(cotangent for _, cotangent in texts)}]",
            "leaves": ", ".join(written.text(leaf.array) for leaf in inputs),
            "gradients": ", ".join(names) + ("," if len(names) == 1 else ""),
        }
        written.differentiated = TracedGradient(
            tuple(root for root, _ in texts),
            tuple(written.text(leaf.array) for leaf in inputs),
            tuple(cotangent for _, cotangent in texts),
            tuple(line.format(**listed) for line in self._gradient_lines([*(root for root, _ in started), *inputs])),
            names,
            end,
            self._trouble([root for root, _ in started], inputs),
        )
        return names

    def _gradient_lines(self, tensors: Iterable[TapeTensor]) -> tuple[str, ...]:
        own: Any = self
        if any(own.dtype_of_array(opened(tensor.array)).startswith("complex") for tensor in tensors):
            return self.complex_gradient_lines or self.gradient_lines
        return self.gradient_lines

    def _trouble(self, roots: Iterable[TapeTensor], inputs: Iterable[TapeTensor]) -> str:
        """Return why gradients of the recorded statements would differ from the tape's; empty if they would not."""
        if not self.gradient_lines:
            return "the adapter has no `gradient_lines`"
        own: Any = self
        written = self.written
        texts = [written.text(leaf.array) for leaf in inputs]
        if len(set(texts)) < len(texts) or not all(map(str.isidentifier, texts)) or written.varying & set(texts):
            return "a tensor whose gradient is requested has no name"
        differentiable = written.varying.union(texts)
        for node in ordered(root.edge[0] for root in roots if root.edge is not None):
            for parent, array in zip(node.parents, node.arrays, strict=True):
                text = written.text(array)
                if parent is None:
                    same = not own.is_floating(array) or differentiable.isdisjoint(NAME.findall(text))
                else:
                    origin = parent.array if isinstance(parent, TapeTensor) else parent[0].outputs[parent[1]]
                    same = text == written.text(origin)
                if not same:
                    return "a value was changed outside of autograd, which a function cannot do"
        return ""

    def _cotangent(self, root: TapeTensor) -> TapeTensor:
        own: Any = self
        return TapeTensor(own.array(np.ones(own.shape(root)), own.dtype_of(root)))
