"""The last part of a reproducer, which runs the program on both sides and prints the differences.

It has three forms, for three kinds of findings: values that differ, a call that only one side rejects, and a candidate
that dies, which runs in a child process.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Sequence
from typing import Final, NamedTuple

from autotest.base.plural import several
from autotest.base.settings import DEFAULT_TOLERANCES, Tolerance
from autotest.comparison.values import PLAIN_FLOAT
from autotest.emission.closeness import CLOSE
from autotest.emission.quoting import string


class Runs(NamedTuple):
    """How often a script runs a program that may kill its process before it reports that it does not."""

    #: Number of child processes.
    processes: int = 1
    #: Number of runs in each process.
    calls: int = 1
    #: Whether the children are forks of a process that has imported the frameworks, instead of new interpreters that
    #: import them again. Only for a ``crash``, and for frameworks that can be used in forks.
    forked: bool = False
    #: Seconds after which a process counts as hanging, measured from its start and including its imports. For a
    #: ``hang`` with one run they are measured from the end of its imports, and the limit is at least 20 times the time
    #: that the reference takes.
    timeout: float = 60.0

    @property
    def often(self) -> bool:
        """Whether the program is run several times, because it does not die every time."""
        return self.processes > 1 or self.calls > 1


#: The exit status of a process in which a program has not died: a native library that gives up may exit with 0.
SURVIVED: Final = 77
ONCE = Runs()
#: For programs that do not die every time, such as races. The script takes a minute, mostly for imports.
OFTEN = Runs(10, 20)

#: Source of a function that waits for results: an asynchronous framework raises an error only when a result is read.
_READ = '''\
def read(value):
    """Wait until all of `value` is computed."""
    if isinstance(value, (dict, tuple, list)):
        for item in value.values() if isinstance(value, dict) else value:
            read(item)
    elif hasattr(value, "tolist"):
        value.tolist()
'''

_VALUES = '''\
{tolerance}


{close}
def observe(value):
    """Return what is compared of `value`, as plain data."""
{containers}{module}    if not hasattr(value, "requires_grad"):
        return value if type(value).__module__ == "builtins" else type(value).__name__
    facts = {{"type": "tensor", "shape": tuple(value.shape), "dtype": str(value.dtype).split(".")[-1]}}
    facts |= {{"device": value.device.type, "requires_grad": value.requires_grad}}
    return {{**facts, "values": np.array(value.detach().cpu().tolist())}}


def differences(name, expected, actual, dtype="{plain_float}"):
    """Yield a line for each difference between `expected` and `actual`. Nothing is broadcast."""
    if isinstance(expected, dict) and isinstance(actual, dict):
        for key in {keys}:
            deeper = f"{{name}} {{key}}".strip()
            yield from differences(deeper, expected.get(key), actual.get(key), expected.get("dtype", dtype))
    elif type(expected) is not type(actual) or np.shape(expected) != np.shape(actual):
        yield f"{{name}}: expected {{expected}}, actual {{actual}}"
    else:
        e, a = np.asarray(expected), np.asarray(actual)
        rtol, atol = {limits}
        equal = close(a, e, rtol, atol) if e.dtype.kind in "fc" else np.asarray(a == e)
        for at in np.argwhere(~equal)[:1].tolist():
            many = f"{{(~equal).sum()}} of {{e.size}} differ, at {{at}}: " if at else ""
            yield f"{{name}}: {{many}}expected {{e[tuple(at)]}}, actual {{a[tuple(at)]}}"


{undefined}def run(framework):
    try:
        return {{name: {observed} for name, value in program(framework).items()}}
    except Exception as error:
        return f"raises {{type(error).__name__}}: {{error}}"


if __name__ == "__main__":
    expected, actual = run({reference}), run({candidate})
    if isinstance(expected, str):
        sys.exit(print("cannot tell: {reference_name}", expected) or 2)
    found = ["{candidate_name} " + actual] if isinstance(actual, str) else list(differences("", expected, actual))
    print(*("DIFFERS: " + "; ".join(found) if found else "same").split())
    sys.exit(1 if found else 0)
'''

_CONTAINERS = """\
    if isinstance(value, (tuple, list)):
        kind = "list" if isinstance(value, list) else "tuple"
        return {"type": kind, "length": len(value), **{at: observe(item) for at, item in enumerate(value)}}
    if isinstance(value, dict):
        return {"keys": ", ".join(map(repr, value)), **{key: observe(item) for key, item in value.items()}}
"""

_MODULE = """\
    if hasattr(value, "named_parameters"):
        buffers = {f"buffer {key}": item for key, item in value.named_buffers()}
        value = {**dict(value.named_parameters()), **buffers}
        value |= {f"{key}.grad": item.grad for key, item in value.items() if item.requires_grad}
        return {key: observe(item) for key, item in value.items()}
"""

_RUN = (
    _READ
    + '''

def run(framework):
    """Return how the program ends."""
    try:
        read(program(framework))
        return "returns"
    except Exception as error:
        return f"raises {{type(error).__name__}}: {{error}}"


if __name__ == "__main__":
'''
)

_REFUSES = (
    _RUN
    + """\
    expected, actual = run({reference}), run({candidate})
    told = f"{reference_name} {{expected}}, {candidate_name} {{actual}}"
{verdict}"""
)

_RAISES = """\
    if expected != "returns":
        sys.exit(print("cannot tell:", told) or 2)
    print(*("DIFFERS: " + told).split() if actual != "returns" else ["same"])
    sys.exit(1 if actual != "returns" else 0)
"""

_ACCEPTS = """\
    accepted = expected != "returns" and actual == "returns"
    print(*("DIFFERS: " + told).split() if accepted else ["same"])
    sys.exit(1 if accepted else 0)
"""

_CHILD = (
    _RUN
    + """\
    if sys.argv[1:] == ["--side", "{candidate_name}"]:
        print("{candidate_name}", *({told}).split(), flush=True)
        os._exit({survived})
    expected = run({reference})
"""
)

_DIES = """\
    try:
        command = [sys.executable, __file__, "--side", "{candidate_name}"]
        child = subprocess.run(command, stdout=subprocess.PIPE, text=True, timeout={timeout})
    except subprocess.TimeoutExpired:
        print(f"DIFFERS: {candidate_name} hangs: no answer in {timeout} s; {reference_name} {{expected}}")
        sys.exit(1)
    status = signal.Signals(-child.returncode).name if child.returncode < 0 else child.returncode
    raised = "".join(child.stdout.partition("{candidate_name} raises")[1:]).strip()
    told = raised or f"{candidate_name} dies: {{status}}"
    print("same" if {alive} else f"DIFFERS: {{told}}; {reference_name} {{expected}}")
    sys.exit(0 if {alive} else 1)
"""

_DIES_IN_SOME_RUNS = """\
    deaths = []
    for runs in range(1, {processes} + 1):
        try:
            command = [sys.executable, __file__, "--side", "{candidate_name}"]
            child = subprocess.run(command, stdout=subprocess.PIPE, text=True, timeout={timeout})
        except subprocess.TimeoutExpired:
            deaths.append("no answer in {timeout} s")
            break  # the next run may take as long
        if not {alive}:
            raised = child.stdout.partition("{candidate_name} raises ")[2].strip()
            status = signal.Signals(-child.returncode).name if child.returncode < 0 else str(child.returncode)
            deaths.append(raised or status)
    if deaths:
        print("DIFFERS: {candidate_name} dies in", len(deaths), "of", runs, "runs:", ", ".join(deaths), end="; ")
        print("{reference_name} " + expected)
    else:
        print("same")
    sys.exit(1 if deaths else 0)
"""

_HANGS = (
    _RUN
    + """\
    if sys.argv[1:] == ["--side", "{candidate_name}"]:
        print("imported", flush=True)
        print("{candidate_name} " + {told}, flush=True)
        os._exit({survived})
    child = subprocess.Popen(
        [sys.executable, __file__, "--side", "{candidate_name}"], stdout=subprocess.PIPE, text=True
    )
    begin = time.monotonic()
    expected = run({reference})
    patience = max({timeout}, 20 * (time.monotonic() - begin))
    try:
        while child.stdout.readline() not in ("imported\\n", ""):
            pass
        child.wait(patience)
    except subprocess.TimeoutExpired:
        print(f"DIFFERS: {candidate_name} hangs: no answer in {{patience:.3g}} s; {reference_name} {{expected}}")
        sys.exit(1)
    finally:
        child.kill()
    status = signal.Signals(-child.returncode).name if child.returncode < 0 else child.returncode
    alive = status == {survived}
    print("same" if alive else f"DIFFERS: {candidate_name} dies: {{status}}; {reference_name} {{expected}}")
    sys.exit(0 if alive else 1)
"""
)

_UNDEFINED = '''\
UNDEFINED = ({names},)  # their contents are random or uninitialised


def outline(facts):
    """Return `facts` without contents."""
    if not isinstance(facts, dict):
        return type(facts).__name__
    inner = {{key: outline(item) for key, item in facts.items() if isinstance(item, dict) or not isinstance(key, str)}}
    return {{key: inner.get(key, item) for key, item in facts.items() if key != "values"}}


'''


@dataclasses.dataclass(frozen=True, slots=True)
class Criterion:
    """The values of a program that are compared, and the differences that count.

    Attributes:
        symptom: the symptom of the finding, as in `autotest.comparison`. ``exception``: only the candidate raises;
            ``accepted``: only the candidate does not raise; ``crash``, ``hang`` and ``out of memory``: the candidate
            dies. Any other symptom is a difference of values.
        observed: the names of the values to compare, as in `observables` and mismatches; None for all.
        tolerance: the tolerance of floating and complex values.
        check_dtype: whether a difference of dtype counts.
        check_values: whether differences of values count; if False, only shape, dtype and the like are compared.
    """

    symptom: str = "value"
    observed: Sequence[str] | None = None
    tolerance: Tolerance = dataclasses.field(default_factory=Tolerance)
    check_dtype: bool = True
    check_values: bool = True


def values(
    sides: dict[str, str],
    criterion: Criterion,
    *,
    modules: bool,
    containers: bool,
    devices: bool = True,
    undefined: Sequence[str] = (),
) -> str:
    """Return the part that compares observed values.

    Args:
        sides: the namespaces and names of both sides, by field of the templates.
        criterion: the differences that count.
        modules: whether an observed value may be a whole module.
        containers: whether an observed value may be a tuple, list or dict.
        devices: whether devices are compared.
        undefined: the names of observed values with random or uninitialised contents; all but the contents is compared.
    """
    tolerance = criterion.tolerance
    if tolerance.for_all:
        limits, table = "RTOL, ATOL", f"RTOL, ATOL = {tolerance.rtol!r}, {tolerance.atol!r}  # given by the test"
    else:
        rows = [f'"{dtype}": {tolerance.of(dtype)}' for dtype in DEFAULT_TOLERANCES]
        half = (len(rows) + 1) // 2
        limits = "TOLERANCE.get(dtype, (0, 0))"
        table = (
            "TOLERANCE = {  # rtol and atol by dtype: |actual - expected| <= atol + rtol * |expected|\n"
            f"    {', '.join(rows[:half])},\n    {', '.join(rows[half:])},\n}}"
        )
    checked = {"dtype": criterion.check_dtype, "values": criterion.check_values, "device": devices}
    skipped = [f'"{key}"' for key, counts in checked.items() if not counts]
    keys = "{**expected, **actual}"
    if skipped:
        keys = f"[key for key in {keys} if key not in ({', '.join(skipped)},)]"
    return _VALUES.format(
        tolerance=table,
        close=CLOSE,
        plain_float=PLAIN_FLOAT,
        limits=limits,
        keys=keys,
        module=_MODULE if modules else "",
        containers=_CONTAINERS if containers else "",
        undefined=_UNDEFINED.format(names=", ".join(map(string, undefined))) if undefined else "",
        observed="outline(observe(value)) if name in UNDEFINED else observe(value)" if undefined else "observe(value)",
        **sides,
    )


def refuses(sides: dict[str, str], *, accepted: bool) -> str:
    """Return the part for a call that only the candidate rejects, or, with `accepted`, only the candidate accepts."""
    return _REFUSES.format(verdict=_ACCEPTS if accepted else _RAISES, **sides)


def dies(sides: dict[str, str], runs: Runs, *, raising: bool, hangs: bool) -> str:
    """Return the part for a candidate that dies in another interpreter.

    Args:
        sides: the namespaces and names of both sides, by field of the templates.
        runs: how often the candidate runs.
        raising: whether raising an exception counts as dying.
        hangs: whether the candidate hangs instead; used only for a single run.
    """
    survives = f"child.returncode == {SURVIVED}"
    told = f"run({sides['candidate']})"
    once = _HANGS if hangs else _CHILD + _DIES
    return (_CHILD + _DIES_IN_SOME_RUNS if runs.often else once).format(
        alive=f'({survives} and child.stdout.endswith("returns\\n"))' if raising else f"({survives})",
        timeout=f"{runs.timeout:g}",
        told=told if runs.calls == 1 else f"[{told} for _ in range({runs.calls})][-1]",
        processes=runs.processes,
        survived=SURVIVED,
        **sides,
    )


def running(sides: dict[str, str], check: str) -> str:
    """Return `check` after the function ``run``, which runs and reads the program and returns how it ended."""
    return _RUN.format(**sides) + check


def often(runs: Runs) -> str:
    """Return the line at the top of a script for a program that does not die every time."""
    told = "once" if runs.calls == 1 else f"{runs.calls} times"
    started = several(runs.processes, "process", "processes")
    return f"It does not die in every run: the script starts {started}, and each runs the program {told}."
