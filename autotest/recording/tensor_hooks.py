"""Hooks on the gradient of one tensor: ``y.register_hook(hook)``."""

from __future__ import annotations

import dataclasses
import functools
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any

import numpy as np

from autotest.base.errors import UsageError
from autotest.comparison.rejection import Rejection
from autotest.recording.dual import Value
from autotest.recording.gradient_hooks import GradientHook, behind_cut, cut_at, gradient_hooks_of, is_leaf
from autotest.recording.push import Push, PushedGradient
from autotest.recording.recorder import Recorder

#: Greatest error of a corrected gradient, relative to its greatest element, for wide and for narrow dtypes.
_WIDE, _NARROW = 1e-4, 2e-2


@dataclasses.dataclass(slots=True)
class TensorHooks(GradientHook):
    """Hooks of one tensor: ``hook(gradient)`` returns another gradient, or None."""

    tensor: Value
    #: The leaf that calls after the registration read instead of `tensor`; None if `tensor` is a leaf itself.
    cut: Value | None
    hooks: dict[int, tuple[Callable[..., Any], bool]] = dataclasses.field(default_factory=dict)

    @property
    def tensors(self) -> Sequence[Any]:
        return [self.tensor if self.cut is None else self.cut]

    @property
    def order_key(self) -> tuple[int, int]:
        # The gradient of a leaf is complete only after all other hooks have run, whatever its slot is.
        return (-1, 0) if self.cut is None else (self.tensor._slot, 2)

    def run(self, push: Push) -> Iterable[PushedGradient]:
        if self.cut is None:
            (gradient,) = push.gradients([self.tensor]) if self.hooks else [None]
            new = None if gradient is None else self._changed(push, gradient)
            if new is not None and new is not gradient:
                push.changed.append((self.tensor, new))
            return []
        gradient, earlier = push.gradients([self.cut, self.tensor])
        if gradient is None and earlier is None:
            return []
        both = earlier if gradient is None else gradient
        if gradient is not None and earlier is not None:
            with push.quietly():
                both = gradient + earlier
        new = self._changed(push, both)
        if new is not gradient and (push.returns or self._retains(push.recorder)):
            push.changed.append((self.cut, new))
        if earlier is None:
            return [(self.tensor, new)]
        if new is both:
            return [] if gradient is None else [(self.tensor, gradient)]
        return [(self.tensor, _correction(push, earlier, new))]

    def carried(self, recorder: Recorder, slots: Mapping[int, int]) -> TensorHooks | None:
        (tensor,) = self.tensors
        slot = slots.get(id(tensor._expected))
        if slot is None or _known(recorder, tensor) is not None:
            return None
        return TensorHooks(Value(recorder, slot), None, self.hooks)

    def _changed(self, push: Push, gradient: Value) -> Value:
        with push.quietly():
            for hook, _ in [*self.hooks.values()]:
                changed = hook(gradient)
                gradient = gradient if changed is None else changed
        return gradient

    def _retains(self, recorder: Recorder) -> bool:
        """Return whether the body asked for the gradient in ``.grad``, which has the changes of the hooks."""
        own = [one._expected for one in (self.tensor, self.cut) if one is not None]
        retained = [recorder.expected[call.args[0].slot] for call in recorder.calls if call.target == "retain_grad"]
        return any(one is tensor for one in own for tensor in retained)


def _correction(push: Push, earlier: Any, new: Any) -> Any:
    """Return what to add to the gradient `earlier`, which is not cut off, so that it becomes `new`."""
    recorder, reference = push.recorder, push.recorder.pair.reference
    with push.quietly():
        correction = new - earlier
        reached = earlier + correction
    wanted, got = (np.asarray(one.data, dtype=complex) for one in reference.values([new._expected, reached._expected]))
    narrow = reference.dtype_of(new._expected) in ("float16", "bfloat16")
    greatest = np.max(np.abs(wanted), initial=0, where=np.isfinite(wanted))
    exact = np.allclose(got, wanted, rtol=0, atol=greatest * (_NARROW if narrow else _WIDE), equal_nan=True)
    if not exact:
        said = (
            "a hook of a tensor that was used before register_hook was called replaced gradients by much smaller "
            "ones, or not finite ones: call register_hook right after the call that computes the tensor"
        )
        recorder.rejection = Rejection("register_hook", "UsageError", said)
        recorder.end(UsageError(said))
    return correction


def hooks_on(recorder: Recorder, tensor: Value) -> TensorHooks:
    """Return the hooks on `tensor`, to which more can be added. From now on, `tensor` is behind the cut."""
    tensor._lower(recorder)
    known = _known(recorder, tensor)
    made = known or _cut(recorder, tensor)
    if known is None:
        gradient_hooks_of(recorder).all.append(made)
    if made.cut is not None and tensor._recorder is recorder:
        _move(tensor, made.cut)
        gradient_hooks_of(recorder).behind[id(made.cut._expected)] = functools.partial(
            _written, recorder, made.cut, tensor
        )
    return made


def _written(recorder: Recorder, cut: Value, held: Value) -> Value:
    """Return a tensor behind `cut` that can be written into; `held`, the test body's dual object, stands for it now."""
    leaf, behind = cut._expected, behind_cut(cut)
    hooks = gradient_hooks_of(recorder)
    del hooks.behind[id(leaf)]
    hooks.continued[id(leaf)] = behind._slot
    _move(held, behind)
    return behind


def _move(tensor: Value, to: Value) -> None:
    """Let the dual object `tensor` stand for the value of `to`."""
    for name in ("_slot", "_expected", "_actual"):
        object.__setattr__(tensor, name, getattr(to, name))


def _known(recorder: Recorder, tensor: Value) -> TensorHooks | None:
    for hook in gradient_hooks_of(recorder).all:
        if isinstance(hook, TensorHooks) and any(
            one is not None and one._expected is tensor._expected for one in (hook.tensor, hook.cut)
        ):
            return hook
    return None


def _cut(recorder: Recorder, tensor: Value) -> TensorHooks:
    """Return hooks on `tensor`, and cut the graph there unless it ends there."""
    hooks = gradient_hooks_of(recorder)
    passes = recorder.pair.reference.can_backpropagate(tensor._expected)
    if not passes or (is_leaf(recorder, tensor) and id(tensor._expected) not in hooks.cut):
        return TensorHooks(tensor, None)
    slot = tensor._lower(recorder)[2].slot
    before = Value(recorder, slot)
    cut = cut_at(recorder, before)
    hooks.continued[id(before._expected)] = cut._slot
    return TensorHooks(before, cut)
