"""Faults of graph mode (13): any difference from eager mode must fail the test.

The candidate is torch with a graph mode that runs eagerly, so that faults can be planted in the graph mode only.
"""

from __future__ import annotations

import pytest

from autotest import Divergence, NothingCompared, autotest, random_tensor, torch
from autotest.replaying import graph_check
from tests.support.bodies import relu
from tests.support.faulty import with_gradient
from tests.support.graph_torch import GraphTorch
from tests.support.running import trials


def parts():
    return torch.split(torch.exp(random_tensor(shape=(6,))), 2)


def layers():
    return torch.nn.Linear(3, 4)(random_tensor(shape=(2, 3)))


@pytest.mark.parametrize("body", [relu, parts, layers])
def test_a_right_graph_passes(tmp_path, body):
    tally = trials(body, tmp_path, GraphTorch(), n=4, check_graph=True)
    assert tally.accepted == 4
    assert tally.graphed > 0


def test_a_check_of_which_graph_mode_can_contain_nothing_is_an_error(tmp_path):
    def body():
        with torch.no_grad():
            return torch.relu(random_tensor(shape=(2, 3)))

    said = r"check_graph=True compared nothing, because \S+ cannot contain .*: context managers \(3 trials\)"
    with pytest.raises(NothingCompared, match=said):
        trials(body, tmp_path, GraphTorch(), n=3, check_graph=True)
    assert trials(body, tmp_path, GraphTorch(), n=3).accepted == 3
    unchanged = {"check_graph": True, "own_assertions": True}  # as OneFlow's own tests, which run unchanged
    assert trials(body, tmp_path, GraphTorch(), n=3, **unchanged).accepted == 3


def failing(body, fault, **settings):
    with pytest.raises(Divergence) as raised:
        autotest(**{"n": 3, "check_graph": True, **settings})(body)()
    return raised.value


def wrong_last(original):
    def wrong(*args):
        *first, last = original(*args)
        return (*first, last + 1)

    return wrong


@pytest.mark.parametrize(
    ("body", "path", "fault"),
    [
        (relu, "relu", lambda relu: lambda x: relu(x) + 1e-2),
        (relu, "relu", lambda relu: lambda x: relu(x)[:1].expand(2, 3)),
        (relu, "relu", lambda relu: lambda x: relu(x).double()),
        (parts, "split", wrong_last),
        (relu, "relu", with_gradient(lambda gradient: 2 * gradient)),
    ],
    ids=["value", "broadcast", "dtype", "one part of a tuple", "gradient"],
)
def test_a_wrong_graph_fails_the_test(against, body, path, fault):
    against(GraphTorch({path: fault}))
    autotest(n=3)(body)()
    raised = failing(body, fault)
    assert raised.finding.first.symptom == "graph"
    assert "graph disagrees with eager" in str(raised)


def narrowed():
    return torch.exp(random_tensor(shape=(4,), dtype="float64", low=0.5, high=1).float()).double()


@pytest.mark.parametrize(
    ("body", "off", "differs"), [(narrowed, 1e-7, False), (narrowed, 1e-3, True), (relu, 1e-3, True)]
)
def test_a_result_is_as_exact_as_the_least_exact_step_to_it(against, body, off, differs):
    scaled = {path: lambda function: lambda x: function(x) * (1 + off) for path in ("exp", "relu")}
    against(GraphTorch(scaled))
    if differs:
        assert "graph disagrees with eager" in str(failing(body, None))
    else:
        autotest(n=3, check_graph=True)(body)()


def test_a_result_in_double_precision_throughout_is_held_to_it(against):
    def body():
        return torch.exp(random_tensor(shape=(4,), dtype="float64", low=0.5, high=1))

    against(GraphTorch({"exp": lambda exp: lambda x: exp(x) * (1 + 1e-7)}))
    assert "graph disagrees with eager" in str(failing(body, None))


def test_a_graph_that_cannot_be_built_fails_the_test(against):
    against(GraphTorch(refuses=("no graph of that",)))
    autotest(n=2)(relu)()
    assert "no graph of that" in str(failing(relu, None))


def test_truth_values_that_differ_in_a_graph_are_diagnosed(against):
    def body():
        return torch.gt(random_tensor(shape=(4,), low=0.1, high=1), 0)

    against(GraphTorch({"gt": lambda gt: lambda *args: ~gt(*args)}))
    finding = failing(body, None).finding
    assert finding.verified.detail == "scripts for graph are not supported"
    assert "eager mode is off by 0 and graph by 1 " in finding.verdict[-1]


def test_one_wrong_program_among_many_is_the_one_that_is_told(against):
    def body():
        return torch.relu(random_tensor(shape=(random_size(),), low=1, high=2))

    def random_size():
        return random_tensor(ndim=2).shape[1]

    against(GraphTorch({"relu": lambda relu: lambda x: relu(x) + (len(x) == 5)}))
    raised = failing(body, None, n=30)
    assert tuple(raised.finding.program.arrays[-2].data.shape) == (5,) or "(5,)" in str(raised)


def test_a_fault_of_the_harness_itself_is_no_refusal_of_the_graph(against, monkeypatch):
    def broken(*args, **kwargs):
        raise KeyError("ours")

    against(GraphTorch())
    monkeypatch.setattr(graph_check, "compare_values", broken)
    with pytest.raises(KeyError, match="ours"):
        autotest(n=2, check_graph=True)(relu)()


def test_without_its_check_a_wrong_graph_goes_unnoticed(against, monkeypatch):
    against(GraphTorch({"relu": lambda relu: lambda x: relu(x) + 1}))
    failing(relu, None)
    monkeypatch.setattr(graph_check, "compare_values", lambda *args, **kwargs: ())
    autotest(n=3, check_graph=True)(relu)()


def test_programs_that_differ_in_numbers_alone_share_one_graph_and_each_is_compared(against):
    framework = GraphTorch()
    against(framework)
    autotest(n=5, check_graph=True)(layers)()
    assert framework.built == 1
    wrong = GraphTorch({"relu": lambda relu: lambda x: relu(x) + (x.detach().sum() > 9)})
    against(wrong)
    raised = failing(relu, None, n=30)
    assert float(raised.finding.program.arrays[0].data.sum()) > 9


def test_a_fault_in_a_gradient_of_one_trial_only_is_found(against):
    rare = with_gradient(lambda gradient: gradient * (1 + (gradient.sum() > 2)))
    against(GraphTorch({"relu": rare}))
    assert "grad" in str(failing(relu, None, n=60))


def test_what_disagrees_only_beside_other_programs_counts_and_says_so(against, monkeypatch):
    against(GraphTorch({"relu": lambda relu: lambda x: relu(x) + 1}))
    monkeypatch.setattr(graph_check, "alone", lambda record, settings: [])
    assert graph_check.IN_COMPANY in " ".join(str(failing(relu, None)).split())


def test_a_graph_without_a_gradient_that_eager_mode_has_is_found(against):
    class Forgetful(GraphTorch):
        def _run(self, build, *given):
            made = super()._run(build, *given)
            return made._replace(leaves=[None] * len(made.leaves))

    against(Forgetful())
    assert "has none" in str(failing(relu, None))


def test_a_gradient_of_a_graph_points_at_no_call_that_makes_its_leaf(against):
    against(GraphTorch({"relu": with_gradient(lambda gradient: 2 * gradient)}))
    failed = failing(relu, None)
    assert failed.finding.first.name.endswith(".grad")
    assert failed.finding.marked is None
    assert "first divergent call" not in str(failed)
