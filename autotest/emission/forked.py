"""The last part of a reproducer of a death that runs the program in forks of the script after all imports.

It is only for frameworks that can be used in forks. A hang of a fork proves nothing, since a fork does not have the
threads of its parent.
"""

from __future__ import annotations

from collections.abc import Mapping

from autotest.emission.checker import SURVIVED, Runs

#: Seconds after which a fork that has not ended is killed.
TIMEOUT = 60

_ONCE = """\
child = os.fork()
signal.alarm(0 if child else {patience})
with contextlib.suppress(Exception):  # an exception is not a crash
    read(program({reference} if child else {candidate}))
status = os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) if child else os._exit({survived})
if status in ({survived}, -signal.SIGALRM):  # {survived}: it has not died
    sys.exit(print("same") if status == {survived} else print("cannot tell: no answer in {patience} s") or 2)
print(f"DIFFERS: {candidate_name} ends with status {{status}} (a negative one is the signal that killed it)")
sys.exit(1)
"""

_OFTEN = """\
statuses = []
for _ in range({processes}):
    child = os.fork()
    if not child:
        signal.alarm({patience})
        for _ in range({calls}):
            with contextlib.suppress(Exception):  # an exception is not a crash
                read(program({candidate}))
        os._exit({survived})
    statuses.append(os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]))
    if statuses[-1] == -signal.SIGALRM:
        sys.exit(print("cannot tell: no answer in {patience} s") or 2)
with contextlib.suppress(Exception):
    read(program({reference}))
deaths = [status for status in statuses if status != {survived}]
if not deaths:
    sys.exit(print("same"))
print(f"DIFFERS: {candidate_name} dies in {{len(deaths)}} of {{len(statuses)}} runs: {{deaths}}")
sys.exit(1)
"""

_WHOLE = """\
    deaths = []
    for _ in range({processes}):
        child = os.fork()  # before {reference_name} has threads, which a fork would lack
        if not child:
            signal.alarm({patience})
            for _ in range({calls}):
                run({candidate})
            os._exit({survived})
        status = os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])
        if status == -signal.SIGALRM:
            sys.exit(print("cannot tell: no answer in {patience} s") or 2)
        if status != {survived}:
            deaths.append(signal.Signals(-status).name if status < 0 else str(status))
    expected = run({reference})
    told = f"{{', '.join(deaths)}}; {reference_name} {{expected}}"
    print(f"DIFFERS: {candidate_name} dies{some}: {{told}}" if deaths else "same")
    sys.exit(1 if deaths else 0)
"""


def short(reference: str, candidate: str, candidate_name: str, runs: Runs) -> str:
    """Return the part for a short script, whose results the function ``read`` reads.

    Args:
        reference, candidate: expressions for the namespaces of the two sides.
        candidate_name: the name of the candidate in messages.
        runs: how often the candidate runs.
    """
    return (_OFTEN if runs.often else _ONCE).format(
        reference=reference,
        candidate=candidate,
        candidate_name=candidate_name,
        patience=TIMEOUT,
        processes=runs.processes,
        calls=runs.calls,
        survived=SURVIVED,
    )


def whole(sides: Mapping[str, str], runs: Runs) -> str:
    """Return the part for a long script, whose function ``run`` runs and reads the program and returns how it ended."""
    some = f" in {{len(deaths)}} of {runs.processes} runs" if runs.often else ""
    numbers = {"patience": TIMEOUT, "processes": runs.processes, "calls": runs.calls, "survived": SURVIVED}
    return _WHOLE.format(some=some, **numbers, **sides)
