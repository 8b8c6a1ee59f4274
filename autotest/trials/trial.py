"""One trial: run the test body once on both sides, push cotangents back, compare."""

from __future__ import annotations

import dataclasses
import functools
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import generators
from autotest.base.errors import TrialEnd
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
from autotest.trials.backward import push_back, unused_results
from autotest.trials.body_errors import explained, own_lines
from autotest.trials.body_generators import BodyGenerators
from autotest.trials.intermediate_gradients import keep_gradients
from autotest.trials.returned import must_begin_alike, returned_tensors, told_on_both_sides
from autotest.trials.special_values import told_apart

if TYPE_CHECKING:
    from autotest.replaying.updates import Update, Updates

# What runs a test is no part of its traceback: for pytest, for unittest.
__tracebackhide__ = True
__unittest = True

# Generators that are built here are the test's doing: their errors name its line.
__generators_hide__ = True

#: Trials of an asynchronous candidate that may wait to be compared at once. When the process dies, it may be of any.
COMPARED_AT_ONCE = 20  # as many as a test has by default


@dataclasses.dataclass(frozen=True, slots=True)
class Test:
    """A decorated test, ready to be run: `body` takes nothing and returns what the test returned."""

    #: "file.py::Class.method", and the arguments it was called with where it has any.
    id: str
    body: Callable[[], Any]
    settings: Settings
    #: Where it stands, so that another process can find it again.
    file: Path | None = None
    #: What its body may draw from besides, for those who run one trial after the other.
    own_generators: BodyGenerators = dataclasses.field(default_factory=BodyGenerators, compare=False)


@dataclasses.dataclass(slots=True)
class Outcome:
    """What became of one trial."""

    seed: int
    recorder: Recorder
    choices: Sequence[generators.Choice]
    #: The features that it had of those which the test leaves open, see `generators.plan`.
    features: Mapping[Any, int] = dataclasses.field(default_factory=dict)
    mismatches: list[Mismatch] = dataclasses.field(default_factory=list)
    rejection: Rejection | None = None
    compared: int = 0
    gradients: int = 0
    #: How many input/output pairs were held against differences, on both sides together.
    numeric: int = 0
    #: Inputs that this was done for with fewer than a hundred elements, since no larger ones are accepted.
    small: list[str] = dataclasses.field(default_factory=list)
    #: What the gradient gate has against this trial; "" when it may pass.
    complaint: str = ""
    #: What is to be compared, until it has been.
    pending: Observed | None = None
    #: The recorded program with what the ledger expects put right, and differences that are not compared in it:
    #: where a trial has others besides, which its mismatches then are.
    beyond: Program | None = None
    set_aside: tuple[str, ...] = ()
    #: The entries of the ledger that were met while this was put right, in order.
    met_beyond: list[LedgerEntry] = dataclasses.field(default_factory=list)
    #: What became of holding its optimizers against the reference's, where that was done.
    updates: Updates | None = None

    @property
    def program(self) -> Program:
        """The program that shows its mismatches; raises `NotReplayable` when it holds what is not data."""
        return self.recorder.program() if self.beyond is None else self.beyond

    @property
    def update(self) -> Update | None:
        """What shows that an optimizer steps otherwise on the same gradients, where that is what was found."""
        return None if self.updates is None else self.updates.wrong


def run_trial(
    body: Callable[[], Any],
    seed: int,
    settings: Settings,
    pair: Pair,
    forced: Sequence[generators.Choice] | None = None,
) -> Outcome:
    """Run `body` once with everything drawn from `seed`, or from the choices `forced` as far as they go; compare."""
    must_begin_alike(pair)
    outcome = perform(body, seed, settings, pair, forced)
    settle([outcome], settings)
    return outcome


def perform(
    body: Callable[[], Any],
    seed: int,
    settings: Settings,
    pair: Pair,
    forced: Sequence[generators.Choice] | None = None,
    is_known_refusal: Callable[[Recorder, Mismatch], bool] | None = None,
) -> Outcome:
    """The first half of `run_trial`: what came of it is not compared yet, unless the reference refused.

    Where the candidate refuses a call and `is_known_refusal` says so of it, the trial goes on with what the reference
    returned, on both sides.
    """
    body_generators.seed(seed)
    return _perform_seeded(body, seed, settings, pair, forced, is_known_refusal)


def perform_next(test: Test, seed: int, pair: Pair) -> Outcome:
    """The same for the next of many trials of `test`."""
    return test.own_generators.run(seed, lambda: _perform_seeded(test.body, seed, test.settings, pair, None, None))


def _perform_seeded(
    body: Callable[[], Any],
    seed: int,
    settings: Settings,
    pair: Pair,
    forced: Sequence[generators.Choice] | None,
    is_known_refusal: Callable[[Recorder, Mismatch], bool] | None,
) -> Outcome:
    """The same where Python's and NumPy's own generators are seeded."""
    candidate = pair.candidate
    deaths = candidate.deaths
    outcome = _performed(body, seed, settings, pair, forced, is_known_refusal)
    if candidate.deaths == deaths:
        return outcome
    # It may have died of an earlier trial's calls, which are not compared yet. Of its own it dies once more.
    body_generators.seed(seed)
    return _performed(body, seed, settings, pair, forced, is_known_refusal)


def _performed(
    body: Callable[[], Any],
    seed: int,
    settings: Settings,
    pair: Pair,
    forced: Sequence[generators.Choice] | None,
    is_known_refusal: Callable[[Recorder, Mismatch], bool] | None,
) -> Outcome:
    source = generators.Source(seed, forced)
    source.special_values = settings.special_values
    recorder = Recorder(pair, check_errors=settings.check_errors)
    if is_known_refusal is not None:
        recorder.is_known_refusal = functools.partial(is_known_refusal, recorder)
    reference, candidate = pair.reference, pair.candidate
    reference.seed(seed & 0xFFFFFFFF)
    modes, candidates_modes = reference.modes(), candidate.modes()
    with generators.using(source), recording(recorder):
        try:
            returned = _returned(body, pair)
            if reference.modes() != modes:
                told_on_both_sides(recorder)
            tensors = returned_tensors(returned, recorder)
            if settings.auto_backward:
                outputs = tensors if returned is not None else list(unused_results(recorder))
                if settings.check_grad == "intermediate":
                    keep_gradients(recorder)
                push_back(recorder, outputs, twice=settings.grad_order == 2)
        except TrialEnd:
            pass
        except CandidateDied as error:
            return _of_death(seed, recorder, source, error)
        finally:
            reference.restore(modes)
            candidate.restore(candidates_modes)
            if recorder.files:
                files.remove(candidate)
    if recorder.rejection is not None and not recorder.mismatches:
        return Outcome(seed, recorder, source.choices, source.features, rejection=recorder.rejection)
    try:
        return to_compare(seed, recorder, source.choices, source.features)
    except CandidateDied as error:
        return _of_death(seed, recorder, source, error)


def _of_death(seed: int, recorder: Recorder, source: generators.Source, error: CandidateDied) -> Outcome:
    """A trial that ends because the candidate did, in its last call as far as is known."""
    mismatches = failed_there(recorder, len(recorder.calls) - 1, error) if recorder.calls else []
    return Outcome(seed, recorder, source.choices, source.features, mismatches=mismatches)


def to_compare(
    seed: int, recorder: Recorder, choices: Sequence[generators.Choice], features: Mapping[Any, int]
) -> Outcome:
    """The outcome of a trial that has run and was not compared yet."""
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


def _returned(body: Callable[[], Any], pair: Pair) -> Any:
    """What `body` returns; what it got wrong with dual objects is said in one sentence."""
    try:
        return body()
    except Exception as error:
        clear = explained(error, pair.packages)
        if clear is not None:
            raise clear from None
        if not getattr(error, "of_the_test", False):
            raise
        between = {*pair.packages, "copy"}  # whose frames the body's lines lead to
        raise error.with_traceback(own_lines(error.__traceback__, between))  # noqa: B904 - it is the same one


def settle(outcomes: Sequence[Outcome], settings: Settings) -> None:
    """The second half: compare what is not compared yet, all of it at once.

    Behind a trial that the candidate hangs in, the others stay as they are: they may hang, too, and nobody may ask.
    """
    open_ones = [outcome for outcome in outcomes if outcome.pending is not None]
    if not open_ones:
        return
    try:
        found = compare([outcome.pending for outcome in open_ones if outcome.pending is not None], settings)
    except CandidateDied:  # of one of them: each is run again by itself
        found = list(_each_once_more(open_ones, settings))
    for outcome, mismatches in zip(open_ones, found, strict=False):
        outcome.pending = None
        outcome.mismatches = told_apart(outcome.recorder, mismatches, settings) if mismatches else []
        if outcome.recorder.rejection is not None and not mismatches:  # the candidate told of it only now
            outcome.rejection = outcome.recorder.rejection
            continue
        # A trial that diverged may have ended early: what it would have compared is not known.
        if not mismatches:
            outcome.complaint = _complaint(outcome.recorder, settings, outcome.gradients)
            if settings.check_grad in ("numeric", "forward"):
                _hold_against_numbers(outcome, settings)
        # A tolerance that the test gives is law, and rougher.
        if may_be_of_a_step(outcome.recorder, outcome.mismatches) and not settings.gives_tolerance:
            from autotest.replaying.updates import check_updates

            outcome.updates = check_updates(outcome.recorder)
            outcome.mismatches = [*([outcome.update.mismatch] if outcome.update else []), *outcome.mismatches]


def _each_once_more(outcomes: Sequence[Outcome], settings: Settings) -> Iterator[list[Mismatch]]:
    """The mismatches of each trial whose candidate lost what it had computed, up to one that it hangs in."""
    for outcome in outcomes:
        record, candidate, run = outcome.recorder, outcome.recorder.pair.candidate, 0

        def look(count: int, values: list[Any]) -> None:
            nonlocal run
            run = count
            candidate.synchronize()  # noqa: B023 - called within this turn

        try:
            again = replay(outcome.program, candidate, look=look)
        except CandidateDied as error:
            again = Replayed(candidate, [], error, run - 1)
        record.actual = [*again.values, *[None] * (len(record.calls) - len(again.values))]
        if again.error is None:
            yield compare([observe(record)], settings)[0]
        else:
            yield failed_there(record, again.failed_at or 0, again.error)
            if isinstance(again.error, CandidateHung):
                return


def _hold_against_numbers(outcome: Outcome, settings: Settings) -> None:
    from autotest.gradients.numeric_check import held_against_numbers

    found = held_against_numbers(outcome.recorder, settings)
    outcome.mismatches, outcome.numeric, outcome.small = found.mismatches, found.pairs, found.small
    if found.unchecked and not (found.mismatches or settings.skip_grad):
        asked = f"check_grad={settings.check_grad!r} was asked for and cannot be met: {found.unchecked}"
        outcome.complaint = outcome.complaint or asked


def _complaint(recorder: Recorder, settings: Settings, gradients: int) -> str:
    if gradients and differentiable.surely_compared(recorder):
        return ""
    evidence = differentiable.examine(recorder, gradients)
    return gate.complaint(evidence, auto_backward=bool(settings.auto_backward), skipped=settings.skip_grad)


__all__ = [
    "COMPARED_AT_ONCE",
    "Outcome",
    "Test",
    "perform",
    "perform_next",
    "returned_tensors",
    "run_trial",
    "settle",
    "to_compare",
]
