"""The gradient gate: checks whether a trial that could have compared a gradient did so."""

from __future__ import annotations

import dataclasses
from collections.abc import Sequence

from autotest.gradients.nondifferentiable import are_zero, listed


@dataclasses.dataclass(slots=True)  # not frozen: it takes a third of the time, and each trial makes one
class GradientUse:
    """How one accepted trial used gradients. Operators have the names of the program."""

    #: Operators whose results depend on an input that requires grad, in the order of their calls.
    differentiable: Sequence[str] = ()
    #: Number of gradients that were compared.
    compared: int = 0
    #: Whether there was a backward pass, by the test or by `auto_backward`.
    pushed: bool = False
    #: Whether an optimizer made a step after the backward pass, so that gradients are compared through the parameters.
    stepped: bool = False
    #: The call that discarded the gradients of the last backward pass before anything read them; empty if none did.
    discarded: str = ""
    #: Operators that are listed as having no gradient, but whose result belongs to a graph.
    wrongly_listed: Sequence[str] = ()
    #: Whether a compared gradient is not zero; only relevant if all operators are listed as of kind ``zero``.
    nonzero: bool = False
    #: Whether the reference itself gives no gradient to an input that its backward pass reaches.
    undefined: bool = False


def complaint(use: GradientUse, *, auto_backward: bool, skipped: str = "") -> str:
    """Return the gate's message about a trial; empty if it passes.

    Args:
        use: how the trial used gradients.
        auto_backward: whether the test allows an automatic backward pass.
        skipped: the reason passed to `skip_grad_check`, if it was used.
    """
    if use.wrongly_listed:
        names = ", ".join(use.wrongly_listed)
        return (
            f"{names} has a gradient, but autotest/gradients/nondifferentiable.py lists it as having none. Remove it "
            "from that list"
        )
    if use.compared and not (use.nonzero or use.discarded):
        return ""
    kinds = [listed(name) for name in use.differentiable]
    if use.nonzero and kinds and are_zero(kinds):
        return (
            f"{_names(use.differentiable)} has a gradient that is not zero, but "
            "autotest/gradients/nondifferentiable.py lists it as zero everywhere. Remove it from that list"
        )
    if skipped or not use.differentiable:
        return ""
    if use.discarded:
        return (
            f"it ran backward, but {use.discarded} removed the gradients before they were compared. Keep them, "
            "return them, or mark the test @skip_grad_check(reason=...)"
        )
    if use.compared or use.stepped or use.undefined:
        return ""
    exempt = [item is not None for item in kinds]
    if all(exempt) and not use.pushed:
        return ""
    names = _names([name for name, free in zip(use.differentiable, exempt, strict=True) if not free])
    if use.pushed:
        return (
            f"it ran backward through {names or _names(use.differentiable)}, but no gradient was compared: at the end "
            "of the trial no input and no parameter has one, and the test returned none. Keep or return them. If these "
            "arguments have none, write requires_grad=False, or mark the test @skip_grad_check(reason=...)"
        )
    if not auto_backward:
        why = "auto_backward=False, and the test did not call backward"
    else:
        why = "no returned tensor depends on them"
    return (
        f"inputs require grad and the results of {names} depend on them, but no gradient was compared: {why}. "
        "Use auto_backward=True, write requires_grad=False, or mark the test @skip_grad_check(reason=...)"
    )


def _names(operators: Sequence[str]) -> str:
    unique = list(dict.fromkeys(operators))
    return ", ".join(unique[:4]) + (f" and {len(unique) - 4} more" if len(unique) > 4 else "")
