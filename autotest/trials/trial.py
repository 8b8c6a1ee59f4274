"""Runs one trial: the test body once on both sides, the backward with drawn cotangents, and the comparison."""

from __future__ import annotations

import dataclasses
import functools
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import generators
from autotest.base.errors import NotReplayable, TrialEnd
from autotest.base.settings import Settings
from autotest.comparison import Mismatch
from autotest.comparison.rejection import Rejection
from autotest.frameworks import Pair, files
from autotest.frameworks.failures import CandidateDied, CandidateHung
from autotest.gradients import differentiable, gate
from autotest.program import Program
from autotest.recording.observation import Observed, compare, failed_there, observe
from autotest.recording.recorder import Recorder, recording
from autotest.recording.steps import may_be_of_a_step
from autotest.replaying.replay import Replayed, replay
from autotest.results.ledger import LedgerEntry
from autotest.trials import body_generators
from autotest.trials.backward import run_backward, unused_results
from autotest.trials.body import run_body
from autotest.trials.body_generators import BodyGenerators
from autotest.trials.intermediate_gradients import keep_gradients
from autotest.trials.returned import check_equal_default_dtypes, check_modes_of_both_sides, returned_tensors
from autotest.trials.special_values import mark_special

if TYPE_CHECKING:
    from autotest.replaying.updates import Update, Updates

# pytest and unittest leave this module out of the traceback of a failed test.
__tracebackhide__ = True
__unittest = True

# Generators that are built here belong to the test: their errors name the line of the test.
__generators_hide__ = True

#: Maximum number of trials of an asynchronous candidate that are compared together. If the process dies, any of them
#: may be the cause.
COMPARED_AT_ONCE = 20  # the default number of trials of a test


@dataclasses.dataclass(frozen=True, slots=True)
class Test:
    """A decorated test, ready to run: `body` takes no arguments and returns the test's return value."""

    #: "file.py::Class.method", followed by the arguments of the call if there are any.
    id: str
    body: Callable[[], Any]
    settings: Settings
    #: The file of the test, from which another process can load it.
    file: Path | None = None
    #: State of Python's and NumPy's generators, for callers that run many trials in a row.
    own_generators: BodyGenerators = dataclasses.field(default_factory=BodyGenerators, compare=False)


@dataclasses.dataclass(slots=True)
class Outcome:
    """The result of one trial."""

    seed: int
    recorder: Recorder
    choices: Sequence[generators.Choice]
    #: The features that the trial covered among those that the test leaves open, see `generators.plan`.
    features: Mapping[Any, int] = dataclasses.field(default_factory=dict)
    mismatches: list[Mismatch] = dataclasses.field(default_factory=list)
    rejection: Rejection | None = None
    compared: int = 0
    gradients: int = 0
    #: Number of input/output pairs whose gradients were checked by finite differences, on both sides together.
    numeric_pairs: int = 0
    #: Inputs of that check with fewer than a hundred elements, because no larger ones are accepted.
    too_small_inputs: list[str] = dataclasses.field(default_factory=list)
    #: Whether the plan chose that some tensors require no grad. The gate does not judge such a trial.
    leaves_out_gradients: bool = False
    #: Complaint of the gradient gate about this trial, or "" if it may pass.
    complaint: str = ""
    #: The values to compare, or None once they are compared.
    pending: Observed | None = None
    #: If the recorded program does not show the mismatches: one that does, with the mismatches that the ledger expects
    #: corrected, or with what was drawn as inputs; and the differences that are not compared in it.
    repaired_program: Program | None = None
    ignored_differences: tuple[str, ...] = ()
    #: The ledger entries that were matched during this correction, in order.
    further_expected: list[LedgerEntry] = dataclasses.field(default_factory=list)
    #: Result of the comparison of its optimizers with the reference's, if it was made.
    updates: Updates | None = None

    @property
    def program(self) -> Program:
        """The program that shows the mismatches. Raises `NotReplayable` if it contains something that is not data."""
        return self.recorder.program() if self.repaired_program is None else self.repaired_program

    @property
    def shown(self) -> Program:
        """The same program, also if it contains something that is not data; it names the mismatches."""
        return self.recorder.snapshot() if self.repaired_program is None else self.repaired_program

    @property
    def update(self) -> Update | None:
        """The optimizer step that differs for equal gradients, or None if no such step was found."""
        return None if self.updates is None else self.updates.wrong


@dataclasses.dataclass(slots=True)  # Not frozen: each trial makes one, and a frozen one takes twice the time.
class _TrialRun:
    """One run of a test body: everything that decides what it does."""

    body: Callable[[], Any]
    seed: int
    settings: Settings
    pair: Pair
    #: Choices to use first, in place of those drawn from `seed`.
    forced: Sequence[generators.Choice] | None = None
    #: Returns whether the candidate's refusal of a call is known, so that the trial continues.
    is_known_refusal: Callable[[Recorder, Mismatch], bool] | None = None
    #: Whether all tensors require grad for which the test leaves it open.
    all_require_grad: bool = False
    #: Makes its choices; None before it begins.
    source: generators.Source | None = None

    @property
    def leaves_out_gradients(self) -> bool:
        """Whether the plan chose that some tensors require no grad."""
        return self.source is not None and generators.leaves_out_gradients(self.source)


def run_trial(
    body: Callable[[], Any],
    seed: int,
    settings: Settings,
    pair: Pair,
    forced: Sequence[generators.Choice] | None = None,
) -> Outcome:
    """Run `body` once and compare the results.

    Args:
        body: the test body, without arguments.
        seed: seed of everything that is drawn.
        settings: settings of the test.
        pair: the two frameworks.
        forced: choices to use first, in place of those drawn from `seed`.

    Returns:
        The compared outcome.
    """
    check_equal_default_dtypes(pair)
    outcome = _seed_and_run(_TrialRun(body, seed, settings, pair, forced))
    compare_outcomes([outcome], settings)
    return outcome


def run_without_comparison(
    body: Callable[[], Any],
    seed: int,
    settings: Settings,
    pair: Pair,
    forced: Sequence[generators.Choice] | None = None,
    is_known_refusal: Callable[[Recorder, Mismatch], bool] | None = None,
) -> Outcome:
    """Run `body` as `run_trial` does, without the comparison. A rejected trial needs none.

    If the candidate refuses a call and `is_known_refusal` returns True for it, the trial continues with the reference's
    result on both sides.
    """
    return _seed_and_run(_TrialRun(body, seed, settings, pair, forced, is_known_refusal))


def run_next_without_comparison(test: Test, seed: int, pair: Pair, all_require_grad: bool) -> Outcome:
    """Run the next of many trials of `test` as `run_without_comparison` does."""
    run = _TrialRun(test.body, seed, test.settings, pair, all_require_grad=all_require_grad)
    return _run_with_gradients(run, test.own_generators.run)


def _seed_and_run(run: _TrialRun) -> Outcome:
    """Seed Python's and NumPy's generators, and perform `run`."""

    def seeded(seed: int, trial: Callable[[], Outcome]) -> Outcome:
        body_generators.seed(seed)
        return trial()

    return _run_with_gradients(run, seeded)


def _run_with_gradients(run: _TrialRun, seeded: Callable[[int, Callable[[], Outcome]], Outcome]) -> Outcome:
    """Perform `run`, and again with all gradients if the body needs one that the plan left out.

    `seeded` runs a trial with Python's and NumPy's generators as if seeded by a number.
    """
    settings = run.settings
    # Other checks of gradients need one of every input, and so does a test that pushes back by itself.
    if not settings.auto_backward or settings.check_grad != "dual" or settings.grad_order != 1:
        run.all_require_grad = True
    try:
        outcome = seeded(run.seed, lambda: _run_seeded(run))
    except (KeyboardInterrupt, SystemExit):
        raise
    except BaseException:  # pytest's own exceptions, as of `pytest.raises`, are no `Exception`
        if not run.leaves_out_gradients:
            raise
    else:
        outcome.leaves_out_gradients = run.leaves_out_gradients
        if outcome.rejection is None or not run.leaves_out_gradients:
            return outcome
    run.all_require_grad = True
    return seeded(run.seed, lambda: _run_seeded(run))


def _run_seeded(run: _TrialRun) -> Outcome:
    """Run `body` as `run_without_comparison` does, with Python's and NumPy's generators already seeded."""
    candidate = run.pair.candidate
    deaths = candidate.deaths
    outcome = _run_once(run)
    if candidate.deaths == deaths:
        return outcome
    # A call of an earlier trial that is not compared yet may have killed the candidate. If it was a call of this trial,
    # it dies again.
    body_generators.seed(run.seed)
    return _run_once(run)


def _run_once(run: _TrialRun) -> Outcome:
    seed, settings, pair = run.seed, run.settings, run.pair
    source = run.source = generators.Source(seed, run.forced)
    source.special_values, source.all_require_grad = settings.special_values, run.all_require_grad
    recorder = Recorder(pair, check_errors=settings.check_errors)
    if run.is_known_refusal is not None:
        recorder.is_known_refusal = functools.partial(run.is_known_refusal, recorder)
    reference, candidate = pair.reference, pair.candidate
    reference.seed(seed & 0xFFFFFFFF)
    modes, candidates_modes = reference.modes(), candidate.modes()
    forward_done = False
    with generators.using(source), recording(recorder):
        try:
            returned = run_body(run.body, pair)
            if reference.modes() != modes:
                check_modes_of_both_sides(recorder)
            tensors = returned_tensors(returned, recorder)
            forward_done = True
            if settings.auto_backward:
                outputs = tensors if returned is not None else list(unused_results(recorder))
                if settings.check_grad == "intermediate":
                    keep_gradients(recorder)
                run_backward(recorder, outputs, twice=settings.grad_order == 2)
        except TrialEnd:
            pass
        except CandidateDied as error:
            return _of_death(seed, recorder, source, error)
        finally:
            reference.restore(modes)
            candidate.restore(candidates_modes)
            if recorder.files:
                files.remove(candidate)
    # If the reference refuses only the backward, what the body computed is compared nevertheless.
    if recorder.rejection is not None and not (recorder.mismatches or forward_done):
        return Outcome(seed, recorder, source.choices, source.features, rejection=recorder.rejection)
    try:
        return uncompared_outcome(seed, recorder, source.choices, source.features)
    except CandidateDied as error:
        return _of_death(seed, recorder, source, error)


def _of_death(seed: int, recorder: Recorder, source: generators.Source, error: CandidateDied) -> Outcome:
    """Return the outcome of a trial that the candidate's death ended. The last call is assumed to be the cause."""
    mismatches = failed_there(recorder, len(recorder.calls) - 1, error) if recorder.calls else []
    return Outcome(seed, recorder, source.choices, source.features, mismatches=mismatches)


def uncompared_outcome(
    seed: int, recorder: Recorder, choices: Sequence[generators.Choice], features: Mapping[Any, int]
) -> Outcome:
    """Return the outcome of a finished trial that is not compared yet."""
    observed = observe(recorder)
    return Outcome(
        seed,
        recorder,
        choices,
        features,
        compared=observed.compared + recorder.refused,
        gradients=observed.gradients,
        pending=observed,
    )


def compare_outcomes(outcomes: Sequence[Outcome], settings: Settings, masks: set[object] | None = None) -> None:
    """Compare all outcomes that are not compared yet together: the second half of `run_trial`.

    `masks` are the calls whose masks earlier trials of the test compared, see `compared_masks`; it is extended. After
    a trial in which the candidate hangs, the remaining trials are not compared, because they may hang, too.
    """
    open_ones = [outcome for outcome in outcomes if outcome.pending is not None]
    if not open_ones:
        return
    try:
        found = compare([outcome.pending for outcome in open_ones if outcome.pending is not None], settings)
    except CandidateDied:  # in one of the trials: each is replayed on its own
        found = list(_replayed_one_by_one(open_ones, settings))
    masks = set() if masks is None else masks
    for outcome, mismatches in zip(open_ones, found, strict=False):
        outcome.pending = None
        outcome.mismatches = mark_special(outcome.recorder, mismatches, settings) if mismatches else []
        if outcome.recorder.rejection is not None and not mismatches:  # the candidate reported the rejection only now
            outcome.rejection = outcome.recorder.rejection
            continue
        drawn = outcome.recorder.drawn
        if drawn and not (mismatches and may_be_of_a_step(outcome.recorder, outcome.mismatches)):
            from autotest.trials.behind_masks import compared_behind_masks

            behind = compared_behind_masks(outcome.recorder, outcome.mismatches, settings)
            if behind is not None:
                outcome.mismatches, outcome.repaired_program = behind
                continue
            from autotest.trials.masks_compared import compared_masks

            unlike = compared_masks(outcome.recorder, settings, masks) if not mismatches else None
            if unlike is not None:
                outcome.mismatches, outcome.repaired_program = unlike
                continue
        # A trial with mismatches may have ended early, so that the gradients it would have compared are unknown.
        if not mismatches:
            outcome.complaint = _complaint(outcome, settings)
            if settings.check_grad in ("numeric", "forward"):
                _check_numerically(outcome, settings)
        # A tolerance set by the test decides, although it is coarser than a comparison of single steps.
        if may_be_of_a_step(outcome.recorder, outcome.mismatches) and not settings.gives_tolerance:
            from autotest.replaying.updates import check_updates

            outcome.updates = check_updates(outcome.recorder)
            outcome.mismatches = [*([outcome.update.mismatch] if outcome.update else []), *outcome.mismatches]


def _replayed_one_by_one(outcomes: Sequence[Outcome], settings: Settings) -> Iterator[list[Mismatch]]:
    """Replay each trial after the candidate died, and yield its mismatches, up to the first one that hangs."""
    for outcome in outcomes:
        record, candidate, run = outcome.recorder, outcome.recorder.pair.candidate, 0

        def between_calls(count: int, values: list[Any]) -> None:
            nonlocal run
            run = count
            candidate.synchronize()  # noqa: B023 - called within this turn

        try:
            again = replay(outcome.program, candidate, between_calls=between_calls)
        except CandidateDied as error:
            again = Replayed(candidate, [], error, run - 1)
        record.actual = [*again.values, *[None] * (len(record.calls) - len(again.values))]
        if again.error is None:
            yield compare([observe(record)], settings)[0]
        else:
            yield failed_there(record, again.failed_at or 0, again.error)
            if isinstance(again.error, CandidateHung):
                return


def _check_numerically(outcome: Outcome, settings: Settings) -> None:
    from autotest.gradients.numeric_check import NumericResult, check_numerically
    from autotest.trials.behind_masks import repeatable

    recorder = outcome.recorder
    try:
        program = repeatable(recorder)
        found = check_numerically(program, recorder.pair, settings)
        outcome.repaired_program = program if found.mismatches and recorder.drawn else None
    except NotReplayable as error:
        found = NumericResult(unchecked=str(error))
    outcome.mismatches, outcome.numeric_pairs, outcome.too_small_inputs = found.mismatches, found.pairs, found.small
    if found.rejection is not None and not found.mismatches:
        outcome.rejection = found.rejection
    if found.unchecked and not (found.mismatches or settings.skip_grad):
        asked = f"check_grad={settings.check_grad!r} cannot be done: {found.unchecked}"
        outcome.complaint = outcome.complaint or asked


def _complaint(outcome: Outcome, settings: Settings) -> str:
    recorder, gradients = outcome.recorder, outcome.gradients
    if outcome.leaves_out_gradients or (gradients and differentiable.surely_compared(recorder)):
        return ""
    evidence = differentiable.examine(recorder, gradients)
    return gate.complaint(evidence, auto_backward=bool(settings.auto_backward), skipped=settings.skip_grad)


__all__ = [
    "COMPARED_AT_ONCE",
    "Outcome",
    "Test",
    "compare_outcomes",
    "returned_tensors",
    "run_next_without_comparison",
    "run_trial",
    "run_without_comparison",
    "uncompared_outcome",
]
