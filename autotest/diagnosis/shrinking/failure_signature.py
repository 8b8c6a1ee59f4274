"""What of a failure must stay the same while its program is shrunk."""

from __future__ import annotations

import dataclasses

from autotest.base.settings import Settings
from autotest.comparison import Mismatch
from autotest.frameworks import Pair
from autotest.program import Program, Ref, operator_of
from autotest.program.rewriting import widened
from autotest.program.semantics import OPERATIONS, is_class, is_module_call, writes_first_operand, written
from autotest.replaying.agreement import Agreement, agree
from autotest.results.identity import operator_behind

#: Symptoms that look the same for different causes.
AMBIGUOUS_SYMPTOMS = frozenset(("exception", "accepted", "structure"))


@dataclasses.dataclass(frozen=True, slots=True)
class FailureSignature:
    """The way in which a program fails, which a smaller program must have in common with it."""

    symptom: str
    stage: str
    side: str
    #: The operator of the first divergent call; "" if it is unknown.
    operator: str
    #: The message of an exception without its numbers.
    message: str
    #: Whether the sides differ in double precision, too. A smaller program then must not differ only by rounding.
    wide: bool = False
    #: Whether the mismatch may be of special numbers alone, such as NaN. If ordinary numbers differ, a smaller program
    #: must show that, too.
    special: bool = True
    #: Whether the candidate raises an exception, too. If not, a smaller program must not make it raise: then it lacks
    #: the results after the exception, which looks like a wrong gradient.
    raises: bool = True
    #: Whether a module that is called draws random numbers. If none does, a smaller program must not contain a dropout
    #: in training mode: both sides then give other numbers in each run, which looks like the failure.
    draws: bool = True

    def shown_by(self, agreement: Agreement) -> bool:
        """Whether `agreement` shows this failure."""
        if not agreement.mismatches:
            return False
        first = agreement.mismatches[0]
        if (first.symptom, first.stage, first.side) != (self.symptom, self.stage, self.side):
            return False
        if first.special and not self.special:
            return False
        if not self.raises and raises(agreement):
            return False
        if (not self.draws and draws(agreement)) or (self.message and message_of(first) != self.message):
            return False
        return not self.operator or _operator_fits(agreement.program, first, self.operator)


def raises(agreement: Agreement) -> bool:
    """Return whether the candidate raises an exception where the reference returns a result."""
    return any(item.symptom == "exception" for item in agreement.mismatches)


def draws(agreement: Agreement) -> bool:
    """Return whether the program calls a module of the reference that, in its last mode, draws random numbers."""
    record = agreement.record
    reference = record.pair.reference
    called = (call.args[0] for call in agreement.program.calls[: len(record.expected)] if is_module_call(call))
    modules = (record.expected[owner.slot] for owner in called if type(owner) is Ref)
    return any(isinstance(module, reference.module_types) and reference.draws(module) for module in modules)


def message_of(first: Mismatch) -> str:
    """Return the message of an exception without the parts that vary between programs; "" for other symptoms."""
    return first.key if first.symptom in ("exception", "accepted", "out of memory") else ""


def _operator_fits(program: Program, first: Mismatch, operator: str) -> bool:
    call = program.calls[first.slot]
    known = bool(first.operator)  # of the whole program: the call may be missing in this one
    if not known and first.stage != "backward" and call.kind != "tensor" and not writes_first_operand(call):
        # The state of a module, such as the mean of a normalisation, is what its calls wrote there.
        is_state = first.stage == "forward" and is_class(call)
        changed = is_state or any(
            later.kind in OPERATIONS and Ref(first.slot) in written(later) for later in program.calls
        )
        if not changed:
            return operator_behind(program.calls, first) == operator
    return any(operator in (one.target, operator_of(program.calls, one.slot)) for one in program.calls)


def differs_widely(agreement: Agreement, pair: Pair, settings: Settings) -> bool:
    """Return whether the sides differ in double precision, too."""
    wide = agree(widened(agreement.program)[0], pair, settings)
    return any(item.symptom == agreement.mismatches[0].symptom for item in wide.mismatches)
