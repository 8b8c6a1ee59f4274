"""Checks that both sides are in the same modes, such as the default dtype and whether gradients are recorded."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from autotest.base.errors import NotDual, NotReplayable
from autotest.frameworks import Pair
from autotest.frameworks.recorded_calls import run_call
from autotest.program import Call
from autotest.program.semantics import sets_mode
from autotest.recording.recorder import Recorder
from autotest.replaying.replay import Contexts

# pytest and unittest leave this module out of the traceback of a failed test.
__tracebackhide__ = True
__unittest = True


def changes_modes_of_both_sides(call: Call) -> bool:
    """Return whether `call` may change a mode of both sides: a function, or the enter or exit of a context."""
    return call.kind in ("enter", "exit") or sets_mode(call)


def check_equal_default_dtypes(pair: Pair) -> None:
    """Raise `NotDual` if the two sides have different default dtypes before the body begins."""
    own, other = pair.reference.default_dtype(), pair.candidate.default_dtype()
    if own and other and own != other:
        reference, candidate = pair.sides
        raise NotDual(
            f"the default dtype of {reference} is {own} and that of {candidate} {other} before the test's body begins, "
            "maybe because of a fixture, setUp or an import: call torch.set_default_dtype(...) in the body, with the "
            "torch of `from autotest import torch`, which changes both sides"
        )


def check_modes_of_both_sides(recorder: Recorder) -> None:
    """Raise `NotDual` if the body changed a mode of the reference without a recorded call."""
    kinds = [call.kind for call in recorder.calls]
    if kinds.count("enter") > kinds.count("exit"):
        raise NotDual("entered a context and did not exit it: write `with torch.no_grad():` around the calls")
    if not any(sets_mode(call) for call in recorder.calls):
        name = recorder.pair.reference.name
        raise NotDual(
            f"changed a setting of {name} only (for example by its own set_default_dtype): write "
            "torch.set_default_dtype(...) with the torch of `from autotest import torch`, which changes both sides"
        )


def check_candidate_keeps_modes(recorder: Recorder, modes: Any) -> None:
    """Raise `NotDual`, which names the call, if a call of the candidate alone changes `modes` of the reference.

    Both may use one library. The recorded calls run again on the candidate, without the body: only a trial that ended
    in other modes pays for it.
    """
    reference, candidate = recorder.pair.reference, recorder.pair.candidate
    try:
        program = recorder.program()
    except NotReplayable:
        return
    ended = reference.modes()
    reference.restore(modes)
    held = {name: str(value) for name, value in reference.told().items()}

    values: list[Any] = []
    try:
        with Contexts(program.calls, candidate) as contexts:
            for call in program.calls:
                try:
                    values.append(run_call(call, candidate, values, program.arrays))
                except Exception:  # noqa: BLE001 - the framework's, whatever it is
                    return
                contexts.note(candidate, call, values)
                now = {name: str(value) for name, value in reference.told().items()}
                if not changes_modes_of_both_sides(call):
                    _check_equal(held, now, call.target, recorder.pair.sides)
                held = now
    finally:
        reference.restore(ended)


def _check_equal(before: Mapping[str, str], after: Mapping[str, str], target: str, sides: tuple[str, str]) -> None:
    reference, candidate = sides
    for name, value in after.items():
        if value != before[name]:
            raise NotDual(
                f"called {target}, in which {candidate} changes a setting of {reference} and does not restore it "
                f"({name}: {before[name]} before, {value} after), so later calls compute differently: correct "
                f"{candidate}, or run it in a process of its own (candidate python:PATH:NAME)"
            )
