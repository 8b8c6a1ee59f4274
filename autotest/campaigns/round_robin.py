"""Runs several campaigns in turns on one shared executor, such as one for each group of machines of a cluster."""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Generator, Mapping

from autotest.campaigns.campaign import Campaign


def run_in_turns(
    campaigns: Mapping[str, Campaign], joined: Callable[[], Mapping[str, Campaign]] = dict
) -> Mapping[str, Exception]:
    """Run all campaigns in turns until each has ended. Ctrl-C ends all of them.

    Args:
        campaigns: the campaigns to begin with, by name.
        joined: called after each round; returns the campaigns that have joined since the last call, by name.

    Returns:
        The exceptions that ended campaigns early, by the campaign's name.
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
            for steps in running.values():  # the other campaigns save their progress too
                with contextlib.suppress(StopIteration):
                    steps.throw(KeyboardInterrupt)
            running.clear()
        elif running:
            others = joined()
            everybody.update(others)
            running.update({name: campaign.steps() for name, campaign in others.items()})
    return failures


def _advanced(steps: Generator[None, None, None]) -> tuple[bool, Exception | None]:
    """Run one step of a campaign; return whether the campaign has ended, and the exception that ended it, if any."""
    try:
        next(steps)
    except StopIteration:
        return True, None
    except Exception as error:  # noqa: BLE001 - the other campaigns continue
        return True, error
    return False, None
