"""Each side draws its own mask of a dropout. What is computed from it, and its gradients, are compared nevertheless."""

from __future__ import annotations

import pytest

from autotest import Divergence, random_tensor, torch
from autotest.program import Ref
from tests.support.faulty import FaultyTorch, plus, returning, with_gradient
from tests.support.running import trial, trials


def rows():
    return random_tensor(ndim=2, dim0=4, dim1=3, dtype="float32", low=-1, high=1)


def function():
    return torch.exp(torch.nn.functional.dropout(torch.sin(rows()), 0.5))


def module():
    return torch.exp(torch.nn.Dropout(0.25)(torch.sin(rows())))


def inside_of_a_sequential():
    return torch.exp(torch.nn.Sequential(torch.nn.Linear(3, 3), torch.nn.Dropout(), torch.nn.Tanh())(torch.sin(rows())))


def inside_of_a_class():
    class Block(torch.nn.Module):
        def __init__(self):
            super().__init__()
            self.drop, self.inner = torch.nn.Dropout(0.5), torch.nn.Linear(3, 3)

        def forward(self, x):
            return torch.exp(self.inner(self.drop(torch.sin(x))))

    return Block()(rows())


def in_place():
    x = torch.sin(rows())
    torch.nn.functional.dropout(x, 0.5, inplace=True)
    return torch.exp(x)


def in_place_by_a_module():
    return torch.exp(torch.nn.Dropout(0.5, inplace=True)(torch.sin(rows())))


def whole_channels():
    return torch.exp(torch.nn.functional.dropout2d(torch.sin(rows())[None, :, :, None], 0.5))


def twice():
    drop = torch.nn.Dropout(0.5)
    return torch.exp(drop(drop(torch.sin(rows()))))


def written_into():
    x = torch.nn.functional.dropout(torch.sin(rows()), 0.5)
    x[0] = 1
    return torch.exp(x)


def in_a_training_step():
    model = torch.nn.Sequential(torch.nn.Linear(3, 3), torch.nn.Dropout(0.5), torch.nn.Linear(3, 3))
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
    x = rows()
    model(torch.sin(x)).mean().backward()
    optimizer.step()
    return torch.exp(model(torch.sin(x)))


#: Functions that draw something else than a mask of zeros. Their result becomes an input, and no gradient passes.
def another_slope_for_each_element():
    return torch.exp(torch.nn.functional.rrelu(rows(), training=True))


def between_the_layers_of_an_lstm():
    out, _ = torch.nn.LSTM(3, 3, num_layers=2, dropout=0.5)(rows())
    return torch.exp(out)


def in_attention():
    out, weights = torch.nn.MultiheadAttention(3, 1, dropout=0.5)(rows(), rows(), rows())
    return torch.exp(out), weights


def gumbel():
    return torch.exp(torch.nn.functional.gumbel_softmax(rows(), dim=1))


MASKING = [
    function,
    module,
    inside_of_a_sequential,
    inside_of_a_class,
    in_place,
    in_place_by_a_module,
    whole_channels,
    twice,
    written_into,
    in_a_training_step,
]
DRAWING = [*MASKING, another_slope_for_each_element, between_the_layers_of_an_lstm, in_attention, gumbel]


@pytest.mark.parametrize("body", DRAWING, ids=lambda body: body.__name__)
def test_a_value_that_is_computed_from_it_is_compared(body, tmp_path):
    assert trials(body, tmp_path, n=3).accepted == 3
    with pytest.raises(Divergence) as caught:
        trials(body, tmp_path, FaultyTorch({"exp": plus(1.0)}), n=3)
    assert str(caught.value).startswith("faulty diverges from torch: exp, value")


@pytest.mark.parametrize("body", DRAWING, ids=lambda body: body.__name__)
def test_a_gradient_behind_it_is_compared(body, tmp_path):
    with pytest.raises(Divergence) as caught:
        trials(body, tmp_path, FaultyTorch({"exp": with_gradient(lambda gradient: 2 * gradient)}), n=3)
    assert ", gradient (backward)" in str(caught.value)


@pytest.mark.parametrize("body", MASKING, ids=lambda body: body.__name__)
def test_a_gradient_that_passes_through_it_is_compared(body, tmp_path):
    with pytest.raises(Divergence) as caught:
        trials(body, tmp_path, FaultyTorch({"sin": with_gradient(lambda gradient: 2 * gradient)}), n=3)
    assert ", gradient (backward)" in str(caught.value)


def test_the_mask_is_an_input_of_the_program_that_is_reported(tmp_path):
    with pytest.raises(Divergence) as caught:
        trials(function, tmp_path, FaultyTorch({"exp": plus(1.0)}))
    calls = caught.value.finding.program.calls
    assert "nn.functional.dropout" not in [call.target for call in calls]
    (mask,) = (call for call in calls if call.note == "drawn by the reference")
    (used,) = (call for call in calls if Ref(mask.slot) in call.args)
    assert used.target == "mul"


def test_a_single_trial_shows_it_as_campaigns_run_them():
    outcome = trial(function, FaultyTorch({"exp": plus(1.0)}))
    assert [mismatch.symptom for mismatch in outcome.mismatches][:1] == ["value"]
    assert outcome.repaired_program is not None


def test_what_was_found_is_tried_first_by_the_next_run(tmp_path):
    faulty = FaultyTorch({"exp": plus(1.0)})
    with pytest.raises(Divergence):
        trials(function, tmp_path, faulty, options={"seed": 7})
    with pytest.raises(Divergence) as caught:
        trials(function, tmp_path, faulty)
    assert caught.value.finding.base_seed == 7


def test_half_precision_has_masks_too(tmp_path):
    def body():
        x = random_tensor(ndim=2, dtype="bfloat16", low=-1, high=1)
        return torch.nn.functional.dropout(x, 0.3).abs()

    assert trials(body, tmp_path, n=3).accepted == 3
    with pytest.raises(Divergence):
        trials(body, tmp_path, FaultyTorch(tensors={"abs": plus(1.0)}), n=3)


def test_uninitialised_memory_is_no_number_that_was_drawn(tmp_path):
    garbage = returning(lambda tensor: tensor.fill_(7.0))
    faulty = FaultyTorch({"empty": garbage, "exp": plus(1.0)})
    assert trials(lambda: (torch.exp(torch.empty(3)), torch.sin(rows())), tmp_path, faulty, n=3).accepted == 3


def test_a_dropout_with_masks_of_its_own_is_no_difference(tmp_path):
    backwards = FaultyTorch(
        {"nn.functional.dropout": lambda dropout: lambda x, *args, **named: dropout(x.flip(0), *args, **named).flip(0)}
    )
    assert trials(function, tmp_path, backwards, n=3).accepted == 3


def test_a_result_that_is_no_tensor_is_left_out(tmp_path):
    def body():
        packed = torch.nn.utils.rnn.pack_sequence([rows(), rows()])
        out, _ = torch.nn.LSTM(3, 3, num_layers=2, dropout=0.5)(packed)
        return torch.exp(out.data)

    assert trials(body, tmp_path, n=3).accepted == 3
