"""Backends of `torch.compile` that other packages define, with the faults that such backends have."""

from __future__ import annotations

import contextlib
import importlib
import logging
import subprocess
import sys

import pytest

from autotest import Divergence, FrameworkMissing, UsageError, random_tensor, torch
from autotest.base.settings import Settings
from autotest.frameworks import Pair, framework
from autotest.frameworks.oneflow_import import import_oneflow
from autotest.replaying import graph_check
from tests.support import running

#: A package of backends. Those that compute anything do so in NumPy.
BACKENDS = '''
"""Backends, each for a graph that torch traced."""

import logging

import numpy as np
import torch

__version__ = "1.2.3"


class InNumPy(torch.fx.Interpreter):
    """Computes sines, cosines, sums and products in NumPy, and all else in torch."""

    added = 0

    def run_node(self, node):
        name = str(getattr(node.target, "__name__", node.target)).rpartition(".")[-1].strip("_")
        if name not in ("sin", "cos", "add", "mul"):
            return super().run_node(node)
        args, _ = self.fetch_args_kwargs_from_env(node)
        given = [one.detach().numpy() if isinstance(one, torch.Tensor) else one for one in args]
        function = {"mul": np.multiply}.get(name) or getattr(np, name)
        return torch.from_numpy(np.array(function(*given) + self.added))


def right(graph, inputs):
    return InNumPy(graph).run


def wrong(graph, inputs):
    class OffByOne(InNumPy):
        added = 1

    return OffByOne(graph).run


def wrong_in_torch(graph, inputs):
    """Computes nothing but sums itself, and returns what torch computed with an error."""
    run, errs = InNumPy(graph).run, any("exp" in str(node.target) for node in graph.graph.nodes)
    return lambda *args: [one + 1 if errs else one for one in run(*args)]


def reuses(graph, inputs):
    """Writes the results of each call into the memory of the first call's."""
    held = []

    def run(*args):
        made = [one.detach().clone() for one in graph(*args)]
        if not held:
            held.extend(made)
        for place, one in zip(held, made):
            place.copy_(one)
        return [*held]

    return run


def sorts_from_the_end(graph, inputs):
    """Chooses the last of equal numbers first."""

    class Sorting(torch.fx.Interpreter):
        def run_node(self, node):
            if "sort" not in str(node.target):
                return super().run_node(node)
            (given,), _ = self.fetch_args_kwargs_from_env(node)
            ordered = given.flip(0).sort(stable=True)
            return ordered[0], len(given) - 1 - ordered[1]

    return Sorting(graph).run


def sorts_wrongly(graph, inputs):
    """Gives the places in the order of the numbers."""

    class Sorting(torch.fx.Interpreter):
        def run_node(self, node):
            if "sort" not in str(node.target):
                return super().run_node(node)
            (given,), _ = self.fetch_args_kwargs_from_env(node)
            return given.sort()[0], torch.arange(len(given))

    return Sorting(graph).run


def tells(graph, inputs):
    logging.getLogger("torch.__trace").error("a line of a trace")
    return graph.forward


number = 3
'''


@pytest.fixture(scope="module", autouse=True)
def _oneflow_before_triton():
    """Import OneFlow, if it is installed: tests of it that follow could not import it after Triton, which compiles."""
    with contextlib.suppress(FrameworkMissing):
        import_oneflow()


@pytest.fixture
def project(tmp_path, monkeypatch):
    """Return the working folder, which contains the module of backends."""
    (tmp_path / "planted_backends.py").write_text(BACKENDS)
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(sys, "path", [*sys.path])
    monkeypatch.delitem(sys.modules, "planted_backends", raising=False)
    importlib.invalidate_caches()
    return tmp_path


def compiled_by(function):
    return framework(f"torch+compile=planted_backends:{function}")


def compared(body, function, trials=1):
    pair = Pair(framework("torch"), compiled_by(function))
    outcomes = [running.run_trial(body, seed, Settings(), pair) for seed in range(trials)]
    return graph_check.check([outcome.recorder for outcome in outcomes], Settings())


def sine():
    return torch.sin(random_tensor(shape=(3,), requires_grad=False))


def exponential():
    return torch.exp(random_tensor(shape=(3,), requires_grad=False))


def both():
    x = random_tensor(shape=(3,), requires_grad=False)
    return torch.sin(x), torch.exp(x)


def test_a_function_of_a_module_is_a_backend_without_registration(project):
    report = compared(sine, "right", trials=3)
    assert report.mismatches == [[], [], []]
    assert report.compared == 3
    assert all(compared(sine, "wrong", trials=3).mismatches)
    assert compiled_by("right").version == f"1.2.3 with torch {framework('torch').version}"


def test_a_finding_of_such_a_backend_has_a_script_that_imports_it(project):
    with pytest.raises(Divergence) as raised:
        running.trials(sine, project, compiled_by("wrong"), n=1)
    script = project / "repro.py"
    script.write_text(raised.value.finding.script)
    ran = subprocess.run([sys.executable, script], capture_output=True, text=True, check=False)
    assert "DIFFERS: v1: eager" in ran.stdout, ran.stderr
    (project / "planted_backends.py").unlink()
    ran = subprocess.run([sys.executable, script], capture_output=True, text=True, check=False)
    assert (ran.stdout.strip(), ran.returncode) == ("cannot tell: No module named 'planted_backends'", 2)


def test_a_script_imports_the_module_that_registers_a_backend_by_a_name(project):
    import torch._dynamo as dynamo

    compiled_by("wrong")  # which looks for modules in the working folder
    dynamo.register_backend(importlib.import_module("planted_backends").wrong, "planted_by_name")
    lines = framework("torch+compile=planted_by_name").script().lines
    assert lines[-1] == "import planted_backends"
    assert framework("torch+compile=eager").script().lines == ("import torch",)


@pytest.mark.parametrize(
    ("name", "kind", "says"),
    [
        ("no_such_module:right", FrameworkMissing, "no_such_module cannot be imported"),
        (
            "planted_backends:left",
            UsageError,
            "planted_backends has no function 'left'; expected one that takes a graph",
        ),
        ("planted_backends:number", UsageError, "planted_backends has no function 'number'"),
        ("no_such_name", UsageError, "for a function of a module, write torch.compile=MODULE:FUNCTION"),
    ],
)
def test_a_backend_that_does_not_exist_is_told(project, name, kind, says):
    with pytest.raises(kind, match=says):
        framework(f"torch+compile={name}").load()


@pytest.mark.parametrize(("function", "found"), [("sorts_from_the_end", []), ("sorts_wrongly", ["v1[1]", "v4"])])
def test_the_place_of_another_of_equal_numbers_is_no_difference(project, function, found):
    def body():
        return torch.sort(torch.tensor([2.0, 1.0, 2.0, 1.0, 2.0]))

    assert [item.name for item in compared(body, function).mismatches[0]] == found


def test_a_result_of_one_element_may_have_any_stride(project):
    def body():
        return torch.einsum("ii->i", random_tensor(shape=(1, 1), requires_grad=False)) * 1

    report = compared(body, "right")
    assert report.mismatches == [[]]
    assert report.compared == 2


def test_a_program_of_which_a_backend_leaves_everything_to_torch_is_told_and_does_not_count(project):
    report = compared(exponential, "right", trials=3)
    assert report.mismatches == [[], [], []]
    assert report.left_out == {"calls that planted_backends:right leaves to torch": 3}
    assert not report.compared


def test_a_program_of_which_a_backend_computes_a_part_counts(project):
    report = compared(both, "right")
    assert report.mismatches == [[]]
    assert not report.left_out
    assert report.compared == 2


def test_a_difference_counts_also_where_torch_computed_it(project):
    report = compared(exponential, "wrong_in_torch")
    assert [mismatch.operator or mismatch.name for mismatch in report.mismatches[0]] == ["v1"]
    assert not report.left_out


@pytest.mark.parametrize("trials", [1, 3])
def test_results_that_a_later_call_overwrites_are_a_finding_of_its_own(project, trials):
    report = compared(exponential, "reuses", trials)
    assert [[item.detail for item in mismatches] for mismatches in report.mismatches] == [["overwritten"]] * trials
    mode = "torch.compile(backend='planted_backends:reuses')"
    said = f"exp: a later call of {mode} overwrites v1, the result of an earlier call"
    assert report.mismatches[0][0].message == said


def test_a_script_shows_that_results_are_overwritten(project):
    with pytest.raises(Divergence) as raised:
        running.trials(exponential, project, compiled_by("reuses"), n=1)
    finding = raised.value.finding
    assert finding.verdict[0].endswith("overwrites results when it is called again")
    script = project / "repro.py"
    for backend, says, status in (("reuses", "DIFFERS: a second call of", 1), ("right", "same", 0)):
        script.write_text(finding.script.replace("planted_backends.reuses", f"planted_backends.{backend}"))
        ran = subprocess.run([sys.executable, script], capture_output=True, text=True, check=False)
        assert ran.stdout.startswith(says), ran.stderr
        assert ran.returncode == status


def test_parameters_that_a_program_returns_are_not_taken_for_overwritten(project):
    def body():
        layer = torch.nn.Linear(2, 3)
        return layer.weight * 1, layer.weight.detach(), layer(random_tensor(shape=(4, 2)))

    assert compared(body, "right", trials=3).mismatches == [[], [], []]


@pytest.mark.parametrize("wanted", [True, False])
def test_torchs_traces_are_logged_only_for_who_asked_for_them(project, monkeypatch, wanted):
    logged = []

    class Keeping(logging.Handler):
        def emit(self, record):
            logged.append(record.getMessage())

    logger = logging.getLogger("torch.__trace")
    monkeypatch.setattr(logger, "handlers", [Keeping()])
    monkeypatch.delenv("TORCH_TRACE", raising=False)
    if wanted:
        monkeypatch.setenv("TORCH_TRACE", str(project))
    compared(sine, "tells")
    assert ("a line of a trace" in logged) is wanted
    assert not logger.disabled
