"""Runs each call on both sides and records it."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from contextvars import ContextVar
from types import MappingProxyType
from typing import Any, Final, NoReturn, Protocol

import generators
from autotest.base.errors import TrialEnd, as_test_mistake, is_test_mistake, nearest
from autotest.comparison import Mismatch, Side
from autotest.comparison.rejection import Rejection, is_mistake
from autotest.frameworks import ABSENT, Pair
from autotest.frameworks.pair import Both
from autotest.program import KEPT, Array, Call, CallKind, Operand, Ref, operator_of, randomness
from autotest.program.semantics import is_class, is_module_call
from autotest.recording import mistakes, one_sided, refusals
from autotest.recording.call_observer import current_observer
from autotest.recording.large_results import stop_at_large
from autotest.recording.lowering import LiveRecord, Lowered, LoweredArguments, lower, lower_arguments, may_be_left_out
from autotest.recording.overwritten import OVERWRITING, about_to_be_overwritten
from autotest.recording.random_shapes import stop_at_random_shape
from autotest.recording.teacher_forcing import KnownRefusal, force, none_is_known
from autotest.recording.unread import note_read
from autotest.results.divergence import Divergence

# Errors caused by the test are shown at the line of the test, so pytest hides the frames of this module for them.
__tracebackhide__ = is_test_mistake

#: Names of calls, apart from `with` statements, that may switch the recording of gradients on or off.
CHANGES_RECORDING = frozenset(("set_grad_enabled", "inference_mode", "no_grad", "enable_grad", "_set_grad_enabled"))

_NONE: Mapping[str, Any] = MappingProxyType({})

_current: ContextVar[Recorder | None] = ContextVar("autotest_recorder", default=None)


#: Returns the recorder of the trial that is running in this context; None if no trial is.
current: Final[Callable[[], Recorder | None]] = _current.get


class recording:
    """Context manager: ``with recording(recorder):`` makes `recorder` the current one inside the block."""

    __slots__ = ("_recorder", "_token")

    def __init__(self, recorder: Recorder) -> None:
        self._recorder = recorder

    def __enter__(self) -> Recorder:
        self._token = _current.set(self._recorder)
        return self._recorder

    def __exit__(self, *details: object) -> None:
        _current.reset(self._token)


class Lowerable(Protocol):
    """The part of a dual object that the recorder needs."""

    def _lower(self, recorder: Recorder) -> Lowered:
        """Return what stands for it in a call."""


class Recorder(LiveRecord):
    """Runs the calls of a test body on both sides, and records them.

    Args:
        pair: the two frameworks.
        check_errors: whether a call that the reference refuses also runs on the candidate, which should refuse it too.
    """

    __slots__ = (
        "as_read",
        "before_call",
        "check_errors",
        "is_known_refusal",
        "limited",
        "other_tests",
        "recording_gradients",
        "records_gradients",
        "refused",
        "running",
    )

    def __init__(self, pair: Pair, *, check_errors: bool = False) -> None:
        super().__init__(pair)
        self.check_errors = check_errors
        #: Called before each side runs a call, see `autotest.recording.call_observer`.
        self.before_call: Callable[[Recorder, Side, Call], None] = current_observer().before_call
        self.running = ""
        #: Whether the plan, not the test, chose large sizes. The trial then ends at a result that is too large.
        self.limited = False
        #: Number of calls that both sides refused, as the body expected.
        self.refused = 0
        #: Names of other tests that the body called, each of which ran its own trials.
        self.other_tests: list[str] = []
        self.records_gradients = pair.reference.records_gradients
        #: Whether gradients should be recorded, according to the calls of this record. Outside of trials, another
        #: record may contain the `with` statement.
        self.recording_gradients = True
        #: Selects the plain value that the body reads, from the values of both sides.
        self.as_read: Callable[[Any, Any], Any] = _as_the_reference
        #: Whether a refusal by the candidate is known, so that the trial continues after it.
        self.is_known_refusal: Callable[[Mismatch], bool] = none_is_known

    # -- calls ------------------------------------------------------------------------------------------

    def call(
        self,
        kind: CallKind,
        target: str,
        args: Sequence[Any],
        kwargs: Mapping[str, Any],
        owner: Lowered | None = None,
    ) -> int:
        """Lower the arguments once, run the reference and then the candidate, and record the call; return its slot.

        Args:
            kind: kind of the call.
            target: name of the called function, method or operator.
            args: positional arguments, without `owner`.
            kwargs: keyword arguments.
            owner: the object whose method is called.
        """
        hooks = self.modules.gradient_hooks
        if hooks is not None:
            kind, target, args, kwargs, owner = hooks.with_hooks(self, (kind, target, args, kwargs, owner))
        operations = self.pair.operation(kind, target)
        given = lower_arguments(self, (kind, target), args, kwargs, owner)
        name = randomness.function_name(target)
        if name in OVERWRITING or "out" in given.named:
            for kept in [*about_to_be_overwritten(self, target, given.operands, given.named)]:
                self._keep_copy(kept)
        call = self.next_call(kind, target, tuple(given.operands), given.named)
        expected = self._by_reference(call, given, operations, kwargs)
        try:
            actual = self._by_candidate(call, given, operations.actual, expected)
        except KnownRefusal as known:
            return known.slot
        slot = self.write(call, expected, actual)
        if name in CHANGES_RECORDING:
            self.recording_gradients = self.records_gradients()
        if name in randomness.NAMES:
            positional = given.expected if owner is None else given.expected[1:]
            self._copy_contents(slot, randomness.contents_of(target, positional, given.expected_named))
        if self.undefined or self.random_modules:
            self.spread_undefined(slot, None if owner is None else owner[0])
            if current() is self:
                stop_at_random_shape(self, slot)
        return slot

    def _by_reference(self, call: Call, given: LoweredArguments, operations: Both, kwargs: Mapping[str, Any]) -> Any:
        """Return the reference's result. If it refuses, the candidate may run the call too, and the trial ends."""
        self.before_call(self, "reference", call)
        if self.running:
            raise mistakes.called_back(self.running, call.target)
        if self.records_gradients() is not self.recording_gradients and current() is self:
            raise mistakes.gradients_off(call.target, self.pair.reference.name)
        try:
            self.running = call.target  # code of the test that the framework calls back must not make dual calls
            expected = operations.expected(*given.expected, **given.expected_named)
        except Exception as error:  # noqa: BLE001 - the framework may raise any exception
            self.running = ""
            optional = [key for key, value in kwargs.items() if may_be_left_out(value)]
            error = mistakes.with_nearest_keyword(error, self.pair, call, given.expected)
            self._refused(call, error, lambda: operations.actual(*given.actual, **given.actual_named), optional)
            self.end(error)
        finally:
            self.running = ""
        if self.limited:
            stop_at_large(self, call.target, expected)
        return expected

    def _by_candidate(self, call: Call, given: LoweredArguments, operation: Any, expected: Any) -> Any:
        """Return the candidate's result of a call for which the reference returned `expected`."""
        self.before_call(self, "candidate", call)
        try:
            self.running = call.target
            return operation(*given.actual, **given.actual_named)
        except Exception as error:  # noqa: BLE001 - the framework may raise any exception
            self.running = ""
            slot = self.write(call, expected, None)
            refused = one_sided.only_reference_accepts(self, slot, self._lacks(slot, operation, given.actual), error)
            latest = self.mismatches[-1] if self.mismatches else None
            if latest is not None and latest.slot == slot and self.is_known_refusal(latest):
                force(self, slot, expected)
            self.end(refused)
        finally:
            self.running = ""

    def method(self, name: str, owner: Lowered, args: Sequence[Any] = (), kwargs: Mapping[str, Any] = _NONE) -> int:
        """Call the method `name` of `owner` on both sides, also if the candidate lacks it; return the slot."""
        return self.call("method", name, args, kwargs, owner)

    def _keep_copy(self, slot: int) -> None:
        """Copy the value in `slot` on both sides, by a recorded call, so that every replay compares the copy too."""
        made = self.method("clone", (self.expected[slot], self.actual[slot], Ref(slot)))
        self.calls[made] = self.calls[made]._replace(note=KEPT)

    def _lacks(self, slot: int, operation: Any, args: Sequence[Any]) -> Any:
        """Return `operation`, or `ABSENT` if the call is of a method that the candidate's object lacks."""
        kind, name = self.calls[slot].kind, self.calls[slot].target
        method = kind == "method" and name != "__call__"
        return ABSENT if method and not self.pair.candidate.provides(kind, name, args[0]) else operation

    def operate(self, name: str, operands: Sequence[Any]) -> int:
        """Run a function of the `operator` module (``add``, ``iadd``, ...) on both sides; return the slot."""
        return self.call("operator", name, operands, {})

    def builtin(self, name: str, operand: Any) -> int:
        """Run a builtin of one argument (``len``, ``bool``, ``list``, ...) on both sides; return the slot."""
        return self.call("builtin", name, (operand,), {})

    def getattr(self, owner: Lowerable, name: str) -> int:
        """Read the attribute `name` on both sides; return the slot.

        Raises:
            AttributeError: the reference lacks the attribute, which is a mistake of the test.
        """
        expected_owner, actual_owner, operand = owner._lower(self)
        operations = self.pair.operation("getattr", name)
        call = self.next_call("getattr", name, (operand,), {})
        attempt: Callable[[], Any] = lambda: operations.actual(actual_owner)  # noqa: E731
        try:
            expected = self._on_reference(call, lambda: operations.expected(expected_owner), attempt)
        except AttributeError as error:
            suggested = mistakes.other_side(name, self.pair) or nearest(name, dir(expected_owner))
            raise as_test_mistake(AttributeError(f"{error}{suggested}") if suggested else error) from None
        slot = self.write(call, expected, self._on_candidate(call, expected, operations.actual, actual_owner))
        if id(expected_owner) in self.undefined or (name == "grad" and operand.slot in self.gradients_undefined()):
            self.mark_undefined(slot, expected)
        return slot

    def setattr(self, owner: Lowerable, name: str, value: Any) -> None:
        """Assign the attribute `name` on both sides; do nothing if a generator drew that `value` is left out."""
        expected_owner, actual_owner, operand = owner._lower(self)
        one, other, recorded = lower(self, value, lambda: None)
        if one is generators.NOTHING:
            return
        operations = self.pair.operation("setattr", name)
        attempt: Callable[[], Any] = lambda: operations.actual(actual_owner, other)  # noqa: E731
        call = self.next_call("setattr", name, (operand, recorded), {})
        self._on_reference(call, lambda: operations.expected(expected_owner, one), attempt)
        self._on_candidate(call, None, operations.actual, actual_owner, other)
        slot = self.write(call, None, None)
        if name == "data" and self.undefined:
            self.spread_undefined(slot, None)

    def enter(self, owner: Lowerable) -> int:
        """Enter a context manager on both sides; return the slot."""
        expected_owner, actual_owner, operand = owner._lower(self)
        operations, leave = self.pair.operation("enter", ""), self.pair.operation("exit", "")

        def attempt() -> None:
            operations.actual(actual_owner)
            leave.actual(actual_owner)

        call = self.next_call("enter", "", (operand,), {})
        expected = self._on_reference(call, lambda: operations.expected(expected_owner), attempt)
        try:
            actual = self._on_candidate(call, expected, operations.actual, actual_owner)
        except BaseException:
            # The reference is entered already, and Python calls no `__exit__` if `__enter__` raises.
            leave.expected(expected_owner)
            raise
        self.recording_gradients = self.records_gradients()
        if expected is expected_owner or expected is None:
            expected = actual = ABSENT  # storing the candidate's result would keep the context entered
        return self.write(call, expected, actual)

    def exit(self, owner: Lowerable, details: tuple[Any, ...]) -> None:
        """Leave a context manager on both sides, also if an exception leaves the body; `details` describes it."""
        expected_owner, actual_owner, operand = owner._lower(self)
        operations, call = self.pair.operation("exit", ""), self.next_call("exit", "", (operand,), {})
        failed: Exception | None = None
        try:
            # Last in, first out: if both sides are one framework, each restores the state that it found.
            self.before_call(self, "candidate", call)
            try:
                operations.actual(actual_owner, *details)
            except Exception as error:  # noqa: BLE001 - the framework may raise any exception
                failed = error
        finally:
            self.before_call(self, "reference", call)
            operations.expected(expected_owner, *details)
            self.recording_gradients = self.records_gradients()
        slot = self.write(call, None, None)
        if type(operand) is Ref:
            # A `with` statement drops its context manager, and OneFlow's no_grad ends only when it is destroyed.
            self.expected[operand.slot] = self.actual[operand.slot] = ABSENT
        # An exception that leaves the body comes first, and says more.
        if failed is not None and details[:1] in ((), (None,)):
            self.end(one_sided.only_reference_accepts(self, slot, operations.actual, failed))

    def _on_reference(self, call: Call, action: Callable[[], Any], attempt: Callable[[], Any]) -> Any:
        """Return the reference's result of `call`. If it refuses, `attempt` may run the call on the candidate."""
        self.before_call(self, "reference", call)
        try:
            return action()
        except Exception as error:  # noqa: BLE001 - the framework may raise any exception
            self._refused(call, error, attempt)
            self.end(error)

    def _on_candidate(self, call: Call, expected: Any, function: Any, *operands: Any) -> Any:
        """Return the candidate's result of `call`; `function` is `ABSENT` if the candidate has none."""
        self.before_call(self, "candidate", call)
        try:
            return function(*operands)
        except Exception as error:  # noqa: BLE001 - the framework may raise any exception
            self.end(one_sided.only_reference_accepts(self, self.write(call, expected, None), function, error))

    # -- tensors and modules ----------------------------------------------------------------------------

    def tensor(self, array: Array, *, requires_grad: bool = False, device: str = "cpu", note: str = "") -> int:
        """Create a leaf tensor with the contents of `array` on both sides; return the slot."""
        kwargs: dict[str, Operand] = {"requires_grad": requires_grad, "device": device}
        call = self.next_call("tensor", array.dtype, (self.capture(array),), kwargs, note)
        expected = self.pair.reference.tensor(array, device=device, requires_grad=requires_grad)
        self.before_call(self, "candidate", call)
        try:
            actual = self.pair.candidate.tensor(array, device=device, requires_grad=requires_grad)
        except Exception as error:  # noqa: BLE001 - the framework may raise any exception
            slot = self.write(call, expected, None)
            self.end(one_sided.only_reference_accepts(self, slot, self.pair.candidate.tensor, error))
        return self.write(call, expected, actual)

    def end(self, error: Exception | None = None) -> NoReturn:
        """Leave the test body, because the results of later calls would be meaningless.

        Raises:
            TrialEnd: this recorder belongs to the running trial.
            Divergence: outside of any trial, if there is a mismatch; otherwise `error` itself is raised.
        """
        if current() is self:
            raise TrialEnd from error
        note_read()
        if self.mismatches:
            raise Divergence(self.mismatches[-1].message) from error
        assert error is not None
        raise error

    # -- calls that the reference refuses ---------------------------------------------------------------

    def _refused(self, call: Call, error: Exception, attempt: Callable[[], Any], optional: Sequence[str] = ()) -> None:
        """Handle the reference's refusal of `call`: reject the trial, or check that the candidate refuses too.

        Args:
            call: the refused call, which is not recorded yet.
            error: the exception that the reference raised.
            attempt: runs the same call on the candidate.
            optional: keywords whose generators may leave them out.

        Raises:
            Exception: the error, if the test caused it, if it expected it and the candidate refused too, or if code of
                a framework made the call.
        """
        target = call.target
        if is_mistake(error, optional):
            raise as_test_mistake(error) from None
        if (misuse := mistakes.misuse(error, target, self.pair)) is not None:
            raise misuse from None
        if refusals.inside_of(self.pair.packages):
            raise error  # from framework code that was given a dual object and cannot handle it
        expected = current() is self and refusals.is_expected()
        if not expected:
            # A call of a module is reported under the name of its class.
            owner = self.calls[call.args[0].slot] if is_module_call(call) and type(call.args[0]) is Ref else call
            self.refused_call = call
            operator = owner.target if is_class(owner) else target or operator_of((*self.calls, call), call.slot)
            self.rejection = Rejection(
                operator, type(error).__name__, str(error), refusals.calling_line(self.pair.packages)
            )
            if not self.check_errors:
                return
        self.before_call(self, "candidate", call)
        if one_sided.accepts(self.pair.candidate, attempt):
            slot = self.write(call, ABSENT, ABSENT)
            self.mismatches.append(one_sided.accepted_by_candidate(self.calls, slot, self.pair, error))
        elif expected:
            self.refused += 1
            raise as_test_mistake(error) from None


def _as_the_reference(expected: Any, actual: Any) -> Any:
    return expected
