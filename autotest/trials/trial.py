"""Runs one trial: the test body once on both sides, the backward with drawn cotangents, and the comparison."""

from __future__ import annotations

import dataclasses
import functools
from collections.abc import Callable, Sequence
from typing import Any

import generators
from autotest.base.errors import TrialEnd, UsageError
from autotest.base.settings import Settings
from autotest.comparison import Mismatch
from autotest.comparison.rejection import ABSENT, Rejection
from autotest.frameworks import Pair, files
from autotest.frameworks.failures import CandidateDied, nothing_of_its_own
from autotest.program import operator_of
from autotest.recording.observation import failed_there
from autotest.recording.recorder import Recorder, recording
from autotest.trials import body_generators
from autotest.trials.backward import run_backward, unused_results
from autotest.trials.body import run_body
from autotest.trials.comparing import compare_outcomes
from autotest.trials.decorated import Test
from autotest.trials.intermediate_gradients import keep_gradients
from autotest.trials.modes import check_candidate_keeps_modes, check_equal_default_dtypes, check_modes_of_both_sides
from autotest.trials.outcome import Outcome, uncompared_outcome
from autotest.trials.returned import returned_tensors

# pytest and unittest leave this module out of the traceback of a failed test.
__tracebackhide__ = True
__unittest = True

# Generators that are built here belong to the test: their errors name the line of the test.
__generators_hide__ = True


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
    *,
    all_require_grad: bool = False,
) -> Outcome:
    """Run `body` once and compare the results.

    Args:
        body: the test body, without arguments.
        seed: seed of everything that is drawn.
        settings: settings of the test.
        pair: the two frameworks.
        forced: choices to use first, in place of those drawn from `seed`.
        all_require_grad: whether all tensors require grad for which the test leaves it open.

    Returns:
        The compared outcome.
    """
    check_equal_default_dtypes(pair)
    outcome = _seed_and_run(_TrialRun(body, seed, settings, pair, forced, all_require_grad=all_require_grad))
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
        outcome = seeded(run.seed, functools.partial(_run_seeded, run))
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
    return seeded(run.seed, functools.partial(_run_seeded, run))


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
    seed, settings, candidate = run.seed, run.settings, run.pair.candidate
    source = run.source = generators.Source(seed, run.forced)
    source.special_values, source.all_require_grad = settings.special_values, run.all_require_grad
    source.refuses_special = settings.gives_special_values and not settings.special_values
    recorder = Recorder(run.pair, check_errors=settings.check_errors)
    if run.is_known_refusal is not None:
        recorder.is_known_refusal = functools.partial(run.is_known_refusal, recorder)
    run.pair.reference.seed(seed & 0xFFFFFFFF)
    own_calls = candidate.own_calls
    try:
        with generators.using(source), recording(recorder):
            forward_done = _run_body(run, recorder)
        if candidate.called_none_of_its_own(own_calls) and not recorder.has_ended:
            forward_done = False
            recorder.rejection = _without_own_calls(recorder)
        # If the reference refuses only the backward, what the body computed is compared nevertheless.
        if recorder.rejection is not None and not (recorder.mismatches or forward_done):
            rejection = recorder.rejection
            return Outcome(seed, recorder, source.choices, source.features, rejection=rejection, refused_body=True)
        return uncompared_outcome(seed, recorder, source.choices, source.features)
    except CandidateDied as error:
        return _of_death(seed, recorder, source, error)


def _run_body(run: _TrialRun, recorder: Recorder) -> bool:
    """Run the body and the backward, and restore both sides' modes; return whether the body came to its end."""
    settings, reference, candidate = run.settings, run.pair.reference, run.pair.candidate
    modes, candidates_modes = reference.modes(), candidate.modes()
    forward_done = False
    try:
        returned = run_body(run.body, run.pair)
        if reference.modes() != modes:
            check_candidate_keeps_modes(recorder, modes)
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
    except (CandidateDied, KeyboardInterrupt, SystemExit):
        raise
    except BaseException as error:  # pytest's own exceptions, as of `pytest.skip`, are no `Exception`
        # A body that caught `TrialEnd`, by a bare `except` or in a thread, lacks the result that it goes on with.
        if not recorder.has_ended:
            if isinstance(error, UsageError) and reference.modes() != modes:
                check_candidate_keeps_modes(recorder, modes)
            raise
    finally:
        reference.restore(modes)
        candidate.restore(candidates_modes)
        if recorder.files:
            files.remove(candidate)
    return forward_done


def _without_own_calls(recorder: Recorder) -> Rejection:
    """Return the rejection of a trial that called no function of the candidate's own, and so compared nothing."""
    called = (call for call in recorder.calls if call.kind in ("function", "method", "operator") and not call.note)
    first = next((operator_of(recorder.calls, call.slot) for call in called), "torch")
    return Rejection(first, ABSENT, nothing_of_its_own(recorder.pair.candidate.name))


def _of_death(seed: int, recorder: Recorder, source: generators.Source, error: CandidateDied) -> Outcome:
    """Return the outcome of a trial that the candidate's death ended. The last call is assumed to be the cause."""
    mismatches = failed_there(recorder, len(recorder.calls) - 1, error) if recorder.calls else []
    return Outcome(seed, recorder, source.choices, source.features, mismatches=mismatches)
