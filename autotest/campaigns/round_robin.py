"""Runs campaigns side by side that share one executor, such as one for each group of machines of a cluster."""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Generator, Mapping

from autotest.campaigns.campaign import Campaign


def run_in_turns(
    campaigns: Mapping[str, Campaign], joined: Callable[[], Mapping[str, Campaign]] = dict
) -> Mapping[str, Exception]:
    """Run all of them in turns, and those that have `joined` since that was asked; Ctrl-C ends all.

    Returns what the ones ended with that could not go on, by name.
    """
    everybody = dict(campaigns)
    running = {name: campaign.steps() for name, campaign in everybody.items()}
    failures: dict[str, Exception] = {}
    while running:
        for name, steps in list(running.items()):
            ended, failure = _advanced(steps)
            if failure is not None:
                failures[name] = failure
            if ended:
                del running[name]
        if any(campaign.progress.interrupted for campaign in everybody.values()):
            for steps in running.values():  # those that Ctrl-C did not meet write down where they stand, too
                with contextlib.suppress(StopIteration):
                    steps.throw(KeyboardInterrupt)
            running.clear()
        elif running:
            others = joined()
            everybody.update(others)
            running.update({name: campaign.steps() for name, campaign in others.items()})
    return failures


def _advanced(steps: Generator[None, None, None]) -> tuple[bool, Exception | None]:
    """Whether a campaign ended with its next step, and what it ended with if that is an error."""
    try:
        next(steps)
    except StopIteration:
        return True, None
    except Exception as error:  # noqa: BLE001 - the other campaigns go on
        return True, error
    return False, None


__all__ = ["run_in_turns"]
