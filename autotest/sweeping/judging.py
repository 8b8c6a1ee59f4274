"""Judges one program on both sides, check by check."""

from __future__ import annotations

import collections
import dataclasses
from collections.abc import Callable, Mapping
from typing import Final, NamedTuple

import numpy as np

from autotest.base.settings import Settings
from autotest.comparison import SPECIAL, Mismatch
from autotest.diagnosis.attribution import referee
from autotest.diagnosis.attribution.ties import ties
from autotest.frameworks import Absent, Framework, Pair
from autotest.frameworks.failures import nothing_of_its_own
from autotest.program import Program
from autotest.program.rewriting import assembled
from autotest.program.semantics import is_class
from autotest.recording.initial_state import unlike_state
from autotest.recording.observation import Observed, compare, observe
from autotest.recording.one_sided import refused_by_candidate
from autotest.recording.special_values import counted_mismatches
from autotest.replaying.agreement import Agreement, refused
from autotest.replaying.recorded import record_of
from autotest.replaying.replay import Replayed, replay
from autotest.results.sweep import Check
from autotest.sweeping import probing
from autotest.sweeping.accuracy import measured
from autotest.sweeping.arguments import arguments
from autotest.sweeping.backward import with_backward
from autotest.sweeping.checks import check_of, follows, has_nonfinite, is_in_place_on_reference_only, repeats_tuple_item
from autotest.sweeping.double_gradients import with_double_gradient
from autotest.sweeping.graph_mode import judge_in_graph
from autotest.sweeping.judgement import SampleJudgement
from autotest.sweeping.lacking import Lacking
from autotest.sweeping.undefined import Draws, marked
from autotest.sweeping.vacuous import has_no_defined_element, is_constant
from autotest.sweeping.worker_position import Running

#: Number of crashes with the same argument summary after which such samples are left out, in all cells of the operator.
KNOWN: Final = 2
#: Reason for samples left out because such arguments ended processes before.
SET_ASIDE: Final = "not run: similar arguments crashed or hung before"
#: Failed attempts of the referee to explain the same mismatch after which it is no longer consulted. Also the number of
#: further tries for a program that draws random numbers and was refused.
_EXAMINED: Final = 3


class WholeProgram(NamedTuple):
    """The program that the candidate runs for a sample, with its backward."""

    program: Program
    #: The summary of its arguments; see `autotest.sweeping.arguments`.
    arguments: str
    #: Whether the reference refuses it.
    refused: bool


@dataclasses.dataclass(frozen=True, slots=True)
class _Extent:
    """How thoroughly a program is judged; see `Judge.judge`."""

    closely: bool
    twice: bool
    gaps: bool
    measure: bool


class Judge:
    """Judges the programs of one cell. It caches what the candidate lacks and which mismatches were examined.

    Args:
        pair: the two sides.
        runs: called at the start of each step, with the step.
        deadly: summaries of arguments that ended processes (`autotest.sweeping.arguments`), with counts.
        lacking: what the candidate lacks. Pass a shared instance to judge many cells, because it caches its look-ups.
    """

    def __init__(
        self,
        pair: Pair,
        runs: Callable[[Running], object] = lambda running: None,
        deadly: Mapping[str, int] | None = None,
        lacking: Lacking | None = None,
    ) -> None:
        self._pair = pair
        self._runs = runs
        self._deadly = collections.Counter(deadly or {})
        self._settings = Settings(check_errors=True)
        self._lacking = lacking or Lacking(pair)
        self._examined: collections.Counter[tuple[str, str]] = collections.Counter()
        #: For each program examined closely, whether its results have the shape of an input.
        self._looked_into: set[frozenset[bool]] = set()

    def judge(
        self, program: Program, *, closely: bool = False, twice: bool = False, gaps: bool = False, measure: bool = False
    ) -> SampleJudgement:
        """Judge `program`.

        Args:
            program: the program to run on both sides.
            closely: whether to run it a second time, and to write into its results to find shared memory. This is done
                anyway for the first program whose results have the shape of an input, and the first whose have not.
            twice: whether to compare the gradients of its gradients.
            gaps: whether the cotangents are not contiguous.
            measure: whether to measure the errors of its results against double precision.
        """
        candidate, own_calls = self._pair.candidate, self._pair.candidate.own_calls
        found = self._judged(program, _Extent(closely, twice, gaps, measure))
        if candidate.called_none_of_its_own(own_calls) and not (found.absent or found.left_out):
            return SampleJudgement(program, nothing_of_its_own(candidate.name))
        return found

    def _judged(self, program: Program, extent: _Extent) -> SampleJudgement:
        lacking = self._lacking.of_program(program)
        if lacking is not None:
            return SampleJudgement(program, lacking.reason, lacking.name)
        found = SampleJudgement(program)
        self._runs(Running.REFERENCE)
        pair = self._pair
        draws = Draws(program, pair.reference)
        expected = replay(program, pair.reference, between_calls=draws.between_calls)
        if self._deadly and self._deadly[arguments(program, refused=expected.error is not None)] >= KNOWN:
            found.left_out = SET_ASIDE
            return found
        drawn = draws.any
        if expected.error is not None:
            self._judge_refusal(found, expected, drawn=drawn)
            return found
        plain = marked(program, drawn=drawn)
        found.program = with_backward(plain, expected, gaps=extent.gaps)
        found.vacuous = has_no_defined_element(found.program, expected) or is_constant(plain, expected)
        self._runs(Running.CANDIDATE)
        actual = replay(found.program, pair.candidate)
        if isinstance(actual.error, Absent):
            found.absent = str(actual.error)
            return found
        if actual.error is not None and found.program.undefined and self._accepts_again(found.program):
            found.left_out = f"{pair.sides[1]} refuses the call for some random numbers and accepts it for others"
            return found
        observed, mismatches = self._compared(found, expected, actual)
        if found.left_out:
            return found
        self._sort(found, observed, mismatches, complete=actual.error is None)
        if pair.candidate.always_in_graph and not found.failures:
            return judge_in_graph(found, observed.record, self._settings)
        if actual.error is None:
            if pair.candidate.has_strides:
                found.checks["strides"] = True
                for one in probing.layouts(observed):
                    found.fail(one.check, one.key, one.message)
            self._look_further(found, plain, expected, actual, extent)
        return found

    def _look_further(
        self, found: SampleJudgement, plain: Program, expected: Replayed, actual: Replayed, extent: _Extent
    ) -> None:
        """Make the checks that need more than one run of `plain`, the program without a backward."""
        if extent.measure and not found.vacuous:
            found.accuracy = measured(plain, expected, actual, self._pair)
        kept = probing.shapes_kept(plain, expected)
        closely = extent.closely or kept not in self._looked_into
        if closely or extent.twice:
            self._runs(Running.PROBE)
        if extent.twice and found.program is not plain and found.checks.get("gradient"):
            self._double_gradient(found, plain, expected)
        if closely:
            self._looked_into.add(kept)
            probing.probe(found, expected, actual, self._pair)

    def _accepts_again(self, program: Program) -> bool:
        """Whether the candidate accepts a program that draws random numbers in one of a few more runs."""
        return any(replay(program, self._pair.candidate).error is None for _ in range(_EXAMINED))

    def _compared(
        self, found: SampleJudgement, expected: Replayed, actual: Replayed, program: Program | None = None
    ) -> tuple[Observed, list[Mismatch]]:
        """Return the observation of both sides for `program`, and the mismatches that no examination explains.

        `program` is that of `found` if left out. If the reference is not reproducible, `found.left_out` is set.
        """
        program = program or found.program
        record = record_of(program, self._pair, expected, actual)
        modules = [call.slot for call in record.calls if is_class(call)]
        unlike = [item for slot in modules if (item := unlike_state(record, slot)) is not None]
        record.mismatches += unlike
        # If the module's state already differs, an exception when the state is loaded is only a consequence.
        if actual.error is not None and not (unlike and program.calls[len(actual.values)].kind == "load_state"):
            record.mismatches.append(refused_by_candidate(program.calls, len(actual.values), self._pair, actual.error))
        observed = observe(record)
        mismatches = counted_mismatches(compare([observed], self._settings)[0], self._settings)
        if mismatches:
            if self._is_nondeterministic(program, mismatches[0]):
                found.left_out = f"{self._pair.sides[0]} gives different results in two runs"
            elif self._cleared(Agreement(program, record, mismatches)):
                found.rounded = True
                mismatches = []
            else:
                mismatches = self._without_ties(found, Agreement(program, record, mismatches))
        return observed, mismatches

    def _is_nondeterministic(self, program: Program, mismatch: Mismatch) -> bool:
        """Whether the reference's results differ between runs.

        Mismatches of other kinds than values are tried a few times only: once such a mismatch has proved reproducible
        `_EXAMINED` times, it is no longer tried.
        """
        key = ("is_nondeterministic", mismatch.key)
        if self._examined[key] >= _EXAMINED:
            return False
        is_nondeterministic = probing.is_nondeterministic(program, self._pair.reference)
        if not is_nondeterministic and not mismatch.of_numbers:
            self._examined[key] += 1
        return is_nondeterministic

    def _double_gradient(self, found: SampleJudgement, plain: Program, once: Replayed) -> None:
        """Compare the gradients of the gradients, if the reference has them."""
        reference = self._pair.reference
        leaves = [call.slot for call in plain.inputs() if reference.holds_gradient(once.values[call.slot])]
        expected = replay(plain, reference)
        program = with_double_gradient(plain, expected, leaves)
        if program is None or self._lacking.of_program(program):
            return
        actual = replay(program, self._pair.candidate)
        if isinstance(actual.error, Absent):
            return
        _, mismatches = self._compared(found, expected, actual, program)
        if found.left_out:
            found.left_out = ""  # the judgement of the first gradients stays valid
            return
        found.checks["double gradient"] = True
        # The forward results have been judged before.
        of_gradients = [
            item
            for item in mismatches
            if (item.stage == "backward" or item.slot >= len(plain.calls)) and not _of_no_use(item, program)
        ]
        for mismatch in of_gradients[:1]:
            found.fail("double gradient", mismatch.key, mismatch.message, program)

    @property
    def reference(self) -> Framework:
        """The reference."""
        return self._pair.reference

    @property
    def candidate(self) -> Framework:
        """The candidate."""
        return self._pair.candidate

    def note_deadly(self, summary: str) -> None:
        """Record that a process ended over arguments with the summary `summary`."""
        self._deadly[summary] += bool(summary)

    def whole(self, program: Program) -> WholeProgram:
        """Return what the candidate runs for `program`."""
        expected = replay(program, self._pair.reference)
        refuses = expected.error is not None
        summary = arguments(program, refused=refuses)
        return WholeProgram(program if refuses else with_backward(program, expected), summary, refuses)

    def _judge_refusal(self, found: SampleJudgement, expected: Replayed, *, drawn: bool) -> None:
        found.refused = True
        self._runs(Running.CANDIDATE)
        agreement = refused(found.program, self._pair, self._settings, expected)
        if agreement.mismatches and drawn:
            found.left_out = (
                f"{self._pair.sides[0]} refuses the call after it drew random numbers, maybe only because of these "
                "numbers"
            )
        elif agreement.mismatches and probing.refusal_is_nondeterministic(found.program, expected):
            found.left_out = f"{self._pair.sides[0]} gives different results in two runs"
        elif agreement.mismatches:
            (accepted,) = agreement.mismatches
            found.fail("errors", f"accepts what {self._pair.sides[0]} refuses", accepted.message)
        elif expected.failed_at == len(found.program.calls) - 1:
            found.checks["errors"] = True

    def _cleared(self, agreement: Agreement) -> bool:
        """Whether the referee explains all mismatches, for example by rounding."""
        if any(not item.of_numbers for item in agreement.mismatches):
            return False
        key = agreement.mismatches[0].symptom, agreement.mismatches[0].key
        if self._examined[key] >= _EXAMINED:
            return False
        try:
            with np.errstate(all="ignore"):
                verdict = referee.cleared(agreement, self._pair, self._settings)
        except Exception:  # noqa: BLE001 - a mismatch that cannot be judged counts as one
            verdict = None
        if verdict is None:
            self._examined[key] += 1
        return verdict is not None

    def _without_ties(self, found: SampleJudgement, agreement: Agreement) -> list[Mismatch]:
        """Return the mismatches of `agreement` without those that only choose another index among equal values.

        This is for indices that also have another dtype. If all mismatches are of values, `_cleared` has examined them.
        """
        numbers = [item for item in agreement.mismatches if item.of_numbers]
        if len(numbers) in (0, len(agreement.mismatches)):
            return agreement.mismatches
        if not ties(agreement, numbers[0].at, self._pair):
            return agreement.mismatches
        found.rounded = True
        return [item for item in agreement.mismatches if item not in numbers]

    def _sort(self, found: SampleJudgement, observed: Observed, mismatches: list[Mismatch], *, complete: bool) -> None:
        """Turn mismatches into failed checks, and record the checks that passed."""
        passed: list[Check] = ["signature", "errors"]
        if complete:
            passed += ["shape", "dtype", "alias"]
            passed += [] if found.vacuous or not self._pair.candidate.holds_values else ["value"]
            passed += ["gradient"] if observed.gradients else []
            if has_nonfinite(observed):
                passed.append("nonfinite")
        for check in passed:
            found.checks[check] = True
        for mismatch in mismatches:
            if not complete and mismatch.stage == "backward" and mismatch.symptom != "exception":
                continue  # gradients are missing because the candidate stopped before the backward
            if repeats_tuple_item(mismatch, mismatches, observed) or follows(mismatch, mismatches):
                continue
            # The construction of a module with other parameters is enough to show the mismatch.
            unlike = mismatch.symptom == "structure" and mismatch.stage == "build"
            shown = assembled(found.program.calls[: mismatch.slot + 1], found.program.arrays)[0] if unlike else None
            check = check_of(mismatch, found.program)
            if check in ("value", "nonfinite") and is_in_place_on_reference_only(mismatch.slot, observed):
                check = "alias"
            # A separate key: a mismatch next to NaN must not hide a mismatch in ordinary numbers.
            where = f" ({SPECIAL})" if check == "gradient" and mismatch.special else ""
            found.fail(check, mismatch.key + where, mismatch.message, shown)
        if any(item.symptom in ("exception", "out of memory") and item.stage != "backward" for item in mismatches):
            found.failed = True


def _of_no_use(mismatch: Mismatch, program: Program) -> bool:
    """Whether only `requires_grad` of a first gradient differs; second derivatives are compared separately."""
    return mismatch.symptom == "requires_grad" and program.calls[mismatch.slot].target == "autograd.grad"
