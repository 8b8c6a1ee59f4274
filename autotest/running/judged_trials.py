"""The trials of one test against one candidate: compares, judges and counts them, and reports mismatches."""

from __future__ import annotations

import collections
import dataclasses
from typing import TYPE_CHECKING, NamedTuple

from autotest.base.errors import GradientNotCompared, NothingCompared
from autotest.report import text
from autotest.results.divergence import Divergence
from autotest.results.finding import Finding
from autotest.running import whole_test
from autotest.running.tally import Tally
from autotest.storage.keeping import put
from autotest.storage.store import Store
from autotest.storage.store_format import to_files
from autotest.trials.comparing import COMPARED_AT_ONCE, compare_outcomes
from autotest.trials.context import RunContext
from autotest.trials.decorated import Test
from autotest.trials.input_features import features_of, refused_features_of
from autotest.trials.judgement import (
    Accepted,
    Cleared,
    Diverged,
    Expected,
    GradientMissing,
    Judgement,
    Rejected,
    Vacuous,
    judge,
)
from autotest.trials.memory import free, holds_large_arrays
from autotest.trials.outcome import Outcome

if TYPE_CHECKING:
    from autotest.diagnosis.failed_trial import FailedTrial

# pytest and unittest leave this module out of the traceback of a failed test.
__tracebackhide__ = True
__unittest = True

#: Maximum number of elements of the reference's tensors that wait for the comparison.
HELD_AT_MOST = 1 << 18


class PlannedTrial(NamedTuple):
    """A trial to run: its base seed, its index and its seed."""

    base: int
    trial: int
    seed: int
    #: Whether it is a pinned trial or a stored failure. These run in addition to the trials that the test asks for.
    additional: bool
    #: Whether all tensors require grad. If a body is always refused with gradients, for instance because it writes into
    #: a leaf, the test has a mistake, which a few accepted trials without gradients would hide.
    all_require_grad: bool = False


@dataclasses.dataclass(slots=True)
class JudgedTrials:
    """Collects finished trials and judges them. An asynchronous candidate is waited for once for several trials."""

    test: Test
    context: RunContext
    tally: Tally
    store: Store
    waiting: list[tuple[PlannedTrial, Outcome]] = dataclasses.field(default_factory=list)
    #: Number of elements of the reference's tensors that wait for the comparison.
    held: int = 0
    graphed: list[tuple[int, int, Outcome]] = dataclasses.field(default_factory=list)
    #: Number of trials that the reference must accept.
    needed: int = dataclasses.field(init=False)
    #: The examination of the last trial with mismatches.
    _examined: FailedTrial | None = None
    #: Whether a trial judged recently was large, so that `free_memory` has to collect garbage.
    _held_much: bool = False
    #: The calls whose masks were compared, see `autotest.trials.masks_compared`.
    _masks: set[object] = dataclasses.field(default_factory=set)

    def __post_init__(self) -> None:
        self.needed = self.context.options.trials(self.test.settings.n)
        self.tally.gradient_tally.asked = self.test.settings.asks_of_gradients

    @property
    def enough(self) -> bool:
        """Whether enough trials were accepted. Trials that the candidate has no name for count, too."""
        return self.tally.counted >= self.needed

    def add(self, planned: PlannedTrial, outcome: Outcome) -> None:
        """Add a finished trial, and judge the waiting trials if it is time. Raises the failures that they show."""
        self.waiting.append((planned, outcome))
        if self._is_time(planned, outcome):
            self.judge_waiting()

    def free_memory(self) -> None:
        """Free the memory of large judged trials. The caller must not have a reference to an outcome any more."""
        if self._held_much:
            self._held_much = False
            free()

    def finish(self) -> None:
        """Judge the remaining trials, and then the test as a whole.

        Raises:
            unittest.SkipTest: the candidate has no name for anything that the test needs.
            TooFewAccepted: the reference accepted too few trials.
            NothingCompared: the test asks for a check in graph mode, and nothing could run there.
            GradientNotCompared: the reference refused every backward.
            StaleLedgerEntry: the ledger expects a divergence that did not happen.
            AutotestError: a trial failed, as in `add`.
        """
        self.judge_waiting()
        if refused := whole_test.refusal(self.test, self.context, self.tally, self.needed):
            raise refused
        self._agree_in_graph_mode()
        parity = self.test.settings.check_errors
        if omitted := whole_test.omission(self.test, self.context, self.tally, error_parity=parity):
            raise omitted

    def _is_time(self, planned: PlannedTrial, latest: Outcome) -> bool:
        """Return whether the waiting trials must be compared before another trial runs."""
        if not self.context.pair.candidate.asynchronous:
            return True
        if latest.pending is not None:
            self.held += latest.pending.elements
        recorder = latest.recorder
        return (
            planned.additional
            or len(self.waiting) >= min(COMPARED_AT_ONCE, self.needed - self.tally.counted)
            or self.held > HELD_AT_MOST
            or bool(recorder.mismatches)
            or bool(recorder.imported)  # values shared with other trials may change later
        )

    def judge_waiting(self) -> None:
        """Compare the waiting trials, and judge them."""
        waiting, self.waiting, self.held = self.waiting, [], 0
        compare_outcomes([outcome for _, outcome in waiting], self.test.settings, self._masks)
        for planned, outcome in waiting:
            if outcome.pending is not None:  # it follows a trial in which the candidate hangs
                compare_outcomes([outcome], self.test.settings, self._masks)
            if outcome.mismatches or not planned.additional:
                self._judge(planned, outcome)
            if holds_large_arrays(outcome.recorder):
                self._held_much = True

    def _judge(self, planned: PlannedTrial, outcome: Outcome) -> None:
        test, tally = self.test, self.tally
        judgement = self._judged(outcome)
        if planned.additional and not isinstance(judgement, Diverged):
            return
        match judgement:
            case Accepted() | Expected() | Cleared():
                tally.accepted += 1
                if outcome.zeros is not None:
                    tally.zeros.add(outcome.zeros)
                if not outcome.leaves_out_gradients:
                    agrees = not isinstance(judgement, Expected)
                    tally.gradient_tally.add_accepted(outcome.gradients, agrees=agrees)
                options = self.context.options
                if options.coverage:
                    found = features_of(outcome, test.settings, special_values=options.special_values)
                    tally.coverage.append(found)
            case Rejected(rejection):
                tally.rejections[rejection.reason] += 1
                tally.places.setdefault(rejection.reason, rejection.place)
                tally.gradient_tally.add_rejection(rejection)
                if self.context.options.coverage:
                    tally.coverage.append(refused_features_of(outcome))
            case Diverged():
                raise self._divergence(planned.base, planned.trial, outcome)
            case Vacuous():
                said = text.nothing_compared(outcome.seed, planned.trial, outcome.recorder.other_tests)
                raise NothingCompared(test.id, said)
            case GradientMissing(complaint):
                said = text.gradient_not_compared(outcome.seed, planned.trial, complaint)
                raise GradientNotCompared(test.id, said)
        tally.compared += outcome.compared
        tally.gradients += outcome.gradients
        if isinstance(judgement, Accepted) and self.context.pair.checks_graph(test.settings.check_graph):
            self.graphed.append((planned.base, planned.trial, outcome))
            from autotest.replaying import graph_check

            # What a trial shares with others may change in the next one, and so may the gradients in it.
            if len(self.graphed) == graph_check.AT_ONCE or outcome.recorder.imported:
                self._agree_in_graph_mode()

    def _judged(self, outcome: Outcome) -> Judgement:
        if not outcome.mismatches:
            return judge(self.test, outcome, self.context.ledger)
        judgement = self._failed(outcome).judged(self.context.ledger)
        if isinstance(judgement, Expected):
            self.tally.expected.update(entry.key for entry in judgement.entries)
            behind = self.tally.behind.setdefault(judgement.entry.key, collections.Counter())
            behind.update(entry.key for entry in judgement.others)
        elif isinstance(judgement, Cleared):
            self.tally.cleared += 1
        return judgement

    def _agree_in_graph_mode(self) -> None:
        """Replay the programs of accepted trials in the candidate's graph mode, all together."""
        graphed, self.graphed = self.graphed, []
        if not graphed:
            return
        from autotest.replaying import graph_check

        report = graph_check.check([outcome.recorder for _, _, outcome in graphed], self.test.settings)
        self.tally.graphed += report.compared
        self.tally.left_out += report.left_out
        for (base, index, outcome), mismatches in zip(graphed, report.mismatches, strict=True):
            if mismatches:
                outcome.mismatches = mismatches
                if isinstance(self._judged(outcome), Diverged):
                    raise self._divergence(base, index, outcome)

    def _failed(self, outcome: Outcome) -> FailedTrial:
        """Return the examination of `outcome`, which has mismatches. It is cached: its replays are expensive."""
        if self._examined is None or self._examined.outcome is not outcome:
            from autotest.diagnosis.failed_trial import FailedTrial  # diagnoses are imported when something failed

            self._examined = FailedTrial(self.test, outcome, self.context.pair)
        return self._examined

    def _divergence(self, base: int, index: int, outcome: Outcome) -> Divergence:
        self._failed(outcome).must_be_of_calls()
        # A stored failure may have another base seed than this run, and only its own reproduces it.
        context = self.context.with_base_seed(base)
        try:
            finding = self._failed(outcome).diagnosed(context, index)
        except KeyboardInterrupt as error:
            said = self._kept_undiagnosed(context, index, outcome)
            raise (KeyboardInterrupt(said) if said else error) from None
        place, trouble = _keep(finding, self.store) if self.context.options.keeps_failures else ("", "")
        return Divergence(text.divergence(finding, place, trouble), finding, place)

    def _kept_undiagnosed(self, context: RunContext, index: int, outcome: Outcome) -> str:
        """Store the finding whose diagnosis is interrupted, unless it is known; return what became of it, or ""."""
        if not context.options.keeps_failures:
            return ""
        finding = self._failed(outcome).recorded(context, index)
        key = finding.identity.key
        if not (self.store.failures / key).exists():
            if finding.program is not None:
                from autotest.diagnosis.scripted_finding import scripted

                options = dataclasses.replace(context.options, verify=False, shrink=0.0)
                finding = scripted(finding, dataclasses.replace(context, options=options))
            _keep(finding, self.store)
        return f"{self.test.id} had a finding, which was being diagnosed: autotest show {key}"


def _keep(finding: Finding, store: Store) -> tuple[str, str]:
    """Return where the finding was stored, and why not in the proper place, or ""."""
    place, trouble = put(
        store.root,
        finding.identity.key,
        lambda folder, _: to_files(finding, text.divergence(finding, str(folder), "")),
    )
    return str(place), trouble
