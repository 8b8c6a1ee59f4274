"""Dual objects: the objects that a test body uses instead of a framework's own."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, ClassVar, NoReturn

import numpy as np

from autotest.base.errors import as_test_mistake, is_test_mistake
from autotest.frameworks import ABSENT, Both, Pair
from autotest.frameworks.freezing import PLAIN_TYPES
from autotest.program import Call, Ref, Root
from autotest.program.dtypes import is_differentiable
from autotest.recording import mistakes, operators, refusals, unread
from autotest.recording.decorating import decorated
from autotest.recording.disabled import PLAIN
from autotest.recording.imported_values import import_value
from autotest.recording.initial_state import random_state_before, reset_parameters, synchronize_module
from autotest.recording.lowering import ITERATORS, Lowered
from autotest.recording.module_table import ModuleClass
from autotest.recording.not_copyable import NotCopyable
from autotest.recording.outside_trials import compare_plain_results, pair_outside_trials
from autotest.recording.public_functions import carried_out
from autotest.recording.recorder import Recorder, current
from autotest.recording.sides import SideNamespace
from autotest.recording.steps import keep_step

__tracebackhide__ = is_test_mistake  # as in the recorder


class DualObject(NotCopyable):
    """An object that exists on both sides. Every operation on it is done on both sides and recorded.

    ``.reference`` and ``.candidate`` give the object of one side, as do the frameworks' own names (``.pytorch``,
    ``.oneflow``).
    """

    __slots__ = ()
    #: Makes an operator with an ndarray on its left call this class's reflected method.
    __array_ufunc__ = None

    def _recorder_now(self) -> Recorder:
        return current() or Recorder(pair_outside_trials())

    def _lower(self, recorder: Recorder) -> Lowered:
        raise NotImplementedError

    def _sides(self) -> tuple[Any, Any]:
        """Return the objects on the reference and on the candidate."""
        return self._lower(self._recorder_now())[:2]

    def __instancecheck__(self, instance: object) -> bool:
        expected = self._sides()[0]
        return isinstance(instance._sides()[0] if isinstance(instance, DualObject) else instance, expected)

    def __repr__(self) -> str:
        recorder = self._recorder_now()
        expected, actual, _ = self._lower(recorder)
        reference, candidate = recorder.pair.reference, recorder.pair.candidate
        return f"{reference.name}:\n{reference.shown(expected)}\n\n{candidate.name}:\n{candidate.shown(actual)}"

    def __iter__(self) -> Iterator[Any]:
        recorder = self._recorder_now()
        return iter(_items(recorder, self))

    def __bool__(self) -> bool:
        return bool(self._convert("bool"))

    def __len__(self) -> int:
        return int(self._convert("len"))

    def __int__(self) -> int:
        return int(self._convert("int"))

    def __index__(self) -> int:
        recorder = self._recorder_now()
        expected, reference = self._sides()[0], recorder.pair.reference
        if reference.is_tensor(expected) and is_differentiable(reference.dtype_of(expected)):
            recorder.operate("index", (self,))  # is refused; `int` would round
        return int(self._convert("int"))

    def __float__(self) -> float:
        return float(self._convert("float"))

    def __complex__(self) -> complex:
        return complex(self._convert("complex"))

    def _convert(self, name: str) -> Any:
        recorder = self._recorder_now()
        return wrap(recorder, recorder.builtin(name, self))

    def __contains__(self, item: object) -> bool:
        recorder = self._recorder_now()
        return bool(unread.as_read(recorder.expected[recorder.operate("contains", (self, item))]))

    def __setitem__(self, key: Any, value: Any) -> None:
        self._recorder_now().operate("setitem", (self, key, value))

    def __delitem__(self, key: Any) -> None:
        self._recorder_now().operate("delitem", (self, key))

    def __format__(self, specification: str) -> str:
        return format(repr(self) if not specification else self._sides()[0], specification)

    __hash__ = object.__hash__


def _operate(self: DualObject, name: str, operands: tuple[Any, ...]) -> Any:
    recorder = self._recorder_now()
    return wrap(recorder, recorder.call("operator", name, operands, {}))


operators.install(DualObject, _operate)
DualObject.__hash__ = object.__hash__  # type: ignore[method-assign, assignment]  # defining __eq__ removed it


class Symbol(DualObject):
    """A name of the dual ``torch``, or ``torch`` itself, for any pair. Calls are made on both sides and recorded."""

    __slots__ = ("_children", "_path")

    def __init__(self, path: str) -> None:
        _set_path(self, path)
        _set_children(self, {})

    def _both(self, pair: Pair) -> Both:
        if not self._path:
            return Both(SideNamespace(pair, 0), SideNamespace(pair, 1))
        return pair.resolve(self._path)

    def _lower(self, recorder: Recorder) -> Lowered:
        expected, actual = self._both(recorder.pair)
        if actual is ABSENT:
            call = recorder.next_call("function", self._path, (), {})
            actual = recorder._on_candidate(call, expected, recorder.pair.candidate.resolve, self._path)
        return expected, actual, Root(self._path)

    def __getattr__(self, name: str) -> Any:
        child = self._children.get(name)
        return self._child(name) if child is None else child

    def _child(self, name: str) -> Any:
        """Return the object called `name`. It is cached if it is the same for every pair."""
        if mistakes.is_asked_by_tools(name):
            raise as_test_mistake(AttributeError(f"a dual {self._path or 'torch'} has no {name}"))
        recorder = self._recorder_now()
        pair = recorder.pair
        side = None if self._path == "ops" else pair.side(name)  # a library of operators may have the candidate's name
        if side is not None:
            return self._both(pair)[side] if self._path else (pair.reference, pair.candidate)[side].root  # type: ignore[attr-defined]
        path = f"{self._path}.{name}" if self._path else name
        if (wrong := mistakes.unrecordable(path)) is not None:
            raise wrong
        if isinstance(expected := pair.resolve(path).expected, PLAIN_TYPES):
            return expected
        if (usual := pair.usual_path(path)) != path:
            return _named(usual)
        # For another pair, this other name of a dtype may be the dtype itself: the key is then no attribute's name.
        key = name if pair.reference_path(path) == path else f"{name} itself"
        return self._children.setdefault(key, PLAIN.get(path) or Symbol(path))

    def __setattr__(self, name: str, value: Any) -> None:
        raise mistakes.assigned(".".join(filter(None, ("torch", self._path, name))))

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        recorder = current() or _recorder_of(args, kwargs)
        if kwargs or not self._path:
            mistakes.check_call(self._path, kwargs)
        pair = recorder.pair
        random_state = random_state_before(pair, self._path)
        slot = recorder.call("function", self._path, args, kwargs)
        if isinstance(recorder.expected[slot], pair.reference.module_types) and (
            # A class initialises parameters, and spectral_norm draws numbers for the module it is given.
            isinstance(pair.resolve(self._path).expected, type) or self._path.endswith(".spectral_norm")
        ):
            synchronize_module(recorder, slot, random_state)
        return wrap(recorder, slot)

    def __enter__(self) -> NoReturn:
        raise mistakes.not_called(self._path)

    __exit__ = __enter__  # `with` looks up both before it calls __enter__

    def __mro_entries__(self, bases: tuple[Any, ...]) -> tuple[type, ...]:
        if self._path and self._recorder_now().pair.reference.can_be_a_base(self._path):
            return (Value.of_modules.as_base(self._path),)
        return super().__mro_entries__(bases)

    def __eq__(self, other: object) -> Any:
        if isinstance(other, Symbol):
            expected, actual = self._sides()
            return bool(expected == other._sides()[0]) and bool(actual == other._sides()[1])
        return self._sides()[0] == other

    def __ne__(self, other: object) -> Any:
        return not self == other

    def __hash__(self) -> int:
        return hash(self._sides()[0])

    def __repr__(self) -> str:
        return f"<dual torch{self._path and '.' + self._path}>"


_set_path = Symbol._path.__set__  # type: ignore[attr-defined]
_set_children = Symbol._children.__set__  # type: ignore[attr-defined]


class Method(DualObject):
    """A method bound to a dual value. A call of it calls the method on both sides."""

    __slots__ = ("_name", "_owner")

    def __init__(self, owner: Value, name: str) -> None:
        self._owner = owner
        self._name = name

    def _recorder_now(self) -> Recorder:
        return current() or self._owner._recorder

    def _lower(self, recorder: Recorder) -> Lowered:
        slot = recorder.getattr(self._owner, self._name)
        return recorder.expected[slot], recorder.actual[slot], Ref(slot)

    def __getattr__(self, name: str) -> Any:
        pair = self._recorder_now().pair
        if pair.side(name) == 1:
            return pair.candidate.member(self._owner._actual, self._name)
        method = pair.reference.member(self._owner._expected, self._name)
        return method if pair.side(name) == 0 else getattr(method, name)

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        owner, recorder = self._owner, self._recorder_now()
        lowered = owner._lower(recorder)
        if self._name == "register_hook":
            return Value.of_modules.on_gradient(recorder, owner, *args, **kwargs)
        if self._name == "step" and not args:
            keep_step(recorder, lowered[0], lowered[2])
        if self._name == "reset_parameters":
            return _read(recorder, reset_parameters(recorder, lowered))
        return _read(recorder, recorder.method(self._name, lowered, args, kwargs))

    def __repr__(self) -> str:
        # The attribute is not read, because a functional candidate has methods only as functions.
        return f"<dual {type(self._owner._expected).__name__}.{self._name}>"


class Value(DualObject):
    """The result of a call: a tensor, a module, a container, a context manager, ..."""

    __slots__ = ("_actual", "_expected", "_recorder", "_slot")
    #: The class of dual modules. It is derived from this one, so `autotest.recording.network` sets it here.
    of_modules: ClassVar[ModuleClass]

    def __init__(self, recorder: Recorder, slot: int) -> None:
        _set_recorder(self, recorder)
        _set_slot(self, slot)
        _set_expected(self, recorder.expected[slot])
        set_actual(self, recorder.actual[slot])

    def _recorder_now(self) -> Recorder:
        return current() or self._recorder

    def _lower(self, recorder: Recorder) -> Lowered:
        slot = self._slot if recorder is self._recorder else import_value(recorder, self._recorder, self._slot)
        if self._recorder.has_stand_ins:  # its candidate's values of an earlier trial may be of another candidate
            set_actual(self, recorder.actual[slot])
        return self._expected, self._actual, Ref(slot)

    def __getattr__(self, name: str) -> Any:
        recorder = current() or self._recorder
        pair = recorder.pair
        if pair.is_method(self._expected, name):
            return Method(self, name)
        side = pair.side(name)
        if side is not None:
            return unread.as_read(self._actual if side else self._expected)
        if name.startswith("__") and name.endswith("__"):
            raise AttributeError(name)
        return _read(recorder, recorder.getattr(self, name))

    def __setattr__(self, name: str, value: Any) -> None:
        recorder = current() or self._recorder
        side = recorder.pair.side(name)
        if side is None:
            recorder.setattr(self, name, value)
            return
        # The test replaced one side by hand, which a program cannot repeat.
        recorder.opaque = f"the test assigned .{name} of a dual object"
        lists, put = (recorder.actual, set_actual) if side else (recorder.expected, _set_expected)
        put(self, value)
        if recorder is self._recorder:
            lists[self._slot] = value

    def __delattr__(self, name: str) -> None:
        (current() or self._recorder).call("builtin", "delattr", (self, name), {})

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        recorder = current() or self._recorder
        made, reference = self._recorder.calls[self._slot], self._recorder.pair.reference
        if (function := decorated(made, reference, self._expected, args, _again)) is not None:
            return function
        lowered = self._lower(recorder)
        return wrap(recorder, recorder.call("method", "__call__", args, kwargs, lowered))

    @classmethod
    def __torch_function__(cls, function: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        """Called by torch's own functions for a dual argument: makes the call on both sides."""
        recorder = current() or _recorder_of(args, kwargs or {})
        return _read(recorder, carried_out(recorder, function, args, kwargs or {}))

    def __array__(self, dtype: Any = None, copy: bool | None = None) -> Any:
        """Return the reference's array, for NumPy's functions. The access is recorded, and so compared."""
        taken = self if isinstance(self._expected, np.ndarray) else self.__getattr__("numpy")()
        return np.array(unread.as_read(taken._expected), dtype=dtype)

    def __deepcopy__(self, memo: Any) -> Any:
        memo[id(self)] = copied = self._convert("deepcopy")
        return copied

    def __enter__(self) -> Any:
        recorder = current() or self._recorder
        slot = recorder.enter(self)
        return self if recorder.expected[slot] is ABSENT else wrap(recorder, slot)

    def __exit__(self, *details: Any) -> None:
        (current() or self._recorder).exit(self, details)


_set_recorder = Value._recorder.__set__  # type: ignore[attr-defined]
_set_slot = Value._slot.__set__  # type: ignore[attr-defined]
_set_expected = Value._expected.__set__  # type: ignore[attr-defined]
set_actual = Value._actual.__set__  # type: ignore[attr-defined]


def wrap(recorder: Recorder, slot: int) -> Any:
    """Return the result in `slot` as the test body gets it: a plain value unchanged, anything else as a dual object.

    A plain value is the reference's. Inside a trial, the candidate's is compared with it when the trial is over. Sizes
    are plain values (they are tuples), and dtypes are symbols.
    """
    expected = recorder.expected[slot]
    kind, reference = type(expected), recorder.pair.reference
    if kind in reference.tensor_types:
        hooks = recorder.modules.gradient_hooks
        return Value(recorder, slot if hooks is None else hooks.continued.get(id(expected), slot))
    if kind in PLAIN_TYPES:
        if current() is not recorder:
            compare_plain_results(recorder, slot)
        return expected
    if kind in ITERATORS:
        return Value(recorder, recorder.builtin("list", Value(recorder, slot)))
    if isinstance(expected, reference.module_types):
        return Value.of_modules.holding(recorder, slot)
    neutral = reference.literal(expected)
    if isinstance(neutral, Root):
        return _named(neutral.path)
    if isinstance(neutral, tuple) and kind not in (tuple, list):
        return expected
    return Value(recorder, slot)


def _named(path: str) -> Symbol:
    """Return the symbol at `path` of the dual ``torch``. It is always the same object, as a dtype of torch is."""
    known: Symbol | None = torch._children.get(path)
    return torch._children.setdefault(path, Symbol(path)) if known is None else known


def _again(call: Call) -> Any:
    """Make the function call `call` again, and return its dual result."""
    return Symbol(call.target)(*call.args, **call.kwargs)


def _read(recorder: Recorder, slot: int) -> Any:
    read = wrap(recorder, slot)
    return read if isinstance(read, DualObject) else recorder.as_read(read, recorder.actual[slot])


def _items(recorder: Recorder, value: DualObject) -> list[Any]:
    """Return the items of a dual iterable, each of them dual or plain."""
    expected = value._sides()[0]
    if not isinstance(expected, (tuple, list)):
        refusals.not_for_a_report()
        # Not a sequence (a tensor, a dict, a view): turn it into a list on both sides first.
        value = Value(recorder, recorder.builtin("list", value))
        expected = value._sides()[0]
    recorder.builtin("len", value)
    return [wrap(recorder, recorder.operate("getitem", (value, index))) for index in range(len(expected))]


def _recorder_of(args: tuple[Any, ...], kwargs: dict[str, Any]) -> Recorder:
    """Return the recorder of the first dual argument, or a new one. Used outside of trials."""
    found = next((value._recorder for value in (*args, *kwargs.values()) if isinstance(value, Value)), None)
    return Recorder(pair_outside_trials()) if found is None else found


#: The dual of the reference's namespace, under the name that test bodies use.
torch = Symbol("")
