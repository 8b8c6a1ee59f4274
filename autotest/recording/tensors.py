"""Factories of dual tensors, and the generators that must know the frameworks."""

from __future__ import annotations

from typing import Any

import numpy as np

import generators
from autotest.base.errors import of_the_test
from autotest.comparison.rejection import is_missing_device
from autotest.frameworks.namespace import DIFFERENTIABLE
from autotest.program import LAYOUT, Array, CallKind, Ref
from autotest.program.inputs import call_of_step
from autotest.recording.dual import Symbol, Value
from autotest.recording.large_results import ORDINARY
from autotest.recording.mistakes import device_missing
from autotest.recording.outside_trials import pair_outside
from autotest.recording.recorder import Recorder, current

# Errors of a test's own making are told at its line: what raises them here is no part of the traceback.
__tracebackhide__ = of_the_test

# Generators that are built here are the test's doing: their errors name its line.
__generators_hide__ = True


def random_tensor(
    ndim: Any = None,
    dim0: Any = None,
    dim1: Any = None,
    dim2: Any = None,
    dim3: Any = None,
    dim4: Any = None,
    low: Any = None,
    high: Any = None,
    dtype: Any = None,
    requires_grad: Any = None,
    *,
    shape: Any = None,
    contents: Any = None,
    layout: Any = None,
    device: Any = "cpu",
) -> Value:
    """A dual tensor of anything that the test does not rule out. Every argument may be a generator.

    What is left out is open: within the twenty trials of a test it is drawn over all it may be, plain things first.

    Args:
        ndim: rank; when open, 0 to 4.
        dim0, dim1, dim2, dim3, dim4: sizes of the leading dimensions; when open, 1, 2 to 6, one past multiples of 8
            and of 16, and in some trials so many that the tensor has a few thousand elements. Tensors of one trial
            for which the same is asked have one shape, or shapes that broadcast together.
        low, high: bounds of the contents, ``low <= x < high``. When open, numbers of every sign and magnitude, and in
            some trials NaN, infinities, -0.0, subnormal and the greatest numbers. Integers of which only `high` is
            given start at 0.
        dtype: a name such as ``"float32"``, or a dtype of a framework; ``float``, ``int`` and ``bool`` mean float32,
            int64 and bool. When open, float32, and float64 in some trials; half precision too in the thorough profile.
        requires_grad: whether the tensor is a leaf that requires grad; left out, if it is of a floating dtype. A
            generator's is ignored for integers and booleans.
        shape: the whole shape at once, instead of `ndim` and the dimensions.
        contents: kind of contents, see `generators.random_array`; when open, also ties and whole numbers.
        layout: ``"contiguous"`` or one of the non-contiguous layouts, see `generators.random_array`; when open, any of
            them. A tensor that is not contiguous is a view, made by recorded calls, and still a leaf.
        device: where to put it.

    Raises:
        generators.GeneratorError: for bounds or sizes that cannot be met, and for arguments that contradict each other.
    """
    if isinstance(ndim, (tuple, list)):
        raise generators.GeneratorError(
            f"random_tensor({ndim!r}): the first argument is the number of dimensions; write shape={ndim!r}"
        )
    try:
        drawn = generators.explored_array(
            ndim,
            () if dim0 is dim1 is dim2 is dim3 is dim4 is None else (dim0, dim1, dim2, dim3, dim4),
            shape=shape,
            dtype=_dtype(dtype),
            low=low,
            high=high,
            contents=contents,
            layout=layout,
        )
    except generators.GeneratorError as error:
        error.args = (str(error).replace("random_array(", "random_tensor("),)  # which the test wrote
        raise
    except (MemoryError, ValueError) as error:  # NumPy has either for arrays that nothing can hold
        raise generators.GeneratorError(f"random_tensor(...): {error}; draw smaller dimensions") from None
    grad = True if requires_grad is None else _gradient_wanted(requires_grad, drawn, dtype, contents)
    recorder = current()
    if recorder is not None and drawn.data.size > ORDINARY and generators.drawn_large():
        recorder.limited = True
    place = device if type(device) is str else _value(device)
    try:
        return from_drawn(drawn, grad, place)
    except RuntimeError as error:
        if not is_missing_device(error) and "device string" not in str(error):
            raise
        pair = pair_outside() if recorder is None else recorder.pair
        raise device_missing(f"random_tensor(device={place!r})", pair, error) from None


def choice_tensor(
    a: Any, size: Any = None, replace: bool = True, p: Any = None, dtype: Any = int, requires_grad: Any = False
) -> Value:
    """A dual tensor of picks out of `a`, in the meaning of ``numpy.random.choice``.

    Args:
        a: what to pick from: a sequence, an array of one dimension, or a whole number, which stands for ``range(a)``.
        size: the tensor's shape, a whole number for one dimension, or None for a single pick of shape ``()``.
        replace: whether an element may be picked again.
        p: the chance of each element, with sum 1; all alike when None.
        dtype: as of `random_tensor`.
        requires_grad: whether the tensor is a leaf that requires grad; ignored for integers and booleans.

    Raises:
        generators.GeneratorError: `p` is not so, there is not enough to pick from, or `dtype` does not hold it.
    """
    try:
        array = generators.choice_array(a, size=size, replace=replace, p=p, dtype=dtype)
        return from_drawn(array.value(), _value(requires_grad), "cpu")
    except generators.GeneratorError as error:
        error.args = (str(error).replace("choice_array", "choice_tensor"),)  # which the test wrote
        raise


def broadcast_tensors(
    n: int = 2,
    low: Any = None,
    high: Any = None,
    dtype: Any = None,
    requires_grad: Any = None,
    *,
    ndim: Any = None,
    layout: Any = None,
) -> tuple[Value, ...]:
    """`n` dual tensors whose shapes broadcast together, in every way in which they can.

    Sizes of 1 stand where another has more, and leading dimensions are left out.

    Args:
        n: how many tensors.
        low, high, dtype, requires_grad, layout: of each tensor, as of `random_tensor`.
        ndim: rank of the shape that all of them broadcast to; when open, 0 to 4.

    Raises:
        generators.GeneratorError: as `random_tensor` does, and for an `n` that is no number of tensors.
    """
    return tuple(
        random_tensor(shape=shape, low=low, high=high, dtype=dtype, requires_grad=requires_grad, layout=layout)
        for shape in generators.explored_shapes(n, ndim)
    )


def from_drawn(drawn: generators.Drawn, requires_grad: bool, device: str) -> Value:
    """A dual tensor holding a drawn array, laid out as it says."""
    recorder = current() or Recorder(pair_outside())
    grad = bool(requires_grad) and drawn.dtype in DIFFERENTIABLE
    if drawn.layout == "contiguous":
        return Value(recorder, recorder.tensor(Array(drawn.data, drawn.dtype), requires_grad=grad, device=device))
    base, steps = generators.lay_out(drawn.data, drawn.layout)
    slot = recorder.tensor(Array(base, drawn.dtype), device=device)
    for step in steps:
        slot = _laid_out(recorder, slot, *call_of_step(step))
    return Value(recorder, _laid_out(recorder, slot, "method", "requires_grad_", ()) if grad else slot)


def _laid_out(recorder: Recorder, slot: int, kind: CallKind, target: str, details: tuple[Any, ...]) -> int:
    """The slot of a recorded call of `target` on what is in `slot`.

    Half of all inputs are made so, of plain arguments that nothing is to be drawn or lowered for.
    """
    call = recorder.next_call(kind, target, (Ref(slot), *details), {}, LAYOUT)
    expected_of, actual_of = recorder.pair.operation(kind, target)
    recorder.about_to(recorder, "candidate", call)
    try:
        expected = expected_of(recorder.expected[slot], *details)
        actual = actual_of(recorder.actual[slot], *details)
    except Exception:  # noqa: BLE001 - whatever it is, a call like any other says whose it is
        value = Value(recorder, slot)
        owner = value._lower(recorder)
        made = (
            recorder.operate(target, (value, *details))
            if kind == "operator"
            else recorder.method(target, owner, details)
        )
        recorder.calls[made] = recorder.calls[made]._replace(note=LAYOUT)
        return made
    return recorder.write(call, expected, actual)


def _gradient_wanted(requires_grad: Any, drawn: generators.Drawn, dtype: Any, contents: Any) -> bool:
    """Whether the tensor of `drawn` is to require grad, as the test says; raises where it can not, or is no answer."""
    if requires_grad is True and drawn.dtype not in DIFFERENTIABLE and not _is_drawn(dtype, contents):
        raise generators.GeneratorError(
            f"random_tensor(requires_grad=True) of {drawn.dtype}: expected a floating dtype, for there is no gradient "
            "of another one; leave requires_grad out"
        )
    grad = _value(requires_grad)
    if not isinstance(grad, (bool, np.bool_)):
        raise generators.GeneratorError(f"random_tensor(requires_grad={grad!r}): expected True or False")
    return bool(grad)


def _dtype(given: Any) -> Any:
    """A dtype of the dual torch as the reference's own, which has a name; anything else as it is."""
    if not isinstance(given, Symbol):
        return given
    recorder = current()
    return given._both(recorder.pair if recorder is not None else pair_outside()).expected


def _is_drawn(*given: Any) -> bool:
    """Whether any of these is a generator, so that not every trial has what one has."""
    return any(isinstance(generators.as_generator(item), generators.Generator) for item in given)


def _value(item: Any) -> Any:
    item = generators.as_generator(item)
    return item.value() if isinstance(item, generators.Generator) else item


class random_device(generators.Generator):
    """The name of a device type that both frameworks can use here: ``"cpu"``, or ``"cuda"`` where both have it."""

    __slots__ = ()

    def _draw(self, source: generators.Source, annotation: Any) -> str:
        recorder = current()
        devices = (recorder.pair if recorder is not None else pair_outside()).devices
        return devices[source.index(len(devices))]

    def __repr__(self) -> str:
        return "random_device()"
