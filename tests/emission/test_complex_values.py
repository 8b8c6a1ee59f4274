"""Scripts of every form find complex numbers alike or different as this library's comparison does."""

from __future__ import annotations

import math

import numpy as np
import pytest

from autotest.comparison.elementwise import differing, statistics
from autotest.emission import Script, compact, native_script, reproducer
from autotest.emission.checker import Criterion
from autotest.emission.graph_script import ComparedResult, Division, graph_script
from autotest.emission.native_script import NativeCode, ScriptRequest
from autotest.emission.script_subject import ScriptSubject
from tests.emission.toys import run, toys

INF, NAN, RTOL, ATOL = math.inf, math.nan, 1e-4, 1e-5
#: The two sides, as real and imaginary parts, and whether they differ.
ROWS = [
    ((INF, 1), (INF, 2), True),
    ((INF, 1), (-INF, 1), True),
    ((INF, 1), (NAN, 1), True),
    ((0, INF), (0, -INF), True),
    ((0, INF), (0, NAN), True),
    ((1, INF), (2, INF), True),
    ((0, NAN), (5, NAN), True),
    ((NAN, 1), (1, NAN), True),
    ((NAN, 1), (NAN, 2), True),
    ((INF, NAN), (INF, 1), True),
    ((1, 1), (INF, 1), True),
    ((1, 1), (1, 1.5), True),
    ((NAN, 1), (NAN, 1), False),
    ((NAN, NAN), (NAN, NAN), False),
    ((INF, NAN), (INF, NAN), False),
    ((INF, 1), (INF, 1.00001), False),
    ((NAN, 1), (NAN, 1.00001), False),
    ((0, 1), (9e-5, 1), False),  # close by its magnitude, not in each part
]
#: A graph mode in which the toy returns something else than in its eager mode.
REPLAY = """
class Replay:
    def __call__(self, *given):
        toy.FAULT = "second"
        given_back[:] = [True]
        return [*program(*given)]
"""
#: The part of torch that the programs here use. A native script imports it by torch's name.
TORCH = """
def tensor(data): return data
def either(data): return data[:1]
"""


def long(about, found):
    return reproducer(about, Criterion(observed=["v1"]))


def short(about, found):
    return compact.differing_tensor(about, "v1", found)


def graph(about, found):
    toy = Script("toy", ("import toy",), "toy", graph=REPLAY, mode="graph")
    division = Division([0], [0], [], [], {}, {}, {}, [1], [])
    return graph_script(about._replace(sides=(toy, toy)), division, [ComparedResult("v1", RTOL, ATOL)])


def native(about, found):
    second = about.program.arrays[0].data[1]
    line = f'v1 = other.array([complex(float("{second.real}"), float("{second.imag}"))])'
    code = NativeCode("import numpy as other", (line,), "v1")
    return native_script.script(about.program, "torch", "other", code, ScriptRequest("t", [], "value", "v1", found))


@pytest.mark.parametrize("form", [long, short, graph, native])
@pytest.mark.parametrize(("expected", "actual", "differs"), ROWS)
def test_parts_that_are_not_finite_are_compared_each(tmp_path, build, form, expected, actual, differs):
    both = np.array([complex(*expected), complex(*actual)], "complex64")
    assert differing(both[:1], both[1:], RTOL, ATOL).any() == differs
    build.function("either", build.tensor(both, "complex64"))
    found = statistics(both[:1], both[1:], np.array([True]), RTOL, ATOL, "complex64")
    sides = toys(tmp_path, "toy", "second")
    (tmp_path / "torch.py").write_text(TORCH)

    status, said = run(tmp_path, form(ScriptSubject(build.program(), sides, "t", []), found))
    assert status == differs, said
    assert said.startswith("DIFFERS: " if differs else "same\n")


def test_of_many_complex_numbers_the_first_that_differs_is_printed(tmp_path, build):
    build.function("turned", build.tensor(np.ones((60, 1)), "complex64"))
    found = statistics(np.zeros(60), np.ones(60), np.ones(60, bool), RTOL, ATOL, "complex64")
    about = ScriptSubject(build.program(), toys(tmp_path, "toy", "value"), "t", [])

    status, said = run(tmp_path, compact.differing_tensor(about, "v1", found))
    assert (status, said) == (1, "DIFFERS: toy gives 1j at [0, 0], value 1.5j\n")
