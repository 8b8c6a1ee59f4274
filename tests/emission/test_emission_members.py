"""Scripts read each member of a module, whatever its name and the class that contains it."""

from __future__ import annotations

import subprocess
import sys
from collections import OrderedDict

import numpy as np
import pytest

from autotest.comparison.elementwise import Statistics
from autotest.emission import Script, compact, reproducer
from autotest.emission.checker import Criterion
from autotest.emission.graph_script import ComparedResult, Division, graph_script
from autotest.emission.naming import expression, root
from autotest.emission.script_subject import ScriptSubject
from tests.emission.conftest import Builder


def linear(build):
    return build.function("nn.Linear", 2, 2)


def module_dict(build):
    return build.function("nn.ModuleDict", {"a-b": linear(build), "0": linear(build)})


def sequential(build):
    holder = build.function("nn.Sequential")
    for name in ("a-b", "if", "5"):
        build.method("add_module", holder, name, linear(build))
    return holder


def plain_module(build):
    holder = build.function("nn.Module")
    build.method("add_module", holder, "0", linear(build))
    return holder


def parameters(build, count):
    return [build.function("nn.Parameter", build.tensor([1.0])) for _ in range(count)]


def parameter_dict(build):
    return build.function("nn.ParameterDict", dict(zip(("0", "a-b", "plain"), parameters(build, 3), strict=True)))


def nested(build):
    inner = build.function("nn.Sequential", OrderedDict({"1": linear(build), "0": linear(build)}))
    return build.function("nn.ModuleList", [build.function("nn.ModuleDict", {"0": inner}), linear(build)])


def filled(build):
    holder = build.function("nn.ModuleDict")
    build.operator("setitem", holder, "0", module_dict(build))
    return build.call("builtin", "deepcopy", holder)


def longer(build):
    holder = build.function("nn.ModuleList", [module_dict(build)])
    build.method("insert", holder, 0, linear(build))
    return holder


#: How a holder is made, the place of a member in it, and the expression after its name.
PLACES = [
    (sequential, ".a-b.weight", 'getattr({}, "a-b").weight'),
    (sequential, ".if.weight", 'getattr({}, "if").weight'),
    (sequential, ".5.weight", 'getattr({}, "5").weight'),
    (lambda build: build.function("nn.Sequential", linear(build)), ".0.weight", "{}[0].weight"),
    (lambda build: build.function("nn.ModuleList", [linear(build)]), ".0.weight", "{}[0].weight"),
    (lambda build: build.function("nn.ModuleList", modules=[linear(build)]), ".0.weight", "{}[0].weight"),
    (longer, ".0.weight", "{}[0].weight"),
    (module_dict, ".0.weight", '{}["0"].weight'),
    (module_dict, ".a-b.bias", '{}["a-b"].bias'),
    (plain_module, ".0.weight", 'getattr({}, "0").weight'),
    (parameter_dict, ".0", '{}["0"]'),
    (parameter_dict, ".a-b", '{}["a-b"]'),
    (parameter_dict, ".plain", "{}.plain"),
    (lambda build: build.function("nn.ParameterList", parameters(build, 2)), ".1", "{}[1]"),
    (nested, ".0.0.1.weight", 'getattr({}[0]["0"], "1").weight'),
    (nested, ".1.weight", "{}[1].weight"),
    (filled, ".0.0.weight", '{}["0"]["0"].weight'),
    (
        lambda build: build.function("nn.TransformerEncoder", build.function("nn.TransformerEncoderLayer", 2, 1), 1),
        ".layers.0.linear1.weight",
        "{}.layers[0].linear1.weight",
    ),
]


@pytest.mark.parametrize(("made", "place", "text"), PLACES)
def test_members_are_read_as_the_class_of_their_module_asks(build, made, place, text):
    holder = made(build)
    program = build.program()
    name = f"{'v' if made is filled else 'm'}{holder.slot}"
    found = expression(name + place, program)
    assert found == text.format(name)
    assert root(found) == name


#: A framework whose tensors are greater by one.
GREATER = (
    "import torch",
    "import types",
    "greater = types.SimpleNamespace(**vars(torch))",
    "greater.tensor = lambda *args, **kwargs: torch.tensor(*args, **kwargs) + 1",
)
SIDES = Script("torch", ("import torch",), "torch"), Script("greater", GREATER, "greater")
#: Runs all scripts in one process, which imports torch once, and prints how each ended.
RUNNER = """
import runpy, sys
for path in sys.argv[1:]:
    try:
        runpy.run_path(path, run_name="__main__")
    except SystemExit as error:
        print(error.code)
"""


def test_scripts_write_such_members_and_show_their_difference(tmp_path):
    paths = []
    for at, (made, place, _) in enumerate(PLACES):
        build = Builder()
        holder = made(build)
        name = f"{'v' if made is filled else 'm'}{holder.slot}{place}"
        shape = (2048, 2) if "linear1" in place else (2, 2) if "weight" in place else (2,) if "bias" in place else (1,)
        build.call("load_state", "", holder, {place.removeprefix("."): build.capture(np.full(shape, 5.0))})
        about = ScriptSubject(build.program(), SIDES, "member", [])
        found = Statistics(1, 1, 1e-4, 1e-5, 1.0, (), 1.0, 2.0, 1.0, (), dtype="float32")
        for form, text in (
            ("long", reproducer(about, Criterion(observed=[name]))),
            ("short", compact.differing_tensor(about, name, found)),
        ):
            paths.append(tmp_path / f"{at}_{form}.py")
            paths[-1].write_text(text)
    done = subprocess.run([sys.executable, "-c", RUNNER, *paths], capture_output=True, text=True, check=False)
    printed = [line.partition(": ")[0] for line in done.stdout.splitlines()]
    assert printed == ["DIFFERS", "1"] * len(paths), done.stdout + done.stderr


@pytest.mark.parametrize("name", ["w" * 120, "w" * 40 + "-" + "w" * 40, "w " * 60])
def test_long_names_are_broken_nowhere(build, name):
    holder = build.function("nn.Module")
    build.method("add_module", holder, name, linear(build))
    observed = [f"m0.{name}.weight", f"m0.{name}.bias"]
    text = reproducer(ScriptSubject(build.program(), SIDES, "member", []), Criterion(observed=observed))
    compile(text, "script", "exec")
    assert all(text.count(f'"{key}": ') == 1 for key in observed)


def test_the_code_of_a_graph_reads_them_the_same_way(build):
    holder = sequential(build)
    weight = build.method("get_parameter", holder, "a-b.weight")
    build.function("relu", weight)
    graph = Script("torch", ("import torch",), "torch", graph="class Replay: ...", mode="graph")
    division = Division(range(weight.slot), [], [], [holder.slot], {weight.slot: (0, "a-b.weight")}, {}, {}, [8], [])
    about = ScriptSubject(build.program(), (graph, graph), "graph", [])
    text = graph_script(about, division, [ComparedResult("v8", 1e-4, 1e-5)])
    compile(text, "script", "exec")
    assert '    v7 = getattr(m0, "a-b").weight\n    v8 = torch.relu(v7)\n' in text
