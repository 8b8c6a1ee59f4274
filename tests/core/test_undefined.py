"""How undefined contents spread. Values computed from them are not compared; once overwritten, they are again."""

from __future__ import annotations

import pytest

from autotest import random_tensor, torch
from autotest.base.settings import Settings
from autotest.comparison.rejection import RANDOM_SHAPE
from autotest.diagnosis.attribution.lockstep import first_divergent
from tests.support.faulty import FaultyTorch, plus, returning, with_gradient
from tests.support.running import agrees, trial

#: A function whose result contains sevens on one side, as uninitialised memory may.
SEVENS = returning(lambda tensor: tensor.fill_(7.0))


def rows(requires_grad=True):
    return random_tensor(ndim=2, dim0=4, dim1=3, requires_grad=requires_grad)


def dropped(x):
    return torch.nn.functional.dropout(x, 0.5)


def norm_of_dropped():
    return torch.nn.BatchNorm1d(3)(dropped(rows()))


def dropout_inside_of_a_network():
    return torch.nn.Sequential(torch.nn.Linear(3, 3), torch.nn.Dropout(0.5), torch.nn.BatchNorm1d(3))(rows())


def running_means_used_later():
    norm = torch.nn.BatchNorm1d(3)
    norm(dropped(rows()))
    norm.eval()
    return norm(rows())


def step_of_dropped_gradients():
    linear = torch.nn.Linear(3, 3)
    optimizer = torch.optim.SGD(linear.parameters(), lr=0.1)
    dropped(linear(rows())).sum().backward()
    torch.nn.utils.clip_grad_norm_(linear.parameters(), 0.5)
    optimizer.step()
    return linear(rows(requires_grad=False))


def gradient_read_by_the_body():
    x = rows()
    dropped(x).sum().backward()
    return x.grad * 2


def running_means_of_a_function():
    mean, variance = torch.zeros(3), torch.ones(3)
    torch.nn.functional.batch_norm(dropped(rows()), mean, variance, training=True)
    return mean, variance


def row_dropped_in_place():
    x = rows(requires_grad=False) * 1
    torch.nn.functional.dropout(x[0], 0.5, True, True)
    return x


def row_dropped_in_place_by_a_module():
    x = rows(requires_grad=False) * 1
    torch.nn.Dropout(0.5, inplace=True)(x[0])
    return x


def chunk_dropped_in_place():
    x = rows(requires_grad=False) * 1
    one, other = x.chunk(2)
    torch.nn.functional.dropout(one, 0.5, True, True)
    return x, other


def loaded_weight():
    linear = torch.nn.Linear(3, 3)
    state = linear.state_dict()
    state["weight"] = dropped(state["weight"])
    linear.load_state_dict(state)
    return linear(rows())


def numbers_in_lists():
    return dropped(rows()).tolist(), rows() * 1


def row_dropped_in_place_by_keyword():
    x = rows(requires_grad=False) * 1
    torch.nn.functional.dropout(input=x[0], inplace=True)
    return x


@pytest.mark.parametrize(
    "body",
    [
        norm_of_dropped,
        dropout_inside_of_a_network,
        running_means_used_later,
        step_of_dropped_gradients,
        gradient_read_by_the_body,
        running_means_of_a_function,
        row_dropped_in_place,
        row_dropped_in_place_by_keyword,
        row_dropped_in_place_by_a_module,
        chunk_dropped_in_place,
        loaded_weight,
        numbers_in_lists,
    ],
)
def test_what_a_drawn_mask_reaches_through_state_and_gradients_is_no_divergence(body):
    assert agrees(trial(body))


def test_state_that_no_mask_reaches_is_compared_beside_it():
    def body():
        norm = torch.nn.BatchNorm1d(3)
        dropped(rows())
        return norm(torch.relu(rows()))

    assert agrees(trial(body))
    names = {mismatch.name for mismatch in trial(body, FaultyTorch({"relu": plus(1.0)})).mismatches}
    assert any("running_mean" in name for name in names)


def test_a_result_beside_one_that_a_mask_reaches_is_compared():
    def body():
        values, places = torch.sort(rows(requires_grad=False), dim=0)
        torch.nn.functional.dropout(values, 0.5, True, True)
        return places

    assert agrees(trial(body, auto_backward=False))
    later = returning(lambda both: type(both)((both[0], both[1] + 1)))
    assert trial(body, FaultyTorch({"sort": later}), auto_backward=False).mismatches


def written_by_out():
    out = torch.empty(4, 3)
    torch.exp(rows(requires_grad=False), out=out)
    return out


def assigned_whole():
    out = torch.empty(4, 3)
    out[:] = torch.exp(rows(requires_grad=False))
    return out * 2


@pytest.mark.parametrize("body", [written_by_out, assigned_whole])
def test_fresh_memory_that_is_filled_whole_is_compared(body):
    outcome = trial(body, auto_backward=False)
    assert agrees(outcome)
    assert not outcome.program.undefined
    assert trial(body, FaultyTorch({"exp": plus(1.0)}), auto_backward=False).mismatches


def parameter():
    return torch.nn.Parameter(torch.empty(3, 3))


def holding():
    """A module with parameters that are created first and filled later."""

    # The class is created in the trial, because at the top of this file it would need the default candidate.
    class Holding(torch.nn.Module):
        def __init__(self):
            super().__init__()
            self.scale = torch.nn.Parameter(torch.ones(3))
            self.weight = parameter()

    return Holding()


def filled_by_its_data():
    made = parameter()
    made.data.uniform_(-1, 1)
    return made


def filled_by_a_view():
    made = parameter()
    with torch.no_grad():
        made.view(-1).zero_()
    return made


def given_other_data():
    made = parameter()
    made.data = torch.ones(3, 3)
    return made


def filled_by_its_module():
    module = holding()
    for one in module.parameters():
        torch.nn.init.uniform_(one, -1, 1)
    return module.weight


def filled_in_part():
    made = parameter()
    made.data[0].zero_()
    return made


def spoilt_by_a_view():
    made = torch.nn.Parameter(torch.ones(3, 3))
    made.data[0].add_(torch.empty(3))
    return made


@pytest.mark.parametrize(
    ("made", "compared"),
    [
        (filled_by_its_data, True),
        (filled_by_a_view, True),
        (given_other_data, True),
        (filled_by_its_module, True),
        (filled_in_part, False),
        (spoilt_by_a_view, False),
    ],
)
def test_a_parameter_is_compared_once_all_of_its_fresh_memory_is_filled(made, compared):
    def body():
        return torch.tanh(rows() @ made())

    assert agrees(trial(body, FaultyTorch({"empty": SEVENS})))
    wrong = trial(body, FaultyTorch({"empty": SEVENS, "tanh": plus(1.0)}))
    assert bool(wrong.mismatches) is compared


def test_what_is_beside_fresh_memory_in_a_module_is_compared():
    def body():
        return torch.tanh(rows() * next(iter(holding().parameters())))

    assert trial(body, FaultyTorch({"tanh": plus(1.0)})).mismatches


def test_fresh_memory_that_is_filled_later_is_not_where_a_divergence_begins():
    def body():
        made = torch.nn.Parameter(torch.empty(3, 3))
        made.data.uniform_(-1, 1)
        return torch.tanh(rows() @ made)

    outcome = trial(body, FaultyTorch({"tanh": plus(1.0), "empty": SEVENS}))
    slot = first_divergent(outcome.program, outcome.recorder.pair, Settings())
    assert outcome.program.calls[slot].target == "tanh"


def test_fresh_memory_that_is_filled_in_part_is_not():
    def body():
        out = torch.empty(4, 3)
        out[0] = 1.0
        return out * 2

    assert agrees(trial(body, FaultyTorch({"empty": plus(1.0)})))


def test_what_is_written_of_undefined_contents_is_undefined():
    def body():
        out = torch.zeros(4, 3)
        out[:] = dropped(rows(requires_grad=False))
        torch.exp(torch.empty(2), out=torch.zeros(2))
        return out + 1

    assert agrees(trial(body))


def test_gradients_that_no_mask_reaches_are_compared_beside_those_that_one_does():
    def body():
        x, y = rows(), rows()
        return torch.exp(x), dropped(y)

    assert agrees(trial(body))
    wrong = trial(body, FaultyTorch({"exp": with_gradient(lambda gradient: gradient * 2)}))
    assert [mismatch.name for mismatch in wrong.mismatches] == ["x0.grad"]


def test_gradients_that_are_multiplied_by_a_mask_are_not_compared():
    def body():
        x, y = rows(), rows()
        return torch.exp(x) * dropped(y)

    assert agrees(trial(body))


@pytest.mark.parametrize(
    "select",
    [
        lambda x: x[x > 0],
        lambda x: x[:, x[0] > 0],
        lambda x: torch.masked_select(x, x.gt(0)),
        lambda x: x.nonzero(),
        lambda x: torch.where(x > 0)[0],
        lambda x: torch.nonzero(x, as_tuple=True)[1],
        lambda x: x.unique(),
        lambda x: torch.unique(x, return_counts=True)[1],
        lambda x: x.argwhere(),
        lambda x: x.flatten().unique_consecutive(),
        lambda x: torch.arange(12).repeat_interleave(x.flatten().gt(0).long()),
        lambda x: x.flatten().gt(0).long().cumsum(0).bincount(),
        lambda x: torch.nn.functional.one_hot(x.gt(0).long().sum(0)),
    ],
)
def test_a_shape_that_a_mask_decides_on_ends_the_trial_where_the_sides_differ(select):
    def body():
        return select(dropped(rows(requires_grad=False))), torch.exp(rows())

    outcomes = [trial(body, seed=seed) for seed in range(20)]
    assert not [outcome.mismatches for outcome in outcomes if outcome.mismatches]
    assert {outcome.rejection.type for outcome in outcomes if outcome.rejection is not None} == {RANDOM_SHAPE}


def test_a_wrong_shape_is_found_beside_a_mask():
    def body():
        x = dropped(rows(requires_grad=False))
        return x[torch.tensor([0, 1])]

    assert agrees(trial(body))
    assert trial(body, FaultyTorch(tensors={"__getitem__": returning(lambda rows: rows[:1])})).mismatches


def test_what_a_file_holds_of_a_mask_is_no_divergence(tmp_path):
    def body():
        torch.save(dropped(rows(requires_grad=False)), tmp_path / "saved.pt")
        return torch.load(tmp_path / "saved.pt") + 1

    assert agrees(trial(body))


def test_a_parameter_that_is_moved_along_gradients_of_a_mask_is_no_divergence():
    def body():
        linear = torch.nn.Linear(3, 1)
        dropped(linear(rows())).sum().backward()
        with torch.no_grad():
            for parameter in linear.parameters():
                parameter.sub_(0.1 * parameter.grad)
        return linear(rows(requires_grad=False))

    assert agrees(trial(body))
