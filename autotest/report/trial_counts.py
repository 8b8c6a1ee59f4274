"""Says how many trials were accepted, how many the reference rejected, and how many need what the candidate lacks."""

from __future__ import annotations


def counts(accepted: int, rejected: int, absent: int) -> str:
    """Return the numbers of trials by their outcome, of which `rejected` are those that the reference rejected."""
    return f"{accepted} accepted, {rejected} rejected by the reference{lacking(absent)}"


def lacking(absent: int) -> str:
    """Return the end of a list of numbers: how many trials need what the candidate lacks; empty if none does."""
    return f", {absent} need{'s' if absent == 1 else ''} what the candidate lacks" if absent else ""
