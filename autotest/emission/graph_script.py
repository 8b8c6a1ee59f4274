"""Writes reproducers of programs for which a framework's graph mode differs from its eager mode."""

from __future__ import annotations

import dataclasses
import textwrap
from collections.abc import Mapping, Sequence
from typing import Any, Literal, TypeAlias

from autotest.base.errors import NotReplayable
from autotest.emission import literals, members, naming
from autotest.emission.checker import SURVIVED, Runs
from autotest.emission.closeness import CLOSE
from autotest.emission.code import Printer, indented
from autotest.emission.compact import READ
from autotest.emission.header import script_header
from autotest.emission.script_subject import ScriptSubject, docstring
from autotest.program import Program, refs
from autotest.program.paths import is_gradient
from autotest.program.rewriting import without_gradients

#: How a graph fails: it and eager mode differ, its second call changes the results of the first, or its process dies.
Shown: TypeAlias = "Literal['difference', 'overwriting'] | Runs"

_BOTH = '''\
def both(eager, graphed, rtol, atol, values):
    """Return whether the two tensors are equal; `values` says whether their contents are compared."""
    if eager is None or graphed is None or eager.shape != graphed.shape or eager.dtype != graphed.dtype:
        return eager is graphed
    numbers = [np.array(side.detach().cpu().tolist()) for side in (graphed, eager)]
    return not values or close(*numbers, rtol, atol).all()
'''

_CHECK = """\


if __name__ == "__main__":
    try:
        tensors, modules = before()
        eager = [*program(*tensors, *modules), *gradients(*tensors, *modules)]
        [value.detach().numpy() for value in eager if value is not None]
    except Exception as error:
        sys.exit(print("cannot tell: eager mode raises", error) or 2)
    tensors, modules = before()
    try:
        graphed = Replay()(*tensors)
        graphed = [*graphed] if isinstance(graphed, (list, tuple)) else [graphed]
        [value.detach().numpy() for value in graphed]
    except Exception as error:
        print(*f"DIFFERS: eager mode accepts it, {mode} raises {{type(error).__name__}}: {{error}}".split())
        sys.exit(1)
    graphed = [graphed.pop(0) if there else None for there in given_back]
    found = []
    for name, one, other, limits in zip({names}, eager, graphed, {limits}):
        if not both(one, other, *limits):
            found.append(f"{{name}}: eager {{one}}, {mode} {{other}}")
    print(*("DIFFERS: " + "; ".join(found) if found else "same").split())
    sys.exit(1 if found else 0)
"""

_OVERWRITES = '''\


def halved(tensor):
    """Return half of the numbers of `tensor`, with the same strides."""
    copied = copy.deepcopy(tensor.detach())
    if copied.is_floating_point():
        copied.new_empty(0).set_(copied.untyped_storage()).mul_(0.5)
    return copied.requires_grad_(tensor.requires_grad)


if __name__ == "__main__":
    tensors, modules = before()
    try:
        replay = Replay()
        first = [*replay(*tensors)]
        kept = [result.detach().clone() for result in first]
        replay(*map(halved, tensors))
    except Exception as error:
        sys.exit(print("cannot tell:", error) or 2)
    found = []
    for name, own, now in zip({names}, kept, first):
        if not both(own, now, 0, 0, True):
            found.append(f"{{name}}: first {{own}}, then {{now}}")
    said = "DIFFERS: a second call of {mode} changes the results of the first: " + "; ".join(found)
    print(*(said if found else "same").split())
    sys.exit(1 if found else 0)
'''

_CHILD = """\

if __name__ == "__main__":
    graphed = bool(sys.argv[1:])
    for _ in range({calls} if graphed else 1):
        try:
            tensors, modules = before()
            if graphed:
                read(Replay()(*tensors))
            else:
                read([*program(*tensors, *modules), *gradients(*tensors, *modules)])
        except Exception as error:  # an exception is not a crash
            if not graphed:
                sys.exit(print("cannot tell: eager mode raises", error) or 2)
    if graphed:
        os._exit({survived})
"""

_DIES = """\
    try:
        status = subprocess.run([sys.executable, __file__, "graph"], timeout=60).returncode
    except subprocess.TimeoutExpired:
        sys.exit(print("DIFFERS: {mode} hangs: no answer in 60 s") or 1)
    died = f"DIFFERS: {mode} ends with status {{status}} (a negative one is the signal that killed it)"
    print(died if status != {survived} else "same")
    sys.exit(status != {survived})
"""

_DIES_IN_SOME_RUNS = """\
    statuses = []
    for _ in range({processes}):
        try:
            statuses.append(subprocess.run([sys.executable, __file__, "graph"], timeout=60).returncode)
        except subprocess.TimeoutExpired:
            statuses.append("no answer in 60 s")
        if statuses[-1] != {survived}:
            break  # one is enough, and each takes as long as importing the framework
    deaths = [status for status in statuses if status != {survived}]
    print(f"DIFFERS: {mode} dies in {{len(deaths)}} of {{len(statuses)}} runs: {{deaths}}" if deaths else "same")
    sys.exit(len(deaths) > 0)
"""


@dataclasses.dataclass(frozen=True, slots=True)
class Division:
    """How the slots of a program are divided between its graph and the code before the graph."""

    #: Slots of the calls made before the graph, of the tensors and modules that the graph is given, and of the leaves
    #: among the tensors.
    before: Sequence[int]
    tensors: Sequence[int]
    leaves: Sequence[int]
    modules: Sequence[int]
    #: Slots of parameters and buffers, each with the slot of a module that contains it and its name there.
    members: Mapping[int, tuple[int, str]]
    #: Further slots of the given modules and tensors, each with the slot under which it is given.
    aliases: Mapping[int, int]
    #: Plain values that the graph is built with, by slot.
    constants: Mapping[int, Any]
    #: Slots of the calls inside the graph.
    inside: Sequence[int]
    #: Pairs of the slot of a result and the slot of its cotangent.
    pushed: Sequence[tuple[int, int | None]]


@dataclasses.dataclass(frozen=True, slots=True)
class ComparedResult:
    """One compared result: its name, its tolerances, and whether its values are compared."""

    name: str
    rtol: float
    atol: float
    values: bool = True


def graph_script(
    about: ScriptSubject, division: Division, compared: Sequence[ComparedResult], shows: Shown = "difference"
) -> str:
    """Return the text of a script that exits with 1 while the graph fails, and with 0 if it does not.

    The script runs only the candidate. It imports the reference as well, which loads libraries that the candidate may
    need.

    Args:
        about: the program, its sides and the text at the top.
        division: which slots are inside the graph.
        compared: the results to compare.
        shows: how the graph fails: it and eager mode differ, its second call changes the results of the first, or it
            kills its process in any of these runs.

    Raises:
        NotReplayable: an operand has no source text, or an input has no elements; the message names the call.
    """
    program, (reference, side) = about.program, about.sides
    own = naming.names(program)
    if any(0 in array.data.shape for array in program.arrays):
        raise NotReplayable("graphs may abort when they are given a tensor without elements")
    ordered = sorted(compared, key=lambda one: is_gradient(one.name))
    observable = naming.ObservedNames(program)
    expressions = [observable.expression(one.name) for one in ordered]
    results = [text for text in expressions if not is_gradient(text)]
    gradients = [text for text in expressions if is_gradient(text)]
    given = [own[slot] for slot in division.tensors]
    held = [own[slot] for slot in division.modules]
    known = members.holders(program)
    # The code in the graph sets which inputs require a gradient.
    printer = Printer(without_gradients(program), side.namespace, [*expressions, *given, *held])
    statements = printer.statements()
    lines = {item.slot: item.lines for item in statements}
    pushes = _pushes(division.pushed, own) if gradients else []
    leaves = [f"{own[slot]}.requires_grad_()" for slot in division.leaves if gradients]
    inner = [
        *(f"{own[slot]} = {own[module]}" for slot, module in division.aliases.items()),
        *(
            f"{own[slot]} = {members.inside(own[module], f'.{name}', module, known)}"
            for slot, (module, name) in division.members.items()
        ),
        *_constants(program, division, own, lines),
        *(line for slot in division.inside for line in lines.get(slot, ())),
    ]
    before = {*division.before}
    outer = indented(item for item in statements if item.slot in before)
    parameters = ", ".join([*given, *held])
    if side.graphs_forward:
        pushed = [own[slot] for slots in division.pushed for slot in slots if slot is not None] if pushes else []
        wanted = dict.fromkeys([*map(naming.root, results), *pushed])
        forward = _function("forward", parameters, "The calls inside the graph.", inner, _tuple([*wanted]))
        called, inner = f"{parameters}, forward=forward", [f"{_tuple([*wanted])} = forward({parameters})"]
    else:
        forward, called = [], parameters
    check, needed = _ending(shows, ordered, side.mode)
    modules = printer.imports | literals.modules_of([*division.constants.values()]) | needed
    data = literals.definitions(program).values()
    return "\n".join(
        [
            *script_header(docstring(about.title, about.notes), modules, (*reference.lines, *side.lines), data),
            "given_back = []  # whether the graph returns each result",
            "",
            "",
            *_function(
                "before", "", "The inputs and modules outside the graph.", outer, f"{_tuple(given)}, {_tuple(held)}"
            ),
            *forward,
            *_function(
                "program",
                called,
                "The calls that eager mode and the graph run.",
                [*leaves, *inner, *pushes],
                _tuple(results),
            ),
            *_function("gradients", parameters, "The gradients after backward.", [], _tuple(gradients)),
            side.graph.replace("TRAIN", str(bool(pushes))),
            "",
            check,
        ]
    )


def _ending(shows: Shown, compared: Sequence[ComparedResult], mode: str) -> tuple[str, set[str]]:
    """Return the end of a script, which runs the graph, and the modules that it needs."""
    own = [one.name for one in compared]
    if shows == "difference":
        limits = [(one.rtol, one.atol, one.values) for one in compared]
        return "\n".join([CLOSE, _BOTH + _CHECK.format(names=own, limits=limits, mode=mode)]), set()
    if shows == "overwriting":
        return "\n".join([CLOSE, _BOTH + _OVERWRITES.format(names=own, mode=mode)]), {"copy"}
    fields = {"processes": shows.processes, "calls": shows.calls, "mode": mode, "survived": SURVIVED}
    return READ + (_CHILD + (_DIES_IN_SOME_RUNS if shows.often else _DIES)).format(**fields), {"os", "subprocess"}


def _function(name: str, parameters: str, about: str, lines: Sequence[str], returned: str) -> list[str]:
    body = [f'"""{about}"""', *lines, f"return {returned}"]
    return [f"def {name}({parameters}):", textwrap.indent("\n".join(body), "    "), "", ""]


def _tuple(items: Sequence[str]) -> str:
    return f"({items[0]},)" if len(items) == 1 else f"({', '.join(items)})"


def _constants(
    program: Program, division: Division, own: Mapping[int, str], lines: Mapping[int, Sequence[str]]
) -> list[str]:
    """Return the lines that define the plain values that calls inside the graph read.

    A value is computed again if its call reads no other value; otherwise it is written as a literal.
    """
    read = {ref.slot for slot in division.inside for ref in refs(program.calls[slot])}
    found: list[str] = []
    for slot, value in division.constants.items():
        if slot not in read:
            continue
        if any(True for _ in refs(program.calls[slot])):
            found.append(f"{own[slot]} = {literals.plain(value)}")
        else:
            found += lines.get(slot, ())
    return found


def _pushes(pushed: Sequence[tuple[int, int | None]], own: Mapping[int, str]) -> list[str]:
    """Return the line that calls ``backward``, of one result or of the sum of several: a graph allows one call."""
    if len(pushed) == 1:
        ((output, cotangent),) = pushed
        return [f"{own[output]}.backward({'' if cotangent is None else own[cotangent]})"]
    terms = [own[one] if other is None else f"({own[one]} * {own[other]}).sum()" for one, other in pushed]
    return [f"({' + '.join(terms)}).backward()"] if terms else []
