"""Judges one program on both sides, check by check."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Final

import numpy as np

from autotest.base.settings import Settings
from autotest.comparison import Mismatch
from autotest.diagnosis import referee
from autotest.diagnosis.agreement import Agreement, raised, record_of, refused
from autotest.frameworks import ABSENT, Framework, Pair
from autotest.program import Array, Call, Program, Ref
from autotest.program.semantics import in_place
from autotest.recording.observation import Observed, compare, observe
from autotest.replaying.replay import Replayed, replay
from autotest.results.sweep import Check
from autotest.sweeping import probing
from autotest.sweeping.backward import results, with_backward
from autotest.sweeping.judgement import Judgement
from autotest.sweeping.undefined import flat, marked

#: What an exception says when it is the arguments that were not understood, and not their values.
_SIGNATURE: Final = re.compile(
    r"unexpected keyword|positional argument|got an invalid combination|missing .*argument|takes .* argument"
    r"|must be .*, not |incompatible function arguments|signature|has no attribute|is not callable|unsupported operand"
)
#: How often what differs in the same way is examined by the referee without being cleared, before it is taken as it is.
_EXAMINED: Final = 3


class Judge:
    """Judges programs of one cell; remembers what it has looked up and examined.

    Args:
        pair: the two sides.
        asks: called with the side that is asked next: 0 for the reference, 1 for the candidate, 2 for a probe of it.
    """

    def __init__(self, pair: Pair, asks: Callable[[int], object] = lambda side: None) -> None:
        self._pair = pair
        self._asks = asks
        self._settings = Settings(check_errors=True)
        self._lacking: dict[tuple[str, str], str] = {}
        self._examined: dict[tuple[str, str], int] = {}

    def judge(self, program: Program, *, closely: bool = False) -> Judgement:
        """Judge `program`; `closely` also runs it again, and writes into its results to see what shares memory."""
        found = Judgement(program, absent=self.absent(program))
        if found.absent:
            return found
        self._asks(0)
        pair = self._pair
        before = pair.reference.random_state()
        expected = replay(program, pair.reference)
        if expected.error is not None:
            self._judge_refusal(found, expected)
            return found
        found.program = marked(program, drawn=pair.reference.random_state() != before)
        found.program = with_backward(found.program, expected)
        found.vacuous = _says_nothing(found.program, expected)
        self._asks(1)
        actual = replay(found.program, pair.candidate)
        record = record_of(found.program, pair, expected, actual)
        if actual.error is not None:
            record.mismatches.append(raised(found.program, len(actual.values), pair, actual.error))
        observed = observe(record)
        mismatches = compare([observed], self._settings)[0]
        if any(item.symptom in ("value", "gradient") for item in mismatches):
            if probing.wavers(found.program, pair.reference):
                found.left_out = f"{pair.sides[0]} does not agree with itself"
                return found
            if self._cleared(Agreement(found.program, record, mismatches)):
                found.rounded = True
                mismatches = []
        self._sort(found, observed, mismatches, complete=actual.error is None)
        if actual.error is None:
            found.checks["strides"] = True
            for check, key, message in probing.layouts(observed):
                found.fail(check, key, message)
            if closely:
                self._asks(2)
                probing.probe(found, expected, actual, pair)
        return found

    # -- what the candidate has -------------------------------------------------------------------------

    @property
    def reference(self) -> Framework:
        """The reference."""
        return self._pair.reference

    @property
    def candidate(self) -> str:
        """The candidate's name."""
        return self._pair.sides[1]

    def lacks_all(self, path: str, dtype: str) -> str:
        """What a whole cell needs and the candidate does not have: the operator at `path`, tensors of `dtype`."""
        calls = [Call("tensor", dtype, (), {}, 0)]
        if path.startswith("Tensor."):
            calls.append(Call("method", path.removeprefix("Tensor."), (), {}, 0))
        elif path:
            calls.append(Call("function", path, (), {}, 0))
        return next(filter(None, map(self._lacks_known, calls)), "")

    def absent(self, program: Program) -> str:
        """What of `program` the candidate does not have at all; empty if it has everything."""
        return next(filter(None, map(self._lacks_known, program.calls)), "")

    def _lacks_known(self, call: Call) -> str:
        name = (call.kind, call.target)
        if name not in self._lacking:
            self._lacking[name] = self._lacks(call)
        return self._lacking[name]

    def _lacks(self, call: Call) -> str:
        candidate = self._pair.candidate
        if call.kind == "function":
            try:
                there = self._pair.resolve(call.target).actual is not ABSENT
            except AttributeError:
                return ""  # the reference's own refusal, which is judged as one
            return "" if there else f"{candidate.name} has no {call.target}"
        if call.kind in ("method", "getattr") and not call.target.startswith("__"):
            known = any(hasattr(kind, call.target) for kind in (*candidate.tensor_types, *candidate.module_types))
            return "" if known else f"{candidate.name} has no Tensor.{call.target}"
        if call.kind == "tensor":
            carrier = "float32" if call.target == "bfloat16" else call.target
            try:
                candidate.values([candidate.tensor(Array(np.zeros(1, carrier), call.target))])
            except Exception:  # noqa: BLE001 - however it says so
                return f"{candidate.name} has no {call.target} tensors"
        return ""

    # -- what differs -----------------------------------------------------------------------------------

    def _judge_refusal(self, found: Judgement, expected: Replayed) -> None:
        found.refused = True
        self._asks(1)
        agreement = refused(found.program, self._pair, self._settings, expected)
        if agreement.mismatches:
            (accepted,) = agreement.mismatches
            found.fail("errors", f"accepts what {self._pair.sides[0]} refuses", accepted.message)
        elif expected.failed_at == len(found.program.calls) - 1:
            found.checks["errors"] = True

    def _cleared(self, agreement: Agreement) -> bool:
        """Whether the referee explains all mismatches by rounding and the like."""
        if any(item.symptom not in ("value", "gradient") for item in agreement.mismatches):
            return False
        key = agreement.mismatches[0].symptom, agreement.mismatches[0].key
        if self._examined.get(key, 0) >= _EXAMINED:
            return False
        try:
            with np.errstate(all="ignore"):
                verdict = referee.cleared(agreement, self._pair, self._settings)
        except Exception:  # noqa: BLE001 - what cannot be judged counts
            verdict = None
        if verdict is None:
            self._examined[key] = self._examined.get(key, 0) + 1
        return verdict is not None

    def _sort(self, found: Judgement, observed: Observed, mismatches: list[Mismatch], *, complete: bool) -> None:
        """Turn mismatches into failed checks, and note what was checked and passed."""
        passed: list[Check] = ["signature", "errors"]
        if complete:
            passed += ["shape", "dtype", "alias"]
            passed += [] if found.vacuous else ["value"]
            passed += ["gradient"] if observed.gradients else []
            if _has_nonfinite(observed):
                passed.append("nonfinite")
        for check in passed:
            found.checks[check] = True
        for mismatch in mismatches:
            if not complete and mismatch.stage == "backward" and mismatch.symptom != "exception":
                continue  # what was not reached has no gradient
            found.fail(_check_of(mismatch, found.program), mismatch.key, mismatch.message)
        if any(item.symptom in ("exception", "out of memory") and item.stage != "backward" for item in mismatches):
            found.failed = True


def _check_of(mismatch: Mismatch, program: Program) -> Check:
    """Which check a mismatch belongs to."""
    if mismatch.symptom in ("exception", "out of memory"):
        if mismatch.stage == "backward":
            return "gradient"
        return "signature" if _SIGNATURE.search(mismatch.message) else "errors"
    if mismatch.stage == "backward" or mismatch.symptom in ("gradient", "requires_grad"):
        return "gradient"
    if mismatch.symptom == "value":
        if _is_input(program, mismatch.slot):
            return "alias"
        numbers = mismatch.statistics
        return "nonfinite" if numbers is not None and numbers.nonfinite == numbers.mismatched else "value"
    if mismatch.symptom in ("dtype", "device"):
        return "dtype"
    return "shape"


def _is_input(program: Program, slot: int) -> bool:
    """Whether `slot` holds an input that no call is meant to write into."""
    if program.calls[slot].kind != "tensor":
        return False
    written = any(in_place(call) and call.args[:1] == (Ref(slot),) for call in program.calls)
    return not written and not any(Ref(slot) in flat(call.kwargs.get("out")) for call in program.calls)


def _says_nothing(program: Program, expected: Replayed) -> bool:
    """Whether no result of the reference has an element whose contents are specified."""
    backward = ("backward", "autograd.backward")
    made = [call for call in program.calls if call.kind != "tensor" and call.target not in backward]
    values = [expected.values[call.slot] for call in made if call.slot not in program.undefined]
    types = expected.framework.tensor_types
    plain = any(value is not None and not isinstance(value, (*types, tuple, list)) for value in values)
    tensors = [value for value in values if isinstance(value, types)]
    tensors += [tensor for slot, _, tensor in results(program, expected) if slot not in program.undefined]
    return not plain and all(0 in tensor.shape for tensor in tensors)


def _has_nonfinite(observed: Observed) -> bool:
    """Whether a result of the reference holds a NaN or an infinity."""
    reference = observed.record.pair.reference
    tensors = [
        item.expected
        for item in observed.pairings
        if item.stage == "forward"
        and item.defined
        and isinstance(item.expected, reference.tensor_types)
        and observed.record.calls[item.slot].kind != "tensor"
    ]
    return any(
        value.data.dtype.kind in "fc" and not np.isfinite(value.data).all() for value in reference.values(tensors)
    )
