"""Factories of dual tensors, and the generators that depend on the frameworks."""

from __future__ import annotations

from typing import Any

import numpy as np

import generators
from autotest.base.errors import is_test_mistake
from autotest.comparison.rejection import is_missing_device
from autotest.frameworks.namespace import DIFFERENTIABLE
from autotest.program import LAYOUT, Array, CallKind, Ref
from autotest.program.inputs import call_of_step
from autotest.recording.dual import Symbol, Value
from autotest.recording.large_results import ORDINARY
from autotest.recording.mistakes import device_missing
from autotest.recording.outside_trials import pair_outside_trials
from autotest.recording.recorder import Recorder, current

# Errors caused by the test are shown at the line of the test, so pytest hides the frames of this module for them.
__tracebackhide__ = is_test_mistake

# Generators built in this module are arguments of the test: their errors name the line of the test.
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
    """Return a random dual tensor; every argument may be a generator.

    An argument that is left out is open: over the twenty trials of a test its values are drawn from all possible ones,
    simple ones first.

    Args:
        ndim: rank; when open, 0 to 4.
        dim0, dim1, dim2, dim3, dim4: sizes of the leading dimensions; when open, 1, 2 to 6, one more than a multiple
            of 8 or 16, and in some trials sizes that give the tensor a few thousand elements. Tensors of one trial that
            are drawn with the same arguments have the same shape, or shapes that broadcast together.
        low, high: bounds of the contents, ``low <= x < high``. When open, numbers of every sign and magnitude, and in
            some trials NaN, infinities, -0.0, subnormal numbers and the largest numbers of the dtype. If only `high` is
            given for integers, `low` is 0.
        dtype: a name such as ``"float32"``, or a dtype of a framework; ``float``, ``int`` and ``bool`` mean float32,
            int64 and bool. When open, float32, and float64 in some trials; half precision too in the thorough profile.
        requires_grad: whether the tensor is a leaf that requires grad; when left out, it does if its dtype is floating
            or complex, except for some tensors in up to seven of twenty trials. A value drawn by a generator is ignored
            for integers and booleans.
        shape: the whole shape, instead of `ndim` and the dimensions.
        contents: kind of contents, see `generators.random_array`; when open, also ties and whole numbers.
        layout: ``"contiguous"`` or one of the non-contiguous layouts, see `generators.random_array`; when open, any of
            them. A non-contiguous tensor is a view, created by recorded calls, and still a leaf.
        device: device of the tensor on both sides.

    Raises:
        generators.GeneratorError: the bounds or sizes cannot be met, or arguments contradict each other or the test's
            ``special_values=False``.
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
        error.args = (str(error).replace("random_array(", "random_tensor("),)  # the function that the test called
        raise
    except (MemoryError, ValueError) as error:  # NumPy raises either if an array is too large
        raise generators.GeneratorError(f"random_tensor(...): {error}; draw smaller dimensions") from None
    if contents is not None:
        _check_counts(contents, drawn)
    is_sized = not (shape is dim0 is dim1 is dim2 is dim3 is dim4 is None)
    grad = _gradient_wanted(requires_grad, drawn, dtype, contents, is_sized=is_sized)
    recorder = current()
    if recorder is not None and drawn.data.size > ORDINARY and generators.drawn_large():
        recorder.limited = True
    place = device if type(device) is str else _value(device)
    try:
        return from_drawn(drawn, grad, place)
    except RuntimeError as error:
        if not is_missing_device(error) and "device string" not in str(error):
            raise
        pair = pair_outside_trials() if recorder is None else recorder.pair
        raise device_missing(f"random_tensor(device={place!r})", pair, error) from None


def choice_tensor(
    a: Any, size: Any = None, replace: Any = True, p: Any = None, dtype: Any = int, requires_grad: Any = False
) -> Value:
    """Return a dual tensor of random elements of `a`, like ``numpy.random.choice``; every argument may be a generator.

    Args:
        a: the population: a sequence, a one-dimensional array, or an int `n`, which means ``range(n)``.
        size: shape of the tensor; an int for one dimension, None for a single element of shape ``()``.
        replace: whether an element may be chosen more than once.
        p: the probability of each element, with sum 1; None for equal probabilities.
        dtype: as for `random_tensor`.
        requires_grad: whether the tensor is a leaf that requires grad; ignored for integers and booleans.

    Raises:
        generators.GeneratorError: `replace` is no bool, `p` is invalid, `a` has too few elements, or `dtype` cannot
            represent an element.
    """
    try:
        array = generators.choice_array(a, size=size, replace=replace, p=p, dtype=_dtype(dtype))
        return from_drawn(array.value(), _value(requires_grad), "cpu")
    except generators.GeneratorError as error:
        error.args = (str(error).replace("choice_array", "choice_tensor"),)  # the function that the test called
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
    """Return `n` random dual tensors whose shapes broadcast together.

    The shapes differ by dimensions of size 1 and by missing leading dimensions.

    Args:
        n: how many tensors.
        low, high, dtype, requires_grad, layout: applied to each tensor, as for `random_tensor`.
        ndim: rank of the common broadcast shape; when open, 0 to 4.

    Raises:
        generators.GeneratorError: as for `random_tensor`, or `n` is no valid number of tensors.
    """
    shapes: tuple[Any, ...] = generators.explored_shapes(n, ndim, _value(layout))
    if layout is not None and type(ndim) is not int:  # a drawn rank contradicts no layout
        shapes = tuple(map(generators.constant, shapes))
    return tuple(
        random_tensor(shape=shape, low=low, high=high, dtype=dtype, requires_grad=requires_grad, layout=layout)
        for shape in shapes
    )


def from_drawn(drawn: generators.Drawn, requires_grad: bool, device: str) -> Value:
    """Return a dual tensor with the values and the layout of `drawn`.

    Args:
        drawn: the drawn array.
        requires_grad: whether the tensor is a leaf that requires grad; ignored for integers and booleans.
        device: device of the tensor on both sides.
    """
    base, steps = (drawn.data, ()) if drawn.layout == "contiguous" else generators.lay_out(drawn.data, drawn.layout)
    grad = bool(requires_grad) and drawn.dtype in DIFFERENTIABLE
    return from_base(Array(base, drawn.dtype), steps, grad, device)


def from_base(base: Array, steps: generators.Steps, requires_grad: bool, device: str, note: str = "") -> Value:
    """Return a dual tensor that `steps` make of a contiguous tensor with the values of `base`.

    Args:
        base: the contents of the contiguous tensor.
        steps: the steps of a memory layout, see `generators.lay_out`.
        requires_grad: whether the result is a leaf that requires grad.
        device: device of the tensor on both sides.
        note: the note of the call that creates the contiguous tensor.
    """
    recorder = current() or Recorder(pair_outside_trials())
    slot = recorder.tensor(base, requires_grad=requires_grad and not steps, device=device, note=note)
    for step in steps:
        slot = _laid_out(recorder, slot, *call_of_step(step))
    if steps and requires_grad:
        slot = _laid_out(recorder, slot, "method", "requires_grad_", ())
    return Value(recorder, slot)


def _laid_out(recorder: Recorder, slot: int, kind: CallKind, target: str, details: tuple[Any, ...]) -> int:
    """Record a call of `target` on the value in `slot`, with the arguments `details`; return its slot.

    Half of all inputs are created by such calls. This path is short because their arguments are plain values: nothing
    is drawn or lowered.
    """
    call = recorder.next_call(kind, target, (Ref(slot), *details), {}, LAYOUT)
    expected_of, actual_of = recorder.pair.operation(kind, target)
    recorder.before_call(recorder, "candidate", call)
    try:
        expected = expected_of(recorder.expected[slot], *details)
        actual = actual_of(recorder.actual[slot], *details)
    except Exception:  # noqa: BLE001 - the ordinary call below reports which side failed
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


def _check_counts(contents: Any, drawn: generators.Drawn) -> None:
    """Raise `GeneratorError` if the test asks for special numbers, and says that differences at these do not count."""
    if not generators.current().refuses_special or drawn.dtype not in DIFFERENTIABLE:
        return
    wanted = _value(contents)
    if wanted == "special" or (isinstance(wanted, generators.special) and wanted.rate):
        raise generators.GeneratorError(
            f"random_tensor(contents={wanted!r}) in a test with special_values=False: differences at NaN, infinities "
            "and similar numbers would not count; leave out special_values=False, or the contents"
        )


def _gradient_wanted(requires_grad: Any, drawn: generators.Drawn, dtype: Any, contents: Any, *, is_sized: bool) -> bool:
    """Return whether the tensor of `drawn` requires grad, as the test says, or as is drawn if the test leaves it open.

    `is_sized` tells whether the test gives some of the tensor's sizes.

    Raises:
        generators.GeneratorError: a tensor of this fixed dtype has no gradient, or the argument is no bool.
    """
    if requires_grad is None:
        return drawn.dtype in DIFFERENTIABLE and generators.drawn_requires_grad(is_sized=is_sized)
    if requires_grad is True and drawn.dtype not in DIFFERENTIABLE and not _is_drawn(dtype, contents):
        raise generators.GeneratorError(
            f"random_tensor(requires_grad=True) of {drawn.dtype}: expected a floating dtype, because other dtypes "
            "have no gradient; omit requires_grad"
        )
    grad = _value(requires_grad)
    if not isinstance(grad, (bool, np.bool_)):
        raise generators.GeneratorError(f"random_tensor(requires_grad={grad!r}): expected True or False")
    return bool(grad)


def _dtype(given: Any) -> Any:
    """Return `given` with the reference's dtype, which has a name, in place of a dtype of the dual torch."""
    if given is None or type(given) is str:
        return given
    item = generators.as_generator(given)
    return item.map(_of_reference) if isinstance(item, generators.Generator) else _of_reference(item)


def _of_reference(given: Any) -> Any:
    """Return the reference's object for a name of the dual torch; return other values unchanged."""
    if not isinstance(given, Symbol):
        return given
    recorder = current()
    return given._both(recorder.pair if recorder is not None else pair_outside_trials()).expected


def _is_drawn(*given: Any) -> bool:
    """Whether an argument is a generator, so that its value varies between trials."""
    return any(isinstance(generators.as_generator(item), generators.Generator) for item in given)


def _value(item: Any) -> Any:
    item = generators.as_generator(item)
    return item.value() if isinstance(item, generators.Generator) else item


class random_device(generators.Generator):
    """Generator of the name of a device type that both frameworks can use: ``"cpu"``, or ``"cuda"`` if both have it."""

    __slots__ = ()

    def _draw(self, source: generators.Source, annotation: Any) -> str:
        recorder = current()
        devices = (recorder.pair if recorder is not None else pair_outside_trials()).devices
        return devices[source.index(len(devices))]

    def __repr__(self) -> str:
        return "random_device()"
