"""Parts of whole networks besides operators: what OneFlow lacks, and its limits in models."""

from __future__ import annotations

from autotest import autotest, random_tensor, torch


def rows():
    return random_tensor(shape=(3, 4), low=-1, high=1)


@autotest(n=1)
def test_unflatten_as_a_layer():
    return torch.nn.Unflatten(1, (2, 2))(rows())


@autotest(n=1)
def test_attention_of_several_heads():
    x = random_tensor(shape=(3, 2, 4), low=-1, high=1)
    return torch.nn.MultiheadAttention(4, 2)(x, x, x)


@autotest(n=1)
def test_spectral_norm_of_a_layer():
    return torch.nn.utils.spectral_norm(torch.nn.Linear(4, 2))(rows())


@autotest(n=1)
def test_negative_log_likelihood_as_a_function():
    return torch.nn.functional.nll_loss(rows(), random_tensor(shape=(3,), low=0, high=4, dtype="int64"))


@autotest(n=3)
def test_sequences_are_unpacked_with_their_lengths():
    x = random_tensor(shape=(3, 5, 2), low=-1, high=1)
    packed = torch.nn.utils.rnn.pack_padded_sequence(x, [5, 3, 2], batch_first=True)
    return torch.nn.utils.rnn.pad_packed_sequence(packed, batch_first=True)


@autotest(n=1)
def test_leaves_are_padded_to_one_length():
    leaves = [random_tensor(shape=(length, 2), low=-1, high=1) for length in (4, 2)]
    return torch.nn.utils.rnn.pad_sequence(leaves)


@autotest(n=1)
def test_a_gradient_with_respect_to_inputs_only():
    x = rows()
    y = torch.tanh(x).sum(1)
    return torch.autograd.grad(outputs=y, inputs=x, grad_outputs=torch.ones_like(y), only_inputs=True)
