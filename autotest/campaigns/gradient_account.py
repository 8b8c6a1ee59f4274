"""Runs the tests of a suite and counts for each operator whether its gradients are compared."""

from __future__ import annotations

import contextlib
import dataclasses
import traceback
from collections.abc import Iterator, Sequence

from autotest.base.errors import FrameworkMissing, SkipsItself
from autotest.base.settings import ATTEMPTS_PER_TRIAL, Settings
from autotest.frameworks.namespace import DIFFERENTIABLE
from autotest.gradients.differentiable import differentiable_calls, tensors_in
from autotest.gradients.nondifferentiable import listed
from autotest.processes.breadcrumb import Breadcrumb
from autotest.program import Call, operator_of, refs
from autotest.program.rewriting import needed
from autotest.program.semantics import OPERATIONS, pushes_gradients, writes_first_operand
from autotest.recording.call_observer import notifying
from autotest.recording.overwritten import is_kept_copy
from autotest.recording.record import Record
from autotest.results.gradient_account import SMALL, GradientAccount, Use
from autotest.results.ledger import Ledger
from autotest.sources.collected import Collected
from autotest.sources.test_names import trial_seed
from autotest.trials.context import RunContext
from autotest.trials.decorated import Test
from autotest.trials.driver import driven_by
from autotest.trials.judgement import Expected, judge
from autotest.trials.outcome import Outcome
from autotest.trials.trial import run_trial

#: Calls of the autograd and module machinery around operators; the account does not cover their gradients.
_WITHOUT_GRADIENTS = frozenset(
    (
        *"requires_grad_ retain_grad backward autograd.backward autograd.grad grad zero_grad step parameters".split(),
        *"named_parameters state_dict children modules train eval to_global to_local placement".split(),
        *"nn.utils.clip_grad_norm_ nn.utils.clip_grad_value_".split(),
    )
)


def account_of(tests: Sequence[Collected], trials: int, crumb: Breadcrumb | None = None) -> GradientAccount:
    """Run at most `trials` trials of each of `tests`, the same trials that the test itself runs first.

    `crumb` records the current trial and call, in case the process dies.
    """
    counting = _Counting(GradientAccount(), trials, crumb)
    account = counting.account
    for item in tests:
        try:
            with driven_by(counting.drive), contextlib.nullcontext() if crumb is None else notifying(crumb):
                item.call()
        except SkipsItself as error:  # noqa: PERF203 - once a test
            account.skips[item.id] = str(error)
        except (FrameworkMissing, KeyboardInterrupt):
            raise
        except BaseException as error:  # noqa: BLE001 - a body may raise anything, also pytest's outcomes
            account.broken[item.id] = traceback.format_exception_only(type(error), error)[-1].strip()
    return account


@dataclasses.dataclass(slots=True)
class _Counting:
    """Runs trials of tests and adds what they did with gradients to `account`."""

    account: GradientAccount
    trials: int
    crumb: Breadcrumb | None

    def drive(self, test: Test, context: RunContext) -> None:
        """Run the trials of a test that is called, in place of its own loop."""
        deadly = context.ledger.deaths(test.id, error_parity=test.settings.check_errors)
        if deadly:
            # Running it would only kill the process; the ledger already records this death.
            self.account.spared[test.id] = deadly[0].key
            return
        if self.crumb is not None:
            self.crumb.test(test.file, test.id, 0)
        with context.pair.around_trials():
            self._run(test, context)

    def _run(self, test: Test, context: RunContext) -> None:
        accepted, reason = 0, ""
        for index in range(ATTEMPTS_PER_TRIAL * self.trials):
            if self.crumb is not None:
                self.crumb.trial(index)
            outcome = run_trial(test.body, trial_seed(0, test.id, index), test.settings, context.pair)
            if outcome.recorder.rejection is not None:
                reason = reason or outcome.recorder.rejection.reason
                continue
            self.account.add(test.id, uses(outcome, test.settings, _known(outcome, test, context.ledger)))
            if outcome.complaint:
                self.account.refused.setdefault(test.id, outcome.complaint)
            accepted += 1
            if accepted >= min(self.trials, test.settings.n):
                return
        if not accepted:
            self.account.never[test.id] = reason


def _known(outcome: Outcome, test: Test, ledger: Ledger) -> str:
    """Return the key of the ledger entry that expects the divergence in which a trial ended; "" if there is none."""
    judgement = judge(test, outcome, ledger, lambda: False)
    return judgement.entry.key if isinstance(judgement, Expected) else ""


def uses(outcome: Outcome, settings: Settings, known: str = "") -> Iterator[Use]:
    """Yield what one trial did with the gradient of each of its operators.

    `known` is the key of the expected divergence in which the trial ended, or "".
    """
    record = outcome.recorder
    differentiable = {call.slot for call in differentiable_calls(record)}
    reached = _reached(record) & differentiable if outcome.gradients else set()
    for call in record.calls:
        if call.kind not in OPERATIONS or call.target in _WITHOUT_GRADIENTS or is_kept_copy(call):
            continue
        results = tensors_in(record, call.slot)
        operands = [tensor for ref in refs(call) for tensor in tensors_in(record, ref.slot)]
        if not results or not operands:
            continue  # it creates a tensor without tensor operands, or returns a plain value
        if not writes_first_operand(call) and set(map(id, results)) <= set(map(id, operands)):
            continue  # it returned its operand, as a dropout in eval mode does
        use = _use(
            call,
            record,
            results,
            operands,
            settings,
            (call.slot in reached, bool(outcome.numeric_pairs), outcome.too_small_inputs),
        )
        if known and use.state == "missing":
            # The trial ended at the divergence; without it, it would have continued to the gradients.
            use = Use(use.operator, "exempt", divergence=known)
        yield use


def _use(
    call: Call,
    record: Record,
    results: list[object],
    operands: list[object],
    settings: Settings,
    done: tuple[bool, bool, Sequence[str]],
) -> Use:
    operator = operator_of(record.calls, call.slot) or call.target
    compared, numeric, small = done
    if compared:
        return Use(operator, "numeric" if numeric else "compared", SMALL if numeric and small else "")
    entry = listed(operator)
    if entry is not None:
        return Use(operator, "exempt", entry.reason)
    if not _floating(record, operands):
        return Use(operator, "exempt", "integer or bool inputs")
    if not _floating(record, results):
        return Use(operator, "exempt", "the result is of integers or booleans")
    if settings.skip_grad:
        return Use(operator, "exempt", settings.skip_grad)
    if writes_first_operand(call) and any(map(record.pair.reference.holds_gradient, results)):
        return Use(operator, "exempt", "it writes into a leaf, which autograd only allows when it is disabled")
    if not any(record.pair.reference.can_backpropagate(tensor) for tensor in operands):
        return Use(operator, "missing", "its inputs never require grad")
    return Use(operator, "missing", "backward does not reach it")


def _floating(record: Record, tensors: list[object]) -> bool:
    return any(value.dtype in DIFFERENTIABLE for value in record.pair.reference.values(tensors))


def _reached(record: Record) -> set[int]:
    """Return the slots of all calls that a backward pass goes through."""
    roots = {ref.slot for call in record.calls if pushes_gradients(call) for ref in refs(call)}
    return needed(record.snapshot(), roots) if roots else set()
